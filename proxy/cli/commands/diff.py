"""`turntape diff A B`: where two runs differ first, and in which layer."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import FINDINGS, OK
from ..command import Command
from ..option_groups import add_format, add_output, add_width

if TYPE_CHECKING:
    from typing import TextIO


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("a", metavar="A", help="a cassette, or a folder")
    parser.add_argument("b", metavar="B", help="the cassette or the folder to compare with it")
    add_format(parser, ("text", "json"), json="each comparison as one JSON object; the same as --format json")
    add_output(parser, "FILE", "write to FILE (default: stdout)")
    parser.add_argument("--no-reasoning", action="store_true", help="ignore differences in reasoning")
    add_width(parser)


def main(options: argparse.Namespace) -> int:
    import sys

    from ..text_output import writing

    pairs, alone = _pairs(options.a, options.b)
    same = not alone
    with writing(options.output, [name for pair in pairs for name in pair]) as out:
        for number, (a, b) in enumerate(pairs):
            if number and options.format == "text":
                out.write("\n")
            same = _compare(a, b, options, out) and same
        out.flush()
    for name, folder in alone:
        sys.stderr.write(f"turntape: {name!r} has no counterpart in {folder!r}\n")
    return OK if same else FINDINGS


def _pairs(a: str, b: str) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The cassettes to compare, and those of two folders that the other folder does not have.

    Raises TurntapeError when one is a folder and the other is not, or when nothing can be compared.
    """
    from pathlib import Path

    from turntape.cassettes.errors import TurntapeError

    from ..cassette_files import cassettes, one_cassette

    if not (Path(a).is_dir() and Path(b).is_dir()):
        return [(one_cassette(a), one_cassette(b))], []
    left = {str(Path(name).relative_to(a)): name for name in cassettes([a])}
    right = {str(Path(name).relative_to(b)): name for name in cassettes([b])}
    if len(left) == len(right) == 1:
        return [(next(iter(left.values())), next(iter(right.values())))], []
    pairs = [(left[name], right[name]) for name in left if name in right]
    if not pairs:
        raise TurntapeError(f"no cassette in {a!r} has the name of one in {b!r}; give two files")
    alone = [(left[name], b) for name in left if name not in right]
    return pairs, [*alone, *((right[name], a) for name in right if name not in left)]


def _compare(a: str, b: str, options: argparse.Namespace, out: "TextIO") -> bool:
    """Write the comparison of two cassettes; True when the runs are equal."""
    import os
    import sys

    from turntape.cassettes.tape.reader import Cassette
    from turntape.inspector.compare.run_diff import compare

    from ..waiting import Waiting

    with Waiting(f"comparing {' and '.join(_names(a, b))}"):
        left, right = Cassette.load(a), Cassette.load(b)
        comparison = compare(left, right, _names(a, b), reasoning=not options.no_reasoning)
    if options.format == "json":
        from turntape.inspector.views.json.show_json import dumps

        out.buffer.write(dumps(comparison.as_json()) + b"\n")
    else:
        from turntape.inspector.views.text.compare_text import compare_text
        from turntape.inspector.views.text.terminal_text import ansi

        from ...launch.terminal import coloured, columns

        colour = coloured(out.isatty(), os.environ, options.color)
        for line in compare_text(comparison, max(40, columns(options.width))):
            out.write(ansi(line, colour) + "\n")
    for name, cassette in ((a, left), (b, right)):
        for problem in cassette.problems:
            sys.stderr.write(f"turntape: {name}: {problem}\n")
    return comparison.first is None


def _names(a: str, b: str) -> tuple[str, str]:
    """The file names; with their folders if both have the same name."""
    from pathlib import Path

    short = Path(a).name, Path(b).name
    return short if short[0] != short[1] else (a, b)


COMMAND = Command(
    usage="turntape diff A B [--json]",
    description="Compare two runs turn by turn, thread by thread, and name the first turn that differs: in its request "
    "(the client), in its emission (the model), or in its finish (the API). Fresh ids, signatures and today's date are "
    "ignored. With two folders, cassettes of the same name are compared. Exits with 1 when the runs differ.",
    examples=("turntape diff good.cassette.jsonl bad.cassette.jsonl",),
    add=add,
    main=main,
)
