"""Where the parts of an HTTP/1 message end: what clients read, and what cannot be read in one way alone."""

# mitmproxy and h11 are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import re
from typing import Any

import h11
from mitmproxy import http
from mitmproxy.net.http import http1
from mitmproxy.proxy.layers.http._events import RequestHeaders

from .chunks import without_zeros

_WITHOUT_BODY = (204, 304)
_ODD = re.compile(rb"[\r\n\0]")
"""What some servers take for the end of a line, or of a value."""


def odd_value(request: http.Request) -> str | None:
    """Why a request could be read as another one: by a field that continues on the next line, a bare CR or a NUL."""
    for name, value in request.headers.fields:
        if _ODD.search(value):
            return (
                f"the field {name.decode(errors='backslashreplace')!r} has a line break, a CR or a NUL in its value "
                "(RFC 9110, 5.5); send it on one line"
            )
    return None


class TrailerReader:
    """A body reader that keeps the trailers for later. The size of a chunk may begin with any number of zeros."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self._trailers: list[tuple[bytes, bytes]] = []

    def __call__(self, buffer: Any) -> Any:
        without_zeros(self.inner, buffer)
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


def has_chunks(response: http.Response) -> bool:
    """True for an answer whose body comes in chunks. One with status 204 or 304 has no body, whatever it names."""
    return response.status_code not in _WITHOUT_BODY and is_chunked(response)


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


def with_an_end(event: RequestHeaders) -> RequestHeaders:
    """A request with a body, so that its end is seen over HTTP/1.1: a request of HTTP/2 may have no length.

    Without one, the server would read the body as the next request.
    """
    request = event.request
    if not request.is_http2 or "content-length" in request.headers:
        return event
    request = request.copy()
    if request.raw_content is None or request.trailers:
        request.headers["transfer-encoding"] = "chunked"
    else:
        request.headers["content-length"] = str(len(request.raw_content))
    return RequestHeaders(event.stream_id, request, event.end_stream)
