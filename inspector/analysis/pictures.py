"""The pictures and files that a part of a message holds inline: their type, their bytes, and the pixels of pictures.

Only the first bytes of a picture are decoded, as far as they say its size.
"""

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from ..wire.json_value import is_array, is_object
from ..wire.values import Part

_BEGINS = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi": "application/pdf",
}
"""How the base64 of each kind begins."""
_LEAST = 40
"""Shorter texts are not files."""
_KEPT = 16
"""Characters of a picture's base64 that are shown in its place."""
_CHECKED = 4096
"""So many characters are looked at to see whether a text is base64."""
_BASE64 = regex(r"[A-Za-z0-9+/_-]+={0,2}")
_DATA_URL = regex(r"data:([a-z]+/[\w.+-]+)[^,]{0,80};base64,")
_DETAILS = frozenset({"low", "high", "auto", "original", "medium"})
_DEEPEST = 100
"""Levels of a body in which base64 is replaced: a body may have more than Python can follow."""
_HEAD = 256 * 1024
"""So many characters of a JPEG are searched for its size."""


@frozen
class Picture:
    """A picture or a file, as a request holds it."""

    type: str
    """Its media type: `image/png`."""
    data: str
    """Its base64."""
    width: int | None = None
    """In pixels; None where the picture does not say it, and for files."""
    height: int | None = None
    detail: str | None = None
    """How closely the model is asked to look at it: `low`, `high`, `auto`."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return len(self.data) * 3 // 4 - self.data[-2:].count("=")

    def decoded(self) -> bytes:
        """The file itself; empty when its base64 is broken."""
        try:
            return b64decode(self.data.replace("-", "+").replace("_", "/") + "=" * (-len(self.data) % 4))
        except (binascii.Error, ValueError):
            return b""


def without_data(raw: object, pictures: Sequence[Picture], levels: int = _DEEPEST) -> object:
    """A part without the base64 of its pictures, of which only the first characters and the number are left.

    Below so many levels everything is left as it is.
    """
    if not pictures or not levels:
        return raw
    if isinstance(raw, str):
        for one in pictures:
            if raw.endswith(one.data):
                kept = raw[: len(raw) - len(one.data) + _KEPT]
                return f"{kept}… ({len(one.data):,} characters of base64)"
        return raw
    if is_object(raw):
        return {key: without_data(value, pictures, levels - 1) for key, value in raw.items()}
    return [without_data(value, pictures, levels - 1) for value in raw] if is_array(raw) else raw


def pictures_in(raw: object) -> Iterator[Picture]:
    """All pictures and files in a JSON value, whatever field an API puts them into."""
    detail = next((text for text in _values(raw, "detail") if text in _DETAILS), None)
    named = next(iter((*_values(raw, "mimeType"), *_values(raw, "mime_type"), *_values(raw, "media_type"))), None)
    for text in texts(raw):
        if len(text) < _LEAST:
            continue
        found = _DATA_URL.match(text)
        data = text[found.end() :] if found else text
        begins = next((kind for start, kind in _BEGINS.items() if data.startswith(start)), None)
        kind = begins or (found.group(1) if found else None)
        if kind is None and named is not None and len(data) >= 4 * _LEAST:
            kind = named
        if kind is not None and _BASE64.fullmatch(data[:_CHECKED]):
            width, height = pixels(kind, data)
            yield Picture(kind, data, width, height, detail)


def pictures_of(parts: Iterable[Part]) -> Sequence[Picture]:
    """What parts of messages, or of an answer, hold inline, each once."""
    return [*dict.fromkeys(one for part in parts for one in pictures_in(part.raw))]


def pixels(kind: str, data: str) -> tuple[int, int] | tuple[None, None]:
    """Width and height of a picture in base64; None where its first bytes do not say them."""
    read = _READERS.get(kind)
    if read is None:
        return None, None
    head = Picture(kind, data[: _HEAD // 4 * 4]).decoded()
    try:
        return read(head) or (None, None)
    except IndexError:
        return None, None


def _png(head: bytes) -> tuple[int, int] | None:
    if len(head) < 24 or head[12:16] != b"IHDR":
        return None
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


def _gif(head: bytes) -> tuple[int, int] | None:
    return (int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")) if len(head) >= 10 else None


def _webp(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8X" if len(head) >= 30:
            return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
        case b"VP8L" if len(head) >= 25:
            bits = int.from_bytes(head[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 " if len(head) >= 30:
            return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
        case _:
            return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """Of the first frame: its marker is between C0 and CF, without the tables C4, C8 and CC."""
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(head[at + 7 : at + 9]), int.from_bytes(head[at + 5 : at + 7])
        else:
            at += 2 + int.from_bytes(head[at + 2 : at + 4])
    return None


_READERS = {"image/png": _png, "image/jpeg": _jpeg, "image/gif": _gif, "image/webp": _webp}


def texts(value: object) -> Iterator[str]:
    """All texts in a JSON value, in order."""
    return (text for _, text in _fields(value))


def _values(value: object, name: str) -> Iterator[str]:
    """The texts of all fields with that name."""
    return (text for key, text in _fields(value) if key == name)


def _fields(value: object) -> Iterator[tuple[str | None, str]]:
    """All texts in a JSON value, in order, each with the name of its field; None in a list.

    Not recursive: a body may have more levels than Python can follow.
    """
    left: list[tuple[str | None, object]] = [(None, value)]
    while left:
        name, one = left.pop()
        if isinstance(one, str):
            yield name, one
        elif isinstance(one, Mapping):
            left.extend(reversed([*cast("Mapping[str, object]", one).items()]))
        elif isinstance(one, list | tuple):
            left.extend((None, inner) for inner in reversed(cast("Sequence[object]", one)))
