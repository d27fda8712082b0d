"""`turntape diff A B`: where two runs part, and which layer parted first."""

import argparse
import sys
from pathlib import Path

from .exit_codes import FINDINGS, OK
from .screen import colour, width


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.compare.run_diff import compare

    a, b = Cassette.load(options.a), Cassette.load(options.b)
    told = compare(a, b, _names(options.a, options.b), reasoning=not options.no_reasoning)
    if options.json:
        from turntape.inspector.views.json.show_json import dumps

        sys.stdout.buffer.write(dumps(told.as_json()) + b"\n")
    else:
        from turntape.inspector.views.text.compare_text import compare_text
        from turntape.inspector.views.text.terminal_text import ansi

        for line in compare_text(told, max(40, width(options.width))):
            sys.stdout.write(ansi(line, colour(options.color)) + "\n")
    for name, cassette in ((options.a, a), (options.b, b)):
        for problem in cassette.problems:
            sys.stderr.write(f"turntape: {name}: {problem}\n")
    return OK if told.first is None else FINDINGS


def _names(a: str, b: str) -> tuple[str, str]:
    """The files' names, with their folders where the names alone do not tell them apart."""
    short = Path(a).name, Path(b).name
    return short if short[0] != short[1] else (a, b)
