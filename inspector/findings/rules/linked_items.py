"""What an API puts into its answers to continue its own work from: compactions, callers and signatures of calls."""

from collections import Counter
from collections.abc import Iterable, Iterator

from ...analysis.conversation import call_meaning, new_messages, without_space
from ...analysis.turn import Turn
from ...wire.exchange import Exchange
from ...wire.json_value import as_object, as_text
from ...wire.per_message import Joined
from ...wire.printable import several
from ...wire.values import Message, Part
from ..rule import Note
from ..rule_context import RuleContext
from .history import assistant_mutated, reasoning_dropped

_COMPACTED = frozenset({"compaction", "compaction_summary", "context_compaction"})
"""Types of the items of OpenAI and the blocks of Anthropic that replace the history before them."""


def _is_compaction(part: Part) -> bool:
    return part.kind == "other" and as_text(as_object(part.raw).get("type")) in _COMPACTED


def _compactions_in(message: Message) -> list[Part]:
    return [part for part in message.parts if _is_compaction(part)]


_compactions = Joined(_compactions_in).of


@assistant_mutated.also("ended")
def compaction_lost(context: RuleContext) -> Iterator[Note]:
    """A compaction that did not come back, and no newer one in its place."""
    before, echo = _continued(context), context.echo
    if before is None or echo is None or _compactions(context.request.messages):
        return
    emission = before.reading.emission
    given = [part for part in (emission.content if emission is not None else ()) if _is_compaction(part)]
    sent = _compactions(before.reading.request.messages)
    if given:
        kept = not any(change.kind == "removed" for change in echo.changes)
        where = f"#{before.round_trip.index} response {given[-1].pointer}"
    elif sent:
        kept = not _is_at_front(before, sent[-1])
        where = f"#{before.round_trip.index} request {sent[-1].pointer}"
    else:
        return
    yield Note(
        "the compaction of the history did not come back"
        + ("" if kept else ", nor did what it replaced: the model knows nothing of that"),
        (where, f"{context.at} request"),
        severity="info" if kept else None,
        key="compaction",
    )


def _continued(context: RuleContext) -> Turn | None:
    """The turn before, if this request continues it with the same model, and holds the history itself."""
    before, echo = context.before, context.echo
    if before is None or echo is None or echo.state == "held" or context.turn.edge.kind != "continuation":
        return None
    same = context.request.model == before.reading.request.model
    return before if same and context.reading.protocol == before.reading.protocol else None


def _is_at_front(turn: Turn, compaction: Part) -> bool:
    """Whether a history begins with its compaction, so that nothing else holds what was before it."""
    first = next(iter(turn.reading.request.conversation), None)
    return first is not None and any(part is compaction for part in first.parts)


@assistant_mutated.also("ended")
def caller_lost(context: RuleContext) -> Iterator[Note]:
    """A call of a program of the model, or its result, that came back as if the model itself had made the call."""
    before = _continued(context)
    emission = before.reading.emission if before is not None else None
    if before is None or emission is None:
        return
    for part in emission.content:
        caller = as_object(as_object(part.raw).get("caller"))
        kind = as_text(caller.get("type"))
        call = part.call
        if call is None or call.server or not call.id or kind in (None, "direct"):
            continue
        sent = context.calls.get(call.id)
        if sent is not None and as_object(as_object(sent.raw).get("caller")).get("type") != kind:
            what, where = "call of {!r} came back", sent
        elif (result := _result_without(context, call.id, kind)) is not None and caller.get("caller_id"):
            what, where = "result of {!r} was sent", result
        else:
            continue
        yield Note(
            f"the {what.format(call.name)} without its caller, a {kind!r}",
            (f"#{before.round_trip.index} response {part.pointer}".rstrip(), f"{context.at} request {where.pointer}"),
            severity="info" if context.succeeded else None,
            key=("caller", call.id),
        )


def _result_without(context: RuleContext, call_id: str, caller: str) -> Part | None:
    """The new result of a call, if it does not name this kind of caller."""
    results = (part for message in context.fresh for part in message.parts if part.result is not None)
    found = next((part for part in results if part.result is not None and part.result.call_id == call_id), None)
    named = as_object(as_object(found.raw).get("caller")).get("type") if found is not None else caller
    return found if named != caller else None


def _is_signed(part: Part) -> bool:
    return part.call is not None and not part.call.server and bool(part.signature)


def _signed_in(message: Message) -> list[Part]:
    return [part for part in message.parts if _is_signed(part)]


_signed = Joined(_signed_in).of


@reasoning_dropped.also("ended")
def signature_lost(context: RuleContext) -> Iterator[Note]:
    """The signature of a call that the request before still had, with the call as it was."""
    before = _continued(context)
    if before is None:
        return
    emission = before.reading.emission
    given = [part for part in (emission.content if emission is not None else ()) if _is_signed(part)]
    earlier, sent = _signed(before.reading.request.messages), _signed(context.request.messages)
    if len(sent) >= len(earlier) + len(given):
        return  # first, because what follows looks at the whole history where its beginning has changed
    kept, _, _ = new_messages(before.conversation, context.turn.conversation)
    then, now = _calls_in(before.reading.request.conversation[kept:]), _calls_in(context.fresh)
    signed, sealed = _counted(part for part in then if part.signature), _counted(part for part in now if part.signature)
    there = _counted(now)
    lost = [
        meaning
        for meaning, count in _counted(then).items()
        if there[meaning] >= count and signed[meaning] > sealed[meaning]
    ]
    places = [part.pointer for part in now if part.call is not None and call_meaning(part.call) in lost]
    if lost:
        yield Note(
            f"{several(len(lost), 'call')} of earlier steps came back without the signature of #{before.round_trip.index}",
            (f"#{before.round_trip.index} request", *(f"{context.at} request {place}" for place in places[:3])),
            key="signatures",
        )


def _calls_in(messages: Iterable[Message]) -> list[Part]:
    return [part for message in messages for part in message.parts if part.call is not None and not part.call.server]


def _counted(parts: Iterable[Part]) -> Counter[int]:
    return Counter(call_meaning(part.call) for part in parts if part.call is not None)


@assistant_mutated.also("ended")
def phase_lost(context: RuleContext) -> Iterator[Note]:
    """An answer that came back without the phase that says whether it is a comment or the final answer."""
    before, phases = _continued(context), context.protocol.answers.phases
    response = before.round_trip.response if before is not None else None
    if before is None or phases is None or response is None or b'"phase"' not in response.body:
        return
    bare = [one for one in context.fresh if one.role == "assistant" and as_object(one.raw).get("phase") is None]
    given = {without_space(text): phase for text, phase in phases(Exchange(before.round_trip))} if bare else {}
    for message in bare:
        phase = given.get(without_space("".join(part.text for part in message.parts)))
        if phase is not None:
            yield Note(
                f"an answer came back without its phase, {phase!r}: the API asks for it, and answers get worse without it",
                (f"#{before.round_trip.index} response", f"{context.at} request {message.pointer}"),
                severity="info",
                key="phase",
            )


RULES = (compaction_lost, caller_lost, signature_lost, phase_lost)
