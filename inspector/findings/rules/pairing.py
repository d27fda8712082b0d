"""Calls and results in a request: each call must have one result, in the right place and under the right name."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import takewhile

from turntape.cassettes.excerpts import cut, listed

from ...analysis.conversation import call_meaning, parted, shared
from ...analysis.dispatch import taken_as_text
from ...analysis.turn import Turn
from ...wire.json_value import as_object, as_text
from ...wire.printable import several
from ...wire.values import Part, ToolCall
from ..own_block import own_block
from ..rejections import Rejection
from ..rule import Note, rule
from ..rule_context import RuleContext
from ..tool_pairing.model import ToolPairing, ids_of
from .errors import failure_place

_SEEN: dict[str, Callable[[ToolPairing], object]] = {
    "client-missing-tool-result": lambda found: found.missing,
    "client-orphan-tool-result": lambda found: found.orphans,
    "client-duplicate-tool-result": lambda found: found.duplicate_results,
    "client-results-not-adjacent": lambda found: found.split or found.displaced or found.preceded,
}
"""For each class that an API's error may mean: the classes that the structure of the request may show instead."""


def confirmed(context: RuleContext, name: str, notes: Iterable[Note]) -> Iterator[Note]:
    """`notes`, each with the API's error text if it means the same; if there are none, the error text alone, as tier S."""
    said = context.rejection
    if said is None or name not in said.ids:
        yield from notes
        return
    some = False
    for note in notes:
        some = True
        yield replace(note, message=f"{note.message}; the API says: {said.text}")
    if not some and not _reported_otherwise(context, name, said):
        yield from _rejected(context, said)


def _reported_otherwise(context: RuleContext, name: str, said: Rejection) -> bool:
    """True when another rule, or an earlier turn, already reports what the API's error is about."""
    if context.has_recently(*said.ids):
        return True
    if context.thread.rejected is not None and context.thread.rejected.rule_id == name:
        return True
    return len(said.ids) > 1 and any(_SEEN[other](context.pairing) for other in said.ids if other in _SEEN)


def _rejected(context: RuleContext, said: Rejection) -> Iterator[Note]:
    """A note with the API's error text; none when the API itself returned the block: then `request-rejected` says so."""
    if own_block(context) is not None:
        return
    place = said.pointer or next((context.tools[name].pointer for name in said.named if name in context.tools), "")
    where = f"{context.at} request {place}".strip()
    named = f" ({', '.join(said.named)})" if said.named else ""
    yield Note(
        f"the API rejects the request{named}: {said.text}",
        (where, failure_place(context.turn)),
        severity="error",
        tier="S",
        key=("said", said.text),
    )


def _name(part: Part) -> str:
    if part.call is not None:
        return part.call.id or part.call.name
    return (part.result.call_id or part.result.name or "?") if part.result else "?"


def _emitted_at(context: RuleContext, part: Part) -> tuple[str, ...]:
    call_id = part.call.id if part.call else part.result.call_id if part.result else None
    known = context.thread.emitted_calls.get(call_id) if call_id else None
    return (f"#{known[0]} call {call_id}",) if known else ()


@rule(
    "client-missing-tool-result",
    "client",
    "error",
    "P",
    says="The history has no result for a call.",
    fix="Append a result for every open call: an error result if the tool failed or was stopped.",
    not_when=(
        "The API ran the tool itself",
        "The API holds the conversation",
        "The arguments of the call are a text of the history: the client took them as the answer",
        "The result is there under the id of no call, and the API answered: `client-orphan-tool-result` says it",
    ),
)
def missing_result(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-missing-tool-result", _missing(context))


def _copied(context: RuleContext) -> list[Part]:
    """Calls that the history has more often than the model made them: the last copies of each.

    A copy has no id; or it has an id that no answer gave, right beside the call that it copies.
    """
    echo, before = context.echo, context.before
    emission = before.reading.emission if before else None
    if echo is None or emission is None or before is None or echo.state == "held":
        return []
    sent, history = before.conversation.history, context.turn.conversation.history
    old, new = parted(sent, history)
    place = shared(sent, history) if new and new[0].kind == "call" else 0
    # What both begin with may end between a call and its copy.
    last = list(takewhile(lambda unit: unit.kind == "call", (history[at] for at in range(place - 1, -1, -1))))
    made = Counter(unit.meaning for unit in (*last, *old) if unit.kind == "call")
    made += Counter(call_meaning(call) for call in emission.calls)
    copies: list[Part] = []
    together: dict[int, set[str | None]] = {}
    for unit in (*last, *new):
        if unit.part.call is None:
            if unit.kind == "result" or unit.role != "assistant":
                together.clear()
            continue
        if unit.meaning not in made:
            continue
        made[unit.meaning] -= 1
        beside = together.setdefault(unit.meaning, set())
        strange = unit.call_id not in context.run.call_ids and bool(beside - {unit.call_id})
        beside.add(unit.call_id)
        if made[unit.meaning] < 0 and (unit.call_id is None or strange):
            copies.append(unit.part)
    return copies


def _own_id(context: RuleContext, part: Part) -> bool:
    """True for a call whose id the client made; an earlier finding then named the call by its tool."""
    return part.call is not None and part.call.id is not None and part.call.id not in context.thread.emitted_calls


def _cause_of(context: RuleContext, part: Part) -> tuple[str, ...]:
    """The finding that the call of `part` was renamed, or that the client put it there, if it was."""
    changes = {change.now: change.kind for change in context.echo.changes} if context.echo else {}
    if changes.get(part.pointer) == "name_changed":
        return context.has("client-assistant-mutated")
    put_in = context.has("client-forged-answer", "client-foreign-history")
    at = f"{context.at} request {part.pointer}"
    if not put_in:
        return ()
    return tuple(found.id for found in context.found if found.id in put_in and at in found.evidence)


def _missing(context: RuleContext) -> Iterator[Note]:
    if not context.pairing.missing:
        return
    taken = {part.pointer for part in _copied(context)} | {call.pointer for call in _under_wrong_ids(context).values()}
    for part in context.pairing.missing:
        if part.pointer in taken:
            continue
        name = part.call.name if part.call else "?"
        if _own_id(context, part) and ("client-missing-tool-result", name) in context.thread.reported:
            continue
        which = f" {part.call.id}" if part.call and part.call.id else ""
        yield Note(
            f"the history has no result for the call{which} of {name!r}",
            (*_emitted_at(context, part), f"{context.at} request {part.pointer}"),
            key=_name(part),
            because_of=_cause_of(context, part),
        )


def _under_wrong_ids(context: RuleContext) -> dict[str, Part]:
    """The call of each result that names none, by the result's pointer: where one fits the other, and the API answered."""
    found = context.pairing
    if context.turn.failed or len(found.missing) != len(found.orphans):
        return {}
    if any(part.result is None or not part.result.call_id or _is_the_apis(context, part) for part in found.orphans):
        return {}
    return {result.pointer: call for result, call in zip(found.orphans, found.missing, strict=True)}


def _has_them_under_wrong_ids(context: RuleContext, following: Turn, open_calls: list[ToolCall]) -> bool:
    """True when the next request, which the API answered, has as many results that name no call as there are calls."""
    request = following.reading.request
    known, made = {call.id for call in request.calls}, context.run.call_ids
    given = (one for one in request.results if one.call_id and not one.server)
    strange = [one for one in given if one.call_id not in known and one.call_id not in made]
    return not following.failed and request.previous_id is None and len(strange) == len(open_calls)


@missing_result.also("ended")
def gone_back_to(context: RuleContext) -> Iterator[Note]:
    """A request that goes back to an earlier answer which the API holds, and answers none of its calls."""
    held = context.request.previous_id
    known = context.run.calls_of.get(held) if held is not None and context.turn.edge.kind == "fork" else None
    if known is None or {result.call_id for result in context.request.results} & set(known[1]):
        return
    yield Note(
        f"the request continues {held}, whose {several(len(known[1]), 'call')} it does not answer",
        (f"#{known[0]} call {known[1][0]}", f"{context.at} request"),
        key=known[1][0],
    )


@missing_result.also("followed")
def left_open(context: RuleContext) -> Iterator[Note]:
    following, done = context.following, context.dispatch
    if following is None or done is None or not done.missing or context.finish.effective != "tool_calls":
        return
    held = following.reading.request.previous_id
    if held is not None and held not in context.reading.answer_ids:
        return
    taken = taken_as_text(done.missing, following.reading.request.messages)
    open_calls = [call for call in _open_calls(context, done.missing) if call not in taken]
    if not open_calls or _has_them_under_wrong_ids(context, following, open_calls):
        return
    ids = ", ".join(str(call.id or call.name) for call in open_calls)
    for call in open_calls:
        context.thread.reported.add(("client-missing-tool-result", call.id or call.name))
    yield Note(
        f"the next request has no result for {ids}{_cause(context, len(open_calls))}",
        (f"{context.at} call {ids}", f"#{following.round_trip.index} request"),
    )


@rule(
    "client-id-missing",
    "client",
    "warning",
    "P",
    says="A call or a result has no id, although the API pairs them by ids and gave the calls ids.",
    fix="Keep the id of each call with the call, and send it with its result.",
    not_when=(
        "The API pairs results by the names of their tools",
        "The API gave the calls no ids",
        "The result has the name of a tool that was not called: the client adds something to know, as Codex its goal",
    ),
)
def id_missing(context: RuleContext) -> Iterator[Note]:
    pairing = context.protocol.pairing
    by_name = pairing.named_results and not pairing.needs_ids
    if by_name or not pairing.in_request or not (context.calls or context.thread.emitted_calls):
        return
    gave_ids = context.before is not None and bool(context.before.call_ids)
    called: set[str | None] = set()
    for message in context.fresh:
        for part in message.parts:
            result, call = part.result, part.call
            if result is not None and not result.server and not result.call_id:
                called = called or _called(context)
            if result is not None and not result.server and not result.call_id and result.name in called:
                named = f"of {result.name!r} " if result.name else ""
                what = f"a result {named}has no call id, so nothing says which call it answers: {cut(result.text.strip(), 60)!r}"
            elif gave_ids and call is not None and not call.server and not call.id and _is_emitted(context, call):
                what = f"the call of {call.name!r} has lost its id"
            else:
                continue
            yield Note(what, (f"{context.at} request {part.pointer}",), key="id")
            return


def _called(context: RuleContext) -> set[str | None]:
    """The names of the calls in the history and in the thread, and None: a result without a name is of any call."""
    held = (part.call.name for part in context.calls.values() if part.call is not None)
    return {None, *held, *(name for _, name, _ in context.thread.emitted_calls.values())}


def _is_emitted(context: RuleContext, call: ToolCall) -> bool:
    """True for a call of the last answer, which has an id there."""
    emission = context.before.reading.emission if context.before is not None else None
    meaning = call_meaning(call)
    return emission is not None and any(one.id and call_meaning(one) == meaning for one in emission.calls)


def _open_calls(context: RuleContext, missing: Iterable[ToolCall]) -> list[ToolCall]:
    """The unanswered calls that the next request still holds. Dropped and renamed calls are reported by another rule."""
    changes = context.next_echo.changes if context.next_echo else ()
    if any(change.kind == "removed" for change in changes):
        return list(missing)
    dropped = {change.call_id for change in changes if change.kind in ("call_dropped", "id_changed")}
    renamed = {change.was for change in changes if change.kind == "name_changed"}
    return [call for call in missing if (call.name not in renamed if call.id is None else call.id not in dropped)]


def _cause(context: RuleContext, count: int) -> str:
    if context.dispatch is not None and context.dispatch.results:
        return f": {several(len(context.dispatch.results), 'other call')} of the answer got a result"
    return ": none of the calls got a result" if count > 1 else ""


@rule(
    "client-orphan-tool-result",
    "client",
    "error",
    "P",
    says="The history holds a result without its call.",
    fix="Cut histories only between turns; drop a call and its result together.",
    not_when=(
        "The API holds the conversation",
        "The API itself returned the result, or its call is of a type that is not known",
    ),
)
def orphan_result(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-orphan-tool-result", _orphans(context))


def _is_the_apis(context: RuleContext, part: Part) -> bool:
    """True for a result that the API itself returned, and for one of a call, of whatever type, that the API holds."""
    if context.returned_by(part.raw) is not None:
        return True
    item, call = ids_of(part.raw)
    held = context.request.previous_id is not None and call in context.run.unknown_calls
    return held or item in context.run.block_ids


def _orphans(context: RuleContext) -> Iterator[Note]:
    if not context.pairing.orphans:
        return
    items = {as_text(as_object(p.raw).get("id")) for m in context.request.messages for p in m.parts if p.call}
    meant = _under_wrong_ids(context)
    for part in context.pairing.orphans:
        result = part.result
        if result is None or _is_the_apis(context, part):
            continue
        known = context.thread.emitted_calls.get(result.call_id or "")
        why = ", but the history holds no such call"
        if known is not None:
            why = f", but the call of #{known[0]} was removed from the history"
        elif result.call_id in items and result.call_id is not None:
            why = ", but that is the id of an item and not of a call"
        if (call := meant.get(part.pointer)) is not None:
            why += f"; the call {_name(call)} has no result"
        stays = call is not None and known is None  # its call is in the history: no change of that explains it
        named = result.call_id or result.name
        yield Note(
            f"the request holds a result for {named}{why}"
            if named
            else "the request holds a result that names no call",
            (*_emitted_at(context, part), f"{context.at} request {part.pointer}"),
            key=result.call_id or part.pointer,
            because_of=() if stays else context.has_recently("client-history-truncated", "client-assistant-mutated"),
        )


@rule(
    "client-duplicate-tool-result",
    "client",
    "error",
    "P",
    says="One call has two results.",
    fix="Append one result for each call.",
)
def duplicate_result(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-duplicate-tool-result", _duplicates(context))


def _duplicates(context: RuleContext) -> Iterator[Note]:
    found = context.pairing
    twins = context.run.ids_given_twice | {part.call.id for twin in found.duplicate_calls for part in twin if part.call}
    for first, again in found.duplicate_results:
        if first.result is None or again.result is None or (first.result.call_id and first.result.call_id in twins):
            continue
        same = "the same content" if first.result.text == again.result.text else "other content"
        yield Note(
            f"the call {_name(first)} has two results, the second one with {same}",
            (f"{context.at} request {first.pointer}", f"{context.at} request {again.pointer}"),
            key=first.result.call_id or again.pointer,
        )


@rule(
    "client-duplicated-call",
    "client",
    "error",
    "P",
    says="One call is in the history twice.",
    fix="Append each answer once; check whether a converter writes each call in two shapes.",
    not_when=("The API itself gave two calls one id",),
)
def duplicated_call(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-duplicated-call", _duplicated(context))


def _duplicated(context: RuleContext) -> Iterator[Note]:
    for first, again in context.pairing.duplicate_calls:
        if first.call is None or first.call.id in context.run.ids_given_twice:
            continue
        yield Note(
            f"the call {_name(first)} is in the history twice",
            (f"{context.at} request {first.pointer}", f"{context.at} request {again.pointer}"),
            key=first.call.id,
        )
    for part in _copied(context):
        context.thread.reported.add(("client-missing-tool-result", _name(part)))
        again = f", the second time as {part.call.id}" if part.call and part.call.id else ""
        yield Note(
            f"the call of {part.call.name if part.call else '?'} is in the history twice{again}; the model made it once",
            (f"{context.at} request {part.pointer}",),
            key=part.pointer,
        )


@rule(
    "client-results-not-adjacent",
    "client",
    "error",
    "P",
    says="Something comes between calls and their results, or the results are in several messages.",
    fix="Put all results of an answer right after it, in one message if the API requires it.",
)
def not_adjacent(context: RuleContext) -> Iterator[Note]:
    yield from confirmed(context, "client-results-not-adjacent", _not_adjacent(context))


def _not_adjacent(context: RuleContext) -> Iterator[Note]:
    found = context.pairing
    for call, result in found.displaced:
        yield Note(
            f"the result of {_name(call)} is not right after the call",
            (f"{context.at} request {call.pointer}", f"{context.at} request {result.pointer}"),
            key=_name(call),
        )
    for first, second in found.split:
        yield Note(
            "the results of one answer are in two messages",
            (f"{context.at} request {first.pointer}", f"{context.at} request {second.pointer}"),
            key=first.pointer,
        )
    for part in found.preceded:
        yield Note(
            f"something comes before the result of {_name(part)} in its message",
            (f"{context.at} request {part.pointer}",),
            key=_name(part),
        )


@rule(
    "client-results-reordered",
    "client",
    "info",
    "P",
    says="The results are in another order than the calls.",
    fix="Keep the order of the calls if the API pairs them by order (Ollama, Gemini without ids).",
)
def reordered(context: RuleContext) -> Iterator[Note]:
    for calls in context.pairing.reordered:
        idless = all(part.call is not None and part.call.id is None for part in calls)
        yield Note(
            f"the results of {len(calls)} calls are in another order than the calls ({listed([*map(_name, calls)], 4)})",
            (f"{context.at} request {calls[0].pointer}",),
            severity="warning" if idless else None,
            key=tuple(_name(part) for part in calls),
        )


@rule(
    "client-result-wrong-name",
    "client",
    "warning",
    "P",
    says="A result names another tool than the one that was called.",
    fix="Repeat the id and the name of the call in its result.",
)
def wrong_name(context: RuleContext) -> Iterator[Note]:
    for call, result in context.pairing.misnamed:
        if call.call is None or result.result is None:
            continue
        as_id = result.result.name == call.call.id
        yield Note(
            f"the result of {call.call.name!r} names {result.result.name!r}{', the id of the call' if as_id else ''}",
            (f"{context.at} request {call.pointer}", f"{context.at} request {result.pointer}"),
            key=(_name(call), result.result.name),
            because_of=_cause_of(context, call),
        )


RULES = (
    missing_result,
    gone_back_to,
    id_missing,
    orphan_result,
    duplicate_result,
    duplicated_call,
    not_adjacent,
    reordered,
    wrong_name,
)
FOLLOWED = (left_open,)
