"""Removes secrets from a recording that is on the disk: by the rules of today, and what the user names.

Numbers, times, lengths, labels and the salt stay, so that the new file replays as the old one did.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import MappingProxyType

from ..errors import CassetteError
from ..settings import read_settings
from ..tape.compression import MAGIC, Decompression, compressor
from ..tape.delta import Window
from ..tape.format import round_trip_line, tool_exchange_line
from ..tape.lines import Lines, Windows
from ..tape.model import Request, RoundTrip
from ..tape.reader import Cassette
from .redactor import Redactor


@dataclass(frozen=True, slots=True)
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


def scrub(path: Path, target: Path, secrets: Sequence[str] = ()) -> Scrubbed:
    """Write the recording `path` without secrets to `target`; a file of that name is replaced in one step.

    Where `target` is a symbolic link, the file that it leads to is replaced.

    `secrets` are texts that are removed wherever they are, beside what the rules find. Raises CassetteError when a
    file cannot be read or written, FormatError when `path` is not a cassette.
    """
    writer = _Writer(redactor_for(secrets, Cassette.load(path).salt))
    target = target.resolve()
    other_names = target.stat().st_nlink - 1 if target.exists() else 0
    lines = _rewritten(path, target, writer)
    return Scrubbed(writer.changed, lines, other_names)


def rewrite(path: Path, target: Path, requests: Mapping[int, Request]) -> None:
    """Write the recording `path` to `target` with these requests in place of the recorded ones, by number; no secrets.

    Everything else stays, also what was recorded of tool servers. Raises as `scrub` does.
    """
    _rewritten(path, target, _Writer(redactor_for((), Cassette.load(path).salt), requests))


def _rewritten(path: Path, target: Path, writer: "_Writer") -> int:
    """Write each line as the writer has it; how many there are."""
    data = path.read_bytes()
    packed = data.startswith(MAGIC)
    head, *rest = (_unpacked(data) if packed else data).split(b"\n")
    kept = [head + b"\n"]
    kept += [writer.line(line, number) for number, line in enumerate(rest, 2) if line.strip()]
    text = b"".join(kept)
    _replace(target, _packed(text) if packed else text)
    return len(kept) - 1


class _Writer:
    """Makes each line of a recording again, without secrets."""

    def __init__(self, redactor: Redactor, requests: Mapping[int, Request] = MappingProxyType({})) -> None:
        self.changed = 0
        self._new = requests
        self._redactor = redactor
        self._lines = Lines()
        self._windows = Windows()
        self._requests, self._answers = Window(), Window()

    def line(self, line: bytes, number: int) -> bytes:
        place = len(self._lines.trips)
        self._lines.add(line, number)
        trip = self._lines.read(place, self._windows) if len(self._lines.trips) > place else None
        if trip is None:
            clean = self._redactor.body(line)
            self.changed += clean != line
            return clean + b"\n"
        try:
            clean_trip = self._redactor.round_trip(replace(trip, request=self._new.get(trip.index, trip.request)))
        except CassetteError:  # a body that is damaged
            return self._redactor.body(line) + b"\n"
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
        with NamedTemporaryFile(dir=target.parent, prefix=f".{target.name}.", delete=False) as file:
            try:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                Path(file.name).replace(target)
            except BaseException:
                Path(file.name).unlink(missing_ok=True)
                raise
    except OSError as exc:
        raise CassetteError(f"cannot write {str(target)!r}: {exc.strerror}; choose another place with -o") from exc
