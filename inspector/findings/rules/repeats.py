"""Calls that come again with the same results: one call in a row, or a cycle of several."""

import re
from collections.abc import Iterator

from turntape.cassettes.regex import regex

from ...analysis.conversation import call_meaning
from ..rule import Note, rule
from ..rule_context import RuleContext

WAITING = regex(r"wait|poll|status|check|sleep|progress|monitor", re.IGNORECASE)
_SHORTEST, _LONGEST = 2, 4
"""How many turns a cycle has."""
_STUCK = 4
"""From this many rounds of a cycle on, the run is stuck."""

type _Calls = tuple[int, ...]
"""The calls of one turn, as hashes of names and arguments."""


def _now(context: RuleContext) -> _Calls:
    return tuple(sorted(call_meaning(call) for call in context.emission.calls))


@rule(
    "model-repeated-call",
    "model",
    "warning",
    "P",
    says="The model makes the same call again and again, although it gets the same result each time.",
    fix="Stop after a few repeats, give errors that name the field, and cap the turns.",
    not_when=(
        "The results differ",
        "The tool is one that waits or polls",
    ),
)
def repeated_call(context: RuleContext) -> Iterator[Note]:
    if not context.emission.calls:
        return
    now = _now(context)
    streak, results = 1, None
    indexes = [context.index]
    for step in reversed(context.thread.steps):
        if tuple(sorted(step.calls)) != now or not step.results:
            break
        if results is not None and step.results != results:
            break
        results = step.results
        streak += 1
        indexes.insert(0, step.index)
    name = context.emission.calls[0].name
    if streak < 3 or WAITING.search(name):
        return
    yield Note(
        f"the model made the same call of {name!r} {streak} times in a row with the same result each time",
        tuple(f"#{index} call {name}" for index in indexes[:6]),
        severity="error" if streak >= 5 else "warning",
        key=(now, streak >= 5),
        because_of=context.has_recently("client-opaque-tool-error"),
    )


@rule(
    "model-ping-pong",
    "model",
    "warning",
    "P",
    says="The model repeats a cycle of two to four turns with the same calls and the same results.",
    fix="Stop after a few rounds; give errors that say what to do instead, and cap the turns.",
    not_when=(
        "The arguments change",
        "The results change",
        "A tool of the cycle waits or polls",
    ),
)
def cycle(context: RuleContext) -> Iterator[Note]:
    if not context.emission.calls:
        return
    steps = list(context.thread.steps)
    calls = [*(tuple(sorted(step.calls)) for step in steps), _now(context)]
    results = [step.results for step in steps]
    for period in range(_SHORTEST, _LONGEST + 1):
        rounds = _rounds(calls, results, period)
        if rounds < 2 or len(set(calls[-period:])) < 2:
            continue
        names = [*(step.names[0] for step in steps[1 - period :]), context.emission.calls[0].name]
        if any(WAITING.search(name) for name in names):
            return
        length = rounds * period
        indexes = [*(step.index for step in steps[1 - length :]), context.index]
        yield Note(
            f"the last {length} turns are {rounds} rounds of {period} turns with the same calls and the same results: "
            + ", ".join(repr(name) for name in names),
            tuple(f"#{index} response" for index in indexes[:6]),
            severity="error" if rounds >= _STUCK else None,
            key=(tuple(sorted(set(calls[-period:]))), rounds >= _STUCK),
            because_of=context.has_recently("client-opaque-tool-error"),
        )
        return


def _rounds(calls: list[_Calls], results: list[tuple[int, ...]], period: int) -> int:
    """How many whole rounds of a cycle the last turns are; the last turn has no result yet."""
    rounds = 1
    while len(calls) >= (rounds + 1) * period:
        place = len(calls) - (rounds + 1) * period
        window = range(place, place + period)
        if any(not calls[i] or calls[i] != calls[i + period] for i in window):
            break
        if any(not results[i] or results[i] != results[i + period] for i in window if i + period < len(results)):
            break
        rounds += 1
    return rounds


RULES = (repeated_call, cycle)
