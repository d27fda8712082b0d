"""Cassette lines, format 1: round trips to JSON and back. docs/cassette-format.md is the specification.

A line is one JSON object: the header (`turntape`), a round trip (`n`), an exchange with a tool server (`mcp`), a tool
server (`tool_server`, see `tool_servers.py`), or a label (`label`). Fields that are None, empty or at their default are
left out. Fields that this version does not know are kept.
"""

import base64
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal, cast
from urllib.parse import quote

import orjson

from ..excerpts import cut
from .delta import Delta
from .json_fields import (
    Json,
    a_body,
    a_count,
    a_list,
    a_pair,
    a_text,
    an_integer,
    an_object,
    given,
    optional,
    restored,
)
from .model import (
    Chunk,
    Failure,
    FailureKind,
    Frame,
    Headers,
    Lazy,
    Request,
    Response,
    RoundTrip,
    Side,
    ToolWire,
)

VERSION = "1.2"
MAJOR = 1

type Resolve = Callable[[Json], Lazy]
"""Makes the bytes of a stored body, or a function that makes them on demand."""


def stamp(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 UTC with microseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def unstamp(text: str) -> float:
    """The inverse of `stamp`; a time without a zone is UTC. Raises ValueError for what `stamp` cannot write."""
    moment = datetime.fromisoformat(text)
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    datetime.fromtimestamp(seconds, UTC)  # the last microseconds of year 9999 are rounded to year 10000
    return seconds


def store(data: bytes) -> Json:
    """Bytes as text when they are UTF-8, else as base64."""
    try:
        return {"text": data.decode()}
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def header_line(tool: str, started_at: float, salt: str) -> bytes:
    return orjson.dumps({"turntape": VERSION, "tool": tool, "started_at": stamp(started_at), "salt": salt}) + b"\n"


def label_line(number: int, label: bytes) -> bytes:
    """A label line from an object that is JSON already."""
    return b'{"label":%d,"of":%s}\n' % (number, label)


def _encodable(value: object) -> object:
    """`value` with `{"b64": …}` in place of every string that was not UTF-8 on the wire."""
    match value:
        case str():
            data = value.encode("utf-8", "surrogateescape")
            stored = store(data)
            return value if "text" in stored else stored
        case dict():
            return {key: _encodable(item) for key, item in cast(Json, value).items()}
        case list() | tuple():
            return [_encodable(item) for item in cast(list[object], value)]
        case _:
            return value


def frame_fields(frame: Frame) -> Json:
    """A WebSocket message as it is stored."""
    if frame.text:
        return {"from": frame.sender, "at": frame.at, **store(frame.data)}
    return {"from": frame.sender, "at": frame.at, "binary": True, "b64": base64.b64encode(frame.data).decode()}


def _given(**fields: object) -> Json:
    return {key: value for key, value in fields.items() if value is not None and value != () and value != ""}


def _body(data: bytes, delta: Delta | None) -> Json | None:
    if delta is not None:
        return {"base": delta.base, "prefix": delta.prefix, "suffix": delta.suffix, **store(delta.middle)}
    return store(data) if data else None


def round_trip_line(number: int, trip: RoundTrip, request_body: bytes, delta: Delta | None) -> bytes:
    """The line of a round trip whose request body is `request_body`, stored as `delta` when there is one."""
    request, response = trip.request, trip.response
    line: Json = {
        "n": number,
        "started_at": stamp(trip.started_at),
        **_given(
            run=trip.run,
            route=trip.route,
            upstream=trip.upstream,
            client=trip.client,
            request_at=trip.request_at,
            first_byte_at=trip.first_byte_at,
            ended_at=trip.ended_at,
            closed_first=trip.closed_first,
            failure={"kind": trip.failure.kind, "message": trip.failure.message} if trip.failure else None,
            faults=trip.faults,
        ),
        "request": {
            "method": request.method,
            "url": request.url,
            **_given(
                http=None if request.http_version == "HTTP/1.1" else request.http_version,
                headers=request.headers,
                encoding=request.encoding,
                complete=None if request.complete else False,
                body=_body(request_body, delta),
            ),
        },
    }
    if response is not None:
        line["response"] = {
            "status": response.status,
            **_given(
                reason=response.reason,
                http=None if response.http_version == "HTTP/1.1" else response.http_version,
                headers=response.headers,
                encoding=response.encoding,
                body=_body(response.body, None),
                chunks=[(c.size, c.at) for c in response.chunks] or None,
                trailers=response.trailers,
            ),
        }
    if trip.frames:
        line["frames"] = [frame_fields(frame) for frame in trip.frames]
    return dumped(line | {key: value for key, value in trip.extra.items() if key not in line})


def tool_exchange_line(number: int, trip: RoundTrip, wire: ToolWire, answer: bytes, delta: Delta | None) -> bytes:
    """The line of an exchange with a tool server, whose answer is `answer`, stored as `delta` when there is one."""
    line: Json = {
        "mcp": number,
        "started_at": stamp(trip.started_at),
        "session": wire.session,
        "server": wire.server,
        "from": wire.sender,
        "sequence": wire.sequence,
        **_given(
            answered=wire.answered,
            route=trip.route,
            run=trip.run,
            ended_at=trip.ended_at,
            closed_first=trip.closed_first,
            failure={"kind": trip.failure.kind, "message": trip.failure.message} if trip.failure else None,
            faults=trip.faults,
            message=store(trip.request.body),
            answer=None if trip.response is None else _body(answer, delta) or {"text": ""},
        ),
    }
    return dumped(line | {key: value for key, value in trip.extra.items() if key not in line})


def dumped(line: Json) -> bytes:
    """A line of the file; text that was not UTF-8 is stored as bytes."""
    try:
        return orjson.dumps(line) + b"\n"
    except TypeError:
        # Headers and URLs can be other than UTF-8.
        return orjson.dumps(_encodable(line)) + b"\n"


_KNOWN_OF_EXCHANGES = frozenset(
    [
        "mcp",
        "started_at",
        "session",
        "server",
        "from",
        "sequence",
        "answered",
        "route",
        "run",
        "ended_at",
        "closed_first",
        "failure",
        "faults",
        "message",
        "answer",
    ]
)
_KNOWN = frozenset(
    [
        "n",
        "started_at",
        "run",
        "route",
        "upstream",
        "client",
        "request_at",
        "first_byte_at",
        "ended_at",
        "closed_first",
        "failure",
        "faults",
        "request",
        "response",
        "frames",
    ]
)


def a_time(value: object, name: str) -> float:
    """A stored time as seconds since the epoch."""
    text = a_text(value, name)
    try:
        return unstamp(text)
    except (ValueError, OverflowError, OSError) as exc:
        raise ValueError(f"its {name} is {cut(text, 40)!r} and not an ISO 8601 time") from exc


def _headers(of: Json, name: str, inside: str) -> Headers:
    pairs = optional(of, name, a_list, [], inside)
    name = inside + name
    return tuple((a_text(key, name), a_text(value, name)) for key, value in (a_pair(pair, name) for pair in pairs))


def _chunk(value: object) -> Chunk:
    size, at = a_pair(value, "response.chunks")
    return Chunk(a_count(size, "chunk size"), an_integer(at, "chunk time"))


def _side(value: object, name: str) -> Side:
    if value not in ("client", "server"):
        raise ValueError(f"one of its {name} is from {value!r}, neither client nor server")
    return value


def _frame(value: object) -> Frame:
    stored = an_object(value, "frames")
    sender = _side(given(stored, "from"), "frames")
    data = restored(a_body(stored, "frames"))
    return Frame(sender, optional(stored, "at", an_integer, 0), data, stored.get("binary") is not True)


def _failure(value: object, name: str) -> Failure:
    stored = an_object(value, name)
    return Failure(
        cast(FailureKind, a_text(given(stored, "kind"), "failure.kind")),
        optional(stored, "message", a_text, "", "failure."),
    )


def _content(of: Json, inside: str, resolve: Resolve, deltas: bool) -> Lazy:
    stored = optional(of, "body", a_body, None, inside)
    if stored is None:
        return b""
    if "base" in stored and not deltas:
        raise ValueError(f"its {inside}body refers to a round trip, which only the body of a request may")
    return resolve(stored)


def _request(value: object, resolve: Resolve) -> Request:
    line = an_object(value, "request")
    return Request(
        method=a_text(given(line, "method"), "request.method"),
        url=a_text(given(line, "url"), "request.url"),
        headers=_headers(line, "headers", "request."),
        content=_content(line, "request.", resolve, deltas=True),
        http_version=optional(line, "http", a_text, "HTTP/1.1", "request."),
        encoding=optional(line, "encoding", a_text, None, "request."),
        complete=line.get("complete") is not False,
    )


def _response(value: object, resolve: Resolve) -> Response:
    line = an_object(value, "response")
    return Response(
        status=an_integer(given(line, "status"), "response.status"),
        reason=optional(line, "reason", a_text, "", "response."),
        headers=_headers(line, "headers", "response."),
        content=_content(line, "response.", resolve, deltas=False),
        chunks=tuple(map(_chunk, optional(line, "chunks", a_list, [], "response."))),
        http_version=optional(line, "http", a_text, "HTTP/1.1", "response."),
        encoding=optional(line, "encoding", a_text, None, "response."),
        trailers=_headers(line, "trailers", "response."),
    )


def tool_server_url(server: str, transport: Literal["stdio", "process"]) -> str:
    """The URL of an exchange with a tool server: `stdio://files`."""
    return f"{transport}://{quote(server, safe='')}"


def _tool_exchange(line: Json, resolve: Resolve) -> RoundTrip:
    route: Literal["stdio", "process"] = "process" if line.get("route") == "process" else "stdio"
    server = optional(line, "server", a_text, "")
    ended_at = optional(line, "ended_at", an_integer, None)
    answer = optional(line, "answer", a_body, None)
    return RoundTrip(
        index=a_count(given(line, "mcp"), "mcp"),
        started_at=a_time(given(line, "started_at"), "started_at"),
        run=optional(line, "run", a_text, None),
        route=route,
        request_at=0,
        first_byte_at=ended_at,
        ended_at=ended_at,
        closed_first=cast(None, optional(line, "closed_first", a_text, None)),
        failure=optional(line, "failure", _failure, None),
        faults=tuple(a_text(fault, "faults") for fault in optional(line, "faults", a_list, [])),
        tool_wire=ToolWire(
            session=a_text(given(line, "session"), "session"),
            server=server,
            sender=_side(given(line, "from"), "messages"),
            sequence=a_count(given(line, "sequence"), "sequence"),
            answered=optional(line, "answered", a_count, None),
        ),
        request=Request(route.upper(), tool_server_url(server, route), content=_whole(line, "message", resolve)),
        response=None if answer is None else Response(0, content=resolve(answer)),
        extra={key: value for key, value in line.items() if key not in _KNOWN_OF_EXCHANGES},
    )


def _whole(of: Json, name: str, resolve: Resolve) -> Lazy:
    """A stored text that is never a delta."""
    stored = optional(of, name, a_body, None)
    if stored is None:
        return b""
    if "base" in stored:
        raise ValueError(f"its {name} refers to another line, which only an answer may")
    return resolve(stored)


def read_round_trip(line: Json, resolve: Resolve) -> RoundTrip:
    """The round trip of a parsed line. Raises ValueError, which names the field, where the line breaks the format."""
    if "mcp" in line:
        return _tool_exchange(line, resolve)
    response = line.get("response")
    return RoundTrip(
        index=a_count(given(line, "n"), "n"),
        started_at=a_time(given(line, "started_at"), "started_at"),
        run=optional(line, "run", a_text, None),
        route=cast(None, optional(line, "route", a_text, None)),
        upstream=optional(line, "upstream", a_text, None),
        client=optional(line, "client", a_text, None),
        request_at=optional(line, "request_at", an_integer, None),
        first_byte_at=optional(line, "first_byte_at", an_integer, None),
        ended_at=optional(line, "ended_at", an_integer, None),
        closed_first=cast(None, optional(line, "closed_first", a_text, None)),
        failure=optional(line, "failure", _failure, None),
        faults=tuple(a_text(fault, "faults") for fault in optional(line, "faults", a_list, [])),
        frames=tuple(map(_frame, optional(line, "frames", a_list, []))),
        request=_request(given(line, "request"), resolve),
        response=None if response is None else _response(response, resolve),
        extra={key: value for key, value in line.items() if key not in _KNOWN},
    )
