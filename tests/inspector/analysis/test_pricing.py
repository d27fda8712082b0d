"""The cost of a turn: stated by the answer, or computed by the price list, or unknown."""

from dataclasses import replace
from decimal import Decimal

from conversations import HELLO, chat, said

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.analysis.pricing import Cost, cost, cost_of, listed_cost
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, StatedCost


def turn(stated: StatedCost | None = None, *, model: str = "gpt-5-2025-08-07") -> tuple[RoundTrip, Reading]:
    """A turn of a thousand tokens in and a thousand out, at an answer that states this cost."""
    trip = chat([HELLO], said("hi"), usage=(1000, 1000), model=model)
    return trip, replace(read(trip), stated_cost=stated)


def test_a_known_model_is_priced_by_its_tokens() -> None:
    trip = chat([HELLO], said("hi"), usage=(1_000_000, 0))
    twice = chat([HELLO], said("hi"), usage=(2_000_000, 0))
    price, double = cost(trip, read(trip)), cost(twice, read(twice))

    assert price is not None and price > 0
    assert double == 2 * price
    assert isinstance(price, Decimal)


def test_an_unknown_model_is_unpriced_and_not_free() -> None:
    trip = chat([HELLO], said("hi"), model="my-own-finetune-of-something")

    assert cost_of(trip, read(trip)) is None
    assert cost(trip, read(trip)) is None


def test_a_turn_without_usage_is_unpriced() -> None:
    trip = chat([HELLO], said("hi"), usage=None)

    assert cost(trip, read(trip)) is None


def test_the_price_list_gives_the_part_of_the_input() -> None:
    # On that day a million tokens of gpt-5 cost $1.25 in and $10 out.
    assert cost_of(*turn()) == Cost(Decimal("0.01125"), "listed", Decimal("0.00125"))


def test_the_cost_that_the_answer_states_comes_first() -> None:
    given = turn(StatedCost(Decimal("0.5"), Decimal("0.1")))

    assert cost_of(*given) == Cost(Decimal("0.5"), "stated", Decimal("0.1"))
    assert cost(*given) == Decimal("0.5")
    assert listed_cost(*given) == Decimal("0.01125")


def test_a_stated_sum_has_the_listed_share_of_the_input() -> None:
    assert cost_of(*turn(StatedCost(Decimal("0.9")))) == Cost(Decimal("0.9"), "stated", Decimal("0.1"))


def test_a_stated_cost_needs_neither_a_listed_model_nor_usage() -> None:
    trip, reading = turn(StatedCost(Decimal("0.9")), model="acme-1")

    assert cost_of(trip, reading) == Cost(Decimal("0.9"), "stated", None)
    assert cost_of(trip, replace(reading, usage=None)) == Cost(Decimal("0.9"), "stated", None)


def test_a_stated_zero_is_a_price() -> None:
    assert cost_of(*turn(StatedCost(Decimal(0)))) == Cost(Decimal(0), "stated", Decimal(0))


def test_a_stated_value_without_an_amount_is_passed_over() -> None:
    found = cost_of(*turn(StatedCost(None, problems=("cost is 'x'.",))))

    assert found is not None
    assert found.source == "listed"
