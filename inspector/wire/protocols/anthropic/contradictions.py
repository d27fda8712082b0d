"""How the events of an Anthropic stream contradict each other."""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import Object, as_count, as_object, as_text, is_object, parse_json
from ..shared.answers import stream_objects
from ..shared.left_open import begun_late, gone_on, left_open, misnamed


def contradictions(exchange: Exchange) -> Iterator[str]:
    """One sentence for each way in which the stream contradicts itself."""
    whole: dict[int, str] = {}
    pieces: dict[int, list[str]] = {}
    kinds: dict[int, str] = {}
    stopped = late = foreign = ""
    starts = 0
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        place = as_count(event.get("index")) or 0
        if kind == "message_start":
            starts += 1
        elif kind == "message_delta":
            stopped = as_text(as_object(event.get("delta")).get("stop_reason")) or stopped
        elif kind == "content_block_start":
            block = as_object(event.get("content_block"))
            kinds[place] = as_text(block.get("type")) or ""
            if block.get("type") == "tool_use" and block.get("input"):
                whole[place] = as_text(block.get("name")) or ""
        elif kind == "content_block_delta":
            delta = as_object(event.get("delta"))
            if not foreign and _is_foreign(kinds.get(place, ""), as_text(delta.get("type")) or ""):
                foreign = f"a {delta.get('type')!r} comes in a block of the type {kinds[place]!r}"
            late = late or stopped
            whole.pop(place, None)
            if piece := as_text(delta.get("partial_json")):
                pieces.setdefault(place, []).append(piece)
    if starts > 1:
        yield f"the message begins {starts} times"
    if foreign:
        yield f"{foreign}: clients lose it or mix it with the text"
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
        _closed,
        lambda kind, event: kind == "message_delta" and bool(as_object(event.get("delta")).get("stop_reason")),
    )
    yield from gone_on(
        exchange,
        lambda kind, event: as_count(event.get("index")) if kind == "content_block_delta" else None,
        _closed,
    )
    yield from misnamed(exchange)


def breaks(exchange: Exchange) -> Iterator[str]:
    """How the stream breaks the API's format."""
    yield from begun_late(exchange, "message_start", frozenset({"ping", "error"}))


def _closed(kind: str, event: Object) -> int | None:
    return as_count(event.get("index")) if kind == "content_block_stop" else None


_BLOCKS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "tool_use"}
"""The deltas that one type of block has; `input_json_delta` is also that of every server tool."""


def _is_foreign(block: str, delta: str) -> bool:
    """True for a delta that a block of this type cannot have."""
    wanted = _BLOCKS.get(delta)
    return bool(block) and wanted is not None and not block.endswith(wanted)


def _is_sent_whole(sent: list[str]) -> bool:
    joined = "".join(sent)
    return len(sent) > 1 and parse_json(joined) is None and any(is_object(parse_json(piece)) for piece in sent)
