"""The heads of HTTP/2 requests and answers that cannot be passed on as they are."""

# mitmproxy's headers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import re
from collections.abc import Iterable

from mitmproxy import http
from mitmproxy.proxy.layers.http._events import ResponseHeaders

from turntape.cassettes.excerpts import cut

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""RFC 9110, 5.6.2."""
_NOT_IN_A_PATH = re.compile(rb"[\0\t\n\r ]")
"""What ends a path, or the line that it is in, for some server."""
_NOT_HTTP2 = frozenset({b"transfer-encoding", b"content-length"})
_SHOWN = 80
"""How much is repeated of what cannot be read."""


def odd_request(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """What would make another request of this one where its method and path are a line of HTTP/1.1."""
    known = dict(headers)
    method, path = known.get(b":method", b""), known.get(b":path", b"/")
    if not _TOKEN.fullmatch(method):
        return f"the method {method!r} is not a token"
    if not (path.startswith(b"/") or path == b"*") or _NOT_IN_A_PATH.search(path):
        return f"the path {path!r} is not one of HTTP/2"
    return None


def without_lengths(event: ResponseHeaders) -> ResponseHeaders:
    """An answer of an HTTP/1 upstream that names both a transfer coding and a length, without the length."""
    response = event.response
    if response.is_http2 or "transfer-encoding" not in response.headers or "content-length" not in response.headers:
        return event
    response = response.copy()
    response.headers = http.Headers([field for field in response.headers.fields if field[0].lower() not in _NOT_HTTP2])
    return ResponseHeaders(event.stream_id, response, event.end_stream)


def odd_answer(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    """Why an answer has no status that can be sent on."""
    before = {name: value for name, value in headers if name.startswith(b":")}
    status = before.pop(b":status", None)
    if status is None:
        return "it has no :status"
    if not status.isdigit():
        return f"its :status is {cut(status.decode(errors='backslashreplace'), _SHOWN)!r}, not a number"
    if before:
        return f"it has {cut(min(before).decode(errors='backslashreplace'), _SHOWN)!r} beside :status"
    return None
