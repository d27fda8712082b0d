"""What is made of each message of a history is made once."""

import pytest

from turntape.inspector.wire.per_message import PerMessage, is_continued, shared


def test_what_is_made_of_messages_is_made_once() -> None:
    made: list[str] = []
    lengths = PerMessage[str, int](lambda message: made.append(message) or len(message))
    messages = ["a", "bb", "ccc", "dddd", "eeeee"]
    for turn in range(1, 6):
        assert lengths.of(messages[:turn]) == [1, 2, 3, 4, 5][:turn]

    assert made == messages
    assert lengths.of(messages[:2]) == [1, 2]
    assert len(made) == 5


def test_an_equal_message_is_another_one() -> None:
    one, two, other = ["a"], ["b"], ["a"]

    assert shared((one, two), (one, two)) == 2
    assert shared((one, two), (one,)) == 1
    assert shared((one, two), (other, two)) == 0
    assert shared((), (one,)) == 0


@pytest.mark.parametrize(
    ("count", "same", "continued"), [(3, 3, True), (9, 5, True), (9, 4, False), (3, 1, False), (5, 1, False)]
)
def test_a_history_is_continued_up_to_its_last_messages(count: int, same: int, continued: bool) -> None:
    assert is_continued(count, same) is continued
