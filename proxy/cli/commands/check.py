"""`turntape check F …`: findings and budgets, for a person and for CI."""

import argparse
import re
from typing import TYPE_CHECKING

from ...exit_codes import FINDINGS, OK, USAGE
from .. import argument_types as types
from ..command import Command
from ..option_groups import CASSETTES, add_format, add_output, add_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.inspector.check.check import Asked, Report

_ROUND_TRIP = re.compile(rb'\s*\{\s*"n"\s*:\s*(\d{1,18})\b')


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="F", nargs="+", help=CASSETTES)
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "info"),
        default="error",
        help="exit with 1 for any finding at or above this severity (default: error)",
    )
    parser.add_argument(
        "--only", type=types.names, action="extend", default=[], metavar="ID|LAYER", help="only these; repeatable"
    )
    parser.add_argument(
        "--ignore", type=types.names, action="extend", default=[], metavar="ID", help="not these; repeatable"
    )
    parser.add_argument("--max-cost", type=types.dollar_budget, metavar="USD", help="what a run may cost")
    parser.add_argument("--max-turns", type=types.turn_budget, metavar="N", help="how many turns a run may take")
    parser.add_argument(
        "--max-input-growth",
        type=types.growth,
        metavar="3x|200%",
        help="how much the input tokens of a thread may grow over those of its first turn",
    )
    parser.add_argument("--hints", action="store_true", help="also heuristic findings (tier H)")
    parser.add_argument("--lint", action="store_true", help="also advice on tools and settings")
    add_format(parser, ("text", "json", "junit", "github"))
    add_output(parser, "FILE", "write the report to FILE; the text is still printed")
    add_width(parser)


def main(options: argparse.Namespace) -> int:
    import sys

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


def _report(files: list[str], asked: "Asked") -> "Report":
    from dataclasses import replace

    from turntape.cassettes.errors import CassetteError
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.check.check import Checked, Report, check

    from ..cassette_files import named
    from ..waiting import Waiting

    checked: list[Checked] = []
    unread: list[tuple[str, str]] = []
    for file in named(files):
        if file.problem is not None:
            unread.append((file.name, file.problem))
            continue
        try:
            with Waiting(f"checking {file.name}"):
                cassette = Cassette.load(file.name)
                one = check(file.name, cassette, asked)
        except CassetteError as exc:
            unread.append((file.name, str(exc)))
            continue
        if cassette.problems and not one.round_trips:
            unread.append((file.name, f"nothing can be read from {file.name!r}: {cassette.problems[0]}"))
            continue
        checked.append(replace(one, problems=tuple(cassette.problems)))
    return Report(asked, tuple(checked), tuple(unread))


def _write(report: "Report", options: argparse.Namespace) -> None:
    """The report in its format; where that goes to a file, the text still goes to standard output."""
    import sys

    from ..text_output import refuse_source, write_text

    if options.output is None:
        sys.stdout.writelines(_rendered(report, options.format, options))
        return
    refuse_source(options.output, [one.name for one in report.checked])
    write_text(options.output, "".join(_rendered(report, options.format, options, to_file=True)))
    if options.format != "text":
        sys.stdout.writelines(_rendered(report, "text", options))


def _rendered(report: "Report", form: str, options: argparse.Namespace, *, to_file: bool = False) -> "Iterator[str]":
    from turntape.inspector.views.json.check_formats import as_json, github, junit

    match form:
        case "json":
            yield as_json(report)
        case "junit":
            yield junit(report)
        case "github":
            places = {one.name: _line_numbers(one.name) for one in report.checked}
            yield from (line + "\n" for line in github(report, places))
        case _:
            yield from _text(report, options, to_file)


def _text(report: "Report", options: argparse.Namespace, to_file: bool) -> "Iterator[str]":
    import os
    import sys

    from turntape.inspector.views.text.check_text import check_text
    from turntape.inspector.views.text.terminal_text import ansi

    from ...launch.terminal import coloured, columns

    colour = coloured(sys.stdout.isatty(), os.environ, options.color) and not (to_file and options.color == "auto")
    width = max(40, options.width or 80 if to_file else columns(options.width))
    yield from (ansi(line, colour) + "\n" for line in check_text(report, width))


def _line_numbers(name: str) -> dict[int, int]:
    """The line of each round trip in the file, from 1; none for a compressed file."""
    from pathlib import Path

    found: dict[int, int] = {}
    with Path(name).open("rb") as file:
        for number, line in enumerate(file, 1):
            if start := _ROUND_TRIP.match(line):
                found[int(start[1])] = number
    return found


COMMAND = Command(
    usage="turntape check F ... [--fail-on SEVERITY] [--max-cost USD]",
    description="Look for what went wrong, and for exceeded budgets. Exits with 1 for a finding at or above --fail-on "
    "or an exceeded budget, with 2 when a file cannot be read. Budgets apply to each run.",
    examples=(
        "turntape check run.cassette.jsonl --max-cost 0.50",
        "turntape check tests/cassettes --format junit -o findings.xml",
    ),
    add=add,
    main=main,
)
