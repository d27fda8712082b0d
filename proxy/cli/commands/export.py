"""`turntape export F --format FORMAT`: a cassette in the format of another tool."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from ...exit_codes import OK
from ..command import Command
from ..option_groups import ONE_CASSETTE, add_output

if TYPE_CHECKING:
    from turntape.cassettes.tape.reader import Cassette

type Export = Callable[[Cassette, argparse.Namespace], Iterable[bytes]]


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help=ONE_CASSETTE)
    parser.add_argument(
        "--format", "--as", choices=tuple(EXPORTS), required=True, help="the format to write (--as is the old name)"
    )
    add_output(parser, "FILE", "write to FILE (default: stdout)")
    parser.add_argument("--no-content", action="store_true", help="otel: leave out prompts, messages and tools")


def main(options: argparse.Namespace) -> int:
    import sys

    from turntape.cassettes.tape.reader import Cassette

    from ..cassette_files import one_cassette
    from ..text_output import private_bytes, refuse_source

    source = one_cassette(options.file)
    cassette = Cassette.load(source)
    pieces = EXPORTS[options.format](cassette, options)
    if not options.output or options.output == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
    else:
        refuse_source(options.output, [source])
        # Private like the cassette: it holds the same conversation.
        with private_bytes(options.output) as file:
            file.writelines(pieces)
    for problem in cassette.problems:
        sys.stderr.write(f"turntape: {problem}\n")
    return OK


def _har(cassette: "Cassette", _options: argparse.Namespace) -> Iterable[bytes]:
    from turntape.cassettes.exporters.har import har

    return har(cassette)


def _otel(cassette: "Cassette", options: argparse.Namespace) -> Iterable[bytes]:
    from turntape.inspector.exporters.otel import otel

    return (_utf8(otel(cassette, content=not options.no_content)),)


def _atif(cassette: "Cassette", _options: argparse.Namespace) -> Iterable[bytes]:
    from turntape.inspector.exporters.atif import atif

    return (_utf8(atif(cassette)),)


def _markdown(cassette: "Cassette", _options: argparse.Namespace) -> Iterable[bytes]:
    from turntape.inspector.exporters.markdown import markdown

    title = cassette.path.name if cassette.path else "Run"
    return (_utf8(line + "\n") for line in markdown(cassette, title))


EXPORTS: Mapping[str, Export] = {"har": _har, "otel": _otel, "atif": _atif, "markdown": _markdown}


def _utf8(text: str) -> bytes:
    """UTF-8; halves of surrogate pairs, which models emit, become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


COMMAND = Command(
    usage="turntape export F --format har|otel|atif|markdown [-o FILE]",
    description="Write a cassette in the format of another tool. HAR keeps the bytes. OpenTelemetry (OTLP/JSON spans "
    "by the GenAI conventions), ATIF (trajectories of Harbor) and Markdown keep the meaning.",
    examples=("turntape export run.cassette.jsonl --format har -o run.har",),
    add=add,
    main=main,
)
