"""What a tool server returned, sorted by kind of content."""

import base64
import binascii
from dataclasses import field

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from ..wire.json_value import Object, as_array, as_object, as_text, compact, objects_in

_NAMES = {"image": "image", "audio": "audio", "resource": "resource", "resource_link": "link"}


@frozen
class Block:
    """A block of a result that is not plain text."""

    kind: str
    """`image`, `audio`, `resource` or `link`."""
    data: str
    """Its base64; empty where it has none."""
    text: str
    """The text of a resource, also of one that is a text and comes as base64."""
    uri: str
    mime: str = ""
    """The media type that the server states."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it that could be shown."""
        return not (self.data or self.text or self.uri)


@frozen
class Returned:
    """The content of a result, by the specification of 2026-07-28 and all before it."""

    texts: tuple[str, ...] = ()
    """The text blocks that are not blank."""
    structured: object = None
    """The structured content, which is any JSON from 2026-07-28 on; None when there is none."""
    blocks: tuple[Block, ...] = field(default=())

    @property
    def empty(self) -> bool:
        return not self.texts and self.structured is None and not self.blocks

    @property
    def text(self) -> str:
        """All texts, those of resources too; the structured content where there is no text."""
        found = [*self.texts, *(block.text for block in self.blocks if block.text)]
        return "\n".join(found) if found or self.structured is None else compact(self.structured)


def returned_of(result: Object | None, *, to_model: bool = False) -> Returned:
    """The content of a `tools/call` result; of `toolResult` too, as 2024-10-07 had it.

    `to_model`: without blocks that the server means for the user alone (`annotations.audience`).
    """
    if result is None:
        return Returned()
    texts: list[str] = []
    blocks: list[Block] = []
    for block in objects_in(result.get("content")):
        if to_model and as_array(as_object(block.get("annotations")).get("audience")) == ["user"]:
            continue
        kind = as_text(block.get("type")) or ""
        if kind == "text":
            texts.append(as_text(block.get("text")) or "")
        elif kind in _NAMES:
            inner = as_object(block.get("resource")) or block
            data = as_text(inner.get("blob")) or as_text(inner.get("data")) or ""
            text, uri, mime = (as_text(inner.get(key)) or "" for key in ("text", "uri", "mimeType"))
            text = text or (_decoded(data) if _IS_TEXT.match(mime) else "")
            blocks.append(Block(_NAMES[kind], data, text, uri, mime))
    structured = result.get("structuredContent", result.get("toolResult"))
    return Returned(tuple(text for text in texts if text.strip()), structured, tuple(blocks))


_IS_TEXT = regex(r"text/|application/(?:json|xml|yaml|javascript|[\w.-]+\+(?:json|xml))(?:;|$)")
"""Media types whose bytes are text."""


def _decoded(data: str) -> str:
    """The text in base64; empty where it is none."""
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, ValueError):
        return ""


def error_message(error: Object | None) -> str | None:
    """The message of a JSON-RPC error."""
    return None if error is None else as_text(error.get("message")) or compact(error)
