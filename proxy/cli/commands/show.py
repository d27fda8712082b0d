"""`turntape show F …`: runs as text, or one JSON object per round trip."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK
from .. import argument_types as types
from ..command import Command
from ..option_groups import CASSETTES, add_format, add_output, add_width

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TextIO

    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.views.text.terminal_text import Line

WIDTH = 100
"""Columns when the width of the output is unknown."""


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", nargs="+", help=CASSETTES)
    parser.add_argument("--turn", type=types.turn_number, metavar="N", help="only turn N, in full")
    parser.add_argument("--thread", metavar="T", help="only this thread: t1, t2, …")
    parser.add_argument("--hints", action="store_true", help="also heuristic findings (tier H)")
    view = parser.add_mutually_exclusive_group()
    view.add_argument("--findings", action="store_true", help="all findings: layer, evidence, fix")
    view.add_argument("--cost", action="store_true", help="the cost of each turn, as bars of tokens by kind")
    view.add_argument("--costs", action="store_true", help="what each piece of the prompts cost, most expensive first")
    view.add_argument(
        "--tools", action="store_true", help="the tool servers, and each tool run: result and what was seen"
    )
    view.add_argument(
        "--trajectory",
        action="store_true",
        help="messages, calls and results alone, for a review: no ids, times, prices",
    )
    add_format(parser, ("text", "json"), json="one JSON object per round trip; the same as --format json")
    add_output(parser, "FILE", "write to FILE (default: stdout)")
    parser.add_argument("--svg", metavar="FILE", help="write the text as an SVG picture to FILE")
    add_width(parser)


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.tape.reader import Cassette
    from turntape.cassettes.tape.trip_lines import LARGE

    from ..cassette_files import cassettes
    from ..text_output import refuse_source, write_text, writing

    if options.format == "json" and (given := _not_with_json(options)):
        raise TurntapeError(f"{given} is for text; leave it out, or leave out --json")
    files = cassettes(options.file)
    for option in ("turn", "thread", "svg"):
        if len(files) > 1 and getattr(options, option) is not None:
            raise TurntapeError(f"--{option} needs one cassette, and {len(files)} are given; name one of them")
    _select(options, files)
    if options.svg:
        from turntape.inspector.views.text.svg import svg

        lines = _lines(options, Cassette.load(files[0]), options.width or WIDTH, wrap=True)
        refuse_source(options.svg, files)
        write_text(options.svg, svg(lines))
        return OK
    with writing(options.output, files) as out:
        for number, name in enumerate(files):
            if number and options.format == "text":
                out.write("\n")
            _show(Cassette.load(name, longest=LARGE), options, out)
    return OK


def _select(options: argparse.Namespace, files: list[str]) -> None:
    """The address of a round trip selects its turn."""
    from turntape.cassettes.tape.reader import Cassette

    from ..selection import turn_of_round_trip
    from ..shipped_tapes import round_trip_of

    if len(files) == 1 and options.turn is None and (number := round_trip_of(options.file[0])) is not None:
        options.turn, options.thread = turn_of_round_trip(Cassette.load(files[0]), number)


def _not_with_json(options: argparse.Namespace) -> str | None:
    """The first option that has no meaning with JSON, if one was given."""
    for option in ("findings", "cost", "costs", "tools", "trajectory", "svg"):
        if getattr(options, option):
            return f"--{option}"
    return None


def _show(cassette: "Cassette", options: argparse.Namespace, out: "TextIO") -> None:
    import os

    from turntape.inspector.views.text.terminal_text import ansi

    from ...launch.terminal import coloured, columns

    if options.format == "json":
        _show_json(cassette, options, out)
        return
    # A file has no terminal, and so no width.
    width = columns(options.width, WIDTH) if options.output in (None, "-") else options.width or WIDTH
    colour = coloured(out.isatty(), os.environ, options.color)
    for line in _lines(options, cassette, width, wrap=out.isatty() or options.width is not None):
        out.write(ansi(line, colour).rstrip("\n") + "\n")


def _show_json(cassette: "Cassette", options: argparse.Namespace, out: "TextIO") -> None:
    """One object per line; with --turn only the round trips of that turn."""
    from turntape.inspector.views.json.show_json import show_json

    from ..selection import check_selection

    written = False
    if options.turn is not None:
        check_selection(cassette, options.turn, options.thread)
    for line in show_json(cassette, thread=options.thread, hints=options.hints):
        if options.turn is None or _turn_of(line) == options.turn:
            out.buffer.write(line.rstrip(b"\n") + b"\n")
            written = True
    if not written and options.thread is not None:
        check_selection(cassette, options.turn, options.thread)


def _turn_of(line: bytes) -> object:
    import json

    return json.loads(line)["turn"]


def _lines(options: argparse.Namespace, cassette: "Cassette", width: int, *, wrap: bool) -> "list[Line]":
    """The requested text as styled lines. Raises TurntapeError when there is no such turn or thread.

    `wrap`: whether the lines of a trajectory are wrapped, too, which git and a review want as they are.
    """
    from pathlib import Path

    from turntape.inspector.wire.printable import safe

    from ..selection import check_selection

    path = cassette.path or Path()
    name = safe(path.name)
    if options.turn is not None or options.thread is not None:
        check_selection(cassette, options.turn, options.thread)
    lines: Iterable[Line]
    if options.trajectory:
        from turntape.inspector.run.labels import label_all
        from turntape.inspector.views.text.trajectory_text import trajectory, trajectory_lines

        text = trajectory(label_all(cassette), thread=options.thread, turn=options.turn)
        lines = trajectory_lines(text, width if wrap else None)
    elif options.findings:
        from turntape.inspector.views.text.findings_text import findings_text

        lines = findings_text(cassette, name, thread=options.thread, width=width, hints=options.hints)
    elif options.cost:
        from turntape.inspector.run.run_index import Run
        from turntape.inspector.views.text.cost_text import cost_text

        lines = cost_text(Run.load(path).rows, name, thread=options.thread, width=width)
    elif options.costs:
        from turntape.inspector.run.run_index import Run
        from turntape.inspector.views.text.costs_text import costs_text

        lines = costs_text(Run.load(path).ledger, name, thread=options.thread, width=width)
    elif options.tools:
        from turntape.inspector.views.text.tool_text import tools_text

        lines = tools_text(cassette, name, thread=options.thread, width=width)
    else:
        from turntape.inspector.views.text.run_text import story

        lines = story(cassette, turn=options.turn, thread=options.thread, width=width, hints=options.hints)
    return list(lines)


COMMAND = Command(
    usage="turntape show F ... [--turn N] [--json|--findings|--costs|--tools|...]",
    description="Show cassettes as text: for each turn what the model emitted, how the API finished it, what the "
    "client did with it, its tokens and its cost.",
    examples=(
        "turntape show run.cassette.jsonl",
        "turntape show run.cassette.jsonl --turn 3",
        "turntape show run.cassette.jsonl --costs",
    ),
    add=add,
    main=main,
)
