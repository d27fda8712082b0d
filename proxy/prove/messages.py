"""Parses HTTP/1 messages from the bytes of a connection, without any network code.

RFC 9112: https://www.rfc-editor.org/rfc/rfc9112 (read 2026-11-21), sections 6 and 7.
"""

from collections.abc import Iterator, Sequence

from turntape.cassettes.frozen import frozen
from turntape.cassettes.whole_number import whole_number

type Fields = tuple[tuple[str, str], ...]

_BODILESS = frozenset({204, 304})


@frozen
class Message:
    first: str
    """The request line or the status line."""
    fields: Fields
    """In order, spelt as they came."""
    body: bytes
    chunks: tuple[int, ...]
    """Sizes of the chunks, of a chunked body."""
    trailers: Fields
    at: int
    """The index of the piece with its first byte, in the connection's list of pieces."""
    whole: bool = True

    def field(self, name: str) -> str | None:
        return next((value for key, value in self.fields if key.lower() == name), None)

    @property
    def status(self) -> int:
        """Of a response."""
        word = self.first.split(" ", 2)[1:2]
        return (whole_number(word[0]) or 0) if word else 0

    @property
    def method(self) -> str:
        """Of a request."""
        return self.first.split(" ", 1)[0]

    @property
    def target(self) -> str:
        """Of a request."""
        return (self.first.split(" ") + ["", ""])[1]


class _Bytes:
    """A connection's bytes in one direction, read from the front."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._data = b"".join(pieces)
        self._ends: list[int] = []
        end = 0
        for piece in pieces:
            end += len(piece)
            self._ends.append(end)
        self.position = 0

    @property
    def left(self) -> int:
        return len(self._data) - self.position

    @property
    def piece(self) -> int:
        """The number of the piece with the next byte."""
        return next((i for i, end in enumerate(self._ends) if end > self.position), len(self._ends))

    def until(self, mark: bytes) -> bytes | None:
        """The bytes before `mark`, which is skipped; None when there is no mark."""
        at = self._data.find(mark, self.position)
        if at < 0:
            return None
        found = self._data[self.position : at]
        self.position = at + len(mark)
        return found

    def take(self, size: int) -> bytes:
        found = self._data[self.position : self.position + size]
        self.position += len(found)
        return found


def requests(pieces: Sequence[bytes]) -> list[Message]:
    """The requests that a client sent on a connection."""
    data = _Bytes(pieces)
    found: list[Message] = []
    while data.left and (message := _message(data, bodiless=False, to_the_end=False)) is not None:
        found.append(message)
        if message.method == "CONNECT" or (message.field("upgrade") or "").lower() == "websocket":
            break
    return found


def responses(pieces: Sequence[bytes], methods: Sequence[str]) -> list[Message]:
    """The responses to requests of these methods; interim ones (1xx) are left out."""
    data = _Bytes(pieces)
    found: list[Message] = []
    expected: Iterator[str] = iter(methods)
    method = next(expected, "")
    while data.left and (message := _message(data, bodiless=method == "HEAD", to_the_end=True)) is not None:
        if 100 <= message.status < 200 and message.status != 101:
            continue
        found.append(message)
        method = next(expected, "")
        if message.status == 101:
            break
    return found


def _message(data: _Bytes, *, bodiless: bool, to_the_end: bool) -> Message | None:
    at = data.piece
    head = data.until(b"\r\n\r\n")
    if head is None:
        return None
    first, *lines = head.decode("latin-1").lstrip("\r\n").split("\r\n")
    fields = _fields(lines)
    known = {name.lower(): value for name, value in fields}
    status = int(first[9:12]) if first.startswith("HTTP/") and first[9:12].isdigit() else 0
    if bodiless or status in _BODILESS or 100 <= status < 200:
        return Message(first, fields, b"", (), (), at)
    if "chunked" in known.get("transfer-encoding", "").lower():
        return _chunked(data, first, fields, at)
    if "content-length" in known:
        size = int(known["content-length"])
        body = data.take(size)
        return Message(first, fields, body, (), (), at, len(body) == size)
    return Message(first, fields, data.take(data.left) if to_the_end and status else b"", (), (), at)


def _chunked(data: _Bytes, first: str, fields: Fields, at: int) -> Message:
    body, sizes = b"", list[int]()
    while (line := data.until(b"\r\n")) is not None:
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            trailers: list[str] = []
            while (line := data.until(b"\r\n")) is not None:
                if not line:
                    return Message(first, fields, body, tuple(sizes), _fields(trailers), at)
                trailers.append(line.decode("latin-1"))
            break
        piece = data.take(size)
        body += piece
        sizes.append(len(piece))
        if len(piece) < size or data.take(2) != b"\r\n":
            break
    return Message(first, fields, body, tuple(sizes), (), at, whole=False)


def _fields(lines: Sequence[str]) -> Fields:
    pairs = (line.partition(":") for line in lines)
    return tuple((name, value.strip(" \t")) for name, _, value in pairs)
