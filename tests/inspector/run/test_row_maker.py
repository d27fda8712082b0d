"""Rows with their costs: at once, or when the table of prices has been loaded."""

from decimal import Decimal

from conversations import HELLO, chat, said

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.row_maker import RowMaker


def stating(cost: float) -> RoundTrip:
    """A turn whose answer states its cost."""
    choice = {"index": 0, "message": said("hi"), "finish_reason": "stop"}
    details = {"upstream_inference_prompt_cost": cost / 2}
    counts = {"prompt_tokens": 3, "completion_tokens": 2, "cost": cost, "cost_details": details}
    return chat([HELLO], error={"model": "acme-1", "choices": [choice], "usage": counts})


def test_a_row_has_the_cost_its_source_and_its_part_for_the_input() -> None:
    [row] = RowMaker().add(stating(0.5))

    assert (row.cost, row.cost_source, row.input_cost) == (Decimal("0.5"), "stated", Decimal("0.25"))


def test_a_row_without_a_price_has_neither() -> None:
    [row] = RowMaker().add(chat([HELLO], said("hi"), model="acme-1"))

    assert (row.cost, row.cost_source, row.input_cost) == (None, None, None)


def test_rows_that_came_without_a_price_get_it_later() -> None:
    maker = RowMaker(priced=False)
    [first] = maker.add(stating(0.5))
    [priced] = maker.price()
    [second] = maker.add(stating(0.25))

    assert (first.cost, first.cost_source) == (None, None)
    assert (priced.cost, priced.cost_source, priced.input_cost) == (Decimal("0.5"), "stated", Decimal("0.25"))
    assert (second.cost, second.cost_source) == (Decimal("0.25"), "stated")


def test_a_turn_without_a_price_does_not_come_again() -> None:
    maker = RowMaker(priced=False)
    list(maker.add(chat([HELLO], said("hi"), model="acme-1")))

    assert list(maker.price()) == []
