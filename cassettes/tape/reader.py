"""Reads cassettes: whole (`Cassette`), or while they are being written (`Tail`).

A cassette is scanned once for its lines; a round trip is parsed when it is used. Iteration from the start
holds the last 16 request bodies, which is all that a delta may refer to. Random access follows the chain of
deltas by byte ranges and never builds the bodies in between.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from pathlib import Path
from reprlib import repr as clipped
from typing import Self, cast, overload

import orjson

from ..errors import CassetteError, FormatError
from .compression import MAGIC, Decompression
from .delta import Window
from .format import MAJOR, read_round_trip
from .json_fields import Json, a_body, restored
from .model import Lazy, RoundTrip, ToolServer
from .tool_servers import read_tool_server

_BROKEN = (ValueError, CassetteError)
"""What reading raises for a line that breaks the format."""


def read_header(line: bytes, path: Path | None) -> Json:
    """The header of a cassette. Raises FormatError when `line` is not a header, or has a newer major version."""
    name = repr(str(path)) if path else "the cassette"
    try:
        header = orjson.loads(line)
    except orjson.JSONDecodeError:
        header = None
    version = cast(Json, header).get("turntape") if isinstance(header, dict) else None
    if not isinstance(version, str) or not version.split(".")[0].isdigit():
        raise FormatError(
            f"{name} is not a turntape cassette: its first line is not a header; name a file that turntape wrote"
        )
    if int(version.split(".")[0]) > MAJOR:
        raise FormatError(
            f"{name} has cassette format {version} and this turntape reads {MAJOR}.x; update turntape to read it"
        )
    return cast(Json, header)


BLOCK = 1 << 20
"""How many bytes of a file `Tail` reads at a time."""


class Windows:
    """The last bodies to which a delta may refer: of requests, and of the answers of tool servers."""

    def __init__(self) -> None:
        self._requests = Window()
        self._answers = Window()

    def of(self, fields: Json) -> Window:
        """The window for the line of a round trip."""
        return self._answers if "mcp" in fields else self._requests


class Lines:
    """The lines of a cassette, sorted by kind in the order of the file."""

    def __init__(self) -> None:
        self.trips: list[Json] = []
        """The lines of round trips, exchanges with tool servers included."""
        self.used = -1
        """The highest number of a round trip or a label."""
        self.labels: dict[int, dict[str, object]] = {}
        self.problems: list[str] = []
        self._servers: dict[str, list[Json]] = {}
        """Session of a tool server → its lines."""
        self._positions: dict[int, int] = {}
        """Round trip number → place in `trips`, for the lines read so far."""
        self._bases: dict[int, int] = {}
        """Place of a delta → place of the body that it refers to: the last one before it with that number."""
        self._sizes: dict[int, int] = {}
        """Place → length of the body that may be a delta, once known."""

    def add(self, line: bytes, number: int) -> None:
        """Take in one line of the file; a line that cannot be read is noted in `problems`."""
        if not line.strip():
            return
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError:
            self.problems.append(f"line {number} is not valid JSON and was skipped; the recording was cut there")
            return
        if not isinstance(value, dict):
            self.problems.append(f"line {number} is not a JSON object and was skipped")
            return
        fields = cast(Json, value)
        name = next((name for name in _KINDS if name in fields), None)
        if name is None:
            return  # a newer minor version may have lines that we do not know
        index = fields[name]
        if name == "tool_server":
            self._servers.setdefault(str(index), []).append(fields)
            return
        if type(index) is not int or index < 0:
            self.problems.append(f"line {number} has {name} {clipped(index)}, which is not a number, and was skipped")
        elif name != "label":
            self._add_trip(index, fields, number)
        elif not isinstance(fields.get("of"), dict):
            self.problems.append(f"line {number} is a label without an object and was skipped")
        else:
            self.labels[index] = cast(dict[str, object], fields["of"])
            self.used = max(self.used, index)

    def _add_trip(self, index: int, fields: Json, number: int) -> None:
        place = len(self.trips)
        base = _delta_body(fields).get("base")
        if isinstance(base, int) and base in self._positions:
            self._bases[place] = self._positions[base]
        if index in self._positions:
            self.problems.append(f"line {number} is a second round trip {index}; labels for it may mean the first")
        self._positions[index] = place
        self.trips.append(fields)
        self.used = max(self.used, index)

    def complain(self, problem: str) -> None:
        """Note a problem, unless it is already noted."""
        if problem not in self.problems:
            self.problems.append(problem)

    def servers(self) -> dict[str, ToolServer]:
        """Session → tool server, in the order in which they started; one that cannot be read is noted as a problem."""
        found: dict[str, ToolServer] = {}
        for session, lines in self._servers.items():
            try:
                found[session] = read_tool_server(session, lines)
            except ValueError as exc:
                self.complain(f"the tool server {clipped(session)} cannot be read: {exc}")
        return found

    def place(self, number: int) -> int | None:
        """The place of the round trip with that number; None when there is none."""
        return self._positions.get(number)

    def read(self, place: int, windows: Windows | None) -> RoundTrip | None:
        """The round trip at `place`; None when it cannot be read, which is then noted as a problem.

        With windows, which hold the bodies of the places just before, the bodies are made at once; without them,
        when they are used.
        """
        line = self.trips[place]
        window = windows.of(line) if windows else None

        def later(stored: Json) -> bytes:
            try:
                return self.body(place) if "base" in stored else restored(stored)
            except _BROKEN as exc:
                problem = f"a body of round trip {_number(line)} cannot be read: {exc}"
                self.complain(problem)
                raise CassetteError(problem) from exc

        def resolve(stored: Json) -> Lazy:
            if window is None:
                return lambda: later(stored)
            if "base" not in stored:
                return restored(stored)
            base = self._bases.get(place, -1)
            if base not in window:
                return self.body(place)
            prefix, suffix = cast(int, stored["prefix"]), cast(int, stored["suffix"])
            earlier = window[base]
            fits(prefix, suffix, len(earlier), _number(line))
            return earlier[:prefix] + restored(stored) + earlier[len(earlier) - suffix :]

        try:
            trip = read_round_trip(line, resolve)
        except _BROKEN as exc:
            self.complain(f"round trip {_number(line)} cannot be read: {exc}")
            return None
        if window is not None:
            window.add(place, _shortened(trip))
        return trip

    def body(self, place: int) -> bytes:
        """The body that may be a delta of the round trip at `place`, with its deltas resolved by byte ranges.

        It is the request's, and for an exchange with a tool server the answer's.

        Raises ValueError or CassetteError when it breaks the format or refers to a body that is missing.
        """
        pieces: list[bytes] = []
        todo: list[tuple[Json, int, int, int | None]] = [(_delta_body(self.trips[place]), place, 0, None)]
        while todo:
            item, owner, start, stop = todo.pop()
            if "base" not in item:
                data = restored(item)
                pieces.append(data[start : len(data) if stop is None else stop])
                continue
            middle = restored(item)
            base_place, base = self._base(owner)
            prefix, suffix = cast(int, item["prefix"]), cast(int, item["suffix"])
            base_size = self._size(base, base_place)
            fits(prefix, suffix, base_size, _number(self.trips[owner]))
            size = prefix + len(middle) + suffix
            stop = size if stop is None else stop
            tail = prefix + len(middle)
            offset = base_size - suffix - tail
            parts = (
                (base, base_place, start, min(stop, prefix)),
                (_plain(item), owner, max(start - prefix, 0), min(stop, tail) - prefix),
                (base, base_place, max(start, tail) + offset, stop + offset),
            )
            todo.extend(part for part in reversed(parts) if part[2] < part[3])
        return b"".join(pieces)

    def _base(self, place: int) -> tuple[int, Json]:
        """The place and the stored body that the delta at `place` refers to, always before it: every chain ends."""
        base = self._bases.get(place)
        if base is None:
            number = _delta_body(self.trips[place])["base"]
            raise CassetteError(
                f"the body of round trip {_number(self.trips[place])} refers to round trip {number}, "
                "which is not in the file before it"
            )
        body = _delta_body(self.trips[base])
        return base, a_body(body, "body") if body else {"text": ""}

    def _size(self, stored: Json, place: int) -> int:
        """The length of the body at `place` that may be a delta, kept once known."""
        chain: list[tuple[int, Json]] = []
        while "base" in stored and place not in self._sizes:
            chain.append((place, stored))
            place, stored = self._base(place)
        size = self._sizes[place] if place in self._sizes else len(restored(stored))
        for place, item in reversed(chain):
            size = cast(int, item["prefix"]) + cast(int, item["suffix"]) + len(restored(item))
            self._sizes[place] = size
        return size


_KINDS = ("n", "mcp", "label", "tool_server")
"""The field that gives the kind of a line."""


def _number(fields: Json) -> object:
    """The number of the line of a round trip."""
    return fields["mcp"] if "mcp" in fields else fields["n"]


def _shortened(trip: RoundTrip) -> bytes:
    """The body of a round trip that may be stored as a delta."""
    if trip.tool_wire is None:
        return trip.request.body
    return trip.response.body if trip.response else b""


def _delta_body(fields: Json) -> Json:
    """The stored body of a line that may be a delta; empty when it has none, or when something else is in its place."""
    request = fields.get("request")
    body = cast(Json, request).get("body") if isinstance(request, dict) else None
    if "mcp" in fields:
        body = fields.get("answer")
    return cast(Json, body) if isinstance(body, dict) else {}


def fits(prefix: int, suffix: int, size: int, number: object) -> None:
    """Raises CassetteError when a delta takes more bytes of its base than there are, or fewer than none."""
    if prefix < 0 or suffix < 0 or prefix + suffix > size:
        raise CassetteError(f"the body of round trip {number} takes more of an earlier one than that has")


def _plain(item: Json) -> Json:
    return {key: item[key] for key in ("text", "b64") if key in item}


class Cassette:
    """The round trips of a file, in the order in which they ended. `Cassette.load(path)` opens one."""

    def __init__(self, lines: Lines, header: dict[str, object], path: Path | None = None, torn: bool = False) -> None:
        self._lines = lines
        self._places: Sequence[int] = range(len(lines.trips))
        """The places in `lines` that this cassette gives."""
        self._given: list[RoundTrip] | None = None
        self.header = header
        """The fields of the first line: `turntape` (format version), `tool`, `started_at`, `salt`."""
        self.path = path
        self.torn = torn
        """True when the file does not end with a whole line."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Open a cassette, `.jsonl` or `.jsonl.zst` by its content.

        Raises CassetteError when the file cannot be read, FormatError when it is not a cassette or has a newer major
        version. A torn last line or an unreadable line is reported in `problems`; the rest is read.
        """
        path = Path(path)
        try:
            data = path.read_bytes()
        except OSError as exc:
            raise CassetteError(f"cannot read the cassette {str(path)!r}: {exc.strerror}; check the name") from exc
        lines = Lines()
        if data.startswith(MAGIC):
            data = _decompressed(data, lines)
            if lines.problems and not data.partition(b"\n")[0].strip():
                raise FormatError(f"{str(path)!r} is damaged from its start; restore it from a copy")
        if not data:
            raise FormatError(f"{str(path)!r} is empty: it holds no recording; record again")
        head, *rest = data.split(b"\n")
        header = read_header(head, path)
        torn = rest[-1] if rest else b""
        for number, line in enumerate(rest, 2):
            lines.add(line, number)
        return cls(lines, header, path, bool(torn))

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
    def following(self) -> int:
        """The number after the highest one in use, whether or not its round trip can be read."""
        return self._lines.used + 1

    @property
    def salt(self) -> str | None:
        """The salt of the fingerprints in this file."""
        salt = self.header.get("salt")
        return salt if isinstance(salt, str) else None

    def without_tool_wire(self) -> Self:
        """The same file with its HTTP round trips alone: what can be played as the API. Itself without others."""
        if self._given is not None:
            given = [trip for trip in self._given if trip.tool_wire is None]
            if len(given) == len(self._given):
                return self
            other = copy(self)
            other._given = given
            return other
        if not any("mcp" in fields for fields in self._lines.trips):
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


def _decompressed(data: bytes, lines: Lines) -> bytes:
    stream = Decompression()
    plain, taken = stream.feed(data, final=True)
    lines.problems += stream.problems
    if taken < len(data) and not stream.problems:
        lines.problems.append("the compressed recording ends in the middle of a block; it was cut there")
    return plain


class Tail:
    """Follows a cassette that is being written: `poll()` returns what was added since the last call."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.header: dict[str, object] | None = None
        self._offset = 0
        self._pending = b""
        self._stream: Decompression | None = None
        self._lines = Lines()
        self._windows = Windows()
        self._read = 0
        self._number = 1

    @property
    def labels(self) -> dict[int, dict[str, object]]:
        return self._lines.labels

    @property
    def problems(self) -> list[str]:
        return self._lines.problems

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
        size = BLOCK
        while data := self._read_block(size):
            taken = self._take(data)
            yield from self._found()
            if not taken:
                if len(data) < size:
                    return
                size *= 2

    def round_trip(self, number: int) -> RoundTrip:
        """The round trip with that number, of those polled so far. Raises CassetteError when it cannot be read."""
        place = self._lines.place(number)
        trip = self._lines.read(place, None) if place is not None else None
        if trip is None:
            raise CassetteError(f"round trip {number} of {str(self.path)!r} can no longer be read; open it again")
        return trip

    @property
    def torn(self) -> bool:
        """True when the file does not end with a whole line."""
        return bool(self._pending) or (self._stream is None and self.path.stat().st_size > self._offset)

    def _read_block(self, size: int) -> bytes:
        try:
            with self.path.open("rb") as file:
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
            plain, taken = self._stream.feed(data)
            self._lines.problems += self._stream.problems
            self._stream.problems.clear()
            *whole, self._pending = (self._pending + plain).split(b"\n")
        else:
            taken = data.rfind(b"\n") + 1
            whole = data[:taken].split(b"\n")[:-1]
        self._offset += taken
        for line in whole:
            if self.header is None:
                self.header = read_header(line, self.path)
            else:
                self._lines.add(line, self._number)
            self._number += 1
        return taken

    def _found(self) -> Iterator[RoundTrip]:
        while self._read < len(self._lines.trips):
            place = self._read
            self._read += 1
            trip = self._lines.read(place, self._windows)
            if trip is not None:
                yield trip
