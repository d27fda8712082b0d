"""How events break the order of their API."""

from typing import Any

import pytest

from turntape.inspector.wire.answer_format import FieldNames
from turntape.inspector.wire.stream_order import Piece, StreamOrder, order_breaks, twice, unsteady

ORDER = StreamOrder(
    first="start", last="end", once=("start", "end"), pieces=(Piece("open", ("grow*",), "close"),), number="seq"
)
NAMES = FieldNames(texts=frozenset({"text"}), ends=frozenset({"finish_reason"}))
GOOD = ["start", "open 0", "grow_text 0", "close 0", "open 1", "close 1", "end"]


def events(*lines: str) -> list[tuple[str, dict[str, Any]]]:
    spelt = [line.split() for line in lines]
    return [(kind, {"index": int(place[0])} if place else {}) for kind, *place in spelt]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (GOOD, []),
        (["start", "ping", *GOOD[1:]], []),
        (GOOD[1:], ["it begins with 'open', where the API begins with 'start'", "'start' never comes"]),
        (["start", *GOOD], ["'start' comes twice"]),
        ([*GOOD, "grow_text 0"], ["'grow_text' comes after 'end', the last event of the API",
                                  "'grow_text' of index 0 comes after 'close'"]),
        (["start", "grow_text 0", "end"], ["'grow_text' of index 0 comes without 'open' before it"]),
        (["start", "open 1", "close 1", "end"], ["'open' has the index 1, which is not the next one"]),
        (["start", "open 0", "open 0", "close 0", "end"], ["'open' of index 0 comes twice"]),
        (["start", "open 0", "close 0", "close 0", "end"], ["'close' of index 0 comes after 'close'"]),
        (GOOD[:-1], ["'end' never comes"]),
        (["end"], []),
    ],
)  # fmt: skip
def test_what_breaks_an_order(lines: list[str], says: list[str]) -> None:
    assert list(order_breaks(events(*lines), ORDER)) == says


def test_a_piece_may_begin_without_its_event_where_the_api_says_so() -> None:
    order = StreamOrder(pieces=(Piece("open", ("grow",), "close", implied=True),))

    assert list(order_breaks(events("grow 0", "close 0"), order)) == []
    assert list(order_breaks(events("close 0"), order)) == ["'close' of index 0 comes without 'open' before it"]


def test_numbers_go_on_by_one() -> None:
    numbered: list[tuple[str, dict[str, object]]] = [("a", {"seq": number}) for number in (4, 5, 7)]

    assert list(order_breaks(numbered, StreamOrder(number="seq"))) == [
        "event 2 has the seq 7 after 5: events are lost, repeated or in another order"
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"delta": {"text": "a text that nobody says twice"}}, True),
        ({"delta": {"text": "-" * 64}}, False),
        ({"delta": {"text": "| --- " * 8}}, False),
        ({"delta": {"text": "ha"}}, False),
        ({"choices": [{"finish_reason": "stop"}]}, True),
        ({"choices": [{"finish_reason": None}]}, False),
        ({"id": "a text that nobody says twice"}, False),
    ],
)
def test_events_that_come_only_once(body: dict[str, Any], expected: bool) -> None:
    assert bool(list(twice([("a", body), ("a", body)], NAMES))) is expected
    assert list(twice([("a", body), ("a", {**body, "more": 1})], NAMES)) == []


def test_what_must_not_change() -> None:
    bodies: list[dict[str, object]] = [{"id": "a"}, {"id": ""}, {"id": "b"}, {"id": "c"}]

    assert list(unsteady(bodies, {"the id": ("id",)})) == ["the id changes from 'a' to 'b'"]
    assert list(unsteady(bodies[:2], {"the id": ("id",)})) == []
