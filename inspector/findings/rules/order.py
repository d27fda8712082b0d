"""Whether the pieces of a history keep their order: answers, results and messages of the user."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from turntape.cassettes.excerpts import cut

from ...analysis.conversation import Unit, joined, units_emitted
from ...analysis.turn import Turn
from ..model_words import belated, extra_text, is_user_text
from ..rule import Note, rule
from ..rule_context import RuleContext
from .history import place, unshared


@rule(
    "client-history-reordered",
    "client",
    "warning",
    "P",
    says="The history holds the same messages in another order.",
    fix="Only append; never sort or move messages that were sent.",
    not_when=(
        "Only messages of the user have moved, and the history still begins with one: then it is an info",
        "Only images and files of the user have moved, as when they are shown again: then it is an info",
        "Only calls of one answer have changed places, and their ids say which result is whose: then it is an info",
    ),
)
def history_reordered(context: RuleContext) -> Iterator[Note]:
    yield from _early_results(context)
    yield from _early_question(context)
    yield from _late_answers(context)
    moved = [change for change in context.echo.changes if change.kind == "moved"] if context.echo else []
    if not moved or context.before is None:
        return
    asked = {unit.pointer for unit in context.before.conversation.history if _is_the_users(unit)}
    theirs = all(change.before in asked for change in moved) or _only_user_moved(context.before, context.turn)
    shown_again = {u.pointer for u in context.before.conversation.history if u.role == "user" and u.kind == "media"}
    shown = f": {cut(moved[0].was, 60)!r}" if moved[0].was else ""
    yield Note(
        "a piece of the history has moved" + shown
        if len(moved) == 1
        else f"{len(moved)} pieces of the history have moved, the first{shown}",
        place(context, moved[0]),
        severity="info"
        if all(change.before in shown_again for change in moved)
        or (theirs and not _answers_first(context))
        or _only_calls_moved(context.before, context.turn)
        else None,
    )


def _only_calls_moved(before: Turn, now: Turn) -> bool:
    """True when only calls that follow each other, and have ids, are in another order than they were emitted in."""
    emission = before.reading.emission
    then = [*before.conversation.history, *(units_emitted(emission) if emission else ())]
    kept, sent = (list(_steps(joined(units))) for units in (then, now.conversation.history))
    return sent[: len(kept)] == kept


def _steps(units: Iterable[Unit]) -> Iterator[tuple[int, ...]]:
    """What pieces mean, with calls that follow each other, and results, as one piece whatever their order."""
    for kind, some in groupby(units, key=lambda unit: unit.kind if unit.call_id is not None else None):
        meanings = [unit.meaning for unit in some]
        if kind is None:
            yield from ((meaning,) for meaning in meanings)
        else:
            yield tuple(sorted(meanings))


def _is_the_users(unit: Unit) -> bool:
    """True for what the user said or showed."""
    return is_user_text(unit) or (unit.role == "user" and unit.kind == "media")


def _only_user_moved(before: Turn, now: Turn) -> bool:
    """True when all that is not the user's is in the order in which it was sent and emitted."""
    emission = before.reading.emission
    then = [*before.conversation.history, *(units_emitted(emission) if emission else ())]
    kept, sent = (
        [one.meaning for one in joined(units) if not _is_the_users(one)] for units in (then, now.conversation.history)
    )
    return sent[: len(kept)] == kept


def _answers_first(context: RuleContext) -> bool:
    """True when an answer is now in front of the question that it followed."""
    histories = (turn.conversation.history for turn in (context.before, context.turn) if turn is not None)
    then, now = (next((unit.role for unit in units if unit.role != "system"), None) for units in histories)
    return then == "user" and now == "assistant"


def _early_results(context: RuleContext) -> Iterator[Note]:
    """Results that come before their calls."""
    before = context.before
    units = unshared(context, before) if before is not None else context.turn.conversation.history
    calls: dict[str | None, int] = {None: -1}
    for number, unit in enumerate(units):
        if unit.kind == "call":
            calls.setdefault(unit.call_id, number)
    for number, unit in enumerate(units):
        if unit.kind == "result" and calls.get(unit.call_id, -1) > number:
            call = units[calls[unit.call_id]]
            yield Note(
                f"the result of {unit.call_id} comes before its call",
                (f"{context.at} request {unit.pointer}", f"{context.at} request {call.pointer}"),
                key=("early", unit.call_id),
            )


def _early_question(context: RuleContext) -> Iterator[Note]:
    """A new message of the user in front of the answer that the model gave without it."""
    echo, before = context.echo, context.before
    emission = before.reading.emission if before is not None else None
    come = {unit.pointer for unit in echo.inserted if is_user_text(unit)} if echo is not None else set[str]()
    if before is None or emission is None or not come:
        return
    emitted = joined(units_emitted(emission))
    asked = joined(before.conversation.history)[-1:]
    if not emitted or not asked or asked[0].role == "assistant":
        return
    units = joined(context.turn.conversation.history)
    place = next((n for n, unit in enumerate(units) if unit.pointer in come), 0)
    behind = next((n for n in range(place, len(units)) if units[n].pointer not in come), len(units))
    between = place > 0 and units[place - 1].meaning == asked[0].meaning
    if between and behind < len(units) and units[behind].meaning in {unit.meaning for unit in emitted}:
        yield Note(
            f"the new message of the user comes before the answer of #{before.round_trip.index}: {cut(units[place].text, 60)!r}",
            (f"#{before.round_trip.index} response", f"{context.at} request {units[place].pointer}"),
        )


def _late_answers(context: RuleContext) -> Iterator[Note]:
    """An answer that was left out before, and now comes behind what the user said after it."""
    for change in context.echo.changes if context.echo else ():
        if (answered := belated(context, change)) is not None:
            yield Note(
                f"the answer of #{answered} was left out of #{context.before.round_trip.index if context.before else '?'} "
                f"and now comes behind the message that follows it: {cut(extra_text(change), 60)!r}",
                (f"#{answered} response", f"{context.at} request {change.now}"),
            )


RULES = (history_reordered,)
