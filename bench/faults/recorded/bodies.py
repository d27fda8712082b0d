"""Bodies as JSON or as events, and back to the bytes of the wire: SSE, JSON Lines, JSON arrays, AWS event streams."""

import base64
import json
import struct
from dataclasses import dataclass
from typing import Any

from ..dialects.bedrock_converse import frame
from ..dialects.dialect import compact

type Json = dict[str, Any]


@dataclass(slots=True)
class Event:
    """One event of a stream. `value` is its JSON, or None when it has none; then `raw` is written as it came."""

    name: str
    value: Any
    raw: bytes


@dataclass(slots=True)
class Body:
    """A body that can be edited: one JSON value, or the events of a stream."""

    kind: str
    """`json`, `sse`, `lines`, `array` or `aws`."""
    value: Any = None
    events: list[Event] | None = None
    newline: str = "\n"

    @property
    def values(self) -> list[Any]:
        """The JSON values, one for each event; the whole body is one value."""
        if self.events is None:
            return [self.value]
        return [event.value for event in self.events if event.value is not None]

    def pieces(self) -> list[bytes]:
        """The bytes of each event; the whole body is one piece."""
        if self.events is None:
            return [compact(self.value).encode()]
        if self.kind == "array":
            return [compact(self.values).encode()]
        return [self.piece(event) for event in self.events]

    def piece(self, event: Event) -> bytes:
        if event.value is None:
            return event.raw
        if self.kind == "lines":
            return compact(event.value).encode() + b"\n"
        if self.kind == "aws":
            return _aws(event)
        head = f"event: {event.name}{self.newline}" if event.name else ""
        return f"{head}data: {compact(event.value)}{self.newline}{self.newline}".encode()

    def written(self) -> bytes:
        return b"".join(self.pieces())


def parsed(data: bytes, content_type: str) -> Body | None:
    """The body as JSON or events; None when it is neither."""
    if "eventstream" in content_type:
        return Body("aws", events=_frames(data))
    try:
        value = json.loads(data)
    except ValueError:
        return _stream(data)
    if isinstance(value, list):
        return Body("array", events=[Event("", one, b"") for one in value])
    return Body("json", value)


def _stream(data: bytes) -> Body | None:
    text = data.decode("utf-8", "surrogateescape")
    if text.lstrip().startswith("{"):
        lines = [line for line in text.splitlines() if line.strip()]
        values = [_json(line) for line in lines]
        if any(value is None for value in values):
            return None
        return Body("lines", events=[Event("", value, b"") for value in values])
    newline = "\r\n" if "\r\n" in text else "\n"
    blocks = [block for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    if not any(line.startswith("data:") for block in blocks for line in block.split("\n")):
        return None
    return Body("sse", events=[_sse(block, newline) for block in blocks], newline=newline)


def _sse(block: str, newline: str) -> Event:
    lines = [line for line in block.split("\n") if line]
    name = next((line[6:].strip() for line in lines if line.startswith("event:")), "")
    data = "\n".join(line[5:].lstrip() for line in lines if line.startswith("data:"))
    raw = (newline.join(lines) + newline * 2).encode("utf-8", "surrogateescape")
    return Event(name, _json(data), raw)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _frames(data: bytes) -> list[Event]:
    events: list[Event] = []
    start = 0
    while start + 16 <= len(data):
        total, head = struct.unpack(">II", data[start : start + 8])
        raw = data[start : start + total]
        names = _names(raw[12 : 12 + head])
        value = _json(raw[12 + head : -4].decode("utf-8", "replace"))
        name = names.get(":event-type", names.get(":exception-type", ""))
        if name == "chunk" and isinstance(value, dict) and "bytes" in value:
            value = json.loads(base64.b64decode(value["bytes"]))
        events.append(Event(name, value, raw))
        start += total
    return events


def _names(head: bytes) -> dict[str, str]:
    """The headers of a frame; all of them are strings here."""
    names: dict[str, str] = {}
    at = 0
    while at < len(head):
        size = head[at]
        name = head[at + 1 : at + 1 + size].decode()
        at += 2 + size
        [length] = struct.unpack(">H", head[at : at + 2])
        names[name] = head[at + 2 : at + 2 + length].decode()
        at += 2 + length
    return names


def _aws(event: Event) -> bytes:
    if event.name == "chunk":
        return frame({"bytes": base64.b64encode(compact(event.value).encode()).decode()}, "chunk")
    return frame(event.value, event.name)
