"""Server-sent events, as https://html.spec.whatwg.org/multipage/server-sent-events.html says (2026-11-20).

Lines end at CR, LF or CRLF and nowhere else, found on bytes before any decoding: models emit U+2028 and U+0085.
"""

from typing import override

from ..regex import regex
from .buffer import BufferedDecoder
from .event import Event

_LINE_END = regex(rb"\r\n|\n|\r")
_LINE_ENDS = regex(rb"[\r\n]+")
_BOM = b"\xef\xbb\xbf"
_QUIET_FIELDS = frozenset({b"id", b"retry"})
_WORD = regex(rb"[A-Za-z][A-Za-z0-9_-]*")
UNTERMINATED = "The stream ended before the blank line that ends this event."


def _is_ignored(line: bytes, name: bytes, value: bytes) -> bool:
    """True for a field with a name of the sender's own, which readers ignore as the standard says.

    Some servers write `error: …`. A JSON object under another name is a part of the answer that readers lose. A line
    without a name is a text of somebody else, such as a gateway.
    """
    own = b":" in line and _WORD.fullmatch(name) is not None and name.lower() != b"error"
    return own and value.lstrip()[:1] not in (b"{", b"[")


class SseDecoder(BufferedDecoder):
    """A tail without the blank line that ends an event is an event with a `problem`."""

    def __init__(self, limit: int = 64 << 20) -> None:
        super().__init__(limit)
        self._start: int | None = None
        """Where the open event began; None between events."""
        self._name = b""
        self._names: tuple[bytes, str] = b"", ""
        """The name of the last event and its text, which events of the same name share."""
        self._data: list[bytes] = []
        self._size = 0

    @override
    def _split(self, events: list[Event]) -> int:
        buffer = self._buffer
        begin = 0
        scan = self._scanned
        size = len(buffer)
        while match := _LINE_END.search(buffer, scan):
            end = match.end()
            if end == size and buffer[end - 1] == 13:  # the LF of a CRLF may still come
                break
            self._line(bytes(buffer[begin : match.start()]), self._base + begin, self._base + end, events)
            begin = scan = end
            if self._start is None and (empty := _LINE_ENDS.match(buffer, end)) is not None:
                begin = scan = empty.end()  # empty lines between two events mean nothing
        left = size - begin
        self._scanned = max(left - 1, 0) if buffer.endswith(b"\r") else left
        return begin

    @override
    def _held(self) -> int:
        return len(self._buffer) + self._size

    @override
    def close(self) -> list[Event]:
        """The last event: complete if only its last line end was missing, otherwise with a `problem`."""
        events: list[Event] = []
        buffer = self._buffer
        end = self._base + len(buffer)
        if buffer.endswith(b"\r"):
            self._line(bytes(buffer[:-1]), self._base, end, events)
        elif buffer:
            self._line(bytes(buffer), self._base, end, events, torn=True)
        self._drop_all()
        if self._start is not None:
            events.append(self._event(end, UNTERMINATED))
        return events

    def _line(self, line: bytes, start: int, end: int, events: list[Event], *, torn: bool = False) -> None:
        if start == 0:
            line = line.removeprefix(_BOM)
        if not line:
            if self._start is not None:
                events.append(self._event(end, None))
            return
        problem = UNTERMINATED if torn else None
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._open(start)
            self._data.append(value)
            self._size += len(value)
        elif name == b"event":
            self._open(start)
            self._name = value
        elif not name:
            events.append(Event(value, start, end, self._at, kind="comment", problem=problem))
        elif name not in _QUIET_FIELDS and not _is_ignored(line, name, value):
            label = name.decode("utf-8", "replace")
            events.append(Event(value, start, end, self._at, name=label, kind="field", problem=problem))

    def _open(self, start: int) -> None:
        if self._start is None:
            self._start = start

    def _event(self, end: int, problem: str | None) -> Event:
        start = end if self._start is None else self._start
        if self._names[0] != self._name:
            self._names = self._name, self._name.decode("utf-8", "replace")
        event = Event(b"\n".join(self._data), start, end, self._at, name=self._names[1], problem=problem)
        self._start, self._name, self._data, self._size = None, b"", [], 0
        return event

    @override
    def _rest(self, problem: str) -> list[Event]:
        self._data.append(bytes(self._buffer))
        self._drop_all()
        return [self._event(self._base, problem)]
