"""Results that the model sees otherwise than the tool returned them."""

import json

from ...dialects.dialect import compact
from ...recorded.bodies import Json
from ...recorded.catalogue.edits import pick
from ..wire import Exchange, ToolLoop, text_of
from .edits import chosen, is_long, mark, plain, returned, show
from .table import Touched, fault

IMAGE: Json = {"type": "image", "data": "iVBORw0KGgo" + "A" * 400, "mimeType": "image/png"}
AUDIO: Json = {"type": "audio", "data": "UklGRiQAAABX" + "B" * 400, "mimeType": "audio/wav"}
LINK: Json = {"type": "resource_link", "uri": "desk://notes/4711", "name": "notes"}


@fault("a result is cut", "client", "client-tool-result-cut")
def cut(loop: ToolLoop) -> Touched:
    one = chosen(loop, "cut", is_long)
    if one is None:
        return None
    text = returned(one)
    show(loop, one, text[: max(220, len(text) * 2 // 3)])
    return [one.turn]


@fault("a result is cut, and the client says so", "client", "client-tool-result-cut")
def cut_and_said(loop: ToolLoop) -> Touched:
    one = chosen(loop, "cut and said")
    if one is None:
        return None
    long = "".join(f"row {number}: the parcel is on its way\n" for number in range(900))
    one.give({"content": [{"type": "text", "text": long}]})
    show(loop, one, f"{long[:1500]}\n[27,000 characters truncated]\n{long[-800:]}")
    return [one.turn]


@fault("a result becomes a file", "client", "client-tool-result-as-file")
def to_file(loop: ToolLoop) -> Touched:
    one = chosen(loop, "file", plain)
    if one is None:
        return None
    show(loop, one, "The output is too large. It was saved to /home/me/.agent/tool-results/r-17.txt")
    return [one.turn]


@fault("structured content beside a text is left out", "client", "client-tool-structured-lost")
def structured(loop: ToolLoop) -> Touched:
    one = chosen(loop, "structured", plain)
    if one is None:
        return None
    one.give(one.got["result"] | {"structuredContent": {"parcels": [{"id": 4711, "late": True}]}})  # type: ignore[index]
    return [one.turn]


@fault("structured content alone is left out", "client", "client-tool-structured-lost")
def only_structured(loop: ToolLoop) -> Touched:
    one = chosen(loop, "only structured")
    if one is None:
        return None
    one.give({"content": [], "structuredContent": {"parcels": [{"id": 4711, "late": True}]}})
    show(loop, one, "")
    return [one.turn]


@fault("the text beside structured content is left out", "client", "client-tool-text-lost")
def text_lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "text lost")
    if one is None:
        return None
    value = {"parcels": [{"id": 4711, "late": True}]}
    one.give({"content": [{"type": "text", "text": "One parcel is late."}], "structuredContent": value})
    show(loop, one, json.dumps(value))
    return [one.turn]


def _with_block(loop: ToolLoop, salt: str, block: Json) -> Touched:
    one = chosen(loop, salt, plain)
    if one is None or _shows_media(loop, one):
        return None
    one.give({"content": [{"type": "text", "text": returned(one)}, block]})
    return [one.turn]


def _shows_media(loop: ToolLoop, one: Exchange) -> bool:
    """Whether the next request holds an image or a file: it may be what the client made of the block."""
    following = loop.loop.turns[one.turn + 1 :][:1]
    return any(word in compact(turn.request) for turn in following for word in _MEDIA)


_MEDIA = ('"image', '"input_image', '"inlineData', '"inline_data', '"fileData', '"file', '"document', '"media')


@fault("an image is left out", "client", "client-tool-image-lost")
def image(loop: ToolLoop) -> Touched:
    return _with_block(loop, "image", IMAGE)


@fault("audio is left out", "client", "client-tool-audio-lost")
def audio(loop: ToolLoop) -> Touched:
    return _with_block(loop, "audio", AUDIO)


@fault("a link to a resource is left out", "client", "client-tool-resource-lost")
def resource(loop: ToolLoop) -> Touched:
    return _with_block(loop, "resource", LINK)


@fault("nothing of a result is shown", "client", "client-tool-result-lost client-tool-resource-lost")
def lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "lost", plain)
    if one is None:
        return None
    show(loop, one, "")
    return [one.turn]


@fault("another text than the tool returned", "client",
       "client-tool-result-changed client-tool-result-stale client-tool-results-swapped")  # fmt: skip
def changed(loop: ToolLoop) -> Touched:
    one = chosen(loop, "changed", plain)
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": "Parcel 4711 is late and waits in Turin."}]})
    return [one.turn]


@fault("the mark of an error is lost", "client", "client-tool-error-mark-lost", given="tool-reported-error")
def mark_lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "mark lost", plain)
    if one is None or not mark(loop, one, failed=False):
        return None
    one.give(one.got["result"] | {"isError": True})  # type: ignore[index]
    return [one.turn]


@fault("an error is invented", "client", "client-tool-error-invented")
def invented(loop: ToolLoop) -> Touched:
    one = chosen(loop, "invented", plain)
    return [one.turn] if one is not None and mark(loop, one, failed=True) else None


@fault("two results are swapped", "client", "client-tool-results-swapped")
def swapped(loop: ToolLoop) -> Touched:
    by_turn: dict[int, list[Exchange]] = {}
    for one in loop.calls:
        by_turn.setdefault(one.turn, []).append(one)
    pairs = [found[:2] for found in by_turn.values() if len(found) > 1]
    pair = pick(loop.loop, pairs, "swapped")
    if pair is None:
        return None
    first, second = pair
    first.give({"content": [{"type": "text", "text": "Parcel 4711 waits in Turin."}]})
    second.give({"content": [{"type": "text", "text": "Parcel 4712 is at the door."}]})
    show(loop, first, returned(second))
    show(loop, second, returned(first))
    return [first.turn]


@fault("a result is joined to another one", "client", "client-tool-results-swapped")
def joined(loop: ToolLoop) -> Touched:
    pairs = [(a, b) for a in loop.calls for b in loop.calls if a.turn == b.turn and a is not b and loop.shown(a)]
    pair = pick(loop.loop, pairs, "joined")
    if pair is None:
        return None
    one, other = pair
    one.give({"content": [{"type": "text", "text": "Parcel 4711 waits in Turin."}]})
    other.give({"content": [{"type": "text", "text": "Parcel 4712 is at the door."}]})
    show(loop, other, returned(other))
    show(loop, one, returned(one) + returned(other))
    return [one.turn]


@fault("an earlier result is shown again", "client", "client-tool-result-stale")
def stale(loop: ToolLoop) -> Touched:
    later = [(a, b) for a in loop.calls for b in loop.calls if a.turn < b.turn and loop.shown(b)]
    pair = pick(loop.loop, later, "stale")
    if pair is None or not plain(pair[0], returned(pair[0])):
        return None
    earlier, one = pair
    show(loop, one, text_of(loop.shown(earlier)[0].text.value))
    one.give({"content": [{"type": "text", "text": "Parcel 4711 waits in Turin."}]})
    return [one.turn]


@fault("a result is shown twice", "client", "client-tool-result-doubled")
def doubled(loop: ToolLoop) -> Touched:
    one = chosen(loop, "doubled")
    if one is None:
        return None
    value = {"parcels": [{"id": 4711, "late": True, "depot": "Gent"}, {"id": 4712, "late": False, "depot": "Riga"}]}
    said = json.dumps(value)
    one.give({"content": [{"type": "text", "text": said}], "structuredContent": value})
    show(loop, one, f"{said}\n<extras>{said}</extras>")
    return [one.turn]


@fault("a tool has answered, and the model reads of a timeout", "client",
       "client-tool-result-changed client-tool-resource-lost", also="client-tool-result-changed")  # fmt: skip
def no_timeout(loop: ToolLoop) -> Touched:
    one = chosen(loop, "no timeout", plain)
    if one is None:
        return None
    show(loop, one, "MCP error -32001: Request timed out")
    return [one.turn]


@fault("the text of an error is not shown", "client", "client-tool-result-lost",
       given="tool-server-error", also="client-tool-error-mark-lost")  # fmt: skip
def error_lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "error lost", plain)
    if one is None or not isinstance(one.sent, dict):
        return None
    one.got = {"jsonrpc": "2.0", "id": one.sent["id"], "error": {"code": -32000, "message": "the quota is used up"}}
    show(loop, one, "")
    return [one.turn]


@fault("an image is written as text", "client", "client-tool-image-lost")
def image_as_text(loop: ToolLoop) -> Touched:
    one = chosen(loop, "image as text")
    if one is None:
        return None
    one.give({"content": [IMAGE]})
    show(loop, one, compact(IMAGE))
    return [one.turn]


@fault("an empty result becomes an error", "client", "client-tool-error-invented")
def empty_as_error(loop: ToolLoop) -> Touched:
    one = chosen(loop, "empty as error")
    if one is None:
        return None
    one.give({"content": []})
    show(loop, one, "Error: the tool returned nothing")
    mark(loop, one, True)
    return [one.turn]


@fault("a large number of a result is rounded", "client", "client-tool-result-changed")
def number_rounded(loop: ToolLoop) -> Touched:
    one = chosen(loop, "number rounded")
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": '{"order": 1763900000123456789, "state": "open"}'}]})
    show(loop, one, '{"order":1763900000123456800,"state":"open"}')
    return [one.turn]


def _of_several(loop: ToolLoop, salt: str, kept: int) -> Touched:
    """One of several texts is shown."""
    one = chosen(loop, salt)
    if one is None:
        return None
    texts = ["Depot 7: 14 parcels wait for customs.", "Depot 9: 3 parcels are late.", "Depot 12: nothing is late."]
    one.give({"content": [{"type": "text", "text": text} for text in texts]})
    show(loop, one, texts[kept])
    return [one.turn]


@fault("only the first of several texts is shown", "client", "client-tool-result-cut")
def first_text(loop: ToolLoop) -> Touched:
    return _of_several(loop, "first text", 0)


@fault("only the last of several texts is shown", "client", "client-tool-result-cut")
def last_text(loop: ToolLoop) -> Touched:
    return _of_several(loop, "last text", -1)


@fault("the model reads of a refusal that was none", "client", "client-tool-error-invented client-tool-result-changed")
def refusal_invented(loop: ToolLoop) -> Touched:
    one = chosen(loop, "refusal invented", plain)
    if one is None:
        return None
    show(loop, one, "The user doesn't want to proceed with this tool use. The tool use was rejected.")
    mark(loop, one, failed=True)
    return [one.turn]


@fault("an object is shown by its name in JavaScript", "client", "client-tool-result-changed",
       also="client-unserialized-result")  # fmt: skip
def object_name(loop: ToolLoop) -> Touched:
    one = chosen(loop, "object name", plain)
    if one is None:
        return None
    show(loop, one, "[object Object]")
    return [one.turn]


@fault("a result is written as Python writes its object", "client", "client-unserialized-result")
def representation(loop: ToolLoop) -> Touched:
    one = chosen(loop, "representation", plain)
    if one is None:
        return None
    show(loop, one, f"meta=None content=[TextContent(type='text', text={returned(one)!r})] isError=False")
    return [one.turn, one.turn + 1]
