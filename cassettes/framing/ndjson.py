"""One JSON text a line, as Ollama and Cohere v1 stream it."""

from typing import override

from .buffer import BufferedDecoder
from .event import Event
from .json_text import is_json


class NdjsonDecoder(BufferedDecoder):
    """Each line is an event; blank ones are skipped. A last line without its line end is fine when it is JSON."""

    unit = "line"

    @override
    def _split(self, events: list[Event]) -> int:
        buffer = self._buffer
        begin = 0
        scan = self._scanned
        while (end := buffer.find(b"\n", scan)) >= 0:
            scan = end + 1
            self._line(bytes(buffer[begin:end]), self._base + begin, self._base + scan, events, None)
            begin = scan
        self._scanned = len(buffer) - begin
        return begin

    @override
    def close(self) -> list[Event]:
        """The last line when the stream did not end it."""
        tail = bytes(self._buffer).strip()
        torn = bool(tail) and not is_json(tail)
        return self._rest("The stream ended inside this line." if torn else None)

    @override
    def _rest(self, problem: str | None) -> list[Event]:
        events: list[Event] = []
        self._line(bytes(self._buffer), self._base, self._base + len(self._buffer), events, problem)
        self._drop_all()
        return events

    def _line(self, line: bytes, start: int, end: int, events: list[Event], problem: str | None) -> None:
        if start == 0:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if stripped := line.strip():
            events.append(Event(stripped, start, end, self._at, problem=problem))
