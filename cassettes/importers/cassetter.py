"""cassetter: `interactions` in YAML or TOML, with bodies as values.

Read of cassetter 0.16.1 and its conformance files. A JSON body is stored as a value, a text as text, bytes as
hexadecimal digits; content-encoding is undone. The file is sorted by method and address; `recorded_at` has the order
in which it was recorded.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

from ..regex import regex
from ..tape.model import Frame, Request, Response, RoundTrip
from .documents import Fields, items, json_document, mapping, number, status_code, text, toml_document, yaml_document
from .format import Format, Origin, round_trip
from .messages import REWRITTEN, Dates, header_fields, iso_date, json_bytes, utf8

NAME = "cassetter"
_TOML = regex(rb"^\[\[(?:ws_|grpc_)?interactions\]\]", re.MULTILINE)
_YAML = regex(rb"^(?:ws_|grpc_)?interactions: *\r?$", re.MULTILINE)
_BODY = regex(rb"^ +body: *\r?\n +type: *[\"']?(?:json|text|binary|none)\b", re.MULTILINE)
_GRPC = "a gRPC call was left out, since a cassette holds HTTP"


def sniff(data: bytes) -> bool:
    if data[:1] in (b"{", b"["):
        return bool(_TOML.match(data))
    return bool(_TOML.search(data) or (_YAML.search(data) and _BODY.search(data)))


def read(data: bytes, path: Path) -> Iterator[RoundTrip]:
    """The HTTP and WebSocket interactions of a file, in the order in which they were recorded."""
    document = toml_document(data, path) if _TOML.search(data) else yaml_document(data, path)
    whole = Origin(NAME, path, "its top")
    fields = mapping(document, whole, "the file")
    dates = Dates()
    found: list[tuple[float, RoundTrip]] = []
    for section, reader in _SECTIONS.items():
        for place, item in enumerate(items(fields.get(section) or [], whole, repr(section))):
            origin = Origin(NAME, path, f"{section}[{place}]")
            interaction = mapping(item, origin, "it")
            trip = reader(interaction, origin, dates)
            found.append((iso_date(interaction.get("recorded_at")) or trip.started_at, trip))
    yield from (trip for _, trip in sorted(found, key=lambda pair: pair[0]))


def _http(fields: Fields, origin: Origin, dates: Dates) -> RoundTrip:
    asked = mapping(fields.get("request"), origin, "'request'")
    answer = mapping(fields.get("response"), origin, "'response'")
    answer_headers = header_fields(answer.get("headers"))
    body, rewritten = _body(asked, origin)
    answer_body, rewritten_answer = _body(answer, origin)
    headers = header_fields(asked.get("headers"))
    request = Request(text(asked, "method", origin), text(asked, "uri", origin), headers, body)
    status = status_code(answer.get("status"), origin)
    response = Response(status, headers=answer_headers, content=answer_body)
    notes = (REWRITTEN,) if rewritten or rewritten_answer else ()
    return round_trip(origin, request, response, dates.of(fields.get("recorded_at"), answer_headers), notes)


def _websocket(fields: Fields, origin: Origin, dates: Dates) -> RoundTrip:
    frames: list[Frame] = []
    rewritten = False
    for item in items(fields.get("frames") or [], origin, "'frames'"):
        frame = mapping(item, origin, "a frame")
        kind = frame.get("frame_type")
        if kind == "close":
            continue
        data, was_rewritten = _body(frame, origin)
        rewritten = rewritten or was_rewritten
        sender = "client" if frame.get("direction") == "send" else "server"
        at = number(frame.get("offset_ms", 0), origin, "'offset_ms'") * 1000
        frames.append(Frame(sender, at, data, kind == "text"))
    request = Request("GET", text(fields, "uri", origin), header_fields(fields.get("headers")))
    trip = round_trip(
        origin,
        request,
        Response(101, "Switching Protocols"),
        dates.of(fields.get("recorded_at"), ()),
        (REWRITTEN,) if rewritten else (),
    )
    return replace(trip, frames=tuple(frames), ended_at=frames[-1].at if frames else None)


_SECTIONS = {"interactions": _http, "ws_interactions": _websocket}


def _body(message: Fields, origin: Origin) -> tuple[bytes, bool]:
    """The body of a message, and whether it was stored as a value."""
    held = message.get("body")
    fields = cast(Fields, held) if isinstance(held, dict) else {}
    # In TOML the two are beside the other fields, and a value is JSON text.
    kind, content = fields.get("type", message.get("body_type")), fields.get("content", message.get("body_content"))
    match kind:
        case None | "none":
            return b"", False
        case "json":
            if "body_content" in message and isinstance(content, str):
                content = json_document(content.encode(), origin.path)
            return json_bytes(content), True
        case "text":
            return utf8(content if isinstance(content, str) else str(content)), False
        case "binary":
            try:
                return bytes.fromhex(str(content)), False
            except ValueError as exc:
                raise origin.fault("a binary body is not hexadecimal", "fix the file or record again") from exc
        case _:
            raise origin.fault(f"the body is of an unknown type {kind!r}", "update turntape to read it")


CASSETTER = Format(NAME, "cassetter", sniff, read)
