"""The one shape that every decoder yields."""

from dataclasses import field
from typing import Final

from ..frozen import frozen
from .json_text import parse_json

_UNREAD: Final = object()
_NOT_KEPT: Final = object()


@frozen
class Event:
    """One event of a stream.

    `start` and `end` are its byte span in the body; `at` is when its last byte arrived, in microseconds since
    the round trip's start (0 when times were not recorded).
    """

    data: bytes
    """The payload: the joined `data:` lines, one NDJSON line, one array element, or one frame's payload."""
    start: int
    end: int
    at: int = 0
    name: str = ""
    """The event's name: SSE `event:`, AWS `:event-type` or `:exception-type`; empty when it has none."""
    kind: str = "data"
    """`data`; `comment` (SSE keepalives); `field` (an SSE field outside the standard, `name` holds it);
    `exception` (AWS exception frame)."""
    problem: str | None = None
    """What was wrong with the framing, in one sentence: a bad CRC, an unterminated last event."""
    _value: object = field(default=_UNREAD, init=False, repr=False, compare=False)

    @property
    def value(self) -> object:
        """`data` as JSON, or None, as of a comment.

        It is parsed once, or each time when it is not kept. It must not be changed: all readers of the event share it.
        """
        if self._value is _NOT_KEPT:
            return self._parsed()
        if self._value is _UNREAD:
            object.__setattr__(self, "_value", self._parsed())
        return self._value

    def keep_no_value(self) -> None:
        """From now on `value` is parsed each time: in a long stream, the values take more memory than all the rest."""
        object.__setattr__(self, "_value", _NOT_KEPT)

    def _parsed(self) -> object:
        return None if self.kind == "comment" else parse_json(self.data)
