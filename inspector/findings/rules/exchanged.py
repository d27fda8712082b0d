"""Results that are under the wrong call, and calls that have two results, in different requests."""

import re
from collections.abc import Iterator
from itertools import combinations

from ...wire.json_value import as_object, is_array, is_object
from ...wire.values import Part, ToolCall
from ..finding import became
from ..memory import GivenResult
from ..rule import Note, rule
from ..rule_context import RuleContext
from .pairing import wrong_name
from .results import new_results

_NAME = 4
"""Characters. A shorter argument may be in any result."""
_LONGEST = 80
_MOST_CALLS = 20


@rule(
    "client-results-exchanged",
    "client",
    "error",
    "S",
    says="Each of two results speaks of what the other call asked for: the client has put them under each other's call. Or one "
    "result is under both calls, and speaks of one of them: then it is a warning.",
    fix="Match results to calls by id, not by the order in which they finish.",
    not_when=(
        "The calls are of different tools",
        "A result does not name what its call asked for",
        "One result speaks of both",
    ),
)
def results_exchanged(context: RuleContext) -> Iterator[Note]:
    before = context.previous
    emission = before.reading.emission if before is not None else None
    if before is None or emission is None or not 1 < len(emission.calls) <= _MOST_CALLS:
        return
    new = [(part, result.call_id, result.text.casefold()) for part, result in new_results(context)]
    given = {call_id: (part, text) for part, call_id, text in new if call_id is not None}
    if not given and len(new) == len(emission.calls):
        answered = [(call, part, text) for call, (part, _, text) in zip(emission.calls, new, strict=True)]
    else:
        answered = [(call, *given[call.id]) for call in emission.calls if call.id in given]
    for (one, at_one, first), (two, at_two, second) in combinations(answered, 2):
        if one.name != two.name:
            continue
        mine, theirs = _asked(one, two), _asked(two, one)
        if _speaks(second, first, mine) and _speaks(first, second, theirs):
            yield Note(
                f"the result of {_named(one)} speaks of {sorted(theirs)[0]!r}, and that of {_named(two)} of "
                f"{sorted(mine)[0]!r}",
                (
                    *(f"#{before.round_trip.index} call {call.id or call.name}" for call in (one, two)),
                    *(f"{context.at} request {part.pointer}" for part in (at_one, at_two)),
                ),
            )
            return
        spoken = sorted(text for text in mine | theirs if _holds(first, text))
        if first == second and spoken and mine and theirs and (mine.isdisjoint(spoken) or theirs.isdisjoint(spoken)):
            yield Note(
                f"{_named(one)} and {_named(two)} have the same result, which speaks of {spoken[0]!r} alone",
                (
                    *(f"#{before.round_trip.index} call {call.id or call.name}" for call in (one, two)),
                    *(f"{context.at} request {part.pointer}" for part in (at_one, at_two)),
                ),
                severity="warning",
            )
            return


def _named(call: ToolCall) -> str:
    return f"the call {call.id or call.name}" if call.id else f"a call of {call.name!r}"


def _asked(call: ToolCall, other: ToolCall) -> set[str]:
    """The texts in the arguments of a call that those of another do not hold, in lower case."""
    return set(_texts(call.arguments)) - set(_texts(other.arguments))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if _NAME <= len(value.strip()) <= _LONGEST:
            yield value.strip().casefold()
    elif is_object(value):
        for item in value.values():
            yield from _texts(item)
    elif is_array(value):
        for item in value:
            yield from _texts(item)


def _speaks(result: str, other: str, asked: set[str]) -> bool:
    """True when a result holds some of these texts, and the other result none."""
    return any(_holds(result, text) for text in asked) and not any(text in other for text in asked)


def _holds(result: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", result) is not None


def answer_continued(context: RuleContext) -> int | None:
    """The round trip whose calls this request answers; also that of a request which another one has continued."""
    if context.previous is not None:
        return context.previous.round_trip.index
    return context.turn.edge.of if context.turn.edge.kind == "fork" else None


def given_twice(context: RuleContext) -> Iterator[Note]:
    """Results of calls that another request has answered otherwise: the tool ran twice."""
    called_in = answer_continued(context)
    for part, result in new_results(context):
        other = (
            context.run.results.get((called_in, result.call_id)) if called_in is not None and result.call_id else None
        )
        if other is None or other.index == context.index or result.is_error or other.is_error:
            continue
        if other.text == result.text.strip()[:SHOWN] or _is_placeholder(context, other):
            continue
        together = context.turn.round_trip.started_at < other.ended
        yield Note(
            f"the call {result.call_id} has another result than in #{other.index}, so it ran twice: "
            f"{became(other.text[:40], result.text.strip()[:40])}",
            (f"#{other.index} request", f"{context.at} request {part.pointer}"),
            severity=None if together else "info",
            key=result.call_id,
        )


def _is_placeholder(context: RuleContext, given: GivenResult) -> bool:
    """True for a text that one request gave to several calls: so a forked worker learns that they run elsewhere."""
    alike = (one for one in context.run.results.values() if (one.index, one.text) == (given.index, given.text))
    return sum(1 for _ in alike) > 1


SHOWN = 200
"""Characters of a result that are kept to compare it."""


@wrong_name.also("ended")
def wrong_name_for_held_call(context: RuleContext) -> Iterator[Note]:
    """A result that names another tool than the call that the API holds, or none where it must name one."""
    if context.request.previous_id is None:
        return
    for part in (part for message in context.request.messages for part in message.parts):
        result = part.result
        known = context.thread.emitted_calls.get(result.call_id or "") if result is not None else None
        if result is None or known is None or result.name == known[1]:
            continue
        if result.name or _leaves_name_empty(part):
            yield Note(
                f"the result of {known[1]!r} names {result.name or ''!r}",
                (f"#{known[0]} call {result.call_id}", f"{context.at} request {part.pointer}"),
                key=(result.call_id, result.name),
            )


def _leaves_name_empty(part: Part) -> bool:
    raw = as_object(part.raw)
    return as_object(raw.get("functionResponse") or raw.get("function_response")).get("name") == ""


RULES = (results_exchanged, wrong_name_for_held_call)
