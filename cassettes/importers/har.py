"""HAR 1.2: what browsers, proxies and API tools save, and what `turntape export --format har` writes.

http://www.softwareishard.com/blog/har-12-spec/ (read 2026-11-21). Content-encoding is undone in `content.text`; bytes
that are not text are in base64. Fields that begin with `_` are each tool's own: Chrome's `_error` and
`_webSocketMessages` are read, and ours, which hold what HAR has no place for.
"""

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

from ..matching.request_key import header
from ..regex import regex
from ..tape.model import Chunk, Failure, FailureKind, Frame, Headers, Request, Response, RoundTrip
from .documents import Fields, items, json_document, mapping, number, status_code, text
from .format import Format, Origin, round_trip
from .messages import Dates, Encodings, header_fields, utf8

NAME = "har"
OURS = "_turntape"
"""The field of an entry that holds what HAR has no place for."""
_START = regex(rb'^(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:\s*\{')
_CHARSET = regex(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)
_NO_BODY = "the HAR holds no body of this answer, though it had one"
_SEVERED = "a body holds replacement characters: the tool that saved it did not keep its bytes"


def sniff(data: bytes) -> bool:
    return bool(_START.match(data[:4096]))


def read(data: bytes, path: Path) -> Iterator[RoundTrip]:
    """The entries of a file, in file order."""
    whole = Origin(NAME, path, "its top")
    log = mapping(mapping(json_document(data, path), whole, "the file").get("log"), whole, "'log'")
    dates, encodings = Dates(), Encodings()
    for place, item in enumerate(items(log.get("entries") or [], whole, "'log.entries'")):
        origin = Origin(NAME, path, f"log.entries[{place}]")
        yield _entry(mapping(item, origin, "it"), origin, dates, encodings)


def _entry(entry: Fields, origin: Origin, dates: Dates, encodings: Encodings) -> RoundTrip:
    ours = entry.get(OURS)
    # The encoding of our own bodies is already undone, even where they look encoded.
    undo = _kept if isinstance(ours, dict) else encodings.undone
    request, notes = _request(mapping(entry.get("request"), origin, "'request'"), origin, undo)
    answer = mapping(entry.get("response") or {}, origin, "'response'")
    response, more = _response(answer, origin, undo)
    headers = response.headers if response else ()
    error = answer.get("_error") or entry.get("_error")
    failure = Failure(_kind(str(error)), str(error)) if error else None
    if response is None and failure is None:
        failure = Failure("cut", "nothing came back, and the HAR does not say why")
    request_at, first_byte_at, ended_at = _times(entry, response is not None)
    trip = round_trip(
        origin,
        request,
        response,
        dates.of(entry.get("startedDateTime"), headers),
        (*notes, *more),
        failure=failure,
        request_at=request_at,
        first_byte_at=first_byte_at,
        ended_at=ended_at,
    )
    trip = replace(trip, frames=_frames(entry, trip.started_at, origin))
    return _restored(trip, cast(Fields, ours), origin) if isinstance(ours, dict) else trip


type Undo = Callable[[bytes, Headers], tuple[bytes, str | None, tuple[str, ...]]]


def _kept(body: bytes, _headers: Headers) -> tuple[bytes, str | None, tuple[str, ...]]:
    return body, None, ()


def _fields(value: object) -> Headers:
    """Headers as objects with `name` and `value`, or as pairs; HTTP/2's pseudo-headers (`:path`) are left out."""
    pairs = [
        [cast(Fields, item).get("name"), cast(Fields, item).get("value")] if isinstance(item, dict) else item
        for item in (cast(list[object], value) if isinstance(value, list) else [])
    ]
    return tuple((name, held) for name, held in header_fields(pairs) if not name.startswith(":"))


def _request(asked: Fields, origin: Origin, undo: Undo) -> tuple[Request, tuple[str, ...]]:
    headers = _fields(asked.get("headers"))
    posted = asked.get("postData")
    body, notes = b"", ()
    if isinstance(posted, dict):
        fields = cast(Fields, posted)
        body, notes = _content(fields, header(headers, "content-type"), origin, "postData")
        if not body and fields.get("params"):
            body = _form(items(fields["params"], origin, "'postData.params'"))
    body, encoding, more = undo(body, headers)
    return (
        Request(
            method=text(asked, "method", origin).upper(),
            url=text(asked, "url", origin),
            headers=headers,
            content=body,
            http_version=_version(asked.get("httpVersion")),
            encoding=encoding,
        ),
        (*notes, *more),
    )


def _form(parameters: list[object]) -> bytes:
    from urllib.parse import urlencode

    pairs = [cast(Fields, item) for item in parameters if isinstance(item, dict)]
    return urlencode([(str(pair.get("name", "")), str(pair.get("value", ""))) for pair in pairs]).encode()


def _response(answer: Fields, origin: Origin, undo: Undo) -> tuple[Response | None, tuple[str, ...]]:
    if number(answer.get("status", 0), origin, "the status") <= 0:
        return None, ()
    status = status_code(answer["status"], origin)
    headers = _fields(answer.get("headers"))
    content = mapping(answer.get("content") or {}, origin, "'response.content'")
    body, notes = _content(content, header(headers, "content-type"), origin, "response.content")
    body, encoding, more = undo(body, headers)
    size = content.get("size")
    if not body and "text" not in content and isinstance(size, int) and size > 0:
        notes = (*notes, _NO_BODY)
    reason = answer.get("statusText")
    return (
        Response(
            status=status,
            reason=reason if isinstance(reason, str) else "",
            headers=headers,
            content=body,
            http_version=_version(answer.get("httpVersion")),
            encoding=encoding,
        ),
        (*notes, *more),
    )


def _content(content: Fields, content_type: str, origin: Origin, what: str) -> tuple[bytes, tuple[str, ...]]:
    said = content.get("text")
    if not isinstance(said, str):
        return b"", ()
    if content.get("encoding", content.get("_encoding")) == "base64":
        return b"".join(_from_base64(piece, origin, f"{what}.text") for piece in _pieces(said)), ()
    kind = content.get("mimeType")
    charset = _CHARSET.search(content_type) or (_CHARSET.search(kind) if isinstance(kind, str) else None)
    notes = (_SEVERED,) if "\ufffd" in said else ()
    try:
        return said.encode(charset[1] if charset else "utf-8"), notes
    except (LookupError, UnicodeError):
        return utf8(said), notes


def _pieces(said: str) -> list[str]:
    """The pieces of a body in base64: Polly.js stores each chunk of an encoded body apart, as a JSON list in the text.

    https://github.com/Netflix/pollyjs (packages/@pollyjs/adapter-node-http, read 2026-11-30)
    """
    if not said.startswith("["):
        return [said]
    try:
        found = cast(object, json.loads(said))
    except ValueError:
        return [said]
    pieces = cast(list[object], found) if isinstance(found, list) else []
    return [piece for piece in pieces if isinstance(piece, str)] if pieces else [said]


def _from_base64(said: str, origin: Origin, what: str) -> bytes:
    try:
        return base64.b64decode(said)
    except (binascii.Error, ValueError) as exc:
        raise origin.fault(f"{what!r} is not valid base64", "fix the file or save it again") from exc


def _version(value: object) -> str:
    """`HTTP/2` for `h2`, `http/2.0` and the like; `HTTP/1.1` where the entry does not say it."""
    said = str(value or "").upper()
    found = {"H2": "HTTP/2", "HTTP/2.0": "HTTP/2", "H3": "HTTP/3", "HTTP/3.0": "HTTP/3"}.get(said, said)
    return found if re.fullmatch(r"HTTP/\d(\.\d)?", found) else "HTTP/1.1"


_LONGEST = 366 * 24 * 3600 * 1000
"""Milliseconds; no round trip is longer."""
_KINDS: tuple[tuple[str, FailureKind], ...] = (
    ("refused", "refused"),
    ("unreachable", "refused"),
    ("name_not_resolved", "dns"),
    ("name resolution", "dns"),
    ("cert", "tls"),
    ("ssl", "tls"),
    ("timed_out", "timeout"),
    ("timed out", "timeout"),
    ("timeout", "timeout"),
    ("aborted", "client_gone"),
    ("disconnected", "client_gone"),
)
"""Words in an error of Chrome or mitmproxy, and the kind of failure."""


def _kind(error: str) -> FailureKind:
    lowered = error.lower()
    for word, kind in _KINDS:
        if word in lowered:
            return kind
    return "cut"


def _kind_of_ours(value: object) -> FailureKind:
    return next((kind for kind in get_args(FailureKind.__value__) if kind == value), "cut")


def _times(entry: Fields, answered: bool) -> tuple[int | None, int | None, int | None]:
    """When the request was complete, the head of the answer had arrived, and everything ended, in microseconds."""
    timings = entry.get("timings")
    if not isinstance(timings, dict):
        return None, None, None

    def spent(name: str) -> float:
        value = cast(Fields, timings).get(name)
        return float(value) if isinstance(value, int | float) and 0 < value < _LONGEST else 0.0

    sent = sum(spent(name) for name in ("blocked", "dns", "connect", "send"))
    waited = sent + spent("wait")
    over = waited + spent("receive")
    if not over:
        return None, None, None
    return round(sent * 1000), round(waited * 1000) if answered else None, round(over * 1000)


def _frames(entry: Fields, started_at: float, origin: Origin) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    for item in items(entry.get("_webSocketMessages") or [], origin, "'_webSocketMessages'"):
        message = mapping(item, origin, "a WebSocket message")
        is_text = message.get("opcode", 1) != 2
        said = str(message.get("data", ""))
        time = message.get("time")
        after = time - started_at if isinstance(time, int | float) else 0
        at = round(after * 1_000_000) if 0 < after * 1000 < _LONGEST else 0
        sender = "client" if message.get("type") == "send" else "server"
        frames.append(Frame(sender, at, utf8(said) if is_text else _from_base64(said, origin, "data"), is_text))
    return tuple(frames)


def _restored(trip: RoundTrip, ours: Fields, origin: Origin) -> RoundTrip:
    """The fields that HAR has no place for, as `turntape export` kept them."""

    def at(name: str, otherwise: int | None) -> int | None:
        value = ours.get(name)
        return value if type(value) is int and 0 <= value < 1 << 63 else otherwise

    response = trip.response
    chunks = ours.get("chunks")
    if response is not None and isinstance(chunks, list):
        pairs = [items(pair, origin, "a chunk") for pair in cast(list[object], chunks)]
        if not all(len(pair) == 2 and all(type(one) is int and 0 <= one < 1 << 63 for one in pair) for pair in pairs):
            raise origin.fault("a chunk is not a size and a time", "export the cassette again")
        response = replace(response, chunks=tuple(Chunk(size, when) for size, when in cast(list[list[int]], pairs)))
        if sum(chunk.size for chunk in response.chunks) != len(response.body):
            raise origin.fault("the chunks do not add up to the body", "export the cassette again")
    if response is not None and ours.get("trailers"):
        response = replace(response, trailers=_fields(ours["trailers"]))
    if response is not None:
        response = replace(response, encoding=_word(ours, "answer_encoding"))
    run, closed, complete = ours.get("run"), ours.get("closed_first"), ours.get("complete")
    failure = ours.get("failure")
    if isinstance(failure, dict):
        said = cast(Fields, failure)
        trip = replace(trip, failure=Failure(_kind_of_ours(said.get("kind")), str(said.get("message"))))
    return replace(
        trip,
        response=response,
        request=replace(trip.request, complete=complete is not False, encoding=_word(ours, "request_encoding")),
        run=run if isinstance(run, str) else None,
        closed_first=closed if closed in ("client", "server") else None,
        request_at=at("request_at", None),
        first_byte_at=at("first_byte_at", None),
        ended_at=at("ended_at", None),
    )


def _word(fields: Fields, name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) else None


HAR = Format(NAME, "HAR", sniff, read)
