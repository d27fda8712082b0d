"""One JSON array whose elements come one by one, as Gemini streams without `alt=sse`."""

from typing import override

from ..regex import regex
from .buffer import BufferedDecoder
from .event import Event

_OUTSIDE = regex(rb'["{}\[\],]')
_INSIDE = regex(rb'["\\]')
_SPACE = b" \t\r\n"


class JsonArrayDecoder(BufferedDecoder):
    """Each top-level element is an event."""

    unit = "element"

    def __init__(self, limit: int = 64 << 20) -> None:
        super().__init__(limit)
        self._depth = 0
        self._string = False

    @override
    def _split(self, events: list[Event]) -> int:
        buffer = self._buffer
        begin = 0
        scan = self._scanned
        while match := (_INSIDE if self._string else _OUTSIDE).search(buffer, scan):
            mark = buffer[match.start()]
            scan = match.end()
            if self._string:
                if mark == 0x22:
                    self._string = False
                elif scan == len(buffer):  # the escaped character has not come yet
                    scan -= 1
                    break
                else:
                    scan += 1
            elif mark == 0x22:
                self._string = True
            elif mark in b"{[":
                self._depth += 1
                if self._depth == 1:
                    begin = scan
            elif mark in b"}]":
                self._depth -= 1
                if self._depth <= 0:
                    self._element(begin, match.start(), events, None)
                    begin, self._depth = scan, 0
            elif self._depth <= 1:
                self._element(begin, match.start(), events, None)
                begin = scan
        else:
            scan = len(buffer)
        self._scanned = max(scan - begin, 0)
        return begin

    @override
    def close(self) -> list[Event]:
        """The element that the stream ended in, with a `problem`."""
        return self._rest("The stream ended inside this element.")

    @override
    def _rest(self, problem: str) -> list[Event]:
        events: list[Event] = []
        self._element(0, len(self._buffer), events, problem)
        self._drop_all()
        return events

    def _element(self, begin: int, end: int, events: list[Event], problem: str | None) -> None:
        raw = bytes(self._buffer[begin:end])
        if data := raw.strip(_SPACE):
            start = self._base + begin + len(raw) - len(raw.lstrip(_SPACE))
            events.append(Event(data, start, start + len(data), self._at, problem=problem))
