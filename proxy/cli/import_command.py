"""`turntape import FILES…`: recordings of other tools as cassettes."""

import argparse
import glob
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_codes import OK, USAGE

if TYPE_CHECKING:
    from turntape.cassettes.importers.conversion import Done

PATIENCE = 1.0
"""Seconds without a word after which progress is shown."""
_REFRESH = 0.2


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.importers.conversion import convert, planned
    from turntape.cassettes.importers.registry import FORMATS

    from ..engine.mitmproxy_flows import MITMPROXY

    sources = list(dict.fromkeys(found(options.file)))
    if options.out:
        plan = [(source, Path(options.out)) for source in sources]
    else:
        plan = planned(sources, Path(options.out_dir) if options.out_dir else None)
    results: list[Done] = []
    try:
        for done in _with_progress(convert(plan, formats=(*FORMATS, MITMPROXY), force=options.force), len(plan)):
            results.append(done)
    finally:
        if results:
            sys.stdout.write("\n".join(table(results)) + "\n")
    return USAGE if any(done.problem for done in results) else OK


def found(names: Sequence[str]) -> Iterator[Path]:
    """The files that the names and patterns stand for. Raises TurntapeError for one that stands for none."""
    from turntape.cassettes.errors import TurntapeError

    for name in names:
        path = Path(name)
        if path.is_dir():
            raise TurntapeError(f"{name!r} is a folder; give files, or a pattern such as '{path}/**/*.yaml'")
        if path.exists() or not glob.has_magic(name):
            yield path
            continue
        # The shell gives a pattern as it is when nothing matches, or when it does not know `**`.
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - a pattern may be absolute or begin with ..
        if not matches:
            raise TurntapeError(f"no file matches {name!r}; check the pattern")
        yield from (Path(match) for match in matches if Path(match).is_file())


def _with_progress(results: "Iterable[Done]", count: int) -> "Iterator[Done]":
    """The results, with a line on stderr that says how far it is once that takes longer than a second."""
    shown = False
    following = time.monotonic() + PATIENCE
    try:
        for number, done in enumerate(results, 1):
            if sys.stderr.isatty() and (now := time.monotonic()) >= following:
                following, shown = now + _REFRESH, True
                sys.stderr.write(f"\r\x1b[K{number} of {count} files, {done.source.name}")
                sys.stderr.flush()
            yield done
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def table(results: "Sequence[Done]") -> list[str]:
    """A row a file: file, format, round trips, problems; then what all of them were."""
    rows = [
        (
            str(done.source),
            done.format or "-",
            str(done.count) if done.target else "-",
            done.problem or "; ".join(done.notes) or "",
        )
        for done in results
    ]
    head = ("file", "format", "round trips", "problems")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(3)]
    lines = [_line(row, widths) for row in (head, *rows)]
    written = [done for done in results if done.target]
    cassettes, trips = len({done.target for done in written}), sum(done.count for done in written)
    failed = len(results) - len(written)
    last = f"{_counted(trips, 'round trip')} in {_counted(cassettes, 'cassette')}"
    return [*lines, "", last + (f"; {_counted(failed, 'file')} left out" if failed else "")]


def _line(row: tuple[str, ...], widths: Sequence[int]) -> str:
    file, kind, count, problems = row
    return f"{file:<{widths[0]}}  {kind:<{widths[1]}}  {count:>{widths[2]}}  {problems}".rstrip()


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"
