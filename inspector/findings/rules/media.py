"""Images and documents that a client sends: as text, or under the name of another format."""

import binascii
import ipaddress
import re
from collections.abc import Iterator, Mapping

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ...wire.json_value import is_array, is_object
from ...wire.values import Part
from ..model_words import is_user_text
from ..rule import Note, rule
from ..rule_context import RuleContext
from .results import new_results, tool_of

_BEGINS: Mapping[str, str] = {
    "iVBORw0KGgo": "image/png",
    "/9j/": "image/jpeg",
    "R0lGOD": "image/gif",
    "UklGR": "image/webp",
    "JVBERi0": "application/pdf",
}
"""How a file of each format begins in base64."""
_IMAGES = frozenset(kind for kind in _BEGINS.values() if kind.startswith("image/"))
_UNREAD = frozenset({"image/svg+xml", "image/x-icon", "image/vnd.microsoft.icon"})
"""Formats that only browsers read."""
_LONG = 1000
"""Characters of base64. A shorter image is an icon or an example."""
_ENCODED = regex(rf"(?<![A-Za-z0-9+/])(?:{'|'.join(map(re.escape, _BEGINS))})[A-Za-z0-9+/]{{{_LONG},}}")
_IN_HTML = regex(r"<img\s[^<>]{0,200}src=[\"']data:[\w/+.-]{1,40};base64,\Z")
"""How an image is given in HTML, up to its data. The APIs of NVIDIA's models read it there."""
_FEWEST = 16
"""Characters of base64 that no tokenizer makes one token of."""
_WANTED = regex(r"base64|data[ _]?ur[il]\b|encod", re.IGNORECASE)
"""Words of a user or of a call that asks for such a text."""
_TYPES = ("media_type", "mimeType", "mime_type", "format")
_DATA = ("data", "bytes")
_URL = regex(r"data:([\w.+-]+/[\w.+-]+);base64,")
_BASE64 = regex(r"[A-Za-z0-9+/_-]*={0,2}\Z")
_ENDS: Mapping[str, bytes] = {"image/png": b"IEND", "image/jpeg": b"\xff\xd9"}
"""What the last part of a whole file of a format holds."""
_HEADS = ("iVBORw0KGgoAAAANSUhEUg", "/9j/4AAQSkZJRg", "/9j/4Q")
"""How real files begin: a recording may hold a word in place of an image."""
_TAIL = 65_536
"""Characters of base64 in which the end of a file is looked for."""
_DEEPEST = 6


@rule(
    "client-media-as-text",
    "client",
    "warning",
    "S",
    says="An image or a document is in the request as a text of base64: the model cannot see it, and every character of it "
    "is paid for, in each turn.",
    fix="Send it as a part of its own type, as the API's documentation says, or leave it out and say so.",
    not_when=(
        "The text is short",
        "The user or the call asks for base64 or for a data URL",
        "The text has it as the image of an HTML page, and the API counts fewer tokens than that: it read the image",
    ),
)
def media_as_text(context: RuleContext) -> Iterator[Note]:
    echo = context.echo
    users = echo.new if echo is not None else () if context.before is not None else context.turn.conversation.history
    texts = [(unit.pointer, unit.text, "a message of the user", unit.text) for unit in users if is_user_text(unit)]
    for part, result in new_results(context):
        call = context.calls.get(result.call_id or "")
        asked = call.call.arguments_raw if call is not None and call.call is not None else ""
        name = tool_of(context, result)
        texts.append((part.pointer, result.text, f"the result of {name or 'a tool'!r}", f"{name} {asked}"))
    for pointer, text, what, said in texts:
        found = _ENCODED.search(text)
        if found is None or _WANTED.search(_ENCODED.sub("", said).replace(";base64,", "")) or _asks_for_it(context):
            continue
        if _IN_HTML.search(text[: found.start()]) and _was_read(context, found[0]):
            continue
        yield Note(
            f"{what} holds {_format(found[0])} as {len(found[0]):,} characters of base64: {cut(found[0], 24)!r}",
            (f"{context.at} request {pointer}",),
            key=hash(found[0]),
        )


def _was_read(context: RuleContext, data: str) -> bool:
    """True when the API counts fewer tokens than this base64 has as text, so that it read it as what it is."""
    usage = context.reading.usage
    if usage is None or not usage.input or context.protocol.answers.drops_prompt_silently:
        return False
    return usage.input * _FEWEST < len(data)


def _asks_for_it(context: RuleContext) -> bool:
    """True when the last words of the user ask for base64."""
    said = [unit.text for unit in context.turn.conversation.history if is_user_text(unit)]
    return bool(said) and _WANTED.search(_ENCODED.sub("", said[-1]).replace(";base64,", "")) is not None


def _format(data: str) -> str | None:
    """The format of a file in base64; None for one that is not known here."""
    return next((kind for begin, kind in _BEGINS.items() if data.startswith(begin)), None)


@rule(
    "client-media-type-wrong",
    "client",
    "warning",
    "P",
    says="The request names another format for an image than its bytes have, or one that no API reads. Some APIs reject it, "
    "and then every later request of the conversation.",
    fix="Take the media type from the first bytes of the file, not from its name; convert drawings to PNG.",
    not_when=("The API answered the request: then it is an info",),
)
def media_type_wrong(context: RuleContext) -> Iterator[Note]:
    for message in context.fresh:
        for part in message.parts:
            for named, data in images(part.raw) if _may_hold_media(part) else ():
                real = _format(data[:16])
                if named in _UNREAD:
                    what = f"an image is sent as {named}, which the APIs of models do not read"
                elif real in _IMAGES and named in _IMAGES and named != real:
                    what = f"an image is sent as {named}, and its bytes are {real}"
                else:
                    continue
                yield Note(what, (f"{context.at} request {part.pointer}",), key=(part.pointer, named))


def _may_hold_media(part: Part) -> bool:
    return part.kind == "media" or part.result is not None


def images(value: object, depth: int = 0) -> Iterator[tuple[str, str]]:
    """The media type and the data of each file that is given in base64."""
    if isinstance(value, str):
        found = _URL.match(value)
        if found is not None:
            yield _standard(found[1]), value[found.end() :]
    elif depth < _DEEPEST and is_array(value):
        for item in value:
            yield from images(item, depth + 1)
    elif depth < _DEEPEST and is_object(value):
        named = next((one for name in _TYPES if isinstance(one := value.get(name), str)), None)
        source = value.get("source")
        for holder in (value, source if is_object(source) else {}):
            for name in _DATA:
                if named is not None and isinstance(data := holder.get(name), str):
                    yield _standard(named if "/" in named else f"image/{named}"), data
        for inner in value.values():
            if not isinstance(inner, str) or inner.startswith("data:"):
                yield from images(inner, depth + 1)


def _standard(named: str) -> str:
    return named.replace("image/jpg", "image/jpeg")


@rule(
    "client-media-damaged",
    "client",
    "warning",
    "P",
    says="An image of the request is not whole: it has no data, or its base64 is cut, holds other characters, or holds a "
    "data URL, so that nobody can decode it.",
    fix="Encode the bytes of the file once, send all of them, and put a data URL only where the API wants one.",
    not_when=("The data does not begin as an image, as in a recording without its images",),
)
def media_damaged(context: RuleContext) -> Iterator[Note]:
    for message in context.fresh:
        for part in message.parts:
            for named, data in _files(part):
                if named in _IMAGES and (what := _damage(data)) is not None:
                    yield Note(
                        f"an image ({named}) {what}",
                        (f"{context.at} request {part.pointer}",),
                        key=(part.pointer, what),
                    )


def _files(part: Part) -> Iterator[tuple[str, str]]:
    """The media type and the data of each file of a part; the type of bare data is in its bytes."""
    alone = _format(part.raw[:16]) if part.kind == "media" and isinstance(part.raw, str) else None
    if alone is not None and isinstance(part.raw, str):
        yield alone, part.raw
    elif _may_hold_media(part):
        yield from images(part.raw)


def _damage(data: str) -> str | None:
    """Why the data of an image cannot be decoded; None for a whole image, and for what is none."""
    if not data:
        return "has no data"
    if data.startswith("data:"):
        return f"holds a data URL where its base64 should be: {cut(data, 40)!r}"
    if not data.startswith(_HEADS):
        return None
    bare = "".join(data.split())
    if not _BASE64.match(bare):
        return "holds characters that base64 does not have"
    bare = bare.rstrip("=")
    if len(bare) % 4 == 1:
        return f"has {len(bare):,} characters of base64, which no number of bytes gives: it is cut"
    start = max(0, (len(bare) - _TAIL) // 4 * 4)
    tail = bare[start:].translate(_URL_SAFE)
    end = _ENDS[_format(data[:16]) or ""] if _format(data[:16]) in _ENDS else b""
    if end not in binascii.a2b_base64(tail + "=" * (-len(tail) % 4)):
        return f"ends in the middle of the file, after {len(bare):,} characters of base64"
    return None


_URL_SAFE = str.maketrans("-_", "+/")


def out_of_reach(context: RuleContext) -> Iterator[Note]:
    """Images and files at an address that only the client's own machine can read; a local server may read it too."""
    if context.provider.local or _is_inside(context.exchange.host):
        return
    for message in context.fresh:
        for part in message.parts:
            address = next(_addresses(part.raw, 0), None) if part.kind == "media" else None
            if address is not None:
                yield Note(
                    f"an image or a file is at {cut(address, 80)!r}, which the API cannot reach",
                    (f"{context.at} request {part.pointer}",),
                    severity="warning",
                    key=address,
                )


def _addresses(value: object, depth: int) -> Iterator[str]:
    """The addresses in a piece of media that mean something on the client's machine or in its network alone."""
    if isinstance(value, str):
        found = _ADDRESS.match(value)
        if found is not None and (found["scheme"].lower() == "file" or _is_inside(found["host"].lower())):
            yield value
    elif depth < _DEEPEST and is_object(value):
        for inner in value.values():
            yield from _addresses(inner, depth + 1)


_ADDRESS = regex(r"(?P<scheme>file|https?)://(?:[^/@\s]*@)?(?P<host>\[[0-9a-fA-F:]+\]|[^/:\s]*)", re.IGNORECASE)


def _is_inside(host: str) -> bool:
    """True for this machine, and for an address of a private network."""
    bare = host.rsplit(":", 1)[0] if host.count(":") == 1 else host.strip("[]")
    if bare == "localhost" or bare.endswith((".localhost", ".local")):
        return True
    try:
        return ipaddress.ip_address(bare).is_private
    except ValueError:
        return False


RULES = (media_as_text, media_type_wrong, media_damaged)
