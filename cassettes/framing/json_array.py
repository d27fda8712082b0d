"""One JSON array whose elements come one by one, as Gemini streams without `alt=sse`."""

import re

from .event import Event

_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')
_SPACE = b" \t\r\n"


class JsonArrayDecoder:
    """`feed` bytes as they come, `close` at the end; each top-level element is an event."""

    def __init__(self, limit: int = 64 << 20) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._base = 0
        self._scanned = 0
        self._depth = 0
        self._string = False
        self._at = 0

    def feed(self, data: bytes, at: int = 0) -> list[Event]:
        """The elements that `data` completes."""
        if not data:
            return []
        self._at = at
        buffer = self._buffer
        buffer += data
        events: list[Event] = []
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
        if begin:
            del buffer[:begin]
            self._base += begin
        self._scanned = max(scan - begin, 0)
        if len(buffer) > self._limit:
            problem = f"No element ended within {self._limit} bytes; what had come was cut here."
            events += self._rest(problem)
        return events

    def close(self) -> list[Event]:
        """The element that the stream ended in, with a `problem`."""
        return self._rest("The stream ended inside this element.")

    def _rest(self, problem: str) -> list[Event]:
        events: list[Event] = []
        self._element(0, len(self._buffer), events, problem)
        self._base += len(self._buffer)
        self._buffer.clear()
        self._scanned = 0
        return events

    def _element(self, begin: int, end: int, events: list[Event], problem: str | None) -> None:
        raw = bytes(self._buffer[begin:end])
        if data := raw.strip(_SPACE):
            start = self._base + begin + len(raw) - len(raw.lstrip(_SPACE))
            events.append(Event(data, start, start + len(data), self._at, problem=problem))
