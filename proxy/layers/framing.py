"""Where the body of an HTTP/1 answer ends, as clients read it, and the trailers behind it."""

# mitmproxy and h11 are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from typing import Any

import h11
from mitmproxy import http
from mitmproxy.net.http import http1


class TrailerReader:
    """A body reader that keeps the trailers for later."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self._trailers: list[tuple[bytes, bytes]] = []

    def __call__(self, buffer: Any) -> Any:
        return self._kept(self.inner(buffer))

    def read_eof(self) -> Any:
        return self._kept(self.inner.read_eof())

    def _kept(self, event: Any) -> Any:
        if isinstance(event, h11.EndOfMessage) and event.headers:
            self._trailers = [(bytes(name), bytes(value)) for name, value in event.headers.raw_items()]
            return h11.EndOfMessage()
        return event

    def take(self) -> list[tuple[bytes, bytes]]:
        taken, self._trailers = self._trailers, []
        return taken


def is_chunked(response: http.Response) -> bool:
    """True for an answer whose last transfer coding is `chunked`, which some servers give a parameter."""
    last = response.headers.get("transfer-encoding", "").rpartition(",")[2]
    return last.partition(";")[0].strip().lower() == "chunked"


def body_size(request: http.Request, response: http.Response) -> int | None:
    """The size of an answer's body: None for chunks, -1 for all until the connection is closed.

    As mitmproxy's, but also for the odd framing that clients read: several equal lengths, leading zeros, transfer
    codings that it does not know (RFC 9112, 6.3). Raises ValueError when there is no way to read it.
    """
    try:
        return http1.expected_http_body_size(request, response)
    except ValueError:
        if response.headers.get("transfer-encoding"):
            return None if is_chunked(response) else -1
        lengths = [part.strip() for part in response.headers.get("content-length", "").split(",")]
        if all(part.isascii() and part.isdigit() for part in lengths) and len({int(part) for part in lengths}) == 1:
            return int(lengths[0])
        raise
