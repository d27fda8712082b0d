"""Reads cassettes: whole (`Cassette`), or while they are being written (`Tail`).

A cassette is scanned once for its lines; a round trip is parsed when it is used. Iteration from the start
holds the last 16 request bodies, which is all that a delta may refer to. Random access follows the chain of
deltas by byte ranges and never builds the bodies in between.
"""

import os
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, Self, cast, overload

import orjson

from ..errors import CassetteError, FormatError
from ..whole_number import whole_number
from .command_end import CommandEnd
from .compression import MAGIC, Decompression
from .format import MAJOR
from .json_fields import Json
from .lines import CONFLICT_BEGINS, Lines, Windows, keep_one_side
from .lock import being_written
from .model import RoundTrip, ToolServer
from .named_file import opened
from .packed_text import OpenLine, PackedLines, spot_of
from .trip_lines import AsideLines

_LFS_POINTER = b"version https://git-lfs.github.com/spec/"


def read_header(line: bytes, path: Path | None) -> Json:
    """The header of a cassette. Raises FormatError when `line` is not a header, or has a newer major version."""
    name = repr(str(path)) if path else "the cassette"
    try:
        header = orjson.loads(line.removeprefix(BOM_UTF8))  # editors of Windows write this mark
    except orjson.JSONDecodeError:
        header = None
    version = cast(Json, header).get("turntape") if isinstance(header, dict) else None
    major = whole_number(version.split(".")[0]) if isinstance(version, str) else None
    if major is None:
        raise FormatError(f"{name} {_instead_of_header(line, path)}")
    if major > MAJOR:
        raise FormatError(
            f"{name} has cassette format {version} and this turntape reads {MAJOR}.x; update turntape to read it"
        )
    return cast(Json, header)


def _instead_of_header(line: bytes, path: Path | None) -> str:
    """What a file is whose first line is not a header, and what to do."""
    if line.startswith(_LFS_POINTER):
        return "is a pointer of Git LFS and not the recording; fetch it with: git lfs pull"
    if line.startswith(CONFLICT_BEGINS):
        return f"has a merge conflict in its first line; {keep_one_side(path)}"
    return "is not a turntape cassette: its first line is not a header; name a file that turntape wrote"


BLOCK = 1 << 20
"""How many bytes of a file `Tail` reads at a time."""


class Cassette:
    """The round trips of a file, in the order in which they ended. `Cassette.load(path)` opens one.

    Round trips that a segment carries from the one before belong to that one: only `with_carried` gives them.
    """

    def __init__(self, lines: Lines, header: dict[str, object], path: Path | None = None, torn: bool = False) -> None:
        self._lines = lines
        own = [place for place in range(len(lines.trips)) if place not in lines.carried]
        self._places: Sequence[int] = own if len(own) < len(lines.trips) else range(len(own))
        """The places in `lines` that this cassette gives: not those of carried round trips."""
        self._given: list[RoundTrip] | None = None
        self.header = header
        """The fields of the first line: `turntape` (format version), `tool`, `started_at`, `salt`."""
        self.path = path
        self.torn = torn
        """True when the file does not end with a whole line."""

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, longest: int | None = None) -> Self:
        """Open a cassette, `.jsonl` or `.jsonl.zst` by its content.

        With `longest`, lines with more bytes are not held: they are read from the file again when they are used, for a
        program that reads it once. Labels are skipped then.

        Raises CassetteError when the file cannot be read, FormatError when it is not a cassette or has a newer major
        version. A torn last line or an unreadable line is reported in `problems`; the rest is read.
        """
        path = Path(path)
        aside = None if longest is None else AsideLines(path, longest)
        try:
            with opened(path) as file:
                if aside is None:
                    return cls._of(BytesIO(file.read()), path, None)
                return cls._of(file, path, aside)
        except OSError as exc:
            raise CassetteError(f"cannot read the cassette {str(path)!r}: {exc.strerror}; check the name") from exc

    @classmethod
    def from_bytes(cls, data: bytes, path: Path) -> Self:
        """As `load`, from the bytes of the file at `path`, which is only named in errors."""
        return cls._of(BytesIO(data), path, None)

    @classmethod
    def _of(cls, file: BinaryIO, path: Path, aside: AsideLines | None) -> Self:
        """The cassette with these lines, taken in one at a time: a list of all would take many times their memory."""
        lines = Lines(keep_labels=aside is None, path=path)
        packed = file.read(len(MAGIC)).startswith(MAGIC)
        file.seek(0)
        text = PackedLines(file, lines.problems) if packed else None
        rest = text or file
        line = rest.readline()
        if lines.problems and not line.strip():
            raise FormatError(f"{str(path)!r} is damaged from its start; restore it from a copy")
        if not line:
            raise FormatError(f"{str(path)!r} is empty: it holds no recording; record again")
        header, number, offset = read_header(line.rstrip(b"\n"), path), 1, len(line)
        spot = text.spot if text else None
        while following := rest.readline():
            line, number, place = following, number + 1, len(lines.trips)
            lines.add(line, number)
            if aside is not None and len(lines.trips) > place:
                aside.add(place, line, spot if text else offset)
                if (again := aside.taken(place)) is not None:
                    lines.trips.put_aside(place, again)
            offset += len(line)
            spot = text.spot if text else None
        lines.end()
        return cls(lines, header, path, number > 1 and not line.endswith(b"\n"))

    @classmethod
    def from_round_trips(cls, round_trips: Iterable[RoundTrip]) -> Self:
        """A cassette in memory."""
        cassette = cls(Lines(), {})
        cassette._given = list(round_trips)
        return cassette

    @property
    def labels(self) -> dict[int, dict[str, object]]:
        """Round trip number → its label; the last one in the file counts."""
        return self._lines.labels

    @property
    def problems(self) -> list[str]:
        """What could not be read, one sentence for each problem."""
        return self._lines.problems

    @property
    def tool_servers(self) -> dict[str, ToolServer]:
        """Session → the tool server that was recorded in it, over stdio or in process."""
        return self._lines.servers()

    @property
    def command_end(self) -> CommandEnd | None:
        """How the recorded command ended; None where no command was recorded, and while it runs."""
        return self._lines.command_end

    @property
    def following(self) -> int:
        """The number after the highest one in use, whether or not its round trip can be read."""
        return self._lines.used + 1

    @property
    def salt(self) -> str | None:
        """The salt of the fingerprints in this file."""
        salt = self.header.get("salt")
        return salt if isinstance(salt, str) else None

    @property
    def continued(self) -> frozenset[int]:
        """The round trips that the next segment of the recording carries; empty for all but a segment."""
        return self._lines.continued

    def with_carried(self) -> Self:
        """The same file with the round trips that it carries from an earlier segment. Itself without any."""
        mine = set(self._places)
        places = [at for at in range(len(self._lines.trips)) if at in mine or at in self._lines.carried]
        if self._given is not None or len(places) == len(mine):
            return self
        other = copy(self)
        other._places = places
        return other

    def without_tool_wire(self) -> Self:
        """The same file with its HTTP round trips alone: what can be played as the API. Itself without others."""
        if self._given is not None:
            given = [trip for trip in self._given if trip.tool_wire is None]
            if len(given) == len(self._given):
                return self
            other = copy(self)
            other._given = given
            return other
        if not self._lines.has_tool_wire:
            return self
        other = copy(self)
        other._places = [place for place in self._places if "mcp" not in self._lines.trips[place]]
        return other

    def requested(self, path_end: str) -> list[RoundTrip]:
        """The HTTP round trips whose path ends in `path_end`; the others are not read."""
        if self._given is not None:
            return [trip for trip in self._given if _ends(trip.request.url, path_end)]
        asked = [place for place in self._places if _ends(_url(self._lines.trips[place]), path_end)]
        return [trip for place in asked if (trip := self._lines.read(place, None)) is not None]

    def round_trip(self, number: int) -> RoundTrip:
        """The round trip with that number in the file. Raises CassetteError when it cannot be read."""
        place = self._lines.place(number)
        trip = self._lines.read(place, None) if place is not None else None
        if trip is None:
            raise CassetteError(f"round trip {number} cannot be read; see the problems of the cassette")
        return trip

    def __len__(self) -> int:
        return len(self._places) if self._given is None else len(self._given)

    def __iter__(self) -> Iterator[RoundTrip]:
        if self._given is not None:
            yield from self._given
            return
        windows = Windows()
        for place in self._places:
            trip = self._lines.read(place, windows)
            if trip is not None:
                yield trip
            trip = None  # its bodies may be large: they go before the next ones are made

    @overload
    def __getitem__(self, index: int) -> RoundTrip: ...
    @overload
    def __getitem__(self, index: slice) -> list[RoundTrip]: ...
    def __getitem__(self, index: int | slice) -> RoundTrip | list[RoundTrip]:
        if self._given is not None:
            return self._given[index]
        places = self._places[index]
        if not isinstance(places, int):
            return [trip for place in places if (trip := self._lines.read(place, None)) is not None]
        trip = self._lines.read(places, None)
        if trip is None:
            raise CassetteError(f"round trip {index} cannot be read; see the problems of the cassette")
        return trip


def _url(fields: Json) -> object:
    """What a line has in the place of the request's URL."""
    request = fields.get("request")
    return cast(Json, request).get("url") if isinstance(request, dict) else None


def _ends(url: object, path_end: str) -> bool:
    return isinstance(url, str) and url.partition("?")[0].endswith(path_end)


class Tail:
    """Follows a cassette that is being written: `poll()` returns what was added since the last call.

    Without `keep_labels`, the labels in the file are skipped, for a program that makes them itself. Lines
    with more bytes than `longest` are read from the file again when they are used, for a program that follows it for
    long; the first ones of these, `room` bytes in all, stay in memory.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, keep_labels: bool = True, longest: int | None = None, room: int = 0
    ) -> None:
        self.path = Path(path)
        self.header: dict[str, object] | None = None
        self._offset = 0
        self._pending = OpenLine()
        self._text_at = 0
        """Where the next line begins in the text of a compressed file."""
        self._stream: Decompression | None = None
        self._lines = Lines(keep_labels=keep_labels, path=self.path)
        self._aside = None if longest is None else AsideLines(self.path, longest, room)
        self._windows = Windows()
        self._read = 0
        self._number = 1
        self._block = (0, 0)
        """The bytes of the last block, and the round trips that ended in it."""

    @property
    def labels(self) -> dict[int, dict[str, object]]:
        return self._lines.labels

    @property
    def problems(self) -> list[str]:
        return self._lines.problems

    @property
    def continued(self) -> frozenset[int]:
        """As `Cassette.continued`, of what was polled so far."""
        return self._lines.continued

    @property
    def command_end(self) -> CommandEnd | None:
        """As `Cassette.command_end`, of what was polled so far."""
        return self._lines.command_end

    @property
    def tool_servers(self) -> dict[str, ToolServer]:
        """As `Cassette.tool_servers`, of what was polled so far."""
        return self._lines.servers()

    def poll(self) -> list[RoundTrip]:
        """The round trips that were finished since the last poll; none while the file does not exist.

        Raises FormatError when the file is not a cassette, CassetteError when it cannot be read.
        """
        return list(self.news())

    def news(self) -> Iterator[RoundTrip]:
        """As `poll`, one at a time: only a block of the file and the last bodies are in memory."""
        yield from self._added()
        # Without a recorder, the round trips of sessions that were running will not come.
        if self._lines.has_sessions and not being_written(self.path):
            yield from self._added()
            self._lines.end()
            yield from self._found()

    def _added(self) -> Iterator[RoundTrip]:
        size = BLOCK
        while data := self._read_block(size):
            taken, length = self._take(data), len(data)
            del data  # it may be as large as a body, and what is given now may be used for long
            yield from self._found()
            if not taken:
                if length < size:
                    return
                size *= 2

    def round_trip(self, number: int, windows: Windows | None = None) -> RoundTrip:
        """The round trip with that number, of those polled so far. Raises CassetteError when it cannot be read.

        Who asks for many in order gives the same windows each time: they hold the last bodies.
        """
        place = self._lines.place(number)
        trip = self._lines.read(place, windows) if place is not None else None
        if trip is None:
            raise CassetteError(f"round trip {number} of {str(self.path)!r} can no longer be read; open it again")
        return trip

    @property
    def held(self) -> int:
        """How many round trips were polled so far, those included that cannot be read."""
        return self._read

    @property
    def share(self) -> float:
        """How much of the file was polled, from 0 to 1; a block counts as far as its round trips were given out."""
        taken, ended = self._block
        left = taken * (len(self._lines.trips) - self._read) / ended if ended else 0
        try:
            return min(1.0, max(0.0, self._offset - left) / max(1, self.path.stat().st_size))
        except OSError:
            return 1.0

    def forget(self) -> None:
        """Drop the bodies that are held for what may be added. What is added later is read all the same, slower."""
        self._windows = Windows()

    def again(self, start: int = 0) -> Iterator[RoundTrip | None]:
        """The round trips polled so far, from that number of them on, once more; None for one that cannot be read."""
        windows, place = Windows(), start
        while place < self._read:
            yield self._lines.read(place, windows)
            place += 1

    @property
    def torn(self) -> bool:
        """True when the file does not end with a whole line."""
        return bool(self._pending) or (self._stream is None and self.path.stat().st_size > self._offset)

    def _read_block(self, size: int) -> bytes:
        try:
            with opened(self.path) as file:
                file.seek(self._offset)
                return file.read(size)
        except FileNotFoundError:
            return b""
        except OSError as exc:
            raise CassetteError(f"cannot read the cassette {str(self.path)!r}: {exc.strerror}; check the name") from exc

    def _take(self, data: bytes) -> int:
        """Take in the whole lines of `data`; returns how many of its bytes count as read."""
        if self._offset == 0 and data.startswith(MAGIC):
            self._stream = Decompression()
        # A writer that appends may cut a torn end off: only what is whole counts as read.
        if self._stream:
            plain, taken = self._stream.feed(data, most=BLOCK)
            self._lines.problems += self._stream.problems
            self._stream.problems.clear()
            whole = self._pending.lines(plain)
        else:
            taken = data.rfind(b"\n") + 1
            whole = data[:taken].split(b"\n")[:-1]
        at = self._offset
        self._offset += taken
        before = len(self._lines.trips)
        for line in whole:
            if self.header is None:
                self.header = read_header(line, self.path)
            else:
                self._add(line, at)
            self._number += 1
            at += len(line) + 1
            self._text_at += len(line) + 1
        self._block = (taken, len(self._lines.trips) - before)
        return taken

    def _add(self, line: bytes, at: int) -> None:
        place = len(self._lines.trips)
        self._lines.add(line, self._number)
        if self._aside is not None and len(self._lines.trips) > place:
            self._aside.add(place, line, spot_of(self._stream, self._text_at) if self._stream else at)

    def _found(self) -> Iterator[RoundTrip]:
        while self._read < len(self._lines.trips):
            place = self._read
            self._read += 1
            trip = self._lines.read(place, self._windows)
            if self._aside is not None and (again := self._aside.taken(place)) is not None:
                self._lines.trips.put_aside(place, again)
            if trip is not None:
                yield trip
            trip = None  # its bodies may be large: they go before the next ones are made
