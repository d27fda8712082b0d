"""HAR 1.2, which browsers and proxies open and `turntape import` reads back byte for byte.

What HAR has no place for (arrival times of chunks, who closed first, a failure's kind) is in the field
`_turntape` of an entry; names with an underscore are each tool's own by the specification.
"""

import base64
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl

import orjson

from ..importers.har import OURS
from ..matching.request_key import header
from ..tape.format import stamp
from ..tape.model import Frame, Headers, Request, Response, RoundTrip, split_url

type Json = dict[str, object]


def har(round_trips: Iterable[RoundTrip]) -> Iterator[bytes]:
    """A HAR document in pieces, one entry at a time. It has no place for tool servers over stdio or in process."""
    from importlib.metadata import version

    creator = {"name": "turntape", "version": version("turntape")}
    yield b'{"log":{"version":"1.2","creator":%s,"pages":[],"entries":[' % orjson.dumps(creator)
    for place, trip in enumerate(trip for trip in round_trips if trip.tool_wire is None):
        yield (b",\n" if place else b"\n") + orjson.dumps(_entry(trip))
    yield b"\n]}}\n"


def _entry(trip: RoundTrip) -> Json:
    request, response = trip.request, trip.response
    entry: Json = {
        "startedDateTime": stamp(trip.started_at),
        "time": (trip.ended_at or 0) / 1000,
        "request": _request(request),
        "response": _response(response, trip),
        "cache": {},
        "timings": _timings(trip),
        OURS: _ours(trip),
    }
    if trip.frames:
        entry["_resourceType"] = "websocket"
        entry["_webSocketMessages"] = [_message(frame, trip.started_at) for frame in trip.frames]
    return entry


def _request(request: Request) -> Json:
    body = request.body
    fields: Json = {
        "method": request.method,
        "url": _plain(request.url),
        "httpVersion": request.http_version,
        "cookies": [],
        "headers": _headers(request.headers),
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(split_url(_plain(request.url)).query, keep_blank_values=True)
        ],
        "headersSize": -1,
        "bodySize": len(body),
    }
    if body:
        fields["postData"] = _content(body, request.headers, "_encoding")
    return fields


def _response(response: Response | None, trip: RoundTrip) -> Json:
    if response is None:
        return {
            "status": 0,
            "statusText": "",
            "httpVersion": "",
            "cookies": [],
            "headers": [],
            "content": {"size": 0, "mimeType": ""},
            "redirectURL": "",
            "headersSize": -1,
            "bodySize": -1,
            "_error": _plain(trip.failure.message) if trip.failure else "",
        }
    body = response.body
    return {
        "status": response.status,
        "statusText": _plain(response.reason),
        "httpVersion": response.http_version,
        "cookies": [],
        "headers": _headers(response.headers),
        "content": {"size": len(body), **_content(body, response.headers, "encoding")},
        "redirectURL": _plain(header(response.headers, "location")),
        "headersSize": -1,
        "bodySize": -1,
    }


def _content(body: bytes, headers: Headers, encoding: str) -> Json:
    """A body as text when it is UTF-8 and its type does not name another charset, else as base64."""
    kind = _plain(header(headers, "content-type"))
    try:
        text = body.decode()
        if "charset" not in kind.lower() or "utf-8" in kind.lower():
            return {"mimeType": kind, "text": text}
    except UnicodeDecodeError:
        pass
    return {"mimeType": kind, encoding: "base64", "text": base64.b64encode(body).decode()}


def _headers(headers: Headers) -> list[Json]:
    return [{"name": _plain(name), "value": _plain(value)} for name, value in headers]


def _plain(text: str) -> str:
    """Text that JSON can hold: bytes that are not UTF-8 are read as Latin-1."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    return text


def _timings(trip: RoundTrip) -> Json:
    sent = trip.request_at or 0
    first = trip.first_byte_at if trip.first_byte_at is not None else max(sent, trip.ended_at or 0)
    ended = trip.ended_at if trip.ended_at is not None else first
    return {
        "blocked": -1,
        "dns": -1,
        "connect": -1,
        "send": sent / 1000,
        "wait": max(first - sent, 0) / 1000,
        "receive": max(ended - first, 0) / 1000,
        "ssl": -1,
    }


def _message(frame: Frame, started_at: float) -> Json:
    data = frame.data.decode("utf-8", "replace") if frame.text else base64.b64encode(frame.data).decode()
    return {
        "type": "send" if frame.sender == "client" else "receive",
        "time": started_at + frame.at / 1_000_000,
        "opcode": 1 if frame.text else 2,
        "data": data,
    }


def _ours(trip: RoundTrip) -> Json:
    response, failure = trip.response, trip.failure
    fields: Json = {
        "index": trip.index,
        "run": trip.run,
        "request_at": trip.request_at,
        "first_byte_at": trip.first_byte_at,
        "ended_at": trip.ended_at,
        "closed_first": trip.closed_first,
        "failure": {"kind": failure.kind, "message": _plain(failure.message)} if failure else None,
        "request_encoding": trip.request.encoding,
        "answer_encoding": response.encoding if response else None,
        "complete": None if trip.request.complete else False,
        "chunks": [(chunk.size, chunk.at) for chunk in response.chunks] if response and response.chunks else None,
        "trailers": _headers(response.trailers) if response and response.trailers else None,
    }
    return {key: value for key, value in fields.items() if value is not None}
