"""`turntape scrub F`: a recording without its secrets."""

import argparse
from typing import TYPE_CHECKING

from ...exit_codes import OK
from ..argument_types import file_name
from ..command import Command
from ..option_groups import ONE_CASSETTE, add_redaction

if TYPE_CHECKING:
    from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="F", help=ONE_CASSETTE)
    place = parser.add_mutually_exclusive_group(required=True)
    place.add_argument(
        "-o", "--output", "--out", type=file_name, metavar="OUT", help="write the clean recording to OUT"
    )
    place.add_argument("--in-place", action="store_true", help="replace F by the clean recording")
    parser.add_argument(
        "--secrets",
        metavar="FILE",
        help="also remove the texts in FILE, one a line; - reads them from stdin, so that no shell history has them",
    )
    parser.add_argument(
        "--prose",
        action="store_true",
        help="also replace all prose by neutral words: prompts, answers, reasoning, arguments and results of tools",
    )
    add_redaction(parser)


def main(options: argparse.Namespace) -> int:
    import sys
    from pathlib import Path

    from turntape.cassettes.counted import several
    from turntape.cassettes.redaction.scrub import scrub

    from ..cassette_files import one_cassette
    from ..waiting import Waiting

    path = Path(one_cassette(options.file))
    target = path if options.in_place else _new(path, Path(options.output))
    secrets = _secrets(options.secrets) if options.secrets else []
    with Waiting(f"searching {path}"):
        done = scrub(path, target, secrets, prose=options.prose)
    lines = several(done.lines, "line")
    what = "secrets and prose" if options.prose else "secrets"
    nothing = "no secret and no prose" if options.prose else "no secret"
    sys.stderr.write(
        f"turntape: {what} removed from {done.changed} of {lines}: {target}\n"
        if done.changed
        else f"turntape: {nothing} was found in {lines}: {target}\n"
    )
    if done.other_names:
        sys.stderr.write(
            f"turntape: the old file has {several(done.other_names, 'other name')} (hard links), which still have what "
            "was removed; scrub or delete them too\n"
        )
    return OK


def _new(path: "Path", target: "Path") -> "Path":
    from turntape.cassettes.errors import CassetteError

    if target.exists():
        hint = "use --in-place to replace it" if target.samefile(path) else "choose another file or remove it first"
        raise CassetteError(f"{str(target)!r} exists already; {hint}")
    return target


def _secrets(name: str) -> list[str]:
    """The lines of a file. Raises CassetteError when it cannot be read, or has a line that is too short to be one."""
    import sys
    from pathlib import Path

    from turntape.cassettes.errors import CassetteError

    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text()
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "it is not UTF-8 text"
        raise CassetteError(
            f"cannot read the secrets in {name!r}: {reason}; name a text file, one secret a line"
        ) from exc
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    short = next((number for number, line in enumerate(lines, 1) if len(line) < _SHORTEST), None)
    if short is not None:
        raise CassetteError(
            f"secret {short} in {name!r} has fewer than {_SHORTEST} characters; it would be found everywhere"
        )
    return lines


_SHORTEST = 4

COMMAND = Command(
    usage="turntape scrub F (-o OUT | --in-place) [--secrets FILE] [--prose]",
    description="Remove secrets from a recording: by the rules of today, which may be newer than the recording, and "
    "the texts that you name; with --prose all prose too. Everything keeps its place and its length, so the recording "
    "replays as before. Revoke a secret as well: whoever had the file may have it.",
    examples=("turntape scrub run.cassette.jsonl -o clean.cassette.jsonl",),
    add=add,
    main=main,
)
