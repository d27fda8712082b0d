"""What is made of each message of a history is made once."""

import pytest

from turntape.inspector.wire import per_message
from turntape.inspector.wire.per_message import Joined, PerMessage, is_continued, shared


def test_what_is_made_of_messages_is_made_once() -> None:
    made: list[str] = []
    lengths = PerMessage[str, int](lambda message: made.append(message) or len(message))
    messages = ["a", "bb", "ccc", "dddd", "eeeee"]
    for turn in range(1, 6):
        assert lengths.of(messages[:turn]) == [1, 2, 3, 4, 5][:turn]

    assert made == messages
    assert lengths.of(messages[:2]) == [1, 2]
    assert len(made) == 5


def test_the_values_of_all_messages_are_joined_once() -> None:
    made: list[str] = []
    letters = Joined[str, str](lambda message: made.append(message) or [*message])
    messages = ("ab", "", "c")

    assert letters.of(messages) == ("a", "b", "c") and letters.of(messages) is letters.of(messages)
    assert letters.of((*messages, "d")) == ("a", "b", "c", "d")
    assert made == ["ab", "", "c", "d"]
    assert letters.of(["x"]) == ("x",) and letters.of(["y"]) == ("y",)


def test_an_equal_message_is_another_one() -> None:
    one, two, other = ["a"], ["b"], ["a"]

    assert shared((one, two), (one, two)) == 2
    assert shared((one, two), (one,)) == 1
    assert shared((one, two), (other, two)) == 0
    assert shared((), (one,)) == 0


def test_what_all_derive_from_two_histories_is_compared_once() -> None:
    """Each rule that looks at a long history would look through all of it again."""
    before = tuple(object() for _ in range(200))
    now = (*before, object())

    assert [shared(before, now), shared(before, now), shared(now, now)] == [200, 200, 201]
    assert sum(one is before for one, _, _ in per_message._compared.latest) == 1
    for _ in range(9):
        shared(now, (*now, object()))
    assert len(per_message._compared.latest) <= 4
    short, grown = [object()] * 100, [object()] * 100
    grown[:90] = short[:90]
    assert shared(short, grown) == 90
    grown[90] = short[90]
    assert shared(short, grown) == 91


@pytest.mark.parametrize(
    ("count", "same", "continued"), [(3, 3, True), (9, 5, True), (9, 4, False), (3, 1, False), (5, 1, False)]
)
def test_a_history_is_continued_up_to_its_last_messages(count: int, same: int, continued: bool) -> None:
    assert is_continued(count, same) is continued
