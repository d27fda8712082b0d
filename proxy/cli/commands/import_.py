"""`turntape import FILE …`: recordings of other tools as cassettes."""

import argparse
from typing import TYPE_CHECKING

from turntape.cassettes.counted import several

from ...exit_codes import OK, USAGE
from ..command import Command
from ..option_groups import add_output_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from turntape.cassettes.importers.conversion import Done

PROGRESS_AFTER = 1.0
"""Seconds after which progress is shown."""
_REFRESH = 0.2


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="*", help="a recording, or a pattern in quotes (** for folders)")
    parser.add_argument(
        "--pytest",
        metavar="TESTS",
        nargs="?",
        const="",
        help="move a suite of pytest-recording, pytest-vcr or cassetter: show what would change "
        "(default: .); FILE names more of its files and folders",
    )
    parser.add_argument("--apply", action="store_true", help="with --pytest: convert the recordings, rewrite the marks")
    add_output_file(parser, "F", "put all of them into this one cassette")
    parser.add_argument("--out-dir", metavar="DIR", help="put the cassettes here (default: each next to its file)")
    parser.add_argument("--force", action="store_true", help="replace cassettes that exist already")


def main(options: argparse.Namespace) -> int:
    return _suite(options) if options.pytest is not None else _files(options)


def _suite(options: argparse.Namespace) -> int:
    import sys

    from turntape.cassettes.errors import TurntapeError

    from ..suite_move import move_suite

    if options.output or options.out_dir:
        raise TurntapeError(
            "-o and --out-dir are for single recordings, and --pytest puts the cassettes where the tests look for "
            "them; leave the option out, or name a folder in pytest's ini file: turntape_folder"
        )
    tests = [*([options.pytest] if options.pytest else ()), *options.file]
    whole = move_suite(
        tests or ["."], lambda line: sys.stdout.write(f"{line}\n"), apply=options.apply, force=options.force
    )
    return OK if whole else USAGE


def _files(options: argparse.Namespace) -> int:
    import sys
    from pathlib import Path

    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.importers.conversion import convert, planned
    from turntape.cassettes.importers.registry import FORMATS

    from ...capture.mitmproxy_flows import MITMPROXY

    if options.apply:
        raise TurntapeError("--apply needs --pytest; files are converted without it")
    if not options.file:
        raise TurntapeError("give the files to convert, or --pytest TESTS for a whole suite")
    sources = list(dict.fromkeys(found(options.file)))
    if options.output:
        plan = [(source, Path(options.output)) for source in sources]
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


def found(names: "Sequence[str]") -> "Iterator[Path]":
    """The files that the names and patterns mean. Raises TurntapeError for one that means none."""
    import glob
    from pathlib import Path

    from turntape.cassettes.errors import TurntapeError

    for name in names:
        path = Path(name)
        if path.is_dir():
            raise TurntapeError(f"{name!r} is a folder; give files, or a pattern such as '{path}/**/*.yaml'")
        if path.exists() or not glob.has_magic(name):
            yield path
            continue
        # The shell leaves a pattern as it is when nothing matches, or when it does not know `**`.
        matches = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - a pattern may be absolute or begin with ..
        if not matches:
            raise TurntapeError(f"no file matches {name!r}; check the pattern")
        yield from (Path(match) for match in matches if Path(match).is_file())


def _with_progress(results: "Iterable[Done]", count: int) -> "Iterator[Done]":
    """The results, with a progress line on stderr when they take longer than a second."""
    import sys
    import time

    shown = False
    following = time.monotonic() + PROGRESS_AFTER
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
    """One row per file: file, format, round trips, problems; then the totals."""
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
    last = f"{several(trips, 'round trip')} in {several(cassettes, 'cassette')}"
    return [*lines, "", last + (f"; {several(failed, 'file')} left out" if failed else "")]


def _line(row: tuple[str, ...], widths: "Sequence[int]") -> str:
    file, kind, count, problems = row
    return f"{file:<{widths[0]}}  {kind:<{widths[1]}}  {count:>{widths[2]}}  {problems}".rstrip()


COMMAND = Command(
    usage="turntape import FILE ... [-o F | --out-dir DIR] | --pytest [TESTS ...]",
    description="Convert recordings of other tools: vcrpy and pytest-recording (YAML, JSON), cassetter (YAML, TOML), "
    "VCR of Ruby, go-vcr, httprr, HAR, mitmproxy flows; also packed with gzip or zstd. Secrets are replaced. A file "
    "that cannot be read does not stop the others.",
    examples=("turntape import cassette.yaml", "turntape import --pytest"),
    add=add,
    main=main,
)
