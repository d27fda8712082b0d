"""`turntape show F`: the run as text, or one JSON object a round trip."""

import argparse
import os
import shutil
import sys

from .exit_codes import OK, USAGE


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.reader import Cassette

    cassette = Cassette.load(options.file)
    if options.json:
        from turntape.inspector.json_lines import show_json

        for line in show_json(cassette):
            sys.stdout.buffer.write(line.rstrip(b"\n") + b"\n")
        return OK
    from turntape.inspector.text import show_text

    if options.svg:
        from pathlib import Path

        from turntape.inspector.svg import svg
        from turntape.inspector.text import story

        width = options.width or 100
        Path(options.svg).write_text(svg(story(cassette, turn=options.turn, width=width)), encoding="utf-8")
        return OK
    written = 0
    for line in show_text(cassette, turn=options.turn, colour=_colour(options.color), width=_width(options.width)):
        sys.stdout.write(line.rstrip("\n") + "\n")
        written += 1
    if not written and options.turn is not None:
        sys.stderr.write(f"turntape: {options.file} has no turn {options.turn}\n")
        return USAGE
    return OK


def _colour(choice: str) -> bool:
    from .recording import coloured

    return choice == "always" or (choice == "auto" and coloured(sys.stdout.isatty(), os.environ))


def _width(asked: int | None) -> int:
    # 100 columns in a pipe or a file, where nothing says how wide the reader is.
    return asked or shutil.get_terminal_size((100, 24)).columns
