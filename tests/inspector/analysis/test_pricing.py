from decimal import Decimal

from conversations import HELLO, chat, said

from turntape.inspector.analysis.pricing import cost
from turntape.inspector.wire.parse import read


def test_a_known_model_is_priced_by_its_tokens() -> None:
    trip = chat([HELLO], said("hi"), usage=(1_000_000, 0))
    twice = chat([HELLO], said("hi"), usage=(2_000_000, 0))
    price, double = cost(trip, read(trip)), cost(twice, read(twice))

    assert price is not None and price > 0
    assert double == 2 * price
    assert isinstance(price, Decimal)


def test_an_unknown_model_is_unpriced_and_not_free() -> None:
    trip = chat([HELLO], said("hi"), model="my-own-finetune-of-something")

    assert cost(trip, read(trip)) is None


def test_a_turn_without_usage_is_unpriced() -> None:
    trip = chat([HELLO], said("hi"), usage=None)

    assert cost(trip, read(trip)) is None
