"""Which framing a body has, and its events."""

from collections.abc import Iterable
from typing import Protocol

from ..regex import regex
from .aws_event_stream import AwsEventStreamDecoder, is_prelude
from .event import Event
from .json_array import JsonArrayDecoder
from .json_text import is_json
from .ndjson import NdjsonDecoder
from .sse import SseDecoder


class Decoder(Protocol):
    """Bytes in, events out, no I/O."""

    def feed(self, data: bytes, at: int = 0) -> list[Event]:
        """The events that `data` completes."""
        ...

    def close(self) -> list[Event]:
        """What is left at the end of the body."""
        ...


DECODERS: dict[str, type[SseDecoder | NdjsonDecoder | AwsEventStreamDecoder | JsonArrayDecoder]] = {
    "sse": SseDecoder,
    "ndjson": NdjsonDecoder,
    "aws-event-stream": AwsEventStreamDecoder,
    "json-array": JsonArrayDecoder,
}

_SSE_TYPE = "text/event-stream"
_NDJSON_TYPES = frozenset(
    {"application/x-ndjson", "application/ndjson", "application/stream+json", "application/jsonl"}
)
_AWS_TYPE = "application/vnd.amazon.eventstream"
_SSE_START = regex(rb"(?:\xef\xbb\xbf)?[\r\n]*(?:(?:data|event|id|retry):|:)")
_START_SIZE = 64 << 10
_MOST_VALUES = 20_000
"""So many events of one body keep their value; beyond, it is parsed each time that it is read."""


def decoder(framing: str) -> Decoder:
    """A new decoder for `framing`, one of `DECODERS`."""
    return DECODERS[framing]()


def decode(framing: str, pieces: Iterable[tuple[bytes, int]]) -> list[Event]:
    """All events of a body given as `(bytes, arrival time)` pieces."""
    reader = decoder(framing)
    events: list[Event] = []
    for data, at in pieces:
        events += reader.feed(data, at)
    events += reader.close()
    for event in events[_MOST_VALUES:]:
        event.keep_no_value()
    return events


def frame(content_type: str, body: bytes) -> str | None:
    """How `body` is framed, by its bytes first; None when it is one body."""
    if not body:
        return _by_type(content_type)
    if is_prelude(body):
        return "aws-event-stream"
    # A body may begin with pages of white space that kept the connection alive.
    head = body[:_START_SIZE].lstrip() or body.lstrip()
    match head[:1]:
        case b"{":
            return "ndjson" if content_type in _NDJSON_TYPES or _has_lines(body) else None
        case b"[":
            return "json-array" if head[1:].lstrip()[:1] == b"{" else None
        case _ if _SSE_START.match(head):
            return "sse"
        case _:
            return _by_type(content_type)


def _by_type(content_type: str) -> str | None:
    if content_type == _SSE_TYPE:
        return "sse"
    if content_type == _AWS_TYPE:
        return "aws-event-stream"
    return "ndjson" if content_type in _NDJSON_TYPES else None


def _has_lines(body: bytes) -> bool:
    """True when the first line is a whole JSON text and another begins after it."""
    text = body.lstrip()
    end = text.find(b"\n")
    return end > 0 and text[end:].lstrip()[:1] == b"{" and is_json(text[:end])
