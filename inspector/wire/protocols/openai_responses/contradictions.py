"""How the events of a Responses stream contradict each other."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ...exchange import Exchange
from ...json_value import Object, as_array, as_count, as_object, as_text, parse_json
from ..shared.answers import stream_objects
from ..shared.left_open import gone_on, left_open, misnamed
from .agreement import disagreements

_OVER = ("response.completed", "response.incomplete", "response.failed")
"""The last events of a stream; each is called after the status of the response that it brings."""
_CALLS = ("response.function_call_arguments.", "response.custom_tool_call_input.", "response.mcp_call_arguments.")


def contradictions(exchange: Exchange) -> Iterator[str]:
    """One sentence for each way in which the stream contradicts itself."""
    items = _Items()
    created: set[str] = set()
    over = False
    for name, event in stream_objects(exchange):
        kind = as_text(event.get("type")) or name
        if kind == "response.created":
            created.add(as_text(as_object(event.get("response")).get("id")) or "")
        if over and kind.endswith(".delta"):
            yield "more of the answer comes after the event that completes it"
            over = False
        over = over or kind == "response.completed"
        said = as_text(as_object(event.get("response")).get("status"))
        if kind in _OVER and said is not None and f"response.{said}" != kind:
            yield f"the event {kind!r} holds a response of the status {said!r}"
        items.see(kind, event)
    if len(created) > 1:
        yield f"a second answer begins in it: {len(created)} responses were created"
    yield from items.problems()
    yield from left_open(
        exchange,
        lambda kind, event: as_count(event.get("output_index")) if kind == "response.output_item.added" else None,
        _closed,
        lambda kind, _: kind == "response.completed",
    )
    yield from gone_on(
        exchange,
        lambda kind, event: as_count(event.get("output_index")) if kind.endswith(".delta") else None,
        _closed,
    )
    yield from misnamed(exchange)
    yield from final_differs(exchange)
    yield from disagreements(exchange)


class _Items:
    """The ids that the events of a stream give to the item at each `output_index`."""

    def __init__(self) -> None:
        self._begun: dict[int, str] = {}
        self._ended: dict[int, str] = {}
        self._of_calls: dict[int, str] = {}
        """In the first piece of a call's arguments that has another id than its item."""
        self._of_text: dict[int, str] = {}
        """In the first piece of anything else."""
        self._shared: set[int] = set()
        """Where another item begins."""

    def see(self, kind: str, event: Object) -> None:
        """Take in the next event of the stream."""
        place = as_count(event.get("output_index"))
        if place is None:
            return
        if kind == "response.output_item.added":
            item = as_text(as_object(event.get("item")).get("id"))
            if self._begun.get(place, item) != item:
                self._shared.add(place)
            self._begun[place] = item or ""
        elif kind == "response.output_item.done":
            self._ended.setdefault(place, as_text(as_object(event.get("item")).get("id")) or "")
        elif given := as_text(event.get("item_id")):
            begun = self._begun.get(place)
            if kind.startswith(_CALLS) and begun and place not in self._shared:
                if given != begun:
                    self._of_calls.setdefault(place, given)
            elif kind.endswith(".delta"):
                self._of_text.setdefault(place, given)

    def problems(self) -> Iterator[str]:
        """What clients lose by these ids."""
        if self._shared:
            yield f"several items have the output_index {min(self._shared)}: clients that count by it lose one"
        elif self._of_calls:
            place, given = next(iter(self._of_calls.items()))
            renamed = f"the item {self._begun[place]} is called {given} in its own pieces"
            yield f"{renamed}: clients that go by the id lose the call"
        for place, given in self._of_text.items():
            # A gateway that gives each event another id ends an item under another one too.
            begun = self._begun.get(place)
            if begun and begun == self._ended.get(place) != given:
                yield f"the item {begun} is called {given} in its own pieces: clients that go by it lose the text"
                break


def final_differs(exchange: Exchange) -> Iterator[str]:
    """One sentence when the event that completes the answer has another item than the events of that item."""
    done: dict[str, Object] = {}
    whole: list[tuple[str, Object]] = [("response.completed", {"response": exchange.answer_fields})]
    for name, event in stream_objects(exchange) if exchange.framing is not None else whole:
        kind = as_text(event.get("type")) or name
        if kind in _WHOLE and (item := as_text(event.get("item_id"))):
            done[item] = event
        if kind not in _ENDS:
            continue
        response = as_object(event.get("response"))
        items = [as_object(item) for item in as_array(response.get("output"))]
        for item in items:
            said = done.get(as_text(item.get("id")) or "", {}).get("arguments")
            final = item.get("arguments")
            if said and isinstance(said, str) and isinstance(final, str) and not same_json(said, final):
                yield (
                    f"the event that completes it has other arguments of {as_text(item.get('name')) or 'a call'!r} "
                    f"than the event before: {cut(final, 40)!r} and not {cut(said, 40)!r}"
                )
                return
        reason = as_text(as_object(response.get("incomplete_details")).get("reason"))
        if reason and response.get("status") == "completed":
            yield f"it is completed, and its incomplete_details say {reason!r}"
            return
        half = next((item for item in items if item.get("status") in _HALF and item.get("type") in _OWN), None)
        if half is not None and response.get("status") == "completed":
            yield f"it is completed, and its {half.get('type')} says {half.get('status')!r}"
            return


_WHOLE = frozenset({"response.function_call_arguments.done"})
_ENDS = frozenset({"response.completed", "response.done"})
_HALF = ("incomplete", "in_progress")
_OWN = ("message", "function_call")


def same_json(one: str, other: str) -> bool:
    """True when two texts are the same, or the same JSON in another spelling."""
    return one == other or (parse_json(one) is not None and parse_json(one) == parse_json(other))


def _closed(kind: str, event: Object) -> int | None:
    return as_count(event.get("output_index")) if kind == "response.output_item.done" else None
