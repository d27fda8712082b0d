"""A history that an earlier one began is read once."""

import gc
import json
import weakref
from typing import Any

import pytest

from turntape.inspector.wire import history
from turntape.inspector.wire.history import Histories
from turntape.inspector.wire.per_message import KEPT, PerMessage, remembered
from turntape.inspector.wire.values import Message


class Reader:
    """Reads messages and counts them."""

    def __init__(self) -> None:
        self.pointers: list[str] = []

    def __call__(self, item: object, pointer: str) -> Message:
        self.pointers.append(pointer)
        return Message("user", (), pointer, item)


def said(*texts: object) -> list[object]:
    """Messages as they come from a request: new objects each time."""
    return json.loads(json.dumps([{"role": "user", "content": text} for text in texts]))


def test_only_what_is_new_is_read() -> None:
    histories, read = Histories(), Reader()

    first = histories.read(said("a", "b"), "/messages", read)
    second = histories.read(said("a", "b", "c"), "/messages", read)

    assert read.pointers == ["/messages/0", "/messages/1", "/messages/2"]
    assert second[:2] == first and all(one is other for one, other in zip(first, second, strict=False))
    assert [message.raw for message in second] == said("a", "b", "c")


def test_the_work_of_a_long_run_is_linear() -> None:
    def work(turns: int) -> int:
        histories, read = Histories(), Reader()
        for turn in range(1, turns + 1):
            histories.read(said(*range(turn)), "/messages", read)
        return len(read.pointers)

    assert [work(turns) for turns in (100, 200, 400)] == [100, 200, 400]


def test_a_change_is_read_from_there_on() -> None:
    histories, read = Histories(), Reader()
    histories.read(said("a", "b", "c"), "/messages", read)
    read.pointers.clear()

    found = histories.read(said("a", "x", "c"), "/messages", read)

    assert read.pointers == ["/messages/1", "/messages/2"]
    assert [message.raw for message in found] == said("a", "x", "c")


def test_what_is_behind_a_change_is_not_read_again() -> None:
    histories, read, items = Histories(), Reader(), said(*range(40))
    for turn in range(20):
        items = [*said(f"It is {turn}.", "same"), *items[2:], *said(f"new {turn}")]
        read.pointers.clear()
        found = histories.read(items, "/messages", read)
        assert [message.raw for message in found] == items
        assert [message.pointer for message in found] == [f"/messages/{place}" for place in range(len(items))]

    assert sorted(read.pointers) == ["/messages/0", "/messages/59"]


def test_a_shorter_history_needs_no_reading() -> None:
    histories, read = Histories(), Reader()
    long = histories.read(said("a", "b", "c"), "/messages", read)

    assert histories.read(said("a"), "/messages", read)[0] is long[0]
    assert len(read.pointers) == 3


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, False), ([1], [1.0]), ({"a": 1}, {"a": True})])
def test_numbers_that_only_python_takes_for_equal_are_read_again(one: object, other: object) -> None:
    histories, read = Histories(), Reader()
    histories.read(said(one), "/messages", read)

    (found,) = histories.read(said(other), "/messages", read)

    assert len(read.pointers) == 2
    assert json.dumps(found.raw) == json.dumps(said(other)[0])


def test_another_place_or_reader_is_read_again() -> None:
    histories, read, others = Histories(), Reader(), Reader()
    histories.read(said("a"), "/messages", read)

    histories.read(said("a"), "/input", read)
    histories.read(said("a"), "/messages", others)

    assert (read.pointers, others.pointers) == (["/messages/0", "/input/0"], ["/messages/0"])


def test_agents_that_take_turns_are_each_remembered() -> None:
    histories, read = Histories(kept=2), Reader()
    for turn in range(1, 11):
        for name in "xy":
            histories.read(said(*(f"{name}{number}" for number in range(turn))), "/messages", read)

    assert len(read.pointers) == 20


def test_what_was_parsed_again_is_not_kept_of_a_body_too_large_to_be_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Item(dict[str, object]):
        """A message that can be watched."""

    monkeypatch.setattr(history, "HELD", 0)
    histories, read = Histories(), Reader()
    histories.read([Item(content="a")], "/messages", read)
    again = Item(content="a")
    watched = weakref.ref(again)

    histories.read([again, Item(content="b")], "/messages", read)
    del again
    gc.collect()

    assert watched() is None


def test_values_that_bodies_share_are_compared_by_identity() -> None:
    compared: list[object] = []

    class Item(dict[str, object]):
        """A message that says when it is compared."""

        def __eq__(self, other: object) -> bool:
            compared.append(self)
            return super().__eq__(other)

        def __ne__(self, other: object) -> bool:
            return not self == other

    # The first body is small, so that the second one is parsed whole; from then on bodies share their values.
    histories, read, items = Histories(), Reader(), [Item(content=str(n)) for n in range(9)]
    histories.read([Item(content="0")], "/messages", read)
    histories.read(items[:7], "/messages", read)
    compared.clear()

    histories.read(items[:8], "/messages", read)
    histories.read(items, "/messages", read)
    assert len(read.pointers) == 9 and not compared


def test_large_histories_are_not_remembered_beside_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "HELD", 1000)
    monkeypatch.setattr(remembered, "most", KEPT)
    histories, made = Histories(), PerMessage[object, str](str)

    def after(*lengths: int) -> list[int]:
        """How many conversations of these lengths are still remembered by both."""
        for length in lengths:
            made.of(tuple(histories.read(said("x" * length), "/messages", Reader())))
        return [len(histories._recent), len(made._recent)]

    assert after(100, 101, 102) == [3, 3]
    assert after(850) == [2, 2]
    assert after(2000) == [1, 1]
    assert after(10, 11, 12) == [3, 3]


def test_what_is_derived_is_forgotten_with_the_history(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remembered, "most", KEPT)
    histories, read, made = Histories(), Reader(), list[str]()
    derive = PerMessage[Message, str](lambda message: made.append(message.pointer) or str(message.raw))
    texts = [str(number) for number in range(9)]
    first = histories.read(said(*texts), "/a", read)
    second = histories.read(said(*texts, "more"), "/a", read)
    values = [*derive.of(first)], [*derive.of(second)]
    assert len(made) == 10

    for number in range(KEPT - 1):
        histories.read(said(number), f"/{number}", read)
    assert ([*derive.of(first)], [*derive.of(second)]) == values
    assert len(made) == 10 and first.stem.derived

    histories.read(said("last"), "/last", read)
    assert not first.stem.derived and not second.stem.derived
    assert ([*derive.of(first)], [*derive.of(second)]) == values
    assert len(made) > 10


def test_other_branches_are_not_compared_at_each_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    common = history._common

    def counted(known: Any, given: list[object]) -> int:
        compared.append(len(given))
        return common(known, given)

    monkeypatch.setattr(history, "_common", counted)
    histories, read = Histories(), Reader()
    for branch in range(6):  # six branches of one beginning with different ends
        histories.read(said(*range(40), *(f"{branch} {number}" for number in range(8))), "/messages", read)
    compared.clear()
    texts = [*range(40), *(f"5 {number}" for number in range(8))]
    for turn in range(20):
        texts.append(f"new {turn}")
        made = histories.read(said(*texts, f"marked {turn}"), "/messages", read)
        assert [message.raw for message in made] == said(*texts, f"marked {turn}")
    assert len(compared) <= 22, "the latest branch alone"


@pytest.mark.parametrize("changed", [0, 1, 7, 8, 30, 63, 64, 98, 99])
def test_a_history_shares_up_to_the_first_difference(changed: int) -> None:
    one, other = said(*range(100)), said(*range(100))
    other[changed] = {"role": "user", "content": "another"}

    assert history._equal(one, other) == history._equal(other, one[:]) == changed
    assert history._equal(one, said(*range(100))) == 100
    assert history._equal(one, said(*range(60))) == history._equal(said(*range(60)), one) == 60
