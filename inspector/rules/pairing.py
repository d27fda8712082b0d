"""Calls and their results in a request: each answered, once, in its place, under its name."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from ..case import Case
from ..finding import Note, rule
from ..json_value import as_object, as_text, value_at
from ..reading import Message, Part

_ANYWHERE = frozenset({"openai-responses", "gemini-interactions"})
"""Protocols that pair calls and results by id wherever they stand."""
_ONE_MESSAGE = frozenset({"gemini-generate", "bedrock-converse"})
"""Protocols that want all results of an answer in the next message."""
_FIRST = frozenset({"anthropic-messages", "bedrock-converse"})
"""Protocols in which nothing may stand before a result in its message."""
_BY_NAME = frozenset({"gemini-generate", "ollama-chat"})
"""Protocols whose results carry the name of the tool."""
_NO_HISTORY = frozenset({"openai-assistants"})


@dataclass(slots=True)
class Pairs:
    """How the calls and results of one request fit together."""

    missing: list[Part] = field(default_factory=list[Part])
    displaced: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Calls whose result stands elsewhere than it must."""
    orphans: list[Part] = field(default_factory=list[Part])
    doubled: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Two results for one call."""
    split: list[tuple[Message, Message]] = field(default_factory=list[tuple[Message, Message]])
    """Results of one answer in two messages where one is wanted."""
    preceded: list[Part] = field(default_factory=list[Part])
    """Results with something before them in their message."""
    reordered: list[tuple[Part, ...]] = field(default_factory=list[tuple[Part, ...]])
    misnamed: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    twins: list[tuple[Part, Part]] = field(default_factory=list[tuple[Part, Part]])
    """Two calls under one id."""


def _results(messages: Iterable[Message]) -> list[Part]:
    """The client's own: those of the API's tools stand in the assistant's messages."""
    return [part for m in messages if m.role != "assistant" for part in m.parts if part.result is not None]


def _calls(message: Message) -> list[Part]:
    if message.role not in ("assistant", "other"):
        return []
    return [part for part in message.parts if part.call is not None and not part.call.server]


def pairs(case: Case) -> Pairs:
    """The pairing of a request's history, by the rules of its protocol."""
    found = Pairs()
    if case.request.previous_id is not None or case.reading.protocol in _NO_HISTORY:
        return found
    messages = list(case.request.messages)
    _twins(messages, found)
    results = _results(messages)
    _doubled(results, found)
    if case.reading.protocol in _ANYWHERE:
        _anywhere(messages, results, found)
    else:
        _in_place(messages, results, found, case.reading.protocol)
    return found


def _twins(messages: list[Message], found: Pairs) -> None:
    seen: dict[str, Part] = {}
    for message in messages:
        for part in _calls(message):
            if part.call and part.call.id:
                first = seen.setdefault(part.call.id, part)
                if first is not part:
                    found.twins.append((first, part))


def _doubled(results: list[Part], found: Pairs) -> None:
    seen: dict[str, Part] = {}
    for part in results:
        if part.result and part.result.call_id:
            first = seen.setdefault(part.result.call_id, part)
            if first is not part:
                found.doubled.append((first, part))


def _anywhere(messages: list[Message], results: list[Part], found: Pairs) -> None:
    calls = {p.call.id: p for m in messages for p in _calls(m) if p.call and p.call.id}
    answered = {p.result.call_id for p in results if p.result}
    found.missing += [part for call_id, part in calls.items() if call_id not in answered]
    references = any(as_object(m.raw).get("type") == "item_reference" for m in messages)
    if not references:
        known = {p.call.id for m in messages for p in m.parts if p.call}
        found.orphans += [p for p in results if p.result and p.result.call_id and p.result.call_id not in known]


def _in_place(messages: list[Message], results: list[Part], found: Pairs, protocol: str) -> None:
    by_id = {p.result.call_id: p for p in results if p.result and p.result.call_id}
    placed: list[Part] = []
    at = 0
    while at < len(messages):
        end = at
        calls: list[Part] = []
        # Consecutive messages of the assistant are one answer.
        while end < len(messages) and messages[end].role == "assistant":
            calls += _calls(messages[end])
            end += 1
        if end == at:
            at += 1
            continue
        if calls:
            window = _window(messages, end)
            _match(calls, window, by_id, placed, found, protocol)
        at = end
    known = {p.call.id for m in messages for p in m.parts if p.call and p.call.id}
    for part in results:
        if any(part is other for other in placed) or part.result is None:
            continue
        call_id = part.result.call_id
        if call_id is None or call_id not in known:
            found.orphans.append(part)


def _window(messages: list[Message], start: int) -> list[Message]:
    """The messages in which the results of an answer that ends before `start` belong."""
    window: list[Message] = []
    for message in messages[start:]:
        if message.role == "assistant":
            break
        if window and not any(part.result for part in message.parts) and window[-1].role == "tool":
            break
        window.append(message)
    return window


def _match(
    calls: list[Part],
    window: list[Message],
    by_id: dict[str, Part],
    placed: list[Part],
    found: Pairs,
    protocol: str,
) -> None:
    free = _results(window)
    order: list[int] = []
    before = len(placed)
    for part in calls:
        call = part.call
        if call is None:
            continue
        result = next((r for r in free if r.result and call.id and r.result.call_id == call.id), None)
        if result is None and (call.id is None or all(r.result and r.result.call_id is None for r in free)):
            nameless = (r for r in free if r.result and (r.result.call_id is None or call.id is None))
            result = next((r for r in nameless if r.result and r.result.name in (call.name, None)), None)
            if result is None:
                wrong = [r for r in free if r.result and r.result.call_id is None]
                names = {c.call.name for c in calls if c.call}
                result = next((r for r in wrong if r.result and r.result.name not in names), None)
                if result is not None:
                    found.misnamed.append((part, result))
        elif (
            result is not None
            and result.result
            and protocol in _BY_NAME
            and result.result.name not in (None, call.name)
        ):
            found.misnamed.append((part, result))
        if result is None:
            elsewhere = by_id.get(call.id) if call.id else None
            if elsewhere is not None:
                found.displaced.append((part, elsewhere))
                placed.append(elsewhere)
            else:
                found.missing.append(part)
            continue
        order.append(next(i for i, r in enumerate(_results(window)) if r is result))
        free = [r for r in free if r is not result]
        placed.append(result)
    mine = placed[before:]
    if order != sorted(order):
        found.reordered.append(tuple(calls))
    homes = [m for m in window if any(p is r for p in m.parts for r in mine)]
    if protocol in _ONE_MESSAGE and len(homes) > 1:
        found.split.append((homes[0], homes[1]))
    if protocol in _FIRST and homes:
        first = next(place for place, p in enumerate(homes[0].parts) if p.result)
        ahead = (*(p for m in window[: window.index(homes[0])] for p in m.parts), *homes[0].parts[:first])
        if any(p.kind in ("text", "media") for p in ahead):
            found.preceded.append(homes[0].parts[first])
    elif protocol not in _FIRST and homes and window and window[0] is not homes[0] and window[0].role != "tool":
        found.displaced.append((calls[0], next(p for p in homes[0].parts if p.result)))


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


def _missing(case: Case) -> Iterator[Note]:
    for part in pairs(case).missing:
        name = part.call.name if part.call else "?"
        yield Note(
            f"nothing answers the call {_name(part)} of {name!r} in the history",
            (*_emitted_at(case, part), f"{case.at} request {part.pointer}"),
            key=_name(part),
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
    for part in pairs(case).orphans:
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
            because_of=case.has("client-history-truncated"),
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
    found = pairs(case)
    twins = {part.call.id for twin in found.twins for part in twin if part.call}
    for first, again in found.doubled:
        if first.result is None or again.result is None or first.result.call_id in twins:
            continue
        same = "the same result" if first.result.text == again.result.text else "another result"
        yield Note(
            f"the call {first.result.call_id} is answered twice, the second time with {same}",
            (f"{case.at} request {first.pointer}", f"{case.at} request {again.pointer}"),
            key=first.result.call_id,
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
    for first, again in pairs(case).twins:
        if first.call is None or first.call.id in case.run.doubled:
            continue
        yield Note(
            f"the call {first.call.id} stands twice in the history",
            (f"{case.at} request {first.pointer}", f"{case.at} request {again.pointer}"),
            key=first.call.id,
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
    found = pairs(case)
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
    for calls in pairs(case).reordered:
        idless = all(part.call and part.call.id is None for part in calls)
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
    for call, result in pairs(case).misnamed:
        if call.call is None or result.result is None:
            continue
        as_id = result.result.name == call.call.id
        yield Note(
            f"the result of {call.call.name!r} names {result.result.name!r}{', the id of the call' if as_id else ''}",
            (f"{case.at} request {call.pointer}", f"{case.at} request {result.pointer}"),
            key=(_name(call), result.result.name),
        )


RULES = (missing_result, orphan_result, duplicate_result, duplicated_call, not_adjacent, reordered, wrong_name)
FOLLOWED = (left_open,)
