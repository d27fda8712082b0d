"""A streamed answer as pieces with one event each, and back: what a fault does not touch keeps its bytes.

Each piece becomes one chunk at the time at which its last byte arrived.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

import orjson

from ..apis.interface import Json
from ..framing import Event, decode, frame
from ..frozen import frozen
from ..matching.request_key import header
from ..regex import regex
from ..tape.model import Chunk, Response

_DATA = regex(rb"(?m)^data:[ ]?([^\r\n]*)")
_NAME = regex(rb"(?m)^event:[ ]?([^\r\n]*)")
_EDITED = frozenset({"sse", "ndjson"})
"""The framings whose events faults edit. A frame of AWS has checksums, so it is passed on whole or broken."""


@frozen
class Piece:
    """The bytes from the end of one event to the end of the next. A comment is one, and so is an unfinished tail."""

    raw: bytes
    data: bytes = b""
    """The event's payload; empty for a comment."""
    at: int = 0
    """Microseconds since the start of the round trip."""
    framing: str = "sse"

    @property
    def json(self) -> Json | None:
        """The payload as an object, or None when it is not one or cannot be edited."""
        return as_object(self.data) if self.framing in _EDITED else None

    def with_document(self, document: Json) -> "Piece":
        """The piece with another object; the event's name follows the object's type."""
        before = self.json or {}
        data = orjson.dumps(document)
        if self.framing == "ndjson":
            return replace(self, raw=self.raw.replace(self.data, data), data=data)
        raw, found = self.raw, _NAME.search(self.raw)
        kind, was = document.get("type"), before.get("type")
        if found and isinstance(kind, str) and isinstance(was, str) and found[1].decode() == was != kind:
            raw = raw[: found.start(1)] + kind.encode() + raw[found.end(1) :]
        return replace(self, raw=_with_data(raw, data), data=data)

    def broken(self) -> "Piece":
        """The piece with its event cut off in the middle."""
        if self.framing == "sse":
            return replace(self, raw=_with_data(self.raw, _half(self.data)))
        if self.framing == "ndjson":
            return replace(self, raw=_half(self.data) + b"\n")
        return replace(self, raw=_half(self.raw))


def _half(data: bytes) -> bytes:
    return data[: max(len(data) // 2, 1)]


def _with_data(raw: bytes, data: bytes) -> bytes:
    first = True

    def line(match: re.Match[bytes]) -> bytes:
        nonlocal first
        written = match.group()[: match.start(1) - match.start()] + data if first else b"data:"
        first = False
        return written

    return _DATA.sub(line, raw)


def as_object(data: bytes) -> Json | None:
    """JSON as an object, or None."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return cast(Json, value) if isinstance(value, dict) else None


def framing_of(response: Response) -> str | None:
    """How the answer is framed; None for one body, and for a JSON array, which is edited as one body."""
    kind = header(response.headers, "content-type").partition(";")[0].strip().lower()
    framing = frame(kind, response.body)
    return None if framing == "json-array" else framing


def pieces_of(response: Response) -> list[Piece]:
    """A streamed answer in pieces that hold all its bytes; empty for an answer that is not a stream of events."""
    framing = framing_of(response)
    if framing is None:
        return []
    events = decode(framing, response.pieces)
    body = response.body
    pieces: list[Piece] = []
    start = 0
    for event in _outermost(events):
        data = event.data if event.kind == "data" else b""
        pieces.append(Piece(body[start : event.end], data, event.at, framing))
        start = event.end
    if start < len(body):
        pieces.append(Piece(body[start:], at=pieces[-1].at if pieces else 0, framing=framing))
    return pieces


def _outermost(events: Sequence[Event]) -> Iterator[Event]:
    """The events without the comments and fields that are inside another one."""
    for place, event in enumerate(events):
        around = next((later for later in events[place + 1 :] if later.kind == "data"), None)
        if event.kind not in ("comment", "field") or around is None or around.start > event.start:
            yield event


def with_pieces(response: Response, pieces: Iterable[Piece]) -> Response:
    """The answer with these pieces instead."""
    kept = list(pieces)
    chunks = tuple(Chunk(len(piece.raw), piece.at) for piece in kept)
    return replace(response, content=b"".join(piece.raw for piece in kept), chunks=chunks)
