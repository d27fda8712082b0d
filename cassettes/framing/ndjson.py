"""One JSON text a line, as Ollama and Cohere v1 stream it."""

from .event import Event
from .json_text import is_json


class NdjsonDecoder:
    """`feed` bytes as they come, `close` at the end; a last line without its line end is fine when it is JSON."""

    def __init__(self, limit: int = 64 << 20) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._base = 0
        self._scanned = 0
        self._at = 0

    def feed(self, data: bytes, at: int = 0) -> list[Event]:
        """The lines that `data` completes; blank ones are skipped."""
        if not data:
            return []
        self._at = at
        buffer = self._buffer
        buffer += data
        events: list[Event] = []
        begin = 0
        scan = self._scanned
        while (end := buffer.find(b"\n", scan)) >= 0:
            scan = end + 1
            self._line(bytes(buffer[begin:end]), self._base + begin, self._base + scan, events, None)
            begin = scan
        if begin:
            del buffer[:begin]
            self._base += begin
        self._scanned = len(buffer)
        if len(buffer) > self._limit:
            events += self._rest(f"No line ended within {self._limit} bytes; what had come was cut here.")
        return events

    def close(self) -> list[Event]:
        """The last line when the stream did not end it."""
        tail = bytes(self._buffer).strip()
        torn = bool(tail) and not is_json(tail)
        return self._rest("The stream ended inside this line." if torn else None)

    def _rest(self, problem: str | None) -> list[Event]:
        events: list[Event] = []
        end = self._base + len(self._buffer)
        self._line(bytes(self._buffer), self._base, end, events, problem)
        self._buffer.clear()
        self._base, self._scanned = end, 0
        return events

    def _line(self, line: bytes, start: int, end: int, events: list[Event], problem: str | None) -> None:
        if start == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if stripped := line.strip():
            events.append(Event(stripped, start, end, self._at, problem=problem))
