"""`turntape show F`: the run as text, or one JSON object a round trip."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_codes import OK, USAGE
from .screen import colour, width

if TYPE_CHECKING:
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.views.text.terminal_text import Line


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.tape.reader import Cassette

    cassette = Cassette.load(options.file)
    written = 0
    if options.json:
        from turntape.inspector.views.json.show_json import show_json

        for line in show_json(cassette, thread=options.thread, hints=options.hints):
            sys.stdout.buffer.write(line.rstrip(b"\n") + b"\n")
            written += 1
    elif options.svg:
        from turntape.inspector.views.text.svg import svg

        lines = list(_lines(options, cassette, options.width or 100))
        written = len(lines)
        if written:
            Path(options.svg).write_text(svg(lines), encoding="utf-8")
    else:
        from turntape.inspector.views.text.terminal_text import ansi

        coloured = colour(options.color)
        for line in _lines(options, cassette, width(options.width, 100)):
            sys.stdout.write(ansi(line, coloured).rstrip("\n") + "\n")
            written += 1
    if not written and (options.turn is not None or options.thread is not None):
        sys.stderr.write(f"turntape: {options.file} has no {_asked(options)}\n")
        return USAGE
    return OK


def _lines(options: argparse.Namespace, cassette: "Cassette", width: int) -> "Iterable[Line]":
    """What was asked for, as styled lines."""
    name = Path(options.file).name
    if options.thread is not None and (options.findings or options.cost):
        from turntape.inspector.run.labels import label_stream

        if all(one.label["thread"] != options.thread for _, one in label_stream(cassette)):
            return []
    if options.findings:
        from turntape.inspector.views.text.findings_text import findings_text

        return findings_text(cassette, name, thread=options.thread, width=width, hints=options.hints)
    if options.cost:
        from turntape.inspector.run.run_index import Run
        from turntape.inspector.views.text.cost_text import cost_text

        return cost_text(Run.load(options.file).rows, name, thread=options.thread, width=width)
    from turntape.inspector.views.text.run_text import story

    return story(cassette, turn=options.turn, thread=options.thread, width=width, hints=options.hints)


def _asked(options: argparse.Namespace) -> str:
    turn = f"turn {options.turn}" if options.turn is not None else ""
    thread = f"thread {options.thread!r}" if options.thread is not None else ""
    return " of ".join(filter(None, (turn, thread)))
