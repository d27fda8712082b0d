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
    from turntape.cassettes.importers.suite_marks import Rewrite

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
    import sys
    from pathlib import Path

    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.importers.conversion import convert, planned
    from turntape.cassettes.importers.registry import FORMATS

    from ...capture.mitmproxy_flows import MITMPROXY

    if options.pytest is not None:
        if options.output or options.out_dir:
            raise TurntapeError(
                "-o and --out-dir are for single recordings, and --pytest puts the cassettes where the tests look for "
                "them; leave the option out, or name a folder in pytest's ini file: turntape_folder"
            )
        tests = [*([options.pytest] if options.pytest else ()), *options.file]
        return _suite(tests or ["."], apply=options.apply, force=options.force)
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


def _suite(tests: "Sequence[str]", *, apply: bool, force: bool) -> int:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        return _moved(tests, Path(folder), apply=apply, force=force)


def _moved(tests: "Sequence[str]", folder: "Path", *, apply: bool, force: bool) -> int:
    """Move the suite in these files and folders. `folder` is for what the survey finds, and for recordings that only
    the suite itself can read."""
    import importlib.util
    import shlex
    import sys
    from pathlib import Path

    from turntape.cassettes.counted import several
    from turntape.cassettes.excerpts import listed
    from turntape.cassettes.importers.conversion import convert
    from turntape.cassettes.importers.suite import NAMED, Move
    from turntape.cassettes.importers.suite_survey import survey

    from ..waiting import Waiting

    named = shlex.join(tests)
    with Waiting(f"pytest collects {named}") as waiting:
        suite = survey(tests, folder, waiting.say)
    move = Move.of(suite.tests, suite.unread, root=suite.root, ini=suite.ini)
    move.add_direct_uses([Path(one.partition("::")[0]) for one in tests])
    write = sys.stdout.write
    for line in rewrite_lines(move.rewrites, Path.cwd()):
        write(f"{line}\n")
    if move.ini is not None:
        for line in move.ini.lines:
            write(f"{move.ini.file}: {line}\n")
    for said in move.unmapped:
        write(f"not mapped: {said}\n")
    if move.story:
        values = listed(sorted({repr(value) for its in move.story.values() for value in its}), NAMED)
        write(
            f"kept: {values}, which {several(len(move.story), 'test file')} contain{'s' * (len(move.story) == 1)}: "
            "redact_keep in the marks, as the recordings call this a password\n"
        )
    if suite.apart:
        said = listed([one.name for one in suite.apart], NAMED)
        write(
            f"collected apart: {several(len(suite.apart), 'file')} that pytest does not collect together with all of "
            f"{named}: {said}; {suite.apart[0].reason}; run {'it' if len(suite.apart) == 1 else 'them'} apart too\n"
        )
    if move.dropped:
        count = several(sum(map(len, move.dropped.values())), "recorded round trip")
        places = several(len(move.dropped), "file")
        write(
            f"left out: {count} in {places}, which vcrpy never plays: before_record_… of the suite "
            "drops them, or allow_playback_repeats takes an earlier one\n"
        )
    plan = sorted(move.plan, key=lambda pair: str(pair[1]))
    said = f"{several(len(plan), 'recording')} for {several(len({target for _, target in plan}), 'test')}"
    places = _places(move.rewrites)
    if move.uses:
        file, line = move.uses[0]
        beside = f"{several(len(move.beside), 'recording')} beside themselves"
        write(f"use_cassette: {several(len(move.uses), 'use')}, the first in {file}:{line}; {beside}\n")
    if not apply:
        write(f"would convert {said} and rewrite {places}; nothing was changed, add --apply to do it\n")
        return OK
    results = list(convert(plan, force=force, dropped=move.dropped, kept=move.kept))
    alone = list(convert(move.beside, force=force))
    for done in (*results, *alone):
        if done.problem:
            write(f"left out: {done.problem}\n")
    move.apply()
    written = [done for done in results if done.target]
    said = f"{several(len(written), 'recording')} for {several(len({done.target for done in written}), 'test')}"
    if alone:
        said += f", {several(sum(done.target is not None for done in alone), 'recording')} beside themselves"
    write(f"converted {said} and rewrote {places}; ")
    others = (("pytest_recording", "recording"), ("pytest_vcr", "vcr"), ("cassetter", "cassetter"))
    off = "".join(f" -p no:{name}" for module, name in others if importlib.util.find_spec(module))
    write(f"run the tests with: {Path(sys.executable).name} -m pytest{off} {named}\n")
    return USAGE if any(done.problem for done in (*results, *alone)) else OK


def _places(rewrites: "Sequence[Rewrite]") -> str:
    """How many marks and imports in how many files."""
    marks = several(sum(not one.is_import for one in rewrites), "mark")
    imports = sum(one.is_import for one in rewrites)
    others = f" and {several(imports, 'import')}" if imports else ""
    return f"{marks}{others} in {several(len({one.file for one in rewrites}), 'file')}"


def rewrite_lines(rewrites: "Sequence[Rewrite]", here: "Path") -> list[str]:
    """What is written in place of which marks: each change of a file once."""
    places: dict[tuple[Path, str, str], list[int]] = {}
    for one in sorted(rewrites, key=lambda one: (one.file, one.line)):
        places.setdefault((one.file, one.old, one.new), []).append(one.line)
    lines: list[str] = []
    for (file, old, new), at in places.items():
        shown = file.relative_to(here) if file.is_relative_to(here) else file
        more = f" (and {len(at) - 1} more)" if len(at) > 1 else ""
        lines.append(f"{shown}:{at[0]}{more}: {old} → {new}")
    return lines


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
