"""Whether the client sends what was said twice: the whole history again, or a history that the API already holds."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from ...analysis.conversation import Unit, joined, units_emitted
from ...analysis.turn import Turn
from ..model_words import is_user_text
from ..rule import Note, rule
from ..rule_context import RuleContext

_SHORTEST = 3
"""A question, an answer and what followed: shorter runs may be said twice."""


@rule(
    "client-history-duplicated",
    "client",
    "warning",
    "P",
    says="The request holds the history twice, so the model reads everything again and each token is paid for twice.",
    fix="Append each answer and each result once. With `previous_response_id`, send only what is new.",
    not_when=(
        "The first request of a thread contains it twice",
        "The user asks the same again, and the model answers the same",
        "The API holds the conversation, and only messages of the user are repeated",
    ),
)
def history_duplicated(context: RuleContext) -> Iterator[Note]:
    before, echo = context.before, context.echo
    if before is None or echo is None:
        return
    held = echo.state == "held"
    copies = _held_pieces(context) if held else _copies(before, context.turn)
    if not copies:
        return
    how = f"the API holds it under {context.request.previous_id}" if held else "it is in the request already"
    yield Note(
        f"{len(copies)} pieces of the history are sent again, although {how}; the first: {_shown(copies[0])}",
        (f"#{before.round_trip.index} request", *(f"{context.at} request {unit.pointer}" for unit in copies[:3])),
        key="doubled",
    )


def _shown(unit: Unit) -> str:
    return f"a call of {unit.part.call.name!r}" if unit.part.call else repr(unit.text[:60])


def _spoken(turn: Turn) -> list[Unit]:
    return [unit for unit in joined(turn.conversation.history) if unit.role != "system"]


def _copies(before: Turn, now: Turn) -> list[Unit]:
    """The pieces that repeat the beginning of the history, if the request has more answers than there were."""
    units = _spoken(now)
    emission = before.reading.emission
    answered = _count_answers(_spoken(before)) + _count_answers(joined(units_emitted(emission)) if emission else ())
    if _count_answers(units) <= answered:
        return []
    meanings = [unit.meaning for unit in units]
    for start in range(_SHORTEST, len(units)):
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(meanings, meanings[start:], strict=False)))
        copy = units[start : start + min(same, start)]
        if len(copy) >= _SHORTEST and any(map(is_user_text, copy)) and _count_answers(copy):
            return copy
    return []


def _held_pieces(context: RuleContext) -> list[Unit]:
    """The pieces that the API holds under the id which the request names, if answers of the model are among them."""
    units = [unit for unit in _spoken(context.turn) if _is_held(context, unit)]
    return units if len(units) > 1 and _count_answers(units) else []


def _is_held(context: RuleContext, unit: Unit) -> bool:
    if unit.kind == "call" and unit.call_id is not None:
        return unit.call_id in context.thread.emitted_calls
    said = unit.role == "assistant" and unit.meaning in context.run.said
    return said or unit.meaning in context.thread.sent


def _count_answers(units: Sequence[Unit]) -> int:
    return sum(unit.role == "assistant" for unit in units)


RULES = (history_duplicated,)
