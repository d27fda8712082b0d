"""What the decoders share: bytes are kept until an event is complete, up to a limit."""

from abc import ABC, abstractmethod

from .event import Event


class BufferedDecoder(ABC):
    """`feed` bytes as they come, `close` at the end. At most `limit` bytes are kept for an event that does not end."""

    unit = "event"
    """What ends, in messages."""

    def __init__(self, limit: int = 64 << 20) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._base = 0
        """The offset in the body of the buffer's first byte."""
        self._scanned = 0
        """How many bytes of the buffer need no second search."""
        self._at = 0
        """When the last bytes arrived."""

    def feed(self, data: bytes, at: int = 0) -> list[Event]:
        """The events that `data` completes, in order."""
        if not data:
            return []
        self._at = at
        self._buffer += data
        events: list[Event] = []
        self._drop(self._split(events))
        if self._held() > self._limit:
            events += self._rest(f"No {self.unit} ended within {self._limit} bytes; what had come was cut here.")
        return events

    @abstractmethod
    def close(self) -> list[Event]:
        """What is left at the end of the body."""

    @abstractmethod
    def _split(self, events: list[Event]) -> int:
        """Append the complete events; how many bytes of the buffer are done. Sets `_scanned` for what is left."""

    @abstractmethod
    def _rest(self, problem: str) -> list[Event]:
        """What is in the buffer as an event with a problem."""

    def _held(self) -> int:
        """How many bytes wait for the end of their event."""
        return len(self._buffer)

    def _drop(self, size: int) -> None:
        """Forget so many bytes at the beginning of the buffer."""
        if size:
            del self._buffer[:size]
            self._base += size

    def _drop_all(self) -> None:
        self._drop(len(self._buffer))
        self._scanned = 0
