"""`turntape explain [ID|LAYER …]`: what a finding means, and how to fix it."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK, USAGE
from ..command import Command
from ..option_groups import add_format, add_output, add_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turntape.inspector.views.text.terminal_text import Line


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", metavar="ID", nargs="*", help="a finding, or a layer (default: all findings by layer)")
    add_format(parser, ("text", "json"), json="one JSON object per finding; the same as --format json")
    add_output(parser, "FILE", "write to FILE (default: stdout)")
    add_width(parser)


def main(options: argparse.Namespace) -> int:
    import os
    import sys

    from turntape.inspector.findings.docs import GROUPS, class_of, classes, unknown
    from turntape.inspector.views.text.terminal_text import ansi

    from ...launch.terminal import coloured, columns
    from ..text_output import writing

    for name in options.names:
        if name not in GROUPS and class_of(name) is None:
            sys.stderr.write(f"turntape: {unknown(name)}\n")
            return USAGE
    with writing(options.output) as out:
        if options.format == "json":
            import json

            for one in classes():
                if not options.names or not {one.group, *one.names}.isdisjoint(options.names):
                    out.write(json.dumps(one.as_json(), ensure_ascii=False) + "\n")
            return OK
        colour = coloured(out.isatty(), os.environ, options.color)
        for line in _lines(options.names, max(40, columns(options.width))):
            out.write(ansi(line, colour) + "\n")
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


COMMAND = Command(
    usage="turntape explain [ID ...]",
    description="Say what a finding means: layer, severity, tier, protocols, when it does not fire, an example, and "
    "the fix. Without ID, list all findings by layer.",
    examples=("turntape explain client-missing-tool-result", "turntape explain api"),
    add=add,
    main=main,
)
