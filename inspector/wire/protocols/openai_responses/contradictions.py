"""How the events of a Responses stream contradict each other."""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import as_count, as_object, as_text
from ..shared.answers import stream_objects
from ..shared.left_open import left_open

_CALLS = ("response.function_call_arguments.", "response.custom_tool_call_input.", "response.mcp_call_arguments.")


def contradictions(exchange: Exchange) -> Iterator[str]:
    """One sentence for each way in which the stream contradicts itself."""
    begun: dict[int, str] = {}
    shared: set[int] = set()
    created: set[str] = set()
    renamed = ""
    over = False
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        place = as_count(event.get("output_index"))
        if kind == "response.created":
            created.add(as_text(as_object(event.get("response")).get("id")) or "")
        if over and kind.endswith(".delta"):
            yield "more of the answer comes after the event that completes it"
            over = False
        over = over or kind == "response.completed"
        item = as_text(as_object(event.get("item")).get("id"))
        if place is None:
            continue
        if kind == "response.output_item.added":
            if begun.get(place, item) != item:
                shared.add(place)
            begun[place] = item or ""
        elif kind.startswith(_CALLS) and not renamed and begun.get(place) and place not in shared:
            given = as_text(event.get("item_id"))
            if given and given != begun[place]:
                renamed = f"the item {begun[place]} is called {given} in its own pieces"
    if len(created) > 1:
        yield f"a second answer begins in it: {len(created)} responses were created"
    if shared:
        yield f"several items have the output_index {min(shared)}: clients that count by it lose one"
    elif renamed:
        yield f"{renamed}: clients that go by the id lose the call"
    yield from left_open(
        exchange,
        lambda kind, event: as_count(event.get("output_index")) if kind == "response.output_item.added" else None,
        lambda kind, event: as_count(event.get("output_index")) if kind == "response.output_item.done" else None,
        lambda kind, _: kind == "response.completed",
    )
