"""Removes secrets from a recording that is on the disk: by the rules of today, and what the user names; also all prose.

Numbers, times, lengths, labels and the salt stay, so that the new file replays as the old one did.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType

import orjson

from ..errors import CassetteError
from ..frozen import frozen
from ..settings import read_settings
from ..tape.compression import MAGIC, Decompression, compressor
from ..tape.delta import Window
from ..tape.format import dumped, round_trip_line, tool_exchange_line
from ..tape.lines import Lines, Windows
from ..tape.model import Request, RoundTrip
from ..tape.named_file import opened
from ..tape.reader import Cassette
from .prose_of_tape import PROSE, ProseRemover, has_prose
from .redactor import Redactor


@frozen
class Scrubbed:
    """What was done to a recording."""

    changed: int
    """How many round trips and other lines are different now."""
    lines: int
    """How many the recording has."""
    other_names: int = 0
    """How many other names the replaced file has (hard links); they still have what was removed."""


def redactor_for(secrets: Sequence[str], salt: str | None) -> Redactor:
    """The rules of the working directory, and these secrets."""
    settings = read_settings()
    return Redactor.from_settings(settings, salt, tuple(re.escape(secret) for secret in secrets))


def scrub(path: Path, target: Path, secrets: Sequence[str] = (), *, prose: bool = False) -> Scrubbed:
    """Write the recording `path` without secrets to `target`; a file of that name is replaced in one step.

    With `prose`, all prose is replaced by neutral words too, and the labels, which quote it, are left out.

    Where `target` is a symbolic link, the file that it leads to is replaced.

    `secrets` are texts that are removed wherever they are, beside what the rules find. Raises CassetteError when a
    file cannot be read or written, or its prose cannot be removed; FormatError when `path` is not a cassette.
    """
    cassette = Cassette.load(path)
    remover = ProseRemover(cassette) if prose and has_prose(cassette.header) else None
    writer = _Writer(redactor_for(secrets, cassette.salt), prose=remover)
    target = target.resolve()
    other_names = target.stat().st_nlink - 1 if target.exists() else 0
    lines = _rewritten(path, target, writer)
    return Scrubbed(writer.changed, lines, other_names)


def rewrite(path: Path, target: Path, requests: Mapping[int, Request]) -> None:
    """Write the recording `path` to `target` with these requests in place of the recorded ones, by number; no secrets.

    Everything else stays, also what was recorded of tool servers. Raises as `scrub` does.
    """
    cassette = Cassette.load(path)
    if not has_prose(cassette.header):
        raise CassetteError(f"the prose of {str(path)!r} was removed, so nothing can be added to it; record it again")
    _rewritten(path, target, _Writer(redactor_for((), cassette.salt), requests))


def _rewritten(path: Path, target: Path, writer: "_Writer") -> int:
    """Write each line as the writer has it; how many there are."""
    with opened(path) as file:
        data = file.read()
    packed = data.startswith(MAGIC)
    head, *rest = (_unpacked(data) if packed else data).split(b"\n")
    kept = [writer.head(head)]
    kept += [writer.line(line, number) for number, line in enumerate(rest, 2) if line.strip()]
    text = b"".join(kept)
    _replace(target, _packed(text) if packed else text)
    return len(kept) - 1


class _Writer:
    """Makes each line of a recording again, without secrets."""

    def __init__(
        self,
        redactor: Redactor,
        requests: Mapping[int, Request] = MappingProxyType({}),
        prose: ProseRemover | None = None,
    ) -> None:
        self.changed = 0
        self._prose = prose
        self._new = requests
        self._redactor = redactor
        self._lines = Lines()
        self._windows = Windows()
        self._requests, self._answers = Window(), Window()

    def head(self, line: bytes) -> bytes:
        """The header; it says when the prose was removed."""
        return line + b"\n" if self._prose is None else dumped({**orjson.loads(line), PROSE: 1})

    def line(self, line: bytes, number: int) -> bytes:
        place = len(self._lines.trips)
        self._lines.add(line, number)
        trip = self._lines.read(place, self._windows) if len(self._lines.trips) > place else None
        if trip is None:
            if self._prose is not None:
                return self._prose.other_line(line, number)
            clean = self._redactor.body(line)
            self.changed += clean != line
            return clean + b"\n"
        try:
            clean_trip = self._redactor.round_trip(replace(trip, request=self._new.get(trip.index, trip.request)))
        except CassetteError:  # a body that is damaged
            if self._prose is not None:
                raise
            return self._redactor.body(line) + b"\n"
        if self._prose is not None:
            clean_trip = self._prose.round_trip(clean_trip)
        self.changed += clean_trip != trip
        return self._written(clean_trip)

    def _written(self, trip: RoundTrip) -> bytes:
        if wire := trip.tool_wire:
            body = trip.response.body if trip.response else b""
            line = tool_exchange_line(trip.index, trip, wire, body, self._answers.shorten(body))
            self._answers.add(trip.index, body)
        else:
            body = trip.request.body
            line = round_trip_line(trip.index, trip, body, self._requests.shorten(body))
            self._requests.add(trip.index, body)
        return line


def _unpacked(data: bytes) -> bytes:
    plain, _ = Decompression().feed(data, final=True)
    return plain


def _packed(text: bytes) -> bytes:
    stream = compressor()
    return stream.compress(text) + stream.flush(stream.FLUSH_FRAME)


def _replace(target: Path, data: bytes) -> None:
    try:
        file = NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False)  # noqa: SIM115 - below
        try:
            with file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(target)  # closed: Windows moves and deletes no open file
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    except OSError as exc:
        raise CassetteError(f"cannot write {str(target)!r}: {exc.strerror}; choose another place with -o") from exc
