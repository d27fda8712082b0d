"""`turntape explain [ID|LAYER …]`: what a class of finding means, and what to do about it."""

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .exit_codes import OK, USAGE
from .screen import colour, width

if TYPE_CHECKING:
    from turntape.inspector.views.text.terminal_text import Line


def main(options: argparse.Namespace) -> int:
    from turntape.inspector.findings.docs import GROUPS, class_of, classes, unknown
    from turntape.inspector.views.text.terminal_text import ansi

    for name in options.names:
        if name not in GROUPS and class_of(name) is None:
            sys.stderr.write(f"turntape: {unknown(name)}\n")
            return USAGE
    if options.json:
        import json

        for one in classes():
            if not options.names or one.id in options.names or one.group in options.names:
                sys.stdout.write(json.dumps(one.as_json(), ensure_ascii=False) + "\n")
        return OK
    columns = max(40, width(options.width))
    for line in _lines(options.names, columns):
        sys.stdout.write(ansi(line, colour(options.color)) + "\n")
    return OK


def _lines(names: list[str], columns: int) -> "Iterator[Line]":
    from turntape.inspector.findings.docs import class_of
    from turntape.inspector.views.text.explain_text import explained, overview

    if not names:
        yield from overview(columns)
    for place, name in enumerate(names):
        if place:
            yield from ([], [])
        one = class_of(name)
        yield from overview(columns, [name]) if one is None else explained(one, columns)
