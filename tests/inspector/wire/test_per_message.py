"""What is made of each message of a history is made once."""

import pytest

from turntape.inspector.wire.per_message import ByKey, Joined, PerMessage, is_continued
from turntape.inspector.wire.shared_tuple import shared, sharing


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
    held = sharing(messages)

    assert letters.of(messages) == ("a", "b", "c")
    assert [*letters.of(held)] == ["a", "b", "c"] and letters.of(held) is letters.of(held)
    assert letters.of(held.since(1)) is not letters.of(held) and [*letters.of(held.since(1))] == ["c"]
    made[3:] = []
    assert letters.of((*messages, "d")) == ("a", "b", "c", "d")
    assert made == ["ab", "", "c", "d"]
    assert letters.of(["x"]) == ("x",) and letters.of(["y"]) == ("y",)


def test_an_equal_message_is_another_one() -> None:
    one, two, other = ["a"], ["b"], ["a"]

    assert shared((one, two), (one, two)) == 2
    assert shared((one, two), (one,)) == 1
    assert shared((one, two), (other, two)) == 0
    assert shared((), (one,)) == 0


def test_what_histories_share_is_made_and_joined_once() -> None:
    """The last message is another one in the next request: clients move their cache marks along."""
    made: list[str] = []
    letters = Joined[str, str](lambda message: made.append(message) or [*message])
    places = ByKey[str, str, str](lambda message: [(letter, message) for letter in message])
    history, plain = sharing(["ab", "c"]), ["ab", "c"]
    for turn in range(30):
        plain = [*plain[:-1], plain[-1].lower(), f"{turn}X"]
        history = history.continued(len(plain) - 2, plain[-2:])
        assert letters.of(history) == tuple("".join(plain))
        assert letters.of(history) is letters.of(history)
        found = places.of(history)
        assert found["X"] == f"{turn}X" and found.among("ab") == ["ab", "ab"]
        assert "?" not in found and found.places("X") == [len("".join(plain)) - 1]
        assert dict(found) == {letter: message for message in plain for letter in message}

    assert sorted(made) == sorted({*made}) and len(made) == 61


def test_a_value_stays_the_same_object_in_all_histories() -> None:
    boxes = PerMessage[str, list[str]](lambda message: [message])
    history = sharing(["a"])
    before = boxes.of(history)
    for turn in range(20):
        history = history.continued(len(history), [str(turn)])
        now = boxes.of(history)
        assert shared(before, now) == len(before)
        before = now


def test_a_fork_takes_what_was_made_of_what_it_shares() -> None:
    made: list[str] = []
    letters = Joined[str, str](lambda message: made.append(message) or [*message])
    places = ByKey[str, str, str](lambda message: [(letter, message) for letter in message])
    base = sharing([f"{number}ab" for number in range(40)])
    assert letters.of(base) and places.of(base)
    made.clear()
    for fork in range(20, 36):
        other = base.continued(fork, [f"x{fork}", "y"])
        plain = [*(f"{number}ab" for number in range(fork)), f"x{fork}", "y"]
        assert letters.of(other) == tuple("".join(plain))
        found = places.of(other)
        assert dict(found) == {letter: message for message in plain for letter in message}
        assert found.places("b") == [at for at, letter in enumerate("".join(plain)) if letter == "b"]

    assert made == [text for fork in range(20, 36) for text in (f"x{fork}", "y")]
    assert letters.of(base) == tuple("".join(f"{number}ab" for number in range(40)))


def test_what_is_behind_another_front_is_made_once() -> None:
    made: list[str] = []
    letters = Joined[str, str](lambda message: made.append(message) or [*message])
    places = ByKey[str, str, str](lambda message: [(letter, message) for letter in message])
    history, plain = sharing(["12:00", "same", *(f"m{number}" for number in range(20))]), list[str]()
    plain = list(history)
    assert letters.of(history) and places.of(history)
    made.clear()
    for turn in range(20):
        kept, front = len(plain) - turn % 3, [f"12:{turn:02}", "same"]
        plain = [*front, *plain[2:kept], f"n{turn}", f"X{turn}"]
        history = history.resumed([front[0], history[1]], 2, kept, plain[kept:])
        assert list(history) == plain and letters.of(history) == tuple("".join(plain))
        found = places.of(history)
        assert dict(found) == {letter: message for message in plain for letter in message}
        assert found.places(":X") == [at for at, letter in enumerate("".join(plain)) if letter in ":X"]
        rest = history.since(1 + turn % 3)
        assert letters.of(rest) == tuple("".join(plain[1 + turn % 3 :]))

    assert len(made) == 20 * 3


@pytest.mark.parametrize(
    ("count", "same", "continued"), [(3, 3, True), (9, 5, True), (9, 4, False), (3, 1, False), (5, 1, False)]
)
def test_a_history_is_continued_up_to_its_last_messages(count: int, same: int, continued: bool) -> None:
    assert is_continued(count, same) is continued


def test_what_is_joined_is_forgotten_with_the_messages() -> None:
    letters = Joined[str, str](lambda message: [*message])
    held = sharing(("ab", "c"))
    joined = letters.of(held)

    held.forget()
    assert letters.of(held) is not joined and [*letters.of(held)] == ["a", "b", "c"]
