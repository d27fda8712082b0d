"""Whether an answer over HTTP has the form that MCP gives it: its status, its `Content-Type`, the kind of its body.

https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, read 2026-11-22.
"""

import re
from urllib.parse import urlsplit

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Response, RoundTrip

from ..wire.exchange import header
from ..wire.protocols.mcp.messages import address_of, is_old_stream
from ..wire.protocols.mcp.shape import SESSION_HEADER, may_hold_messages
from .flaw import Flaw
from .form import is_modern

OF_SESSION = regex(r"\bsession\b", re.IGNORECASE)
_SHORT_BODY = 2_000
"""Bytes. The body of a refusal is not longer."""
_SHORT_TEXT = 60
_KINDS = ("application/json", "text/event-stream")
"""What an answer over HTTP may be."""
_ACCEPTED = ("application/json", "text/event-stream")
_NOT_ACCEPTABLE, _WRONG_MEDIA = 406, 415


def unfounded(trip: RoundTrip) -> Flaw | None:
    """A refusal over HTTP for a header that is as MCP wants it."""
    if trip.tool_wire is not None or trip.response is None:
        return None
    takes, kind = (header(trip.request.headers, name) or "" for name in ("accept", "content-type"))
    all_taken = "*/*" in takes or all(one in takes for one in _ACCEPTED)
    if trip.response.status == _NOT_ACCEPTABLE and all_taken:
        return Flaw("says with status 406 that the client does not accept what it sends, and the client does")
    if trip.response.status == _WRONG_MEDIA and kind.partition(";")[0].strip() == _ACCEPTED[0]:
        return Flaw("says with status 415 that the client does not send JSON, and the client does")
    return None


def misnamed(trip: RoundTrip) -> Flaw | None:
    """An answer over HTTP whose body is not what its `Content-Type` names, or a list for one request."""
    if trip.tool_wire is not None or trip.response is None:
        return None
    kind = (header(trip.response.headers, "content-type") or "").partition(";")[0].strip().lower()
    try:
        body, asked = trip.response.body.lstrip()[:6], trip.request.body.lstrip()[:1]
    except CassetteError:  # the cassette reports bodies that it cannot give
        return None
    if kind == "text/event-stream" and body[:1] == b"{":
        return Flaw("is JSON, and its `Content-Type` says that it is an event stream", mild=True)
    if kind == "application/json" and body.replace(b" ", b"") == b"[]" and asked == b"{":
        return Flaw("is an empty batch", mild=True)
    if kind == "application/json" and body[:1] == b"[" and asked == b"{":
        return Flaw("is a list of messages, where the request was one message and MCP wants one", mild=True)
    if kind == "application/json" and body.startswith((b"event:", b"data:")):
        return Flaw("is an event stream, and its `Content-Type` says that it is JSON", mild=True)
    if kind and kind not in _KINDS and body.startswith((b"event:", b"data:")):
        return Flaw(f"is an event stream, and its `Content-Type` says {kind!r}", mild=True)
    if kind and kind not in _KINDS and not kind.endswith("+json") and body[:1] == b"{":
        return Flaw(f"has the `Content-Type` {kind!r}, where MCP wants `application/json`", mild=True)
    return None


def endpoint_elsewhere(trip: RoundTrip) -> str | None:
    """The URL that a stream of the transport of 2024-11-05 names for the client's messages, at another origin than its
    own. The official SDKs refuse it (mcp 2.3.0, @modelcontextprotocol/sdk 1.32.2, read 2026-11-29)."""
    if not is_old_stream(trip):
        return None
    named = address_of(trip)
    return None if _origin(named) == _origin(trip.request.url) else named


def _origin(url: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:  # not a URL, which no client can follow
        return "", url, None


_PORTS = {"http": 80, "https": 443}


def unmessaged(trip: RoundTrip) -> str | None:
    """What a client sends to a server by HTTP that is not a message; None for a message and for nothing."""
    if trip.tool_wire is not None or trip.request.method != "POST":
        return None
    try:
        body = trip.request.body
    except CassetteError:  # the cassette reports bodies that it cannot give
        return None
    return None if not body.strip() or may_hold_messages(body) else not_a_message(body)


def not_a_message(raw: bytes) -> str:
    """What a text is that holds no message."""
    text = " ".join(raw[:200].decode("utf-8", "replace").split())
    return "an empty batch" if text.replace(" ", "") == "[]" else repr(text[:_SHORT_TEXT])


def unstreamed(trip: RoundTrip) -> str | None:
    """How the answer to a client that listens for the server's messages is neither a stream nor the status for none."""
    response = trip.response
    if trip.request.method != "GET" or response is None or not 200 <= response.status < 300:
        return None
    kind = (header(response.headers, "content-type") or "").partition(";")[0].strip().lower()
    if kind == _KINDS[1] or _KINDS[1] not in (header(trip.request.headers, "accept") or ""):
        return None
    return f"status {response.status} and {kind or 'no `Content-Type`'!r}"


def outdated(trip: RoundTrip) -> str | None:
    """The version of a request without a message that its version does not have: no GET and no DELETE is left."""
    said = header(trip.request.headers, "MCP-Protocol-Version")
    return said if trip.request.method in ("GET", "DELETE") and is_modern(said) else None


def answered_notice(response: Response) -> str | None:
    """What an answer to a message that needs none holds as JSON; None for the empty one that MCP wants."""
    kind = (header(response.headers, "content-type") or "").partition(";")[0].strip().lower()
    try:
        body = response.body.strip()
    except CassetteError:  # the cassette reports bodies that it cannot give
        return None
    wrong = 200 <= response.status < 300 and kind == _KINDS[0] and bool(body)
    return body[:_SHORT_TEXT].decode("utf-8", "replace") if wrong else None


def unreadable_session(response: Response) -> str | None:
    """The id of a session, where it has other signs than the visible ones of ASCII."""
    found = header(response.headers, SESSION_HEADER)
    return None if not found or all("!" <= sign <= "~" for sign in found) else found


def says_session(response: Response) -> bool:
    try:
        return (
            len(response.body) <= _SHORT_BODY
            and OF_SESSION.search(response.body.decode("utf-8", "replace")) is not None
        )
    except CassetteError:  # the cassette reports bodies that it cannot give
        return False
