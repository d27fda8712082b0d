"""Calls and their results in a request: each answered, once, in its place, under its name."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from ...analysis.units import call_meaning
from ...wire.json_value import as_object, as_text, value_at
from ...wire.values import Part
from ..finding import Note, rule
from ..rule_context import Case
from ..tool_pairing import Pairs

_STANDS: dict[str, Callable[[Pairs], object]] = {
    "client-missing-tool-result": lambda found: found.missing,
    "client-orphan-tool-result": lambda found: found.orphans,
    "client-duplicate-tool-result": lambda found: found.doubled,
    "client-results-not-adjacent": lambda found: found.split or found.displaced or found.preceded,
}
"""What the structure shows of each class that one sentence of an API may stand for."""


def confirmed(case: Case, name: str, notes: Iterable[Note]) -> Iterator[Note]:
    """`notes`, each with the API's sentence where it complains of the same; else the complaint alone, which is S."""
    said = case.complaint
    speaks = said is not None and name in said.ids
    some = False
    for note in notes:
        some = True
        yield replace(note, message=f"{note.message}; the API says: {said.text}") if speaks and said else note
    if some or not speaks or said is None or case.has(*said.ids):
        return
    if case.thread.rejected is not None and case.thread.rejected[0] == name:
        return
    if len(said.ids) > 1 and any(_STANDS[other](case.pairs) for other in said.ids if other in _STANDS):
        return  # The rule that sees it says so.
    block = at_pointer(case, said.pointer)
    returned = case.returned_by(block) if block is not None else None
    where = f"{case.at} request {said.pointer}" if said.pointer else f"{case.at} request"
    named = f" ({', '.join(said.named)})" if said.named else ""
    yield Note(
        f"the API rejects the request{named}: {said.text}"
        + (f"; the block is what the API itself returned in #{returned}" if returned is not None else ""),
        (where, f"{case.at} status {case.status}"),
        severity="error",
        layer="api" if returned is not None else None,
        tier="P" if returned is not None else "S",
        key=("said", said.text),
    )


def at_pointer(case: Case, pointer: str | None) -> object:
    """The value that a JSON pointer into the request names, or None."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in (pointer or "").split("/")[1:]]
    return value_at(case.exchange.body, steps) if steps else None


def _name(part: Part) -> str:
    if part.call is not None:
        return part.call.id or part.call.name
    return (part.result.call_id or part.result.name or "?") if part.result else "?"


def _emitted_at(case: Case, part: Part) -> tuple[str, ...]:
    call_id = part.call.id if part.call else part.result.call_id if part.result else None
    known = case.thread.emitted_calls.get(call_id) if call_id else None
    return (f"#{known[0]} call {call_id}",) if known else ()


@rule(
    "client-missing-tool-result",
    "client",
    "error",
    "P",
    says="The history goes on without a result for a call.",
    fix="Always append a result for every open call, an error result when the tool failed or was stopped.",
    not_when="The API's own tools, calls that a program made, a conversation that the API holds.",
)
def missing_result(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-missing-tool-result", _missing(case))


def _copied(case: Case) -> list[Part]:
    """Unanswered calls without ids that the client itself wrote a second time, behind the answer that holds them."""
    echo, before = case.echo, case.before
    emission = before.reading.emission if before else None
    if echo is None or emission is None:
        return []
    added = {unit.pointer for unit in echo.new} | {c.now for c in echo.changes if c.kind == "inserted"}
    emitted = {call_meaning(call) for call in emission.calls}
    return [
        part
        for part in case.pairs.missing
        if part.call and part.call.id is None and part.pointer in added and call_meaning(part.call) in emitted
    ]


def _own_id(case: Case, part: Part) -> bool:
    """True for a call whose id the client made, so that the call was spoken of by its name."""
    return part.call is not None and part.call.id is not None and part.call.id not in case.thread.emitted_calls


def _renamed(case: Case, part: Part) -> tuple[str, ...]:
    """The finding that a call goes by another name now, if that is what happened to `part`."""
    changes = case.echo.changes if case.echo else ()
    renamed = any(change.kind == "name_changed" and change.now == part.pointer for change in changes)
    return case.has("client-assistant-mutated") if renamed else ()


def _missing(case: Case) -> Iterator[Note]:
    copied = _copied(case)
    for part in case.pairs.missing:
        if any(part is copy for copy in copied):
            continue
        name = part.call.name if part.call else "?"
        if _own_id(case, part) and ("client-missing-tool-result", name) in case.thread.told:
            continue
        yield Note(
            f"nothing answers the call {_name(part)} of {name!r} in the history",
            (*_emitted_at(case, part), f"{case.at} request {part.pointer}"),
            key=_name(part),
            because_of=_renamed(case, part),
        )


@rule(
    "client-missing-tool-result",
    "client",
    "error",
    "P",
    when="followed",
    says=missing_result.says,
    fix=missing_result.fix,
    not_when=missing_result.not_when,
)
def left_open(case: Case) -> Iterator[Note]:
    following, done = case.following, case.dispatch
    if following is None or done is None or not done.missing or case.finish.effective != "tool_calls":
        return
    held = following.reading.request.previous_id
    if held is not None and held != case.reading.response_id:
        return
    changes = case.next_echo.changes if case.next_echo else ()
    dropped = {change.call_id for change in changes if change.kind in ("call_dropped", "id_changed")}
    renamed = {change.was for change in changes if change.kind == "name_changed"}
    removed = any(change.kind == "removed" for change in changes)
    open_calls = [
        call
        for call in done.missing
        if removed or (call.id not in dropped if call.id is not None else call.name not in renamed)
    ]
    if not open_calls:
        return
    ids = ", ".join(str(call.id or call.name) for call in open_calls)
    cause = _cause(case, len(open_calls))
    at = f"#{following.round_trip.index} request"
    for call in open_calls:
        case.thread.told.add(("client-missing-tool-result", call.id or call.name))
    yield Note(f"the next request goes on without a result for {ids}{cause}", (f"{case.at} call {ids}", at))


def _cause(case: Case, count: int) -> str:
    trip = case.turn.round_trip
    if trip.closed_first == "client":
        return ": the client had closed the stream"
    if case.dispatch is not None and case.dispatch.results:
        return f": {len(case.dispatch.results)} of the batch were answered"
    return ": none of the calls was answered" if count > 1 else ""


@rule(
    "client-orphan-tool-result",
    "client",
    "error",
    "P",
    says="A result is given for a call that the history does not hold.",
    fix="Cut histories between turns; drop a call and its result together.",
    not_when="The API holds the conversation.",
)
def orphan_result(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-orphan-tool-result", _orphans(case))


def _orphans(case: Case) -> Iterator[Note]:
    items = {as_text(as_object(p.raw).get("id")) for m in case.request.messages for p in m.parts if p.call}
    for part in case.pairs.orphans:
        result = part.result
        if result is None:
            continue
        known = case.thread.emitted_calls.get(result.call_id or "")
        why = ", which nothing in the history called"
        if known is not None:
            why = f": the call of #{known[0]} was taken out of the history"
        elif result.call_id in items and result.call_id is not None:
            why = ", which is the id of an item and not of a call"
        yield Note(
            f"a result is given for {result.call_id or result.name or 'no call by name or id'}{why}",
            (*_emitted_at(case, part), f"{case.at} request {part.pointer}"),
            key=result.call_id or part.pointer,
            because_of=case.has("client-history-truncated", "client-assistant-mutated"),
        )


@rule(
    "client-duplicate-tool-result",
    "client",
    "error",
    "P",
    says="One call is answered twice.",
    fix="Append one result for each call.",
)
def duplicate_result(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-duplicate-tool-result", _duplicates(case))


def _duplicates(case: Case) -> Iterator[Note]:
    found = case.pairs
    twins = case.run.doubled | {part.call.id for twin in found.twins for part in twin if part.call}
    for first, again in found.doubled:
        if first.result is None or again.result is None or (first.result.call_id and first.result.call_id in twins):
            continue
        same = "the same result" if first.result.text == again.result.text else "another result"
        yield Note(
            f"the call {_name(first)} is answered twice, the second time with {same}",
            (f"{case.at} request {first.pointer}", f"{case.at} request {again.pointer}"),
            key=first.result.call_id or again.pointer,
        )


@rule(
    "client-duplicated-call",
    "client",
    "error",
    "P",
    says="One call stands twice in the history.",
    fix="Append each answer once; look for a converter that writes calls in two shapes.",
    not_when="The API itself gave two calls one id.",
)
def duplicated_call(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-duplicated-call", _duplicated(case))


def _duplicated(case: Case) -> Iterator[Note]:
    for first, again in case.pairs.twins:
        if first.call is None or first.call.id in case.run.doubled:
            continue
        yield Note(
            f"the call {first.call.id} stands twice in the history",
            (f"{case.at} request {first.pointer}", f"{case.at} request {again.pointer}"),
            key=first.call.id,
        )
    for part in _copied(case):
        case.thread.told.add(("client-missing-tool-result", _name(part)))
        yield Note(
            f"the call of {_name(part)} stands twice in the history; the model made it once",
            (f"{case.at} request {part.pointer}",),
            key=part.pointer,
        )


@rule(
    "client-results-not-adjacent",
    "client",
    "error",
    "P",
    says="Something stands between calls and their results, or results are spread over messages.",
    fix="Put all results of an answer right behind it, in one message where the API wants one.",
)
def not_adjacent(case: Case) -> Iterator[Note]:
    yield from confirmed(case, "client-results-not-adjacent", _not_adjacent(case))


def _not_adjacent(case: Case) -> Iterator[Note]:
    found = case.pairs
    for call, result in found.displaced:
        yield Note(
            f"the result of {_name(call)} does not stand right behind the call",
            (f"{case.at} request {call.pointer}", f"{case.at} request {result.pointer}"),
            key=_name(call),
        )
    for first, second in found.split:
        yield Note(
            "the results of one answer are spread over two messages",
            (f"{case.at} request {first.pointer}", f"{case.at} request {second.pointer}"),
            key=first.pointer,
        )
    for part in found.preceded:
        yield Note(
            f"something stands before the result of {_name(part)} in its message",
            (f"{case.at} request {part.pointer}",),
            key=_name(part),
        )


@rule(
    "client-results-reordered",
    "client",
    "info",
    "P",
    says="The results stand in another order than the calls.",
    fix="Keep the order of the calls where the API links by order (Ollama, Gemini without ids).",
)
def reordered(case: Case) -> Iterator[Note]:
    for calls in case.pairs.reordered:
        idless = all(part.call is not None and part.call.id is None for part in calls)
        yield Note(
            f"the results of {len(calls)} calls stand in another order than the calls",
            (f"{case.at} request {calls[0].pointer}",),
            severity="warning" if idless else None,
            key=tuple(_name(part) for part in calls),
        )


@rule(
    "client-result-wrong-name",
    "client",
    "warning",
    "P",
    says="A result names another tool than the one that was called.",
    fix="Echo the id and the name of the call.",
)
def wrong_name(case: Case) -> Iterator[Note]:
    for call, result in case.pairs.misnamed:
        if call.call is None or result.result is None:
            continue
        as_id = result.result.name == call.call.id
        yield Note(
            f"the result of {call.call.name!r} names {result.result.name!r}{', the id of the call' if as_id else ''}",
            (f"{case.at} request {call.pointer}", f"{case.at} request {result.pointer}"),
            key=(_name(call), result.result.name),
            because_of=_renamed(case, call),
        )


RULES = (missing_result, orphan_result, duplicate_result, duplicated_call, not_adjacent, reordered, wrong_name)
FOLLOWED = (left_open,)
