"""`turntape lint F …`: secrets that are still in recordings."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import FINDINGS, OK, USAGE
from ..command import Command
from ..option_groups import CASSETTES, add_format, add_output, add_redaction

if TYPE_CHECKING:
    from collections.abc import Iterator


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="F", nargs="+", help=CASSETTES)
    add_format(parser, ("text", "json"), json="one JSON object per file; the same as --format json")
    add_output(parser, "FILE", "write to FILE (default: stdout)")
    add_redaction(parser)


def main(options: argparse.Namespace) -> int:
    import json
    import sys

    from turntape.cassettes.counted import several
    from turntape.cassettes.errors import TurntapeError
    from turntape.inspector.wire.printable import safe

    from ..cassette_files import named
    from ..text_output import writing
    from ..waiting import Waiting

    found = failed = read = 0
    with writing(options.output) as out:
        for one in named(options.files):
            try:
                with Waiting(f"searching {one.name}"):
                    places = list(_places(one.name, one.problem))
            except TurntapeError as exc:
                sys.stderr.write(f"turntape: {exc}\n")
                failed += 1
                continue
            read += 1
            found += len(places)
            if options.format == "json":
                out.write(json.dumps({"file": one.name, "secrets": places}, ensure_ascii=False) + "\n")
            else:
                out.writelines(f"{safe(one.name)}: a secret in {safe(place)}\n" for place in places)
    if options.format == "text" and read:
        files = several(read, "recording")
        sys.stderr.write(
            f"turntape: {several(found, 'secret')} in {files}; revoke what was exposed, and remove it with "
            "`turntape scrub F -o OUT`\n"
            if found
            else f"turntape: no secret in {files}\n"
        )
    return USAGE if failed else FINDINGS if found else OK


def _places(name: str, problem: str | None) -> "Iterator[str]":
    from turntape.cassettes.errors import TurntapeError
    from turntape.cassettes.redaction.lint import secrets_in
    from turntape.cassettes.redaction.redactor import Redactor
    from turntape.cassettes.tape.reader import Cassette

    if problem is not None:
        raise TurntapeError(problem)
    cassette = Cassette.load(name)
    yield from secrets_in(cassette, Redactor.from_config(salt=cassette.salt))


COMMAND = Command(
    usage="turntape lint F ...",
    description="Find secrets in recordings: keys, tokens and passwords, by the rules of recording and by `redact` of "
    "the settings. The exit code is 1 when there is one. The secret itself is never printed. docs/secrets.md has the "
    "lines for pre-commit.",
    examples=("turntape lint tests/cassettes",),
    add=add,
    main=main,
)
