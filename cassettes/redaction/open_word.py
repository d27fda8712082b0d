"""Whether the pieces of a text end within a word: a key may be spelled out over messages, and has no space in it."""

from typing import cast

import orjson

from ..regex import regex
from ..tape.model import Frame

_PIECES = ("delta", "text", "arguments", "partial_json", "transcript")
"""Fields in which APIs send a text piece by piece."""
_LONGEST_PIECE = 400
"""Characters. A longer piece is data, such as sound between the pieces of its words."""
_LONGEST_WORD = 1000
"""Characters. A longer word is data: sound in base64 comes in pieces too."""
_BREAK = regex(r"[^\w\-+/=.~%:@\\]")
_DEEPEST = 6
_MOST_WAITING = 256


class OpenWord:
    """Follows the messages of one session: how many of the last of them must wait, because their word continues."""

    def __init__(self) -> None:
        self.waiting = 0
        """How many of the last messages have a part of the word that has not ended, or came between these."""
        self._length = 0

    def add(self, frame: Frame) -> None:
        """The next message."""
        piece = _piece(frame) if frame.sender == "server" else ""
        if piece is None or self.waiting >= _MOST_WAITING:
            self.waiting = self._length = 0
            return
        if len(piece) > _LONGEST_PIECE:
            piece = ""
        word = _BREAK.split(piece)[-1]
        if len(word) < len(piece):
            self.waiting = self._length = 0
        if word or self.waiting:
            self.waiting, self._length = self.waiting + 1, self._length + len(word)
        if self._length > _LONGEST_WORD:
            self.waiting = self._length = 0


def _piece(frame: Frame) -> str | None:
    """The piece of text that a message adds; None for one that adds none, after which no word continues."""
    try:
        event: object = orjson.loads(frame.data)
    except orjson.JSONDecodeError:
        return None
    fields = cast(dict[str, object], event) if isinstance(event, dict) else {}
    kind = fields.get("type")
    if isinstance(kind, str) and not kind.endswith("delta"):
        return None  # it has a text as a whole
    return _found(fields, 0)


def _found(value: object, depth: int) -> str | None:
    """The first text in a message that comes piece by piece."""
    if isinstance(value, dict):
        fields = cast(dict[str, object], value)
        for name in _PIECES:
            if isinstance(text := fields.get(name), str):
                return text
        inner = list(fields.values())
    else:
        inner = cast(list[object], value) if isinstance(value, list) else []
    if depth == _DEEPEST:
        return None
    return next((found for one in inner if (found := _found(one, depth + 1)) is not None), None)
