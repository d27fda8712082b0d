"""The wrapper's end of the link: sends frames to the recorder and never waits for it."""

import json
import os
import select
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from .frames import CLIENT, LOST, SAY, SERVER, STDERR, Decoder, encode

if TYPE_CHECKING:
    import socket

WAITING_BYTES = 64 << 20
"""How many bytes may wait for the recorder; what comes beyond is not recorded."""


class Link:
    """`put` hands in a frame; `flush` sends what the socket takes now. Nothing here blocks or raises.

    A piece of a stream that finds no room is left out; later a frame says how much is missing.
    """

    def __init__(
        self, socket: "socket.socket | None", *, own: bool = False, waiting_bytes: int = WAITING_BYTES
    ) -> None:
        self.own = own
        """True for a recorder that only we have: it ends after us."""
        self.lost = 0
        """Bytes of streams that were passed on and not recorded, because the recorder was too slow."""
        self.said: list[str] = []
        """Sentences of the recorder that were not printed yet."""
        self.ended = False
        """True when the recorder has closed its end, or the connection broke."""
        self._socket = socket
        self._most = waiting_bytes
        self._queue: deque[memoryview] = deque()
        self._waiting = 0
        self._lost_of: dict[int, int] = {}
        self._decoder = Decoder()

    @property
    def descriptor(self) -> int | None:
        """The socket's descriptor, for a poll; None when the link is closed."""
        return None if self._socket is None else self._socket.fileno()

    @property
    def waiting(self) -> int:
        """Bytes that the socket has not taken yet."""
        return self._waiting

    def put(self, kind: int, at: float, data: bytes) -> None:
        """Send one frame, now or when the socket has room. Bytes of a stream are lost when too much waits."""
        if self._socket is None:
            return
        try:
            if self._lost_of or (self._waiting and self._waiting + len(data) > self._most):
                self._put_beyond(kind, at, data)
            else:
                self._append(encode(kind, at, data))
            self.flush()
        except Exception as exc:  # noqa: BLE001 - a fault of ours must not stop the traffic
            self.close()
            self.said.append(f"internal error, {type(exc).__name__}: {exc}; nothing more of this server is recorded")

    def _put_beyond(self, kind: int, at: float, data: bytes) -> None:
        """Count a piece that finds no room. When there is room again, the recorder hears what is missing first."""
        is_stream = kind in (CLIENT, SERVER, STDERR)
        if is_stream and self._waiting and self._waiting + len(data) > self._most // 2:
            self.lost += len(data)
            self._lost_of[kind] = self._lost_of.get(kind, 0) + len(data)
            return
        for of, number in self._lost_of.items():
            self._append(encode(LOST, at, json.dumps({"of": of, "bytes": number}).encode()))
        self._lost_of.clear()
        self._append(encode(kind, at, data))

    def _append(self, frame: bytes) -> None:
        self._queue.append(memoryview(frame))
        self._waiting += len(frame)

    def flush(self) -> None:
        """Send what the socket takes without waiting."""
        while self._queue and self._socket is not None:
            try:
                sent = self._socket.send(self._queue[0])
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.close()
                return
            self._waiting -= sent
            if sent == len(self._queue[0]):
                self._queue.popleft()
            else:
                self._queue[0] = self._queue[0][sent:]

    def receive(self) -> None:
        """Read what the recorder sent."""
        if self._socket is None:
            return
        try:
            data = self._socket.recv(1 << 16)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
            return
        self.said += [frame.data.decode("utf-8", "replace") for frame in self._decoder.feed(data) if frame.kind == SAY]

    def half_close(self) -> None:
        """End our side: nothing follows; for when nothing waits."""
        if self._socket is not None:
            import socket

            try:
                self._socket.shutdown(socket.SHUT_WR)
            except OSError:
                self.close()

    def close(self) -> None:
        """Give up the link."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self.ended = True
        self._queue.clear()
        self._waiting = 0


def to_stderr(sentence: str) -> None:
    """One line on the wrapper's stderr, which is the server's as well; nothing when that would have to wait."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(2, select.POLLOUT)
        if not poll.poll(0):
            return
    with suppress(OSError):  # nobody reads it
        os.write(2, f"turntape: {sentence}\n".encode(errors="replace"))
