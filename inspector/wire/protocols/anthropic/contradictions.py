"""How the events of an Anthropic stream contradict each other."""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import as_count, as_object, as_text, is_object, parse_json
from ..shared.answers import stream_objects
from ..shared.left_open import left_open


def contradictions(exchange: Exchange) -> Iterator[str]:
    """One sentence for each way in which the stream contradicts itself."""
    whole: dict[int, str] = {}
    pieces: dict[int, list[str]] = {}
    stopped = late = ""
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        place = as_count(event.get("index")) or 0
        delta = as_object(event.get("delta"))
        block = as_object(event.get("content_block"))
        if kind == "message_delta":
            stopped = as_text(delta.get("stop_reason")) or stopped
        elif kind == "content_block_delta":
            late = late or stopped
            whole.pop(place, None)
            if piece := as_text(delta.get("partial_json")):
                pieces.setdefault(place, []).append(piece)
        elif kind == "content_block_start" and block.get("type") == "tool_use" and block.get("input"):
            whole[place] = as_text(block.get("name")) or ""
    if late:
        yield f"more of the answer comes after its stop reason {late!r}"
    if whole:
        called = next(iter(whole.values()))
        yield f"the input of {called!r} is in the event that begins its block, and no piece follows: clients read none"
    if any(_is_sent_whole(sent) for sent in pieces.values()):
        yield "one piece holds the input of a call whole, and the other pieces repeat parts of it"
    yield from left_open(
        exchange,
        lambda kind, event: as_count(event.get("index")) if kind == "content_block_start" else None,
        lambda kind, event: as_count(event.get("index")) if kind == "content_block_stop" else None,
        lambda kind, event: kind == "message_delta" and bool(as_object(event.get("delta")).get("stop_reason")),
    )


def _is_sent_whole(sent: list[str]) -> bool:
    joined = "".join(sent)
    return len(sent) > 1 and parse_json(joined) is None and any(is_object(parse_json(piece)) for piece in sent)
