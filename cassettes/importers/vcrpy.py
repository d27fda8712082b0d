"""vcrpy and pytest-recording: `interactions` in YAML or JSON.

Read of vcrpy 9.4.2 (`serialize.py`, `serializers/`, the stubs of each client) and of recordings since 1.0. A body
is text where it is UTF-8 and bytes (`!!binary`) where it is not, in the answer under `string`; its content-encoding
is as recorded, or was undone by the client while the header stayed. Serializers in wide use store JSON bodies
as values under `parsed_body`.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from ..regex import regex
from ..tape.model import Request, Response, RoundTrip
from .documents import Fields, items, json_document, kind, mapping, status_code, text, yaml_document
from .format import Format, ImportFault, Origin, round_trip
from .messages import REWRITTEN, Dates, Encodings, header_fields, json_bytes, utf8

NAME = "vcrpy"
_YAML = regex(rb"^interactions: *(?:\[\])?\r?$", re.MULTILINE)
_APART = regex(rb"^requests: *(?:\[\])?\r?$(?s:.*?)^responses: *(?:\[\])?\r?$", re.MULTILINE)
_OLD_YAML = regex(rb"^- request: ", re.MULTILINE)
_JSON = regex(rb'^\s*\{.{0,400}?"interactions"\s*:\s*\[', re.DOTALL)


def sniff(data: bytes) -> bool:
    head = data[:4096].removeprefix(b"\xef\xbb\xbf")
    return bool(_JSON.match(head) or _YAML.search(data) or _APART.search(data) or _OLD_YAML.match(head))


def read(data: bytes, path: Path) -> Iterator[RoundTrip]:
    """The interactions of a file, in file order."""
    is_json = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")
    document = json_document(data, path) if is_json else yaml_document(data, path)
    if isinstance(document, list):
        raise ImportFault(
            f"{str(path)!r} was written by vcrpy before 1.0; convert it with: python -m vcr.migration FILE"
        )
    whole = Origin(NAME, path, "its top")
    found = _interactions(mapping(document, whole, "the file"), whole)
    dates, encodings = Dates(), Encodings()
    for place, item in enumerate(found):
        origin = Origin(NAME, path, f"interactions[{place}]")
        yield interaction(mapping(item, origin, "it"), origin, dates, encodings)


def _interactions(document: Fields, whole: Origin) -> list[object]:
    """The pairs of a file; a serializer that writes what vcrpy gives it has the requests and the answers apart."""
    if "interactions" in document or "requests" not in document:
        return items(document.get("interactions") or [], whole, "'interactions'")
    asked = items(document.get("requests") or [], whole, "'requests'")
    answers = items(document.get("responses") or [], whole, "'responses'")
    if len(asked) != len(answers):
        raise whole.fault(f"it has {len(asked)} requests and {len(answers)} responses", "fix the file or record again")
    return [{"request": request, "response": response} for request, response in zip(asked, answers, strict=True)]


def interaction(fields: Fields, origin: Origin, dates: Dates, encodings: Encodings) -> RoundTrip:
    """One request and its answer, in the form that VCR gave to all tools of its kind. Raises ImportFault."""
    asked = mapping(fields.get("request"), origin, "'request'")
    answer = mapping(fields.get("response"), origin, "'response'")
    headers, answer_headers = header_fields(asked.get("headers")), header_fields(answer.get("headers"))
    raw, rewritten = _body(asked, origin, "request")
    body, encoding, notes = encodings.undone(raw, headers)
    raw_answer, rewritten_answer = _body(answer, origin, "response")
    answer_body, answer_encoding, more = encodings.undone(raw_answer, answer_headers)
    request = Request(
        method=text(asked, "method", origin).upper(),
        url=text(asked, "uri", origin),
        headers=headers,
        content=body,
        encoding=encoding,
    )
    status, reason = _status(answer, origin)
    version = answer.get("http_version")
    response = Response(
        status=status,
        reason=reason,
        headers=answer_headers,
        content=answer_body,
        http_version=version if isinstance(version, str) and version else "HTTP/1.1",
        encoding=answer_encoding,
    )
    said = fields.get("recorded_at")
    rewriting = (REWRITTEN,) if rewritten or rewritten_answer else ()
    return round_trip(
        origin, request, response, dates.of(said, answer_headers), tuple(dict.fromkeys((*rewriting, *notes, *more)))
    )


def _status(answer: Fields, origin: Origin) -> tuple[int, str]:
    status = answer.get("status", answer.get("status_code"))
    if isinstance(status, dict):
        fields = cast(Fields, status)
        message = fields.get("message")
        return status_code(fields.get("code"), origin), message if isinstance(message, str) else ""
    return status_code(status, origin), ""


def _body(message: Fields, origin: Origin, what: str) -> tuple[bytes, bool]:
    """The body of a message, and whether it was stored as a value."""
    body = message.get("body", message.get("content"))
    if isinstance(body, dict):
        held = cast(Fields, body)
        if "base64_string" in held:
            return _base64(held["base64_string"], origin, what), False
        body = held.get("string")
    if body is None and "parsed_body" in message:
        return json_bytes(message["parsed_body"]), True
    return _bytes(body, origin, what), False


def _bytes(body: object, origin: Origin, what: str) -> bytes:
    match body:
        case None:
            return b""
        case bytes():
            return body
        case str():
            return utf8(body)
        case list():
            return b"".join(_bytes(piece, origin, what) for piece in cast(list[object], body))
        case _:
            raise origin.fault(f"the body of the {what} is {kind(body)} and not text", "fix the file or record again")


def _base64(value: object, origin: Origin, what: str) -> bytes:
    try:
        return base64.b64decode(value if isinstance(value, str | bytes) else "", validate=False)
    except binascii.Error as exc:
        raise origin.fault(f"the body of the {what} is not valid base64", "fix the file or record again") from exc


VCRPY = Format(NAME, "vcrpy", sniff, read)
