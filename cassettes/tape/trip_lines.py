"""The lines of round trips in memory, without those that are put aside and read again when they are used."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import orjson

from ..errors import CassetteError
from .compression import Decompression, compressor
from .json_fields import Json
from .large_blocks import give_back_large_blocks
from .packed_text import PackedText, Spot

LONG = 4096
"""Bytes. A longer line need not stay in memory for a program that follows a file for hours, or shows it."""
LARGE = 1 << 20
"""Bytes. For lines that are longer, malloc is asked to give memory back."""

_PACKED = 256 << 10
"""Bytes. A compressed line that is shorter stays in memory, which is faster, unless there are too many."""
_MOST_PACKED = 32 << 20
"""How many bytes compressed lines may take together in memory, when they can be read from the file."""


def delta_body(fields: Json) -> Json:
    """The stored body of a line that may be a delta; empty when it has none, or when something else is in its place."""
    request = fields.get("request")
    body = cast(Json, request).get("body") if isinstance(request, dict) else None
    if "mcp" in fields:
        body = fields.get("answer")
    return cast(Json, body) if isinstance(body, dict) else {}


class TripLines:
    """Lines in the order of the file, by their places from 0."""

    def __init__(self) -> None:
        self._lines: list[Json | Callable[[], Json]] = []

    def append(self, line: Json) -> None:
        """Add the next line."""
        self._lines.append(line)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, place: int) -> Json:
        line = self._lines[place]
        return line() if callable(line) else line

    def __iter__(self) -> Iterator[Json]:
        return (self[place] for place in range(len(self._lines)))

    def put_aside(self, place: int, again: Callable[[], Json]) -> None:
        """Forget the line at `place`: from now on `again` gives it."""
        self._lines[place] = again


class AsideLines:
    """Gives long lines of one file again: from the file, or when it is compressed the shorter ones from memory.

    The file stays open, since it may be renamed or removed while it is being followed.
    """

    def __init__(self, path: Path, longest: int, room: int = 0) -> None:
        """Lines of up to `longest` bytes stay in memory, and others of up to `LARGE` while `room` bytes last."""
        self._path, self._longest, self._room, self._large = path, longest, room, False
        self._file: BinaryIO | None = None
        self._text: PackedText | None = None
        self._packed = 0
        """How many bytes are in memory, compressed."""
        self._found: dict[int, Callable[[], bytes]] = {}

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, place: int, line: bytes, at: int | Spot | None) -> None:
        """A line was read; `at` is where it begins in the file, None for a place in it that is far from any frame."""
        if len(line) <= self._longest:
            return
        if len(line) <= min(LARGE, self._room):
            self._room -= len(line)
            return
        if len(line) > LARGE and not self._large:
            self._large = True
            give_back_large_blocks()
        self._found[place] = (
            self._packed_line(line, at) if at is None or isinstance(at, Spot) else self._plain(line, at)
        )

    def _plain(self, line: bytes, at: int) -> Callable[[], bytes]:
        return partial(self._part, self._opened(), at, len(line))

    def _packed_line(self, line: bytes, at: Spot | None) -> Callable[[], bytes]:
        if at is None or (len(line) <= LARGE and self._packed < _MOST_PACKED):
            pack = compressor()
            packed = pack.compress(line) + pack.flush()
            if at is None or len(packed) <= _PACKED:
                self._packed += len(packed)
                return partial(self._unpacked, packed)
        if self._text is None:
            self._text = PackedText(self._opened())
        return partial(self._text.part, at, len(line))

    def _opened(self) -> BinaryIO:
        if self._file is None:
            self._file = self._path.open("rb")
        return self._file

    @staticmethod
    def _part(file: BinaryIO, offset: int, size: int) -> bytes:
        file.seek(offset)
        return file.read(size)

    def taken(self, place: int) -> Callable[[], Json] | None:
        """What gives the line at `place` again; None for a short one. It is given once."""
        found = self._found.pop(place, None)
        return None if found is None else lambda: self._read(found)

    @staticmethod
    def _unpacked(packed: bytes) -> bytes:
        return Decompression(bounded=False).feed(packed, final=True)[0]

    def _read(self, found: Callable[[], bytes]) -> Json:
        try:
            return cast(Json, orjson.loads(found()))
        except (OSError, orjson.JSONDecodeError) as exc:
            raise CassetteError(f"a line of {str(self._path)!r} can no longer be read: {exc}") from exc
