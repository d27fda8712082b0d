"""Whether the pieces of a history keep their order: answers, results and messages of the user."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from ...analysis.conversation import Unit, joined, text_meaning, units_emitted
from ...analysis.turn import Turn
from ..model_words import is_user_text
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
    moved = [change for change in context.echo.changes if change.kind == "moved"] if context.echo else []
    if not moved or context.before is None:
        return
    asked = {unit.pointer for unit in context.before.conversation.history if _is_the_users(unit)}
    theirs = all(change.before in asked for change in moved) or _only_user_moved(context.before, context.turn)
    shown_again = {u.pointer for u in context.before.conversation.history if u.role == "user" and u.kind == "media"}
    shown = f": {moved[0].was[:60]!r}" if moved[0].was else ""
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
    """A new message of the user in front of the answer that it follows."""
    echo, before = context.echo, context.before
    emission = before.reading.emission if before is not None else None
    if echo is None or before is None or emission is None or echo.new or emission.calls or not emission.text.strip():
        return
    units = joined(context.turn.conversation.history)
    if len(units) < 2 or units[-1].meaning != text_meaning("assistant", emission.text):
        return
    asked = units[-2]
    if is_user_text(asked) and any(asked.pointer == unit.pointer for unit in echo.inserted):
        yield Note(
            f"the new message of the user comes before the answer of #{before.round_trip.index}: {asked.text[:60]!r}",
            (f"#{before.round_trip.index} response", f"{context.at} request {asked.pointer}"),
        )


RULES = (history_reordered,)
