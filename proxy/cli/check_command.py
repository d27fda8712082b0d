"""`turntape check F …`: findings and budgets, for a person and for CI."""

import argparse
import glob
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_codes import FINDINGS, OK, USAGE
from .screen import colour, width

if TYPE_CHECKING:
    from turntape.inspector.check.check import Asked, Report

_ROUND_TRIP = re.compile(rb'\s*\{\s*"n"\s*:\s*(\d+)')
_SUFFIXES = ("*.cassette.jsonl", "*.cassette.jsonl.zst")


def main(options: argparse.Namespace) -> int:
    from turntape.inspector.findings.docs import LAYERS, class_of, unknown

    for name in (*options.only, *options.ignore):
        if class_of(name) is None and (name not in LAYERS or name in options.ignore):
            sys.stderr.write(f"turntape: {unknown(name)}\n")
            return USAGE
    report = _report(options.files, _asked(options))
    _write(report, options)
    sys.stdout.flush()
    for _, sentence in report.unread:
        sys.stderr.write(f"turntape: {sentence}\n")
    return USAGE if report.unread else FINDINGS if report.failed else OK


def _asked(options: argparse.Namespace) -> "Asked":
    from turntape.inspector.check.budgets import Budgets
    from turntape.inspector.check.check import Asked

    return Asked(
        options.fail_on,
        frozenset(options.only),
        frozenset(options.ignore),
        options.hints,
        options.lint,
        Budgets(options.max_cost, options.max_turns, options.max_input_growth),
    )


def _files(given: list[str]) -> Iterator[tuple[str, str | None]]:
    """Each file once, with what is wrong with its name; folders give their cassettes, patterns what they match."""
    seen: set[str] = set()
    for name in given:
        path, problem = Path(name), None
        names = [name]
        if path.is_dir():
            names = sorted(str(found) for suffix in _SUFFIXES for found in path.rglob(suffix))
            problem = f"the folder {name!r} holds no *.cassette.jsonl; give a file, or the folder of the recordings"
        elif not path.exists() and glob.has_magic(name):
            names = sorted(glob.glob(name, recursive=True))  # noqa: PTH207 - a pattern may be absolute
            problem = f"no file matches {name!r}; check the pattern"
        if not names:
            yield name, problem
        for one in names:
            if one not in seen:
                seen.add(one)
                yield one, None


def _report(files: list[str], asked: "Asked") -> "Report":
    from turntape.cassettes.errors import CassetteError
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.check.check import Checked, Report, check

    checked: list[Checked] = []
    unread: list[tuple[str, str]] = []
    for name, problem in _files(files):
        if problem is not None:
            unread.append((name, problem))
            continue
        try:
            cassette = Cassette.load(name)
            one = check(name, cassette, asked)
        except CassetteError as exc:
            unread.append((name, str(exc)))
            continue
        checked.append(replace(one, problems=tuple(cassette.problems)))
    return Report(asked, tuple(checked), tuple(unread))


def _write(report: "Report", options: argparse.Namespace) -> None:
    """The report in its format; where that goes to a file, the text still goes to standard output."""
    if options.output is None:
        sys.stdout.writelines(_rendered(report, options.format, options))
        return
    with Path(options.output).open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(_rendered(report, options.format, options, to_file=True))
    if options.format != "text":
        sys.stdout.writelines(_rendered(report, "text", options))


def _rendered(report: "Report", form: str, options: argparse.Namespace, *, to_file: bool = False) -> Iterator[str]:
    from turntape.inspector.views.json.check_formats import as_json, github, junit

    match form:
        case "json":
            yield as_json(report)
        case "junit":
            yield junit(report)
        case "github":
            yield from (line + "\n" for line in github(report, {one.name: _lines(one.name) for one in report.checked}))
        case _:
            from turntape.inspector.views.text.check_text import check_text
            from turntape.inspector.views.text.terminal_text import ansi

            coloured = colour(options.color) and not (to_file and options.color == "auto")
            columns = max(40, options.width or 80 if to_file else width(options.width))
            yield from (ansi(line, coloured) + "\n" for line in check_text(report, columns))


def _lines(name: str) -> dict[int, int]:
    """The line of the file on which each round trip stands; none for a compressed one."""
    found: dict[int, int] = {}
    with Path(name).open("rb") as file:
        for number, line in enumerate(file, 1):
            if begun := _ROUND_TRIP.match(line):
                found[int(begun[1])] = number
    return found
