"""Whether the events of a Responses stream say the same of one item: its pieces, its own end, and the whole answer."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ...exchange import Exchange
from ...json_value import Object, as_array, as_object, as_text
from ..shared.answers import stream_objects

_KEYS = ("type", "call_id", "name", "role")
_WHOLE = ("text", "arguments", "input", "refusal")


def disagreements(exchange: Exchange) -> Iterator[str]:
    """One sentence for each thing that a later event says otherwise than the events before it."""
    said: dict[tuple[object, str], str] = {}
    pieces: dict[tuple[object, ...], list[str]] = {}
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        place = (event.get("output_index"), event.get("content_index"), event.get("summary_index"))
        if kind.endswith(".delta") and isinstance(piece := event.get("delta"), str):
            pieces.setdefault((kind.removesuffix(".delta"), *place), []).append(piece)
        elif kind.endswith(".done") and (sent := pieces.get((kind.removesuffix(".done"), *place))) is not None:
            joined = "".join(sent)
            whole = next((text for one in _WHOLE if (text := as_text(event.get(one))) is not None), joined)
            if whole != joined:
                yield f"{kind!r} says {cut(whole, 40)!r}, and the pieces before it say {cut(joined, 40)!r}"
            elif kind == "response.output_text.done":
                written = event.get("output_index"), "text"
                said[written] = said.get(written, "") + whole
        for number, item in _items(kind, event):
            for key, value in _of_item(kind, item):
                before = said.setdefault((number, key), value)
                if before != value:
                    now, then = cut(value, 40), cut(before, 40)
                    yield f"the {key} of item {number} is {now!r} in {kind!r} and {then!r} before it"


def renamed(exchange: Exchange) -> Iterator[str]:
    """One sentence for each item whose id changes from one event to another."""
    ids: dict[object, str] = {}
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        for number, item in _items(kind, event):
            identity = as_text(item.get("id"))
            if identity and (first := ids.setdefault(number, identity)) != identity:
                yield f"the id of item {number} changes from {first!r} to {identity!r}"
                return


def _items(kind: str, event: Object) -> Iterator[tuple[object, Object]]:
    if kind in ("response.output_item.added", "response.output_item.done"):
        yield event.get("output_index"), as_object(event.get("item"))
    elif kind in ("response.completed", "response.done"):
        yield from enumerate(map(as_object, as_array(as_object(event.get("response")).get("output"))))


def _of_item(kind: str, item: Object) -> Iterator[tuple[str, str]]:
    """What an event says of an item; an item that is only begun has no text yet."""
    for key in _KEYS:
        if value := as_text(item.get(key)):
            yield key, value
    if kind != "response.output_item.added":
        yield "text", "".join(as_text(as_object(part).get("text")) or "" for part in as_array(item.get("content")))
