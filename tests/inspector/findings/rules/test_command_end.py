"""The end of the recorded command, beside its last turn."""

from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import judged

from turntape.cassettes.tape.command_end import CommandEnd

NAME = "client-command-failed"
CALLED = said(None, CALL)
FIRST = chat([HELLO], CALLED)
SECOND = chat([HELLO, CALLED, result("call_1", "a strip")], said("It is a strip."), index=1)


def messages(*trips: Any, at: float = 60, **end: Any) -> list[tuple[int, str, str]]:
    ended = CommandEnd(trips[-1].started_at + at, **end)
    return [(one.at, one.severity, one.message) for one in judged(*trips, end=ended) if one.id == NAME]


@pytest.mark.parametrize(
    ("end", "how"),
    [({"exit": 1}, "ended with exit code 1"), ({"exit": 139}, "ended with exit code 139"),
     ({"signal": "SIGKILL"}, "was ended by SIGKILL")],
)  # fmt: skip
def test_a_command_that_fails_after_an_answer_with_calls_is_named(end: dict[str, Any], how: str) -> None:
    assert messages(FIRST, **end) == [
        (0, "error", f"the command {how} and sent nothing after this answer: nobody ran its 1 call (look_up)")
    ]


def test_a_command_that_fails_after_the_last_answer_is_an_info() -> None:
    assert messages(FIRST, SECOND, exit=2) == [(1, "info", "the command ended with exit code 2 after this answer")]


@pytest.mark.parametrize("end", [{"exit": 0}, {"exit": 130}, {"exit": 143}, {"signal": "SIGTERM"}])
def test_a_command_that_ends_well_or_is_interrupted_is_silent(end: dict[str, Any]) -> None:
    assert messages(FIRST, **end) == []


def test_only_the_last_turn_before_the_end_is_named() -> None:
    other = chat([user("another")], said("Yes."), index=1)

    assert [(at, severity) for at, severity, _ in messages(FIRST, other, exit=1)] == [(1, "info")]
    assert messages(FIRST, at=-1, exit=1) == [], "the turn belongs to a later command"


def test_the_end_explains_the_calls_that_nobody_answered() -> None:
    again = chat([HELLO, CALLED, result("call_1", "a strip")], said(None, ("call_2", *CALL[1:])), index=1)
    found = judged(FIRST, again, end=CommandEnd(again.started_at + 9, exit=1))

    assert [one.because_of for one in found if one.id == "client-tool-calls-not-dispatched"] == [(NAME,)]


def test_a_failed_turn_is_the_cause() -> None:
    down = chat([HELLO], status=500, error={"error": {"message": "The server had an error", "type": "server_error"}})
    [one] = [one for one in judged(down, end=CommandEnd(down.started_at + 9, exit=1)) if one.id == NAME]

    assert one.severity == "info"
    assert one.because_of == ("api-overloaded",)


def left(*trips: Any, **end: Any) -> list[tuple[str, str]]:
    found = judged(*trips, end=CommandEnd(trips[-1].started_at + 60, **end))
    return [(one.severity, one.message) for one in found if one.id == "client-tool-calls-not-dispatched"]


def test_a_command_that_ends_well_and_leaves_calls_open_is_named() -> None:
    again = chat([HELLO, CALLED, result("call_1", "a strip")], said(None, ("call_2", *CALL[1:])), index=1)
    what = "the command ended with exit code 0 after 1 call that nobody answered: "

    assert left(FIRST, again, exit=0) == [("warning", f"{what}call_2")]
    assert left(FIRST, exit=0) == [("info", f"{what}call_1")], "a script may only want the call"
    assert left(FIRST, SECOND, exit=0) == []
    assert left(FIRST, exit=1) == []
    assert left(chat([HELLO], CALLED, tool_choice="required"), exit=0) == [], "the call is the output"
