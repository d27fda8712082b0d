"""Layer 3: what the next request shows that the client did with an emission."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from turntape.cassettes.frozen import frozen

from ..wire.json_value import as_object, is_array, is_object, parse_json
from ..wire.per_message import ByKey
from ..wire.values import Message, Reading, ToolCall, ToolResult
from .conversation import call_meaning, sorted_json
from .turn import Turn

_LOOP_OVER = frozenset({"complete", "stop_sequence", "refusal", "content_filter"})
"""Finishes at which a client may stop."""


@frozen
class Dispatch:
    """What the client did with a turn's calls."""

    results: tuple[ToolResult, ...]
    """The results of this turn's calls in the next request."""
    missing: tuple[ToolCall, ...]
    """Calls without a result in the next request."""
    outcome: str
    """`dispatched`, `partly`, `not_dispatched`, `ended`, or `open` when nothing later was seen."""
    given: tuple[tuple[ToolCall, ToolResult], ...] = ()
    """Each call that has a result, with it."""


def answers(
    calls: tuple[ToolCall, ...],
    results: Sequence[ToolResult],
    echoed: Mapping[int, str | None] = MappingProxyType({}),
    seen: int = 0,
    last: tuple[ToolResult, ...] = (),
) -> dict[int, ToolResult]:
    """Which result answers which call (by place): by id, or else by name in order, as in APIs without ids.

    `echoed` has the ids of the calls in the history. `seen` is the number of earlier results. `last` has the results
    after the last answer, which are new even if the history was cut.
    """
    found: dict[int, ToolResult] = {}
    ids_of = [{call.id, echoed.get(place)} - {None} for place, call in enumerate(calls)]
    every = {one for ids in ids_of for one in ids}
    left = _by_call.of(results).among(every)
    for place, ids in enumerate(ids_of):
        match = next((r for r in left if r.call_id in ids), None)
        if match is not None:
            left = [result for result in left if result is not match]
            found[place] = match
    if len(found) == len(calls):
        return found
    taken = {id(result) for result in found.values()}
    fresh = {id(result) for result in (*results[seen:], *last)} - taken
    new = min(seen, len(results) - len(last)) if last else seen
    left = [result for result in results[max(new, 0) :] if id(result) in fresh]
    for place, call in enumerate(calls):
        if place in found:
            continue
        nameless = call.id is None or echoed.get(place, call.id) is None
        match = next((r for r in left if (nameless or r.call_id is None) and r.name in (call.name, None)), None)
        if match is not None:
            left = [result for result in left if result is not match]
            found[place] = match
    for place, call in enumerate(calls):
        # A result under a wrong name answers by its position; one that comes a second time answers nothing.
        nameless = call.id is None or echoed.get(place, call.id) is None
        given = {(result.name, result.text) for result in found.values()}
        match = next((r for r in left if nameless and r.call_id is None and (r.name, r.text) not in given), None)
        if place not in found and match is not None:
            left = [result for result in left if result is not match]
            found[place] = match
    return found


def _under_its_call(result: ToolResult) -> list[tuple[str | None, ToolResult]]:
    return [(result.call_id, result)]


_by_call = ByKey(_under_its_call)


def _echoed_ids(turn: Reading, following: Reading, calls: tuple[ToolCall, ...]) -> dict[int, str | None]:
    """The ids of the calls in the next request, if the client gave them other ids."""
    held = list(following.request.calls[len(turn.request.calls) :])
    echoed: dict[int, str | None] = {}
    for place, call in enumerate(calls):
        if call.id is not None and any(other.id == call.id for other in held):
            continue
        twin = next((other for other in held if call_meaning(other) == call_meaning(call)), None)
        if twin is not None:
            held = [other for other in held if other is not twin]
            echoed[place] = twin.id
    return echoed


def retold_calls(calls: tuple[ToolCall, ...], messages: Iterable[Message]) -> dict[int, ToolResult]:
    """The calls (by place) that the history contains as text, with their id; the text after them is their result.

    Some agents (smolagents) write calls and results as plain messages: one text answers all calls of a turn.
    """
    found: dict[int, ToolResult] = {}
    open_calls = {place: (call.id, call.name) for place, call in enumerate(calls) if call.id}
    retold: set[int] = set()
    for message in messages:
        text = "\n".join(part.text for part in message.parts if part.kind == "text")
        if message.role == "assistant":
            retold |= {place for place, (call_id, name) in open_calls.items() if call_id in text and name in text}
        elif text:
            found |= {place: ToolResult(calls[place].id, calls[place].name, False, text) for place in retold}
            open_calls = {place: call for place, call in open_calls.items() if place not in retold}
            retold = set()
    return found


def taken_as_text(calls: Iterable[ToolCall], messages: Iterable[Message]) -> list[ToolCall]:
    """The calls whose arguments, or the only one of them, are a whole text of the assistant in the history.

    The client took them as the answer: their tools only give the output its form.
    """
    forms = [(call, _as_answers(call.arguments)) for call in calls if is_object(call.arguments) and call.arguments]
    if not forms:
        return []
    texts = (part.text for one in messages if one.role == "assistant" for part in one.parts if part.kind == "text")
    given = {sorted_json(parse_json(text)) for text in texts if text.lstrip()[:1] in ("{", "[")}
    return [call for call, answers in forms if not answers.isdisjoint(given)]


def _as_answers(arguments: object) -> set[str]:
    """The texts that a client may make of them: some wrap what they want, since a schema must be an object."""
    fields = as_object(arguments)
    only = next(iter(fields.values())) if len(fields) == 1 else None
    return {sorted_json(one) for one in (arguments, only) if is_object(one) or is_array(one)}


def _behind_the_answer(turn: Reading) -> tuple[ToolResult, ...]:
    """The results after the last answer of a request's history; none when it has no answer."""
    messages = turn.request.messages
    places = range(len(messages) - 1, -1, -1)
    last = next((place for place in places if messages[place].role == "assistant"), len(messages))
    given = (part.result for m in messages[last + 1 :] for part in m.parts if part.result is not None)
    return tuple(result for result in given if not result.server)


def _of_kept_choice(calls: tuple[ToolCall, ...], turn: Reading, following: Reading) -> tuple[ToolCall, ...]:
    """The calls of the choice that the client continued with, where several were sampled (`n`)."""
    asked = turn.request.parameters.get("n")
    if len({call.choice for call in calls}) < 2 and not (isinstance(asked, int) and asked > 1):
        return calls
    held = following.request.calls[len(turn.request.calls) :]
    meanings = {(call.id, call_meaning(call)) for call in held}
    kept = next((call.choice for call in calls if (call.id, call_meaning(call)) in meanings), None)
    return tuple(call for call in calls if call.choice == kept)


def results_of(turn: Reading, following: Reading) -> dict[int, ToolResult]:
    """The result of each call of a turn in the next request of its thread, by the call's place in the answer.

    A call without a name and an id gets none, nor does one of a choice that the client did not continue with.
    """
    return _results(_to_answer(turn, following), turn, following)


def _results(placed: tuple[tuple[int, ToolCall], ...], turn: Reading, following: Reading) -> dict[int, ToolResult]:
    calls = tuple(call for _, call in placed)
    # Ids are unique in a history. Without ids, only new results can belong to these calls.
    held = following.request.previous_id is not None
    seen = 0 if held else len(turn.request.results)
    given = following.request.results
    found = answers(calls, given, _echoed_ids(turn, following, calls), seen, _behind_the_answer(following))
    found = found or retold_calls(calls, following.request.messages)
    return {placed[at][0]: result for at, result in found.items()}


def _to_answer(turn: Reading, following: Reading | None) -> tuple[tuple[int, ToolCall], ...]:
    """The calls that the client has to answer, with their places; of several choices those of the one it kept."""
    every = turn.emission.calls if turn.emission is not None else ()
    calls = tuple(call for call in every if call.name or call.id)
    if following is not None:
        calls = _of_kept_choice(calls, turn, following)
    kept = {id(call) for call in calls}
    return tuple((place, call) for place, call in enumerate(every) if id(call) in kept)


def dispatch(turn: Turn, following: Turn | None) -> Dispatch:
    """What the client did with `turn`, given the next turn of its thread, if there is one."""
    finish = turn.reading.finish
    calls = _to_answer(turn.reading, following.reading if following is not None else None)
    if following is None or not calls:
        over = not calls and finish is not None and finish.effective in _LOOP_OVER
        return Dispatch((), (), "ended" if over else "open")
    found = _results(calls, turn.reading, following.reading)
    missing = tuple(call for place, call in calls if place not in found)
    outcome = "dispatched" if not missing else "partly" if found else "not_dispatched"
    of_place = dict(calls)
    given = tuple((of_place[place], result) for place, result in found.items())
    return Dispatch(tuple(found.values()), missing, outcome, given)
