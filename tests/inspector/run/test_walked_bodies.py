"""What is new in a request body is given once, however often it is sent."""

import json
from typing import Any

from turntape.inspector.run.walked_bodies import WalkedBodies
from turntape.inspector.wire.request_bodies import WORTHWHILE, RequestBodies

RULES = "Follow the rules. " * (WORTHWHILE // 18 + 1)


def body(messages: list[Any], system: str = RULES, **fields: Any) -> bytes:
    return json.dumps(
        {"model": "m", "system": system, "messages": messages, "tools": [{"name": "bash"}], **fields}
    ).encode()


def given(*bodies: bytes) -> list[list[tuple[str, object]]]:
    reader, walked = RequestBodies(), WalkedBodies()
    return [[*walked.news(reader.read(data), len(data))] for data in bodies]  # type: ignore[arg-type]


def test_a_request_gives_the_messages_that_the_one_before_did_not_have() -> None:
    first, second, third = given(body(["a", "b"]), body(["a", "b", "c", "d"]), body(["a", "b", "c", "d", "e"]))

    assert [value for _, value in first][1] == {"system": RULES} and len(first) == 4
    assert second == [("/messages/2", "c"), ("/messages/3", "d")]
    assert third == [("/messages/4", "e")]


def test_agents_that_take_turns_do_not_repeat_each_other() -> None:
    one, two = [{"text": f"one {n}"} for n in range(9)], [{"text": f"two {n}"} for n in range(9)]

    *_, last_one, last_two = given(body(one[:4]), body(two[:4]), body(one[:6]), body(two[:6]), body(one), body(two))
    assert [pointer for pointer, _ in last_one] == [f"/messages/{n}" for n in (6, 7, 8)]
    assert last_two[0] == ("/messages/6", {"text": "two 6"}) and len(last_two) == 3


def test_what_is_changed_added_or_moved_is_new() -> None:
    marked: list[Any] = ["a", {"text": "b", "mark": 1}]

    _, moved = given(body(marked), body(["a", {"text": "b"}, {"text": "c", "mark": 1}]))
    assert [pointer for pointer, _ in moved] == ["/messages/1", "/messages/2"]
    _, changed = given(body(["a"], seed=1), body(["a"], seed=4711, user="x"))
    assert changed == [("/seed", 4711), ("", {"user": "x"})]
    _, other = given(body(["a"]), body(["a"], system="12:00 " + RULES))
    assert ("", {"system": "12:00 " + RULES}) in other


def test_a_long_thread_is_walked_once() -> None:
    history = [{"role": "user", "content": f"message {n}"} for n in range(400)]

    news = given(*(body(history[:turn]) for turn in range(1, 401)))
    assert sum(map(len, news)) == 4 + 399


def test_a_clock_in_front_makes_nothing_else_new() -> None:
    history = [{"role": "user", "content": f"message {n}, which is long enough to be found again"} for n in range(90)]

    *_, news = given(*(body(history[:turn], system=f"It is {turn}. {RULES}") for turn in range(60, 91)))

    assert [pointer or [*value] for pointer, value in news] == ["/system", "/messages/89"]  # type: ignore[misc]
