"""How events break the order of their API."""

from typing import Any

import orjson
import pytest

from turntape.inspector.wire.answer_format import FieldNames
from turntape.inspector.wire.stream_order import Piece, StreamOrder, never_closed, order_breaks, twice, unsteady

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
        ([], []),
        (["keepalive"], []),
        (["start", "error", *GOOD[1:-1], "keepalive", "end", "ping", "error"], []),
        ([*GOOD[:-1], "open 2", "close 2", "end"], []),
        ([*GOOD[:-1], "open 1", "close 1", "end"], ["'open' of index 1 comes twice"]),
        ([*GOOD[:-1], "other", "other", "end"], []),
        ([*GOOD, "end"], ["'end' comes after 'end', the last event of the API", "'end' comes twice"]),
    ],
)  # fmt: skip
def test_what_breaks_an_order(lines: list[str], says: list[str]) -> None:
    assert list(order_breaks(events(*lines), ORDER)) == says


def test_a_piece_may_begin_without_its_event_where_the_api_says_so() -> None:
    order = StreamOrder(pieces=(Piece("open", ("grow",), "close", implied=True),))

    assert list(order_breaks(events("grow 0", "close 0"), order)) == []
    assert list(order_breaks(events("close 0"), order)) == ["'close' of index 0 comes without 'open' before it"]


def test_a_piece_that_no_event_opens_begins_with_any_of_its_events() -> None:
    order = StreamOrder(pieces=(Piece("", ("grow",), "close", implied=True),))

    assert list(order_breaks([*events("close 0", "grow 1", "close 1"), ("", {})], order)) == []
    assert list(order_breaks(events("close 0", "grow 0"), order)) == ["'grow' of index 0 comes after 'close'"]


def test_pieces_are_counted_from_0_in_each_item() -> None:
    order = StreamOrder(pieces=(Piece("open", (), "close", ("item", "part")),))
    places: list[tuple[str, dict[str, object]]] = [
        ("open", {"item": item, "part": part}) for item, part in ((0, 0), (0, 1), (1, 0), (1, 2))
    ]

    assert list(order_breaks(places[:-1], order)) == []
    assert list(order_breaks(places, order)) == ["'open' has the item 1 part 2, which is not the next one"]


def test_pieces_that_the_api_does_not_count_may_have_any_number() -> None:
    order = StreamOrder(pieces=(Piece("open", (), "close", ("id",), counted=False),))
    named: list[tuple[str, dict[str, object]]] = [("open", {"id": "b"}), ("open", {"id": 7}), ("close", {"id": "b"})]

    assert list(order_breaks(named, order)) == []
    assert list(order_breaks([*named, named[0]], order)) == ["'open' of id b comes twice"]


def test_the_type_in_an_event_is_its_kind_and_else_its_name() -> None:
    order = StreamOrder(first="start")

    assert list(order_breaks([("message", {"type": "start"})], order)) == []
    assert list(order_breaks([("start", {"type": None})], order)) == []
    assert list(order_breaks([("start", {"type": "end"})], order)) == [
        "it begins with 'end', where the API begins with 'start'"
    ]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (GOOD, []),
        (["grow_text 0", "close 0", "grow 1", "end"], ["'close' never comes"]),
        (["grow 0", "grow 1", "grow 0", "end"], ["'close' never comes"] * 2),
        (["grow 0", "close 1", "end", "ping"], ["'close' never comes"]),
        (["open 0", "end"], []),
        (["grow 0"], []),
        ([], []),
    ],
    ids=" ".join,
)
def test_what_grew_is_closed_in_a_complete_stream(lines: list[str], says: list[str]) -> None:
    order = StreamOrder(last="end", pieces=(Piece("open", ("grow*",), "close", ended=True),))

    assert list(never_closed(events(*lines), order)) == says
    assert list(never_closed(events(*lines), ORDER)) == [], "an API that does not close every piece"


def test_numbers_go_on_by_one() -> None:
    numbered: list[tuple[str, dict[str, object]]] = [("a", {"seq": number}) for number in (4, 5, 7)]

    assert list(order_breaks(numbered, StreamOrder(number="seq"))) == [
        "event 2 has the seq 7 after 5: events are lost, repeated or in another order"
    ]


def test_a_number_is_compared_with_the_last_one_that_an_event_had() -> None:
    numbered: list[tuple[str, dict[str, object]]] = [("a", {"seq": n} if n else {"seq": None}) for n in (4, 0, 5, 5, 6)]

    assert list(order_breaks(numbered, StreamOrder(number="seq"))) == [
        "event 3 has the seq 5 after 5: events are lost, repeated or in another order"
    ]
    assert list(order_breaks(numbered, StreamOrder())) == []


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
        ({"text": "abcdefghabcd"}, True),
        ({"text": "abcdefghabc"}, False),
        ({"text": "abcdefga" * 4}, False),
        ({"choices": [{"text": "ha"}, {"index": 1, "finish_reason": "stop", "text": ""}]}, True),
        ({"a": [{"b": [{"c": {"finish_reason": "stop"}}]}]}, True),
    ],
)
def test_events_that_come_only_once(body: dict[str, Any], expected: bool) -> None:
    assert bool(list(twice([("a", body), ("a", body)], NAMES))) is expected
    assert list(twice([("a", body), ("a", {**body, "more": 1})], NAMES)) == []
    ends = expected and "finish_reason" in str(body)
    assert bool(list(twice([("a", body)] * 3, NAMES))) is ends, "a text that comes more often is a loop of the model"


def test_the_sentence_about_an_event_that_comes_twice() -> None:
    end: dict[str, object] = {"finish_reason": "stop"}

    assert list(twice([("", end)] * 3, NAMES)) == ["the same event comes twice in a row"]
    assert list(twice([("a", end)] * 2, NAMES)) == ["the same event 'a' comes twice in a row"]
    assert list(twice([("a", {**end, "type": "b"})] * 2, NAMES)) == ["the same event 'b' comes twice in a row"]
    assert list(twice([("a", end), ("b", end), ("a", end)], NAMES)) == []


def test_an_event_that_is_nested_without_end_is_not_looked_into() -> None:
    lists = orjson.loads(b'{"text":%s%s}' % (b"[" * 1000, b"]" * 1000))
    objects = orjson.loads(b'{"text":' * 1000 + b'"a text that nobody says twice"' + b"}" * 1000)

    assert list(twice([("a", lists), ("a", lists), ("b", objects), ("b", objects)], NAMES)) == []


def test_what_must_not_change() -> None:
    bodies: list[dict[str, object]] = [{"id": "a"}, {"id": ""}, {"id": "b"}, {"id": "c"}]

    assert list(unsteady(bodies, {"the id": ("id",)})) == ["the id changes from 'a' to 'b'"]
    assert list(unsteady(bodies[:2], {"the id": ("id",)})) == []


def test_each_value_that_changes_is_reported_once_and_only_plain_values_are_compared() -> None:
    bodies: list[dict[str, object]] = [
        {"id": None, "of": {"model": ["m"]}},
        {"id": "a", "of": {"model": "m", "seed": {}}},
        {"of": {"model": "n", "seed": 1}},
        {"id": "a", "of": {"model": {}, "seed": 1}},
        {"id": "b", "of": {"model": "o"}},
    ]
    steady = {"the id": ("id",), "the model": ("of", "model"), "the seed": ("of", "seed")}

    assert list(unsteady(bodies, steady)) == [
        "the model changes from 'm' to 'n'",
        "the id changes from 'a' to 'b'",
    ]
