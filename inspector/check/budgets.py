"""Budgets of a run: its cost, its number of turns, and the growth of its input.

If the recording cannot decide a budget, it is `unknown` and not `kept`: a run without prices is not free.
"""

from collections.abc import Iterable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Literal

from turntape.cassettes.excerpts import listed
from turntape.cassettes.frozen import frozen

from ..wire.printable import several

type State = Literal["kept", "broken", "unknown"]


@frozen
class Step:
    """The facts about a turn, or one attempt at it, that the budgets need."""

    index: int
    thread: str
    turn: int
    input: int | None
    cost: Decimal | None
    failed: bool
    unpriced: bool = False
    """Whether its cost is not known, or not known as a whole."""


@frozen
class Spent:
    """The cost of a request that is not a turn, such as one for embeddings."""

    index: int
    cost: Decimal | None
    """None when its price is not known."""
    unpriced: bool = False
    """Whether its cost is not known, or not known as a whole."""


@frozen
class Budgets:
    """What a run may take; None means no limit."""

    cost: Decimal | None = None
    """US dollars."""
    turns: int | None = None
    """Of all threads together; the attempts of one turn count once."""
    growth: Decimal | None = None
    """How many times the input tokens of its first turn a turn may have, thread by thread."""


@frozen
class Verdict:
    """Whether one run kept one budget."""

    budget: str
    """The option that set it, without dashes: `max-cost`, `max-turns`, `max-input-growth`."""
    state: State
    says: str
    used: str | None
    allowed: str
    run: str | None = None
    evidence: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        return {
            "budget": self.budget,
            "state": self.state,
            "says": self.says,
            "used": self.used,
            "allowed": self.allowed,
            "run": self.run,
            "evidence": list(self.evidence),
        }


def growth_of(text: str) -> Decimal:
    """A factor from `3`, `3x`, or `200%`, which is growth by that much. Raises ValueError."""
    text = text.strip().lower()
    try:
        if text.endswith("%"):
            factor = 1 + Decimal(text[:-1]) / 100
        else:
            factor = Decimal(text.removesuffix("x"))
    except InvalidOperation:
        raise ValueError(f"{text!r} is neither a factor, such as 3x, nor a percentage, such as 200%") from None
    if not factor.is_finite() or factor < 1:
        raise ValueError(f"{text!r} allows no growth at all; give a factor of at least 1, such as 3x, or 200%")
    return factor


def verdicts(
    budgets: Budgets, steps: Iterable[Step], run: str | None = None, beside: Iterable[Spent] = ()
) -> Iterator[Verdict]:
    """Each budget that was set, judged for the turns of one run. `beside`: its other requests, which cost too."""
    steps = list(steps)
    if budgets.cost is not None:
        yield _cost(budgets.cost, steps, run, beside)
    if budgets.turns is not None:
        yield _turns(budgets.turns, steps, run)
    if budgets.growth is not None:
        yield _growth(budgets.growth, steps, run)


def dollars(amount: Decimal) -> str:
    """An amount in US dollars: with cents if it is large, with more digits if it is small."""
    if amount >= 1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.6f}".rstrip("0")


def _cost(allowed: Decimal, steps: list[Step], run: str | None, beside: Iterable[Spent]) -> Verdict:
    billed = [step for step in steps if step.cost is not None or not step.failed]
    of_turns = [Spent(step.index, step.cost, step.unpriced) for step in billed]
    spent = sorted([*of_turns, *beside], key=lambda one: one.index)
    used = sum((one.cost for one in spent if one.cost is not None), Decimal(0))
    unpriced = [one for one in spent if one.cost is None or one.unpriced]
    asked = f"{dollars(allowed)} allowed"
    dearest = sorted((one for one in spent if one.cost), key=lambda one: -(one.cost or 0))[:3]
    evidence = tuple(f"#{step.index} cost {dollars(step.cost or Decimal(0))}" for step in dearest)
    if used > allowed:
        says = f"the run cost {dollars(used)}, {asked}"
        return Verdict("max-cost", "broken", says, str(used), str(allowed), run, evidence)
    if unpriced:
        places = listed([f"#{step.index}" for step in unpriced], 4)
        says = f"not known: {several(len(unpriced), 'request')} without a known price ({places}), {asked}"
        return Verdict("max-cost", "unknown", says, None, str(allowed), run)
    return Verdict("max-cost", "kept", f"the run cost {dollars(used)}, {asked}", str(used), str(allowed), run)


def _turns(allowed: int, steps: list[Step], run: str | None) -> Verdict:
    taken = {(step.thread, step.turn): step.index for step in steps}
    says = f"the run took {several(len(taken), 'turn')}, {allowed:,} allowed"
    state: State = "broken" if len(taken) > allowed else "kept"
    first_over = sorted(taken.values())[allowed : allowed + 1] if state == "broken" else []
    return Verdict(
        "max-turns", state, says, str(len(taken)), str(allowed), run, tuple(f"#{index} request" for index in first_over)
    )


def _growth(allowed: Decimal, steps: list[Step], run: str | None) -> Verdict:
    worst: tuple[Decimal, Step, Step] | None = None
    first: dict[str, Step] = {}
    for step in steps:
        if not step.input:
            continue
        begun = first.setdefault(step.thread, step)
        factor = Decimal(step.input) / Decimal(begun.input or 1)
        if step.turn > begun.turn and (worst is None or factor > worst[0]):
            worst = (factor, begun, step)
    asked = f"{allowed.normalize():f}x allowed"
    if worst is None:
        alone = all(step.turn == 1 for step in steps)
        says = f"no thread has a second turn, {asked}" if alone else f"not known: no usage was reported, {asked}"
        return Verdict("max-input-growth", "kept" if alone else "unknown", says, None, str(allowed), run)
    factor, begun, step = worst
    state: State = "broken" if factor > allowed else "kept"
    says = f"the input of {step.thread} grew {factor:.1f}x, from {begun.input:,} to {step.input:,} tokens, {asked}"
    evidence = (f"#{begun.index} usage input {begun.input}", f"#{step.index} usage input {step.input}")
    return Verdict("max-input-growth", state, says, f"{factor:.3f}", str(allowed), run, evidence)
