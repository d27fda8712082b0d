"""mitmproxy's flows as round trips."""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from mitmproxy import http

from turntape.cassettes.tape.bounds import MOST_OF_A_BODY, NOT_KEPT
from turntape.cassettes.tape.content_encoding import decoded
from turntape.cassettes.tape.model import (
    Failure,
    FailureKind,
    Headers,
    Request,
    Response,
    RoundTrip,
    Side,
)

from .hops import HEADER as HOPS
from .pending import BEGINNING, PendingRoundTrip

CONNECT_ERRORS: tuple[tuple[str, FailureKind], ...] = (
    ("refused http connect", "refused"),
    ("name or service not known", "dns"),
    ("nodename nor servname", "dns"),
    ("name resolution", "dns"),
    ("no address associated", "dns"),
    ("getaddrinfo", "dns"),
    ("certificate", "tls"),
    ("tls", "tls"),
    ("ssl", "tls"),
    ("timed out", "timeout"),
    ("timeout", "timeout"),
    ("connect call failed", "refused"),
    ("connection refused", "refused"),
    ("unreachable", "refused"),
    ("no route to host", "refused"),
    ("multiple exceptions", "refused"),
)
"""Words in the text of an error, and the kind of failure; the first match counts."""


_OURS = frozenset({"proxy-authorization", HOPS})
"""Headers of a request that are ours or the upstream proxy's, never the API's."""


def connect_failure(message: str) -> FailureKind | None:
    """Why the upstream was not reached, from the text of the error; None when it was reached."""
    lowered = message.lower()
    return next((kind for words, kind in CONNECT_ERRORS if words in lowered), None)


def header_fields(headers: http.Headers | None) -> Headers:
    """Header fields in their order and spelling. Bytes that are not UTF-8 become surrogates."""
    if headers is None:
        return ()
    return tuple(
        (name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape"))
        for name, value in headers.fields
    )


def round_trip(
    flow: http.HTTPFlow, pending: PendingRoundTrip, closed_first: Side | None, failure: Failure | None
) -> RoundTrip:
    """The round trip of a flow, complete or not."""
    raw: bytes | bytearray | None = flow.metadata.get(BEGINNING, flow.request.raw_content)
    body, encoding, fault = decoded(bytes(raw or b""), flow.request.headers.get("content-encoding"))
    faults = (*pending.faults, fault) if fault else tuple(pending.faults)
    if len(body) > MOST_OF_A_BODY:
        body = body[:MOST_OF_A_BODY]
        faults = (*faults, f"the request is longer than {MOST_OF_A_BODY:,} bytes; what came after them {NOT_KEPT}")
    peer = flow.client_conn.peername
    return RoundTrip(
        request=Request(
            method=flow.request.method,
            url=pending.url,
            headers=tuple(field for field in header_fields(flow.request.headers) if field[0].lower() not in _OURS),
            content=body,
            http_version=flow.request.http_version,
            encoding=encoding,
            complete=raw is not None and pending.request_at is not None,
        ),
        response=_response(flow.response, pending) if flow.response is not None else None,
        started_at=pending.started_at,
        run=pending.run,
        request_at=pending.request_at,
        first_byte_at=pending.first_byte_at,
        ended_at=pending.now(),
        closed_first=closed_first,
        failure=failure,
        route="base_url" if pending.route == "base_url" else "forward",
        upstream=pending.upstream,
        client=f"{peer[0]}:{peer[1]}" if peer else None,
        frames=tuple(pending.frames),
        faults=faults,
        extra=pending.extra,
    )


def _response(response: http.Response, pending: PendingRoundTrip) -> Response:
    return Response(
        status=response.status_code,
        reason=response.reason or "",
        headers=header_fields(response.headers),
        content=pending.body.content or (response.raw_content or b""),
        chunks=pending.body.chunks,
        http_version=response.http_version,
        encoding=pending.encoding,
        trailers=header_fields(response.trailers),
    )
