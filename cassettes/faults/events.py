"""An answer as its events, and back: what a fault does not touch keeps its bytes.

SSE, lines of JSON and AWS frames are told apart by the bytes. Each event becomes one chunk at the time at which its
last byte came.
"""

import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import orjson

from ..matching.request_key import header
from ..tape.model import Chunk, Response

type Json = dict[str, object]

_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_DATA = re.compile(rb"(?m)^data:[ ]?([^\r\n]*)")
_NAME = re.compile(rb"(?m)^event:[ ]?([^\r\n]*)")


@dataclass(frozen=True, slots=True)
class Event:
    """One event with all its bytes; comments and blank lines are events without data."""

    raw: bytes
    at: int = 0
    sse: bool = True

    @property
    def data(self) -> bytes:
        """What it says; empty for a comment."""
        if not self.sse:
            return self.raw.strip()
        return b"\n".join(found.rstrip() for found in _DATA.findall(self.raw))

    @property
    def json(self) -> Json | None:
        """What it says as an object, if it is one."""
        return as_object(self.data)

    def saying(self, document: Json) -> "Event":
        """The event with another object; its name follows the object's type."""
        before = self.json or {}
        data = orjson.dumps(document)
        if not self.sse:
            return replace(self, raw=self.raw.replace(self.raw.strip(), data))
        raw, found = self.raw, _NAME.search(self.raw)
        kind, was = document.get("type"), before.get("type")
        if found and isinstance(kind, str) and isinstance(was, str) and found[1].decode() == was != kind:
            raw = raw[: found.start(1)] + kind.encode() + raw[found.end(1) :]
        return replace(self, raw=_with_data(raw, data))

    def broken(self) -> "Event":
        """The event with its data cut off in the middle."""
        data = self.data
        half = data[: max(len(data) // 2, 1)]
        return replace(self, raw=_with_data(self.raw, half) if self.sse else half + b"\n")


def _with_data(raw: bytes, data: bytes) -> bytes:
    first = True

    def said(match: re.Match[bytes]) -> bytes:
        nonlocal first
        line = match.group()[: match.start(1) - match.start()] + data if first else b"data:"
        first = False
        return line

    return _DATA.sub(said, raw)


def as_object(data: bytes) -> Json | None:
    """JSON as an object, or None."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    return cast(Json, value) if isinstance(value, dict) else None


def is_sse(response: Response) -> bool:
    """By the bytes: APIs call a stream JSON and JSON a stream."""
    body = response.body.lstrip()[:64]
    return body.startswith((b"data:", b"event:", b":", b"id:", b"retry:"))


def events_of(response: Response) -> list[Event]:
    """The events of a streamed answer, all bytes of it; empty for an answer that is no stream of events."""
    body = response.body
    if is_sse(response):
        ends = [found.end() for found in _END.finditer(body)]
        sse = True
    else:
        sse = False
        kind = header(response.headers, "content-type")
        if "vnd.amazon.eventstream" in kind:
            ends = _aws_ends(body)
        elif "ndjson" in kind or "stream+json" in kind or "jsonl" in kind:
            ends = [found.end() for found in re.finditer(rb"\n", body)]
        else:
            return []
    if not ends or ends[-1] < len(body):
        ends.append(len(body))
    events: list[Event] = []
    start = 0
    for end, at in zip(ends, _times(response, ends), strict=True):
        if end > start:
            events.append(Event(body[start:end], at, sse))
        start = end
    return events


def _aws_ends(body: bytes) -> list[int]:
    ends: list[int] = []
    at = 0
    while len(body) - at >= 16:
        size = struct.unpack_from(">I", body, at)[0]
        if size < 16 or at + size > len(body):
            break
        at += size
        ends.append(at)
    return ends


def _times(response: Response, ends: Sequence[int]) -> list[int]:
    """When the byte before each end came."""
    times: list[int] = []
    chunks = iter(response.chunks)
    reached, at = 0, 0
    for end in ends:
        while reached < end and (chunk := next(chunks, None)) is not None:
            reached, at = reached + chunk.size, chunk.at
        times.append(at)
    return times


def answered(response: Response, events: Iterable[Event]) -> Response:
    """The answer with these events instead."""
    kept = list(events)
    chunks = tuple(Chunk(len(event.raw), event.at) for event in kept)
    return replace(response, content=b"".join(event.raw for event in kept), chunks=chunks)
