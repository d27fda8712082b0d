"""`turntape show F`: the run as text, or one JSON object a round trip."""

import argparse
import sys

from .exit_codes import OK, USAGE
from .screen import colour, width


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.reader import Cassette

    cassette = Cassette.load(options.file)
    if options.json:
        from turntape.inspector.json_lines import show_json

        for line in show_json(cassette, hints=options.hints):
            sys.stdout.buffer.write(line.rstrip(b"\n") + b"\n")
        return OK
    from turntape.inspector.text import show_text

    if options.svg:
        from pathlib import Path

        from turntape.inspector.svg import svg
        from turntape.inspector.text import story

        lines = story(cassette, turn=options.turn, width=options.width or 100, hints=options.hints)
        Path(options.svg).write_text(svg(lines), encoding="utf-8")
        return OK
    written = 0
    columns, coloured = width(options.width, 100), colour(options.color)
    for line in show_text(cassette, turn=options.turn, colour=coloured, width=columns, hints=options.hints):
        sys.stdout.write(line.rstrip("\n") + "\n")
        written += 1
    if not written and options.turn is not None:
        sys.stderr.write(f"turntape: {options.file} has no turn {options.turn}\n")
        return USAGE
    return OK
