"""uvicorn's HTTP protocol with a bound.

Its parser keeps a head or trailers of any length, and copies a field that has not ended at each read.
"""

from typing import cast, override

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

MOST = 1 << 20
"""How many bytes may come without an end of the head, or a byte of the body."""
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class BoundedRequests(HttpToolsProtocol):
    _held = 0
    """How many bytes came since the last end of a head or byte of a body."""

    @property
    def _answers(self) -> bool:
        """True while an answer is on its way."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is not None and not cycle.response_complete

    @override
    def data_received(self, data: bytes) -> None:
        self._held += len(data)
        super().data_received(data)
        if self._held > MOST and not self.transport.is_closing():
            if not self._answers:
                self.transport.write(_TOO_LONG)
            self.transport.close()

    @override
    def on_headers_complete(self) -> None:
        self._held = 0
        super().on_headers_complete()

    @override
    def on_body(self, body: bytes) -> None:
        self._held = 0
        super().on_body(body)
