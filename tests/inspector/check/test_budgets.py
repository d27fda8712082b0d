"""Budgets are kept, broken, or not known; never taken for kept where the recording does not say."""

from decimal import Decimal

import pytest

from turntape.inspector.check.budgets import Budgets, Step, dollars, growth_of, verdicts


def step(
    turn: int, tokens: int | None = 100, cost: str | None = "0.10", thread: str = "t1", failed: bool = False
) -> Step:
    return Step(turn - 1, thread, turn, tokens, None if cost is None else Decimal(cost), failed)


@pytest.mark.parametrize(
    ("budgets", "steps", "state"),
    [
        (Budgets(cost=Decimal("0.20")), [step(1), step(2)], "kept"),
        (Budgets(cost=Decimal("0.19")), [step(1), step(2)], "broken"),
        (Budgets(cost=Decimal(1)), [step(1), step(2, cost=None)], "unknown"),
        (Budgets(cost=Decimal("0.05")), [step(1), step(2, cost=None)], "broken"),
        (Budgets(cost=Decimal(1)), [step(1), step(2, cost=None, failed=True)], "kept"),
        (Budgets(turns=2), [step(1), step(2)], "kept"),
        (Budgets(turns=1), [step(1), step(2)], "broken"),
        (Budgets(turns=1), [step(1), step(1)], "kept"),  # another attempt of the same turn
        (Budgets(turns=1), [step(1), step(1, thread="t2")], "broken"),
        (Budgets(growth=Decimal(2)), [step(1), step(2, 200)], "kept"),
        (Budgets(growth=Decimal(2)), [step(1), step(2, 201)], "broken"),
        (Budgets(growth=Decimal(2)), [step(1), step(2, 50), step(1, 900, thread="t2")], "kept"),
        (Budgets(growth=Decimal(2)), [step(1, None), step(2, None)], "unknown"),
        (Budgets(growth=Decimal(2)), [step(1)], "kept"),
        (Budgets(growth=Decimal(2)), [], "kept"),
    ],
)
def test_a_budget_is_judged(budgets: Budgets, steps: list[Step], state: str) -> None:
    [verdict] = verdicts(budgets, steps)

    assert verdict.state == state
    assert bool(verdict.evidence) or state != "broken"


def test_dollars_are_added_without_a_rounding_error() -> None:
    [verdict] = verdicts(Budgets(cost=Decimal("0.3")), [step(n) for n in (1, 2, 3)])

    assert (verdict.used, verdict.state) == ("0.30", "kept")


@pytest.mark.parametrize(
    ("text", "factor"), [("3", "3"), ("2.5x", "2.5"), ("200%", "3"), (" 50% ", "1.5"), ("3X", "3")]
)
def test_growth_is_a_factor_or_a_percentage(text: str, factor: str) -> None:
    assert growth_of(text) == Decimal(factor)


@pytest.mark.parametrize("text", ["", "x", "much", "0.5", "-3x", "nan", "inf", "3x%"])
def test_an_invalid_growth_is_refused_with_the_value(text: str) -> None:
    with pytest.raises(ValueError, match=repr(text.strip())):
        growth_of(text)


def test_small_amounts_keep_their_digits() -> None:
    assert [dollars(Decimal(n)) for n in ("0", "0.001", "0.0006125", "12.5", "1234")] == [
        "$0.00",
        "$0.001",
        "$0.000612",
        "$12.50",
        "$1,234.00",
    ]
