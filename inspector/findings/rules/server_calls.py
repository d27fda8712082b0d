"""Calls of the API's own tools that a client sends back: each must be one that the API returned, with its arguments."""

from collections.abc import Collection, Iterator, Sequence

from ...analysis.conversation import sorted_json, without_space
from ...wire.json_value import as_object, is_array, is_object
from ...wire.values import Message, Part, ToolCall
from ..finding import became
from ..model_words import surely_continues
from ..rule import Note
from ..rule_context import RuleContext
from .forged import LOADS_TOOLS, forged_answer
from .history import assistant_mutated


@assistant_mutated.also("ended")
def server_call_changed(context: RuleContext) -> Iterator[Note]:
    """A call of the API's own tools that came back with another value in its arguments, or under another name."""
    for part, call, returned in _sent_back(context):
        if returned is None:
            continue
        index, was = returned
        found = ("name", was.name, call.name) if was.name != call.name else _altered(was.arguments, call.arguments)
        if found is not None:
            where, old, new = found
            yield Note(
                f"the {where} of a call of the API's own {was.name!r} changed: {became(old[:60], new[:60])}",
                (f"#{index} call {was.id or was.name}", f"{context.at} request {part.pointer}"),
                key=(part.pointer, where),
            )


@forged_answer.also("ended")
def server_call_forged(context: RuleContext) -> Iterator[Note]:
    """A call of the API's own tools that the API never made."""
    for part, call, returned in _sent_back(context):
        if returned is None and call.id and call.id not in context.run.block_ids:
            yield Note(
                f"the history contains a call of the API's own {call.name!r} ({call.id}), and no answer contains it",
                (f"{context.at} request {part.pointer}",),
                severity="info" if call.id.startswith(LOADS_TOOLS) else None,
                key=call.id,
            )


@assistant_mutated.also("ended")
def server_pair_broken(context: RuleContext) -> Iterator[Note]:
    """A call of the API's own tools without the result that the API gave with it, or the other way round."""
    before, echo = context.before, context.echo
    emission = before.reading.emission if before is not None else None
    if before is None or emission is None or not any(part.result is not None for part in emission.content):
        return
    given = {part.result.call_id: part for part in emission.content if part.result is not None and part.result.server}
    alone = [part.raw for part in emission.content if part.call is not None and part.call.server]
    known = [call for call in emission.server_calls if call.id and call.id in given]
    pairs = [call for call in known if given[call.id].raw not in alone]
    pairs += _of_earlier(context, given.keys() - {call.id for call in emission.server_calls})
    if not pairs or echo is None or not surely_continues(context, echo):
        return
    parts = [part for message in context.fresh for part in message.parts]
    calls = {part.call.id: part for part in parts if part.call is not None and part.call.server}
    calls = {call.id: context.calls[call.id] for call in pairs if call.id and call.id in context.calls} | calls
    results = {part.result.call_id: part for part in parts if part.result is not None and part.result.server}
    for call in pairs:
        sent, result = calls.get(call.id), results.get(call.id)
        if sent is None and result is None:
            what, pointer, severity = "and its result are left out", "", "info"
        elif result is None:
            what, pointer, severity = "came back without its result", (sent or parts[0]).pointer, None
        elif sent is None:
            what, pointer, severity = "is left out, and its result came back", result.pointer, None
        elif _sealed(given[call.id].raw) - _sealed(result.raw):
            what, pointer, severity = "came back without the encrypted content of its result", result.pointer, None
        else:
            continue
        yield Note(
            f"the API's own call of {call.name!r} {what}",
            (f"#{before.round_trip.index} call {call.id}", f"{context.at} request {pointer}".rstrip()),
            severity=severity,
            key=("pair", call.id),
        )


def _of_earlier(context: RuleContext, ids: Collection[str | None]) -> list[ToolCall]:
    """The calls under these ids that the API made in an earlier answer: a program runs while the client answers it."""
    sent = (context.calls.get(call_id or "") for call_id in ids)
    return [part.call for part in sent if part is not None and part.call is not None and part.call.server]


def _sealed(value: object) -> frozenset[str]:
    """The encrypted values in a block, which only the API can read and which it needs back."""
    found: set[str] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if is_object(one):
            found |= {inner for name, inner in one.items() if name.startswith("encrypted_") and isinstance(inner, str)}
            waiting.extend(one.values())
        elif is_array(one):
            waiting.extend(one)
    return frozenset(found)


def _sent_back(context: RuleContext) -> Iterator[tuple[Part, ToolCall, tuple[int, ToolCall] | None]]:
    """The calls of the API's own tools that are new in a request which continues an answer, each with the one returned."""
    before, echo = context.before, context.echo
    if before is None or echo is None or not surely_continues(context, echo):
        return
    emission = before.reading.emission
    nameless = [call for call in emission.server_calls if not call.id] if emission is not None else []
    for part, call in _server_calls(context.fresh):
        if call.id:
            yield part, call, context.run.server_calls.get(call.id)
        elif nameless:
            yield part, call, (before.round_trip.index, nameless.pop(0))


def _server_calls(messages: Sequence[Message]) -> Iterator[tuple[Part, ToolCall]]:
    for message in messages:
        for part in message.parts:
            if message.role == "assistant" and part.call is not None and part.call.server:
                yield part, part.call


def _altered(was: object, now: object) -> tuple[str, str, str] | None:
    """The first field that both have with different values, and the values; clients may leave fields out."""
    if is_object(was) and is_object(now):
        for name, old in as_object(was).items():
            new = as_object(now).get(name)
            if old is None or new is None:
                continue
            if (found := _altered(old, new)) is not None:
                return found if is_object(old) else (f"argument {name!r}", *found[1:])
        return None
    if isinstance(was, str) and isinstance(now, str):
        return ("arguments", was, now) if without_space(was) != without_space(now) else None
    old, new = sorted_json(was), sorted_json(now)
    return ("arguments", old, new) if type(was) is type(now) and old != new else None


RULES = (server_call_changed, server_call_forged, server_pair_broken)
