"""Chunks that are sent without a pause are written together: a system call for each costs more than everything else.

ASGI has one message for each chunk, and uvicorn writes at each. The bytes and their order are the same.
"""

from collections.abc import Iterable
from typing import Any

from .asgi import Send

_MOST = 1 << 16
"""How many bytes are collected."""


class JoinedWrites:
    """The transport of a uvicorn answer, which collects what is written until `end`."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self._transport: Any = answer.transport
        self._waiting: list[bytes] = []
        self._size = 0
        answer.transport = self

    @classmethod
    def of(cls, send: Send) -> "JoinedWrites | None":
        """For the answer that `send` sends; None for another server than uvicorn."""
        answer = getattr(send, "__self__", None)
        is_known = all(hasattr(answer, name) for name in ("transport", "chunked_encoding", "disconnected", "flow"))
        return cls(answer) if is_known else None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        self._waiting.append(data)
        self._size += len(data)
        if self._size > _MOST:
            self._flush()

    def close(self) -> None:
        self._flush()
        self._transport.close()

    @property
    def takes_chunks(self) -> bool:
        """True when the body is sent in chunks, so that `chunks` may write them."""
        return self._answer.chunked_encoding is True

    async def chunks(self, body: bytes, sizes: Iterable[int]) -> None:
        """Write a body in chunks of these sizes, as uvicorn does."""
        parts: list[bytes] = []
        start = written = 0
        if self._answer.disconnected:
            return
        for size in sizes:
            if piece := body[start : start + size]:
                parts += b"%x\r\n" % len(piece), piece, b"\r\n"
                start += size
            if start - written > _MOST:
                self.write(b"".join(parts))
                parts, written = [], start
                await self._answer.flow.drain()
                if self._answer.disconnected:
                    return
        if parts:
            self.write(b"".join(parts))

    def end(self) -> None:
        """Write what is left, and nothing more."""
        self._flush()
        self._answer.transport = self._transport

    def _flush(self) -> None:
        if self._waiting:
            self._transport.write(b"".join(self._waiting))
            self._waiting.clear()
            self._size = 0
