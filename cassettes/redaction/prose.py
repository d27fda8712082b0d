"""Bodies without their prose: each text becomes neutral words of equal length, and everything else stays.

A text that a stream spells over several events is replaced as one text. What cannot be done safely raises ProseStays.
A string is replaced unless its field is known to hold a word of an API, a name or an id, so a new field is safe.
"""

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise

import orjson

from ..framing.decoding import decode, frame
from ..frozen import frozen
from ..regex import regex
from .json_strings import JsonString, json_strings, meant, spelled, spelled_like
from .neutral_words import neutral_words

_NAMES = frozenset(
    {
        "$ref", "$schema", "agent", "anthropic_version", "call_id", "code", "completionReason", "data",
        "detail", "done_reason", "effort", "encrypted", "encrypted_content", "error_code", "event_type",
        "finishReason", "finish_reason", "format", "id", "media_type", "mimeType", "mime_type", "modality",
        "mode", "model", "modelArn", "modelVersion", "model_version", "name", "native_finish_reason", "object",
        "outcome", "phase", "provider", "required", "responseModalities", "role", "service_tier", "signature",
        "status", "stopReason", "stop_reason", "system_fingerprint", "thoughtSignature", "tool_choice",
        "tool_name", "trafficType", "truncation", "type", "verbosity", "version", "x_groq",
    }
)  # fmt: skip
"""Fields of the APIs that hold a word, a name, a signature or encrypted reasoning."""
_DATA = frozenset({"args", "arguments", "metadata", "structuredContent"})
"""Fields in which every string is of the user or the model."""
_ID = regex(r"(?:_id|Id)\Z")
_NAME = regex(r"[\w.:@+/=-]+", re.ASCII)
_KEY = regex(r"[\w$.@/-]{1,80}", re.ASCII)
_PLACE = regex(r'"(?:type|event_type|\w*[iI]ndex|item_id|thought)" ?: ?("[^"]*"|\d+|true|false)')
"""What distinguishes the texts that a stream spells at the same time."""
_TOKENS = regex(rb'"(?:bytes|context|tokens?|\w*token_ids|input|prompt)"\s*:\s*\[[\s\[]*\d+\s*[,\]]')
_AROUND_EVENTS = {
    "sse": regex(rb"(?:data:? ?|(?:event|id|retry): ?\S*|: ?\S* ?\S*)?"),
    "ndjson": regex(rb""),
    "json-array": regex(rb"[\s,\[\]]*"),
}
_DATA_URL = regex(r"data:[\w.+/-]+;base64,")
_PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"ID3", b"OggS", b"fLaC")
"""How pictures and sounds begin."""
_RUN = regex(r"[^\W\d_]{2,}(?= +([^\W\d_]{2,}) +([^\W\d_]{2,}))")


class ProseStays(ValueError):
    """Why the prose of a body cannot be removed, as the end of a sentence."""


@frozen
class _Document:
    """One JSON text of a body: all of it, or the payload of an event."""

    start: int
    text: str


class Prose:
    """The replacement of all prose of one recording. `known` are neutral texts, which stay: clients send them back."""

    def __init__(self, salt: str, known: Iterable[str] = ()) -> None:
        self._salt = salt.encode()[:64]
        self._known = frozenset(text.strip() for text in known)
        self._texts: dict[str, str] = {}

    def text(self, text: str) -> str:
        """The neutral text for a text."""
        new = self._texts.get(text)
        if new is None:
            new = neutral_words(text, self._salt)
            if text.strip() in self._known and new.strip() not in self._known:
                new = text
            self._texts[text] = new
        return new

    def request(self, body: bytes) -> bytes:
        """The body of a request, of the same length. Raises ProseStays."""
        return changed(body, None, self.text)

    def answer(self, body: bytes, content_type: str) -> bytes:
        """The body of an answer, of the same length. Raises ProseStays."""
        if body.startswith(_PICTURES):
            return body
        framing = frame(content_type, body)
        if framing is None and body.lstrip()[:1] not in (b"{", b"["):
            return self.text(_utf8(body)).encode()
        return changed(body, framing, self.text)


def texts_in(body: bytes, framing: str | None) -> list[str]:
    """The texts of a body. Raises ProseStays."""
    found: list[str] = []

    def seen(text: str) -> str:
        found.append(text)
        return text

    changed(body, framing, seen)
    return found


def changed(body: bytes, framing: str | None, change: Callable[[str], str]) -> bytes:
    """The body with each of its texts changed to one of equal length. Raises ProseStays."""
    if not body.strip():
        return body
    if _TOKENS.search(body):
        raise ProseStays("it has words as lists of numbers")
    documents = [_Document(0, _utf8(body))] if framing is None else list(_events(body, framing))
    groups: defaultdict[object, list[tuple[int, JsonString]]] = defaultdict(list)
    try:
        for number, document in enumerate(documents):
            place = tuple(_PLACE.findall(document.text)) if framing else number
            for string in json_strings(document.text):
                if not _stays(document.text, string):
                    groups[number if string.is_key else None, string.path, place].append((number, string))
    except ValueError as exc:
        raise ProseStays("a body of it is not JSON") from exc
    edits: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for pieces in groups.values():
        spellings = [spelled(documents[number].text[string.start : string.end]) for number, string in pieces]
        new = iter(_value("".join(map(_meaning, spellings)), change))
        for (number, string), letters in zip(pieces, spellings, strict=True):
            edits[number].append((string.start, string.end, _respelled(letters, new)))
    out = bytearray(body)
    for number, document in enumerate(documents):
        old, new = document.text.encode(), _edited(document.text, edits[number]).encode()
        if len(new) != len(old):
            raise ProseStays("its length would change")
        out[document.start : document.start + len(new)] = new
    return bytes(out)


def same_words(old: bytes, new: bytes) -> str | None:
    """Three words in a row that are in both bodies; None when there are none."""
    had = set(_runs(old))
    return next((" ".join(run) for run in _runs(new) if run in had), None)


def _runs(body: bytes) -> Iterator[tuple[str, ...]]:
    for match in _RUN.finditer(body.decode("utf-8", "replace")):
        yield (match[0], match[1], match[2])


def _utf8(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as exc:
        raise ProseStays("a body of it is not text") from exc


def _events(body: bytes, framing: str) -> Iterator[_Document]:
    if framing not in _AROUND_EVENTS:
        raise ProseStays(f"its answer is a stream in the framing {framing}")
    rest = bytearray(body)
    for event in decode(framing, [(body, 0)]):
        if event.kind != "data" or not event.data:
            continue
        start = body.find(event.data, event.start)
        if start < 0:
            raise ProseStays("an event of its stream is written over several lines")
        rest[start : start + len(event.data)] = b"\n" * len(event.data)
        if event.data.strip() != b"[DONE]":
            yield _Document(start, _utf8(event.data))
    for line in re.split(rb"[\r\n]+", rest):
        if not _AROUND_EVENTS[framing].fullmatch(line.strip()):
            raise ProseStays("its stream has text outside of its events")


def _stays(text: str, string: JsonString) -> bool:
    """True for a string that is not prose: an empty one, a word of the API, an id, a picture."""
    value = text[string.start : string.end].replace("\\/", "/")
    if string.is_key or not value:
        return not value or _KEY.fullmatch(value) is not None
    keys = [key for key in string.path if isinstance(key, str)]
    media = _DATA_URL.match(value)
    if media or (keys[-1:] == ["data"] and keys[-2:-1] not in (["content"], ["content_block"])):
        return _is_picture(value[media.end() if media else 0 :])
    if not keys or _NAME.fullmatch(value) is None or not _DATA.isdisjoint(keys):
        return False
    for key, below in pairwise(string.path):
        if (key == "input" and isinstance(below, str)) or (key, below) == ("functionResponse", "response"):
            return False  # the arguments of a call, and its result
    return keys[-1] in _NAMES or _ID.search(keys[-1]) is not None


def _is_picture(value: str) -> bool:
    try:
        return base64.b64decode(value[:16].encode()).startswith(_PICTURES)
    except (binascii.Error, ValueError):
        return False


def _value(text: str, change: Callable[[str], str]) -> str:
    """A text changed; in a text that is JSON, only its strings."""
    if text.lstrip()[:1] not in ("{", "["):
        return change(text)
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return change(text)
    edits: list[tuple[int, int, str]] = []
    for string in json_strings(text):
        value = text[string.start : string.end]
        if value and not (string.is_key and _KEY.fullmatch(value)):
            letters = spelled(value)
            new = iter(change(_meaning(letters)))
            edits.append((string.start, string.end, _respelled(letters, new)))
    return _edited(text, edits)


def _meaning(letters: Sequence[str]) -> str:
    return letters if isinstance(letters, str) else "".join(map(meant, letters))


def _respelled(letters: Sequence[str], new: Iterator[str]) -> str:
    """The next of the new letters, each spelled as the letter in its place."""
    if isinstance(letters, str):
        return "".join(islice(new, len(letters)))
    return "".join(
        letter if meant(letter) == other else spelled_like(letter, other)
        for letter, other in zip(letters, new, strict=False)
    )


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    out: list[str] = []
    done = 0
    for start, end, new in sorted(edits):
        out += (text[done:start], new)
        done = end
    return "".join((*out, text[done:]))
