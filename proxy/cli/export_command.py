"""`turntape export F --as FORMAT`: a cassette in the format of another tool."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from .exit_codes import OK

if TYPE_CHECKING:
    from turntape.cassettes.tape.reader import Cassette

type Export = Callable[[Cassette, argparse.Namespace], Iterable[bytes]]


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


def main(options: argparse.Namespace) -> int:
    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.tape.reader import Cassette

    cassette = Cassette.load(options.file)
    pieces = EXPORTS[options.format](cassette, options)
    if not options.out or options.out == "-":
        for piece in pieces:
            sys.stdout.buffer.write(piece)
    else:
        path = Path(options.out)
        if path.exists() and path.samefile(options.file):
            raise TurntapeError(f"{options.out!r} is the cassette itself; choose another name with --out")
        # Private like the cassette: what was said is in it.
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.writelines(pieces)
    for problem in cassette.problems:
        sys.stderr.write(f"turntape: {problem}\n")
    return OK


def _utf8(text: str) -> bytes:
    """Halves of surrogate pairs, which models emit, become the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
