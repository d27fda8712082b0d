"""What the client wrote in the model's place: words and calls that no answer contains, and foreign conversations.

Whatever a thread's first request contains may come from elsewhere. A whole answer after the last recorded one, with
something new behind it, may be a turn that was not recorded: it is reported as a strong sign and not as proven.
"""

import re
from collections.abc import Iterator
from itertools import groupby, takewhile

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen
from turntape.cassettes.regex import regex

from ...analysis.conversation import Unit, joined, parted, units_emitted, without_space
from ...analysis.history_diff import HistoryChange, HistoryDiff
from ...analysis.turn import Turn
from ...wire.per_message import ByKey
from ...wire.printable import several
from ...wire.values import Message, Part
from ..model_words import (
    extra_text,
    has_ended,
    is_extended,
    is_known,
    is_unknown,
    is_user_text,
    is_whole,
    surely_continues,
)
from ..rule import Note, rule
from ..rule_context import RuleContext
from .history import place

_HANDOFF = regex(
    r"\W*(?:successfully )?(?:transfer(?:ring|red)?[ _-](?:back[ _-])?to(?![a-z])|hand(?:ing|ed)?[ _-]?(?:off|over|back))",
    re.IGNORECASE,
)
"""How frameworks name a handoff between agents, in calls and in words."""
LOADS_TOOLS = "auto_load_"
"""The prefix of the ids that Pydantic AI gives to calls with which it loads tools (read from recorded requests)."""


@rule(
    "client-forged-answer",
    "client",
    "warning",
    "P",
    says="The history contains words or calls as the model's own that it never wrote.",
    fix="Put notes and reminders into a user or system message; never add text or calls to an answer.",
    not_when=(
        "The first request of a thread contains them: examples, or an earlier conversation",
        "A few words are between a result and a message of the user, for an API that wants them there",
        "The user speaks there too: a turn may not have been recorded, or a cache answered it; then it is an info",
        "They are a whole step, and the recording lacks a round trip there or was imported: then it is an info",
        "They are a whole step with a signature, which only an API can make: then it is an info",
        "The last message begins the next answer",
        "The answer contains the text elsewhere, such as its reasoning",
        "The answer was cut, filtered or refused",
        "The text describes a call that the model made",
        "The answer has content that a client may describe in words, such as an image",
        "The client of an agent without tools writes its observations into the answer",
        "The history was shortened as well: they may be a summary, or another branch",
        "Nothing of the recorded answer came back: another answer may have replaced it",
        "A framework notes a handoff to another agent: then it is an info",
        "A framework loads tools with a call that it wrote: then it is an info",
        "The text replaces an answer that was empty: then it is an info",
        "They are a short thought where the model showed none: frameworks fill the field; then it is an info",
    ),
)
def forged_answer(context: RuleContext) -> Iterator[Note]:
    yield from _failure_as_answer(context)
    echo, before = context.echo, context.before
    if echo is None or before is None:
        return
    if (taken := _taken_from_user(context, before)) is not None:
        yield Note(
            f"the user's words {cut(taken.text.strip(), 60)!r} are in the history as the model's own",
            (f"#{before.round_trip.index} request {taken.pointer}", f"{context.at} request"),
            key=("user", taken.meaning),
        )
        return
    if surely_continues(context, echo):
        forged = _forged(context, echo, before)
        if forged.pieces or forged.longer:
            yield _forged_note(context, echo, before, forged)
    if (thought := _invented_thought(context, before)) is not None:
        yield Note(
            f"the history contains the thought {cut(thought.text.strip(), 60)!r} as the model's own, but its answer has none",
            (f"#{before.round_trip.index} response", f"{context.at} request {thought.pointer}"),
            severity="info" if len(thought.text.strip()) < _PHRASE else None,
            key=("thought", thought.text),
        )


_PHRASE = 64
"""Characters. Frameworks put a shorter phrase into a field that must not be empty."""


def _invented_thought(context: RuleContext, before: Turn) -> Part | None:
    """A thought beside the calls of the last answer, in the history, where that answer shows no thought at all."""
    emission = before.reading.emission
    if emission is None or not before.call_ids or not has_ended(context, before):
        return None
    if any(part.kind == "reasoning" for part in emission.content):
        return None
    for message in reversed(context.request.messages):
        if any(part.call is not None and part.call.id in before.call_ids for part in message.parts):
            thoughts = [part for part in message.parts if part.kind == "reasoning" and part.signature is None]
            return next((part for part in thoughts if is_unknown(part.text, before)), None)
    return None


@frozen
class _Forged:
    """What no answer contains: whole pieces, and answers to which words were added."""

    pieces: list[Unit]
    copied: frozenset[str]
    """The pointers of the pieces that a tool returned."""
    longer: list[HistoryChange]
    apart: bool
    """Only pieces after the results of the last answer, with something new behind them."""


def _forged(context: RuleContext, echo: HistoryDiff, before: Turn) -> _Forged:
    foreign = {unit.pointer for block in _foreign(context, echo) for unit in block}
    added = {unit.pointer: unit for unit in _added(context, echo, before) if unit.pointer not in foreign}
    known = added.keys() | foreign
    between = {unit.pointer: unit for unit in _between(context, echo, before) if unit.pointer not in known}
    added |= between
    given = _long_results.of(context.request.messages)
    new = [unit for unit in echo.new if unit.role == "assistant" and context.request.tools]
    same = (unit for unit in (*added.values(), *new) if unit.kind == "text" and without_space(unit.text) in given)
    copied = {unit.pointer: unit for unit in same}
    added |= copied
    pieces = [unit for unit in added.values() if unit.pointer in copied or not is_known(context, unit, before)]
    longer = [] if echo.removed else [change for change in echo.changes if is_extended(context, change)]
    apart = bool(pieces) and not longer and all(unit.pointer in between for unit in pieces)
    return _Forged(pieces, frozenset(copied), longer, apart)


def _forged_note(context: RuleContext, echo: HistoryDiff, before: Turn, forged: _Forged) -> Note:
    shown = [
        (
            _shown(unit) + (", which is the result of a tool," if unit.pointer in forged.copied else ""),
            f"{context.at} request {unit.pointer}",
        )
        for unit in forged.pieces
    ]
    extra = [extra_text(change) for change in forged.longer]
    shown += [
        (f"the text {cut(text, 60)!r}", place(context, change)[-1])
        for text, change in zip(extra, forged.longer, strict=True)
    ]
    more = f" and {several(len(shown) - 1, 'more piece')}" if len(shown) > 1 else ""
    expected = _is_expected(context, forged.pieces, extra, before) or (
        forged.apart and (_asked(echo) or _was_imported(context) or _is_signed(context, forged.pieces, before))
    )
    return Note(
        f"the history contains {shown[0][0]}{more} as the model's own, but no answer contains "
        f"{'them' if more else 'it'}",
        (f"#{before.round_trip.index} response", *(at for _, at in shown[:3])),
        severity="info" if expected else None,
        tier="S" if forged.apart else None,
        key=tuple(sorted([*map(_named, forged.pieces), *extra])),
    )


def _failure_as_answer(context: RuleContext) -> Iterator[Note]:
    """The client's report of a failure, in the place of the answer that never came."""
    before = context.before
    error = before.reading.error if before is not None else None
    if before is None or error is None or context.is_attempt and not context.fresh:
        return
    said = without_space(error.message)[:_REPORTED]
    units = parted(before.conversation.history, context.turn.conversation.history)[1] if len(said) >= _RESULT else ()
    for unit in units:
        if unit.role == "assistant" and unit.kind == "text" and said in without_space(unit.text):
            yield Note(
                f"the history contains the failure of #{before.round_trip.index} as the model's own words: "
                f"{cut(unit.text.strip(), 60)!r}",
                (f"#{before.round_trip.index} response", f"{context.at} request {unit.pointer}"),
                key=("failure", unit.meaning),
            )
            return


_REPORTED = 40
"""Characters of an error by which a report of it is known."""


def _taken_from_user(context: RuleContext, before: Turn) -> Unit | None:
    """What the user said before, if the history now has it as the assistant's."""
    old, now = parted(before.conversation.history, context.turn.conversation.history)
    gone = [unit for unit in old if is_user_text(unit) and len(without_space(unit.text)) >= _ALONE]
    if not gone:
        return None
    asked = {unit.meaning for unit in now if is_user_text(unit)}
    said = [without_space(unit.text) for unit in now if unit.role == "assistant" and unit.kind == "text"]
    emission = before.reading.emission
    known = without_space(emission.text) if emission is not None else ""
    for unit in gone:
        text = without_space(unit.text)
        whole = any(text == other for other in said)
        if unit.meaning in asked or text in known or (len(text) < _RESULT and not whole):
            continue
        if whole or any(text in other for other in said):
            return unit
    return None


def _long_results_of(message: Message) -> list[tuple[str, Part]]:
    """The longer results in a message, by their texts without white space."""
    given = ((part, part.result) for part in message.parts if part.result is not None and not part.result.server)
    return [(text, part) for part, result in given if len(text := without_space(result.text)) >= _RESULT]


_long_results = ByKey(_long_results_of)


_RESULT = 24
"""Characters. A model may give a shorter result as its answer."""


_ALONE = 8
"""Characters of a text that is a whole message of the assistant now; shorter ones may be said by both."""


def _named(unit: Unit) -> str:
    return unit.part.call.name if unit.part.call else unit.text


def _shown(unit: Unit) -> str:
    if unit.part.call is not None:
        return f"a call of {unit.part.call.name!r}" + (f" ({unit.call_id})" if unit.call_id else "")
    return f"the text {cut(unit.text, 60)!r}"


def _added(context: RuleContext, echo: HistoryDiff, before: Turn) -> list[Unit]:
    """The texts and calls of the assistant that the previous request and its answer do not have."""
    found = [*(() if echo.removed else echo.inserted), *_beside_the_answer(context, echo, before)]
    return [unit for unit in found if unit.role == "assistant" and unit.kind in ("text", "call")]


def _beside_the_answer(context: RuleContext, echo: HistoryDiff, before: Turn) -> list[Unit]:
    """What the request adds in the place of the last answer, where no other answer can be."""
    if not has_ended(context, before) or _was_left_out(echo, before):
        return []
    new = list(echo.new)
    while new and new[-1].role == "assistant":
        new.pop()  # It begins the next answer.
    if echo.state == "held":
        # The request names the last answer, so no other one came between.
        found = new if context.request.previous_id in before.reading.answer_ids else []
    else:
        found = [*echo.beside, *takewhile(lambda unit: unit.role == "assistant", new)]
    return found if is_whole(context, before) else [unit for unit in found if _is_own_call(context, unit, before)]


def _is_own_call(context: RuleContext, unit: Unit, before: Turn) -> bool:
    """True for a call of a tool of the client's: beside those of the API's own tools, which a client may write as calls."""
    emission = before.reading.emission
    if unit.part.call is None or emission is None or unit.call_id in context.run.server_calls:
        return False
    return all(unit.part.call.name != call.name for call in emission.server_calls)


def _between(context: RuleContext, echo: HistoryDiff, before: Turn) -> list[Unit]:
    """Calls and words of the assistant after the results of the last answer, with something new behind them."""
    if echo.state == "held" or not has_ended(context, before) or _was_left_out(echo, before):
        return []
    if before.reading.request.model != context.request.model:
        return []  # A turn of the other model may not have been recorded.
    new = list(echo.new)
    while new and new[-1].role == "assistant":
        new.pop()
    mine = (unit for unit in new if unit.role == "assistant")
    # A short text may come between results and a message of the user, where the API wants one of the assistant.
    found = [unit for unit in mine if unit.kind == "call" or (unit.kind == "text" and len(unit.text) >= _RESULT)]
    return found if is_whole(context, before) else [unit for unit in found if _is_own_call(context, unit, before)]


def _asked(echo: HistoryDiff) -> bool:
    """True when the user speaks too: another turn came between, which was not recorded or which a cache answered."""
    return any(unit.role == "user" and unit.kind == "text" for unit in echo.new)


def _was_imported(context: RuleContext) -> bool:
    """True for a recording of another tool, whose numbers are given here: they do not show what it lacks."""
    return context.turn.round_trip.route == "import"


def _is_signed(context: RuleContext, pieces: list[Unit], before: Turn) -> bool:
    """True when the steps of all pieces have signatures that nothing recorded has: an API made them."""
    emission = before.reading.emission
    old = [part for message in before.reading.request.messages for part in message.parts]
    known = {*(part.signature for part in old), *(emission.signatures if emission is not None else ())}
    signed = set[str]()
    for mine, step in groupby(context.request.messages, key=lambda message: message.role == "assistant"):
        parts = [part for message in step for part in message.parts] if mine else []
        if any(len(part.signature or "") >= _SIGNATURE and part.signature not in known for part in parts):
            signed |= {part.pointer for part in parts}
    return all(unit.pointer in signed for unit in pieces)


_SIGNATURE = 64
"""Characters. Shorter ones may be placeholders, which Gemini's documentation allows for calls that no model made."""


def _was_left_out(echo: HistoryDiff, before: Turn) -> bool:
    """True when nothing of the answer came back: another one may have replaced it."""
    emission = before.reading.emission
    emitted = joined(units_emitted(emission)) if emission else []
    dropped = [change for change in echo.changes if change.emitted and change.kind in ("call_dropped", "text_dropped")]
    return 0 < len(emitted) <= len(dropped)


def _is_expected(context: RuleContext, pieces: list[Unit], extra: list[str], before: Turn) -> bool:
    """True for what frameworks are known to write: notes of a handoff, and a text for an empty answer."""
    if context.turn.edge.kind == "handoff":
        return True
    if pieces and all((unit.call_id or "").startswith(LOADS_TOOLS) for unit in pieces):
        return True
    if any(_HANDOFF.match(name) for name in (*map(_named, pieces), *extra)):
        return True
    emission = before.reading.emission
    empty = emission is None or not units_emitted(emission)
    return empty and not extra and all(unit.kind == "text" for unit in pieces)


@rule(
    "client-foreign-history",
    "client",
    "warning",
    "P",
    says="Messages of another conversation were put into the history.",
    fix="Keep the messages of each conversation apart; check what a shared list or a memory adds.",
    not_when=(
        "The first request of a thread contains them",
        "An earlier request of the thread contained them",
        "The history was shortened: they may be a summary",
    ),
)
def foreign_history(context: RuleContext) -> Iterator[Note]:
    echo, before = context.echo, context.before
    if echo is None or before is None or not surely_continues(context, echo):
        return
    for block in _foreign(context, echo):
        first = next(unit for unit in block if unit.kind == "text")
        where = "in front of" if block[0].pointer == joined(context.turn.conversation.history)[0].pointer else "inside"
        source = next((context.run.said[unit.meaning] for unit in block if unit.meaning in context.run.said), None)
        origin = f"; #{source} contains them" if source is not None else ""
        yield Note(
            f"{several(len(block), 'piece')} of another conversation {'is' if len(block) == 1 else 'are'} {where} "
            f"this one: {cut(first.text, 60)!r}{origin}",
            (f"#{before.round_trip.index} request", *(f"{context.at} request {unit.pointer}" for unit in block[:3])),
            key=block[0].meaning,
        )


def _foreign(context: RuleContext, echo: HistoryDiff) -> list[list[Unit]]:
    """Runs of inserted pieces in which both a user and the assistant speak, and that the thread never had."""
    between = _before_results(context, echo)
    if not (echo.inserted or between) or echo.removed:
        return []
    pointers = {unit.pointer for unit in (*echo.inserted, *between)}
    units = joined(context.turn.conversation.history)
    runs = [list(run) for strange, run in groupby(units, key=lambda unit: unit.pointer in pointers) if strange]
    return [run for run in runs if _is_exchange(context, run)]


def _before_results(context: RuleContext, echo: HistoryDiff) -> list[Unit]:
    """What is new and comes before a result of the last answer's calls."""
    open_calls = context.before.call_ids if context.before is not None else frozenset[str]()
    places = [place for place, unit in enumerate(echo.new) if unit.kind == "result" and unit.call_id in open_calls]
    return [unit for unit in echo.new[: places[-1]] if unit.kind != "result"] if places else []


def _is_exchange(context: RuleContext, run: list[Unit]) -> bool:
    new = [unit for unit in run if unit.meaning not in context.thread.sent]
    asks = any(unit.role == "user" and unit.kind == "text" for unit in new)
    return asks and any(unit.role == "assistant" and unit.kind in ("text", "call") for unit in new)


RULES = (foreign_history, forged_answer)
