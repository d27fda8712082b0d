"""`turntape import --pytest`: moves a suite of tests, and says line by line what changes."""

import importlib.util
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from turntape.cassettes.counted import several
from turntape.cassettes.excerpts import listed
from turntape.cassettes.importers.conversion import Done, convert
from turntape.cassettes.importers.suite import NAMED, Move
from turntape.cassettes.importers.suite_marks import Rewrite
from turntape.cassettes.importers.suite_survey import Survey, survey

from .waiting import Waiting

_OTHERS = (("pytest_recording", "recording"), ("pytest_vcr", "vcr"), ("cassetter", "cassetter"))
"""Modules of the plugins that are replaced, and how `-p no:` names them."""


def move_suite(tests: Sequence[str], say: Callable[[str], object], *, apply: bool, force: bool) -> bool:
    """Move the suite in these files and folders, or only say what would change; False when a recording was left out.

    `say` gets one line at a time. Raises TurntapeError if pytest ends early.
    """
    with tempfile.TemporaryDirectory() as folder:  # for recordings that only the suite itself can read
        with Waiting(f"pytest collects {shlex.join(tests)}") as waiting:
            suite = survey(tests, Path(folder), waiting.say)
        move = Move.of(suite.tests, suite.unread, root=suite.root, ini=suite.ini)
        move.add_direct_uses([Path(one.partition("::")[0]) for one in tests])
        for line in _changes(move, suite, tests):
            say(line)
        plan = sorted(move.plan, key=lambda pair: str(pair[1]))
        if not apply:
            would = _recordings(target for _, target in plan)
            say(
                f"would convert {would} and rewrite {_places(move.rewrites)}; nothing was changed, add --apply to do it"
            )
            return True
        return _applied(move, plan, tests, say, force=force)


def _changes(move: Move, suite: Survey, tests: Sequence[str]) -> Iterator[str]:
    """What is rewritten, kept, left out and not understood."""
    yield from rewrite_lines(move.rewrites, Path.cwd())
    if move.ini is not None:
        for line in move.ini.lines:
            yield f"{move.ini.file}: {line}"
    for what in move.unmapped:
        yield f"not mapped: {what}"
    if move.story:
        values = listed(sorted({repr(value) for its in move.story.values() for value in its}), NAMED)
        yield (
            f"kept: {values}, which {several(len(move.story), 'test file')} contain{'s' * (len(move.story) == 1)}: "
            "redact_keep in the marks, as the recordings call this a password"
        )
    if suite.apart:
        names = listed([one.name for one in suite.apart], NAMED)
        yield (
            f"collected apart: {several(len(suite.apart), 'file')} that pytest does not collect together with all of "
            f"{shlex.join(tests)}: {names}; {suite.apart[0].reason}; "
            f"run {'it' if len(suite.apart) == 1 else 'them'} apart too"
        )
    if move.dropped:
        count = several(sum(map(len, move.dropped.values())), "recorded round trip")
        yield (
            f"left out: {count} in {several(len(move.dropped), 'file')}, which vcrpy never plays: before_record_… of "
            "the suite drops them, or allow_playback_repeats takes an earlier one"
        )
    if move.uses:
        file, line = move.uses[0]
        beside = f"{several(len(move.beside), 'recording')} beside themselves"
        yield f"use_cassette: {several(len(move.uses), 'use')}, the first in {file}:{line}; {beside}"


def _applied(
    move: Move,
    plan: Sequence[tuple[Path, Path]],
    tests: Sequence[str],
    say: Callable[[str], object],
    *,
    force: bool,
) -> bool:
    """Convert the recordings and rewrite the files; False when a recording was left out."""
    results = list(convert(plan, force=force, dropped=move.dropped, kept=move.kept))
    alone = list(convert(move.beside, force=force))
    problems = [done.problem for done in (*results, *alone) if done.problem]
    for problem in problems:
        say(f"left out: {problem}")
    move.apply()
    say(f"converted {_converted(results, alone)} and rewrote {_places(move.rewrites)}; {_to_run(tests)}")
    return not problems


def _converted(results: Iterable[Done], alone: Sequence[Done]) -> str:
    said = _recordings(done.target for done in results if done.target)
    if alone:
        said += f", {several(sum(done.target is not None for done in alone), 'recording')} beside themselves"
    return said


def _to_run(tests: Sequence[str]) -> str:
    off = "".join(f" -p no:{name}" for module, name in _OTHERS if importlib.util.find_spec(module))
    return f"run the tests with: {Path(sys.executable).name} -m pytest{off} {shlex.join(tests)}"


def _recordings(targets: Iterable[Path]) -> str:
    """How many recordings for how many tests."""
    found = list(targets)
    return f"{several(len(found), 'recording')} for {several(len({*found}), 'test')}"


def _places(rewrites: Sequence[Rewrite]) -> str:
    """How many marks and imports in how many files."""
    marks = several(sum(not one.is_import for one in rewrites), "mark")
    imports = sum(one.is_import for one in rewrites)
    others = f" and {several(imports, 'import')}" if imports else ""
    return f"{marks}{others} in {several(len({one.file for one in rewrites}), 'file')}"


def rewrite_lines(rewrites: Sequence[Rewrite], here: Path) -> list[str]:
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
