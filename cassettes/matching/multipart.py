"""The parts of a `multipart/form-data` body, so that two uploads are compared part by part."""

import re

from ..regex import regex
from .embedded_files import in_words

_FIELD = regex(rb'\b(name|filename)="((?:[^"\\]|\\.)*)"', re.IGNORECASE)
_MOST = 200
"""More parts than this are not taken apart."""


def parts(body: bytes) -> dict[str, object] | None:
    """Each part by its name: its text, or what kind of file it is. None for a body that is not multipart."""
    boundary = body.partition(b"\r\n")[0]
    if not boundary.startswith(b"--") or len(boundary) > 80 or not body.rstrip(b"\r\n").endswith(boundary + b"--"):
        return None
    pieces = body.split(boundary)[1:-1]
    if not pieces or len(pieces) > _MOST:
        return None
    found: dict[str, object] = {}
    for place, piece in enumerate(pieces):
        head, separator, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not separator:
            return None
        names = {key.lower(): value.decode("utf-8", "replace") for key, value in _FIELD.findall(head)}
        name = names.get(b"name", f"part {place}")
        while name in found:
            name += "'"
        found[name] = _content(names.get(b"filename"), content.removesuffix(b"\r\n"))
    return found


def _content(filename: str | None, content: bytes) -> object:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = in_words(content)
    return text if filename is None else {"filename": filename, "content": text}
