"""The largest new piece of a request."""

from collections.abc import Iterator
from dataclasses import replace

from conversations import chat, result, said, user

from turntape.inspector.run.newest import NewPiece, newest_piece
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Message, RequestReading


def request(*messages: dict[str, object]) -> RequestReading:
    return read(chat(list(messages), said("ok"))).request


CALLS = said(None, ("c1", "bash", '{"command":"cat build.log"}'), ("c2", "read_file", '{"path":"a.py"}'))


def test_the_largest_result_is_named_by_its_call() -> None:
    found = newest_piece(request(user("go"), CALLS, result("c1", "x" * 90), result("c2", "y" * 10)), 1)

    assert found == NewPiece("cat build.log", 0.9, 2)


def test_the_last_answer_does_not_count_as_new() -> None:
    found = newest_piece(request(user("go"), said("a" * 500), user("go on")), 1)

    assert found == NewPiece("user message", 1.0, 1)


def test_a_first_request_has_its_system_prompt_and_tools_too() -> None:
    found = newest_piece(request({"role": "system", "content": "s" * 2000}, user("go")), 0)

    assert found is not None
    assert found.name == "system prompt"
    assert found.count == 3


def test_the_result_of_an_unknown_call_has_some_name() -> None:
    found = newest_piece(request(user("go"), result("lost", "xyz")), 1)

    assert found is not None
    assert found.name == "a tool's result"


def test_without_anything_new_there_is_none() -> None:
    assert newest_piece(request(user("go")), 1) is None


def test_only_the_end_of_a_long_history_is_looked_at() -> None:
    asked = request(user("go"), *[CALLS, result("c1", "x"), result("c2", "y")] * 3)

    class Counted(tuple[Message, ...]):
        seen = 0

        def __reversed__(self) -> Iterator[Message]:
            for message in self[::-1]:
                self.seen += 1
                yield message

    history = Counted(asked.messages)
    found = newest_piece(replace(asked, messages=history), len(history) - 2)

    assert found == NewPiece("cat build.log", 0.5, 2)
    assert history.seen == 3
