"""mitmproxy's flow files as round trips. mitmproxy's own reader parses them, so that old versions work too."""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import io
import re
from collections.abc import Iterator
from pathlib import Path

from turntape.cassettes.importers.format import Format, Origin, round_trip
from turntape.cassettes.importers.messages import Encodings
from turntape.cassettes.tape.model import Failure, Frame, Headers, Request, Response, RoundTrip

NAME = "mitmproxy"
_TNETSTRING = re.compile(rb"^\d{2,10}:\d{1,9}:")
"""A flow file starts with a dictionary in tnetstring form: its length, then the length of its first key."""
_NO_BODY = "a body was left out by the tool that saved it"


def sniff(data: bytes) -> bool:
    return bool(_TNETSTRING.match(data[:32]))


def read(data: bytes, path: Path) -> Iterator[RoundTrip]:
    """The HTTP flows of a file, in its order. Other flows (TCP, UDP, DNS) are left out."""
    from mitmproxy import exceptions, http
    from mitmproxy.io import FlowReader

    place, encodings = 0, Encodings()
    try:
        for flow in FlowReader(io.BytesIO(data)).stream():
            if isinstance(flow, http.HTTPFlow):
                yield _flow(flow, Origin(NAME, path, f"flow {place}"), encodings)
            place += 1
    except exceptions.FlowReadException as exc:
        origin = Origin(NAME, path, f"flow {place}")
        raise origin.fault(f"mitmproxy cannot read it: {exc}", "save the flows again, or update mitmproxy") from exc


def _flow(flow: object, origin: Origin, encodings: Encodings) -> RoundTrip:
    from dataclasses import replace

    from mitmproxy import http

    from .flow_conversion import connect_failure, header_fields

    assert isinstance(flow, http.HTTPFlow)
    asked, answer = flow.request, flow.response
    headers = header_fields(asked.headers)
    body, encoding, notes = _body(asked.raw_content, headers, encodings)
    request = Request(
        method=asked.method,
        url=asked.pretty_url,
        headers=headers,
        content=body,
        http_version=asked.http_version,
        encoding=encoding,
    )
    started_at = asked.timestamp_start

    def since(date: float | None) -> int | None:
        return None if date is None else max(round((date - started_at) * 1_000_000), 0)

    response, failure = None, None
    if answer is not None:
        answer_headers = header_fields(answer.headers)
        content, encoding, more = _body(answer.raw_content, answer_headers, encodings)
        notes = (*notes, *more)
        response = Response(
            status=answer.status_code,
            reason=answer.reason or "",
            headers=answer_headers,
            content=content,
            http_version=answer.http_version,
            encoding=encoding,
            trailers=header_fields(answer.trailers),
        )
    if flow.error is not None:
        failure = Failure(connect_failure(flow.error.msg) or "cut", flow.error.msg)
    elif response is None:
        failure = Failure("cut", "nothing came back before the flows were saved")
    trip = round_trip(
        origin,
        request,
        response,
        started_at,
        tuple(dict.fromkeys(notes)),
        failure=failure,
        request_at=since(asked.timestamp_end),
        first_byte_at=since(answer.timestamp_start) if answer else None,
        ended_at=since(answer.timestamp_end) if answer else None,
    )
    if flow.websocket is None:
        return trip
    frames = tuple(
        Frame("client" if m.from_client else "server", since(m.timestamp) or 0, m.content, m.is_text)
        for m in flow.websocket.messages
    )
    return replace(trip, frames=frames)


def _body(raw: bytes | None, headers: Headers, encodings: Encodings) -> tuple[bytes, str | None, tuple[str, ...]]:
    return (b"", None, (_NO_BODY,)) if raw is None else encodings.undone(raw, headers)


MITMPROXY = Format(NAME, "mitmproxy flows", sniff, read)
