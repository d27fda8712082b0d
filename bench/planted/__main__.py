"""`make secrets`: 65 kinds of credentials in 37 places on both routes; exit code 1 when one is on the disk afterwards.

An exchange that gets no answer or leaves no record counts as a failure too: nothing was proved with it.
Each value is new. The recording and everything that commands write from it is searched for its parts: as bytes, with
escapes undone, decoded, inflated, and joined from the events of a stream. `-v` names every one that was found.
"""

import argparse
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TextIO

from turntape.cassettes import Cassette

from .kinds import KINDS
from .places import PLACES
from .traffic import ROUTES, Planted, planted, send
from .written import files, quiet, readings

PART = 12
"""Letters of a secret that nothing else has."""
_FIXED = {kind.name: [part for part in kind.parts if isinstance(part, str)] for kind in KINDS}
_TOKENS = re.compile(rb"[A-Za-z0-9_~+/.=-]{%d,}" % PART)


class Progress:
    """Writes how far a run is: the same line again on a terminal, and elsewhere a line every ten seconds."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._again = stream.isatty()
        self._next = 0.0

    def __call__(self, text: str) -> None:
        if self._again:
            self._stream.write(f"\r\x1b[K{text}")
        elif time.monotonic() >= self._next:
            self._next = time.monotonic() + 10
            self._stream.write(f"{text}\n")
        self._stream.flush()

    def end(self) -> None:
        """Nothing is left of the line on a terminal."""
        if self._again:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def parts(kind: str, value: str) -> Iterator[bytes]:
    """All parts of a value that are not the same in each value of its kind."""
    own = value
    for part in _FIXED[kind]:
        own = own.replace(part, "\n") if len(part) >= PART else own
    for piece in own.encode().split(b"\n"):
        begin = min(len(piece) // 3, 16) if len(piece) > 2 * PART else 0
        for at in range(begin, len(piece) - PART + 1):
            yield piece[at : at + PART]


def search(cassette: Path, sent: list[Planted], say: Callable[[str], None]) -> dict[Planted, set[str]]:
    """The secrets that are somewhere, and where. `say` gets what is written or searched."""
    wanted = {part: one for one in sent for part in parts(one.kind, one.value)}
    found: defaultdict[Planted, set[str]] = defaultdict(set)
    for name, data in files(cassette, say):
        say(f"searching {name}")
        for reading in readings(data):
            for token in _TOKENS.finditer(reading):
                text = token[0]
                for at in range(len(text) - PART + 1):
                    one = wanted.get(text[at : at + PART])
                    if one is not None:
                        found[one].add(name)
    return found


def table(found: dict[Planted, set[str]], places: Iterable[str] = PLACES) -> list[str]:
    """One line for each place with how many kinds were found, and which."""
    lines: list[str] = []
    for place in places:
        counts: list[str] = []
        for route in ROUTES:
            kinds = {one.kind for one in found if (one.place, one.route) == (place, route)}
            counts.append(f"{len(KINDS) - len(kinds):3} of {len(KINDS)}")
        kinds = sorted({one.kind for one in found if one.place == place})
        named = f"  left: {', '.join(kinds)}" if 0 < len(kinds) <= 8 else ""
        lines.append(f"{place:26} {counts[0]:>12} {counts[1]:>12}{named}")
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(prog="make secrets", description=__doc__)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="makes the values")
    parser.add_argument("--place", action="append", choices=PLACES, metavar="PLACE", help="this place alone")
    parser.add_argument("-v", action="store_true", help="name each secret that was found, and the files")
    given = parser.parse_args()
    say = Progress(sys.stderr)
    with tempfile.TemporaryDirectory(prefix="turntape-secrets-") as name:
        folder = Path(name)
        (folder / "tape").mkdir()
        quiet(folder / "home")
        os.chdir(folder)
        sent = [one for one in planted(given.seed) if not given.place or one[0].place in given.place]
        cassette = folder / "tape" / "run.cassette.jsonl"
        unanswered = send(cassette, folder / "authority", sent, say)
        unrecorded = len(sent) - sum(1 for _ in Cassette.load(cassette))
        found = search(cassette, [one for one, _ in sent], say)
    say.end()
    print(f"{'masked':26} {ROUTES[0]:>12} {ROUTES[1]:>12}")
    print("\n".join(table(found, given.place or PLACES)))
    if given.v:
        for one, names in found.items():
            print(f"{one.place} · {one.route} · {one.kind}: {one.value!r} in {', '.join(sorted(names))}")
    held = len(sent) - len(found)
    lost = f"{unanswered} got no answer, {unrecorded} left no record"
    print(f"{held:,} of {len(sent):,} masked everywhere; {lost}; --seed {given.seed}")
    return int(bool(found or unanswered or unrecorded))


if __name__ == "__main__":
    sys.exit(main())
