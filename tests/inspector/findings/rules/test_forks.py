"""Requests that go back to an earlier point of a thread must repeat the answers up to there."""

import html
from typing import Any

import pytest
from conversations import CALL, HELLO, chat, result, said, user
from judged import lines

FIRST = said("Let me <look>.", CALL)
GIVEN = result("call_1", "a strip")
MORE = said(None, ("call_2", "look_up", '{"word":"reel"}'))
TRIPS = (
    chat([HELLO], FIRST),
    chat([HELLO, FIRST, GIVEN], MORE, index=1),
    chat([HELLO, FIRST, GIVEN, MORE, result("call_2", "a wheel")], said("A reel is a wheel that turns."), index=2),
)


def forked(*behind: dict[str, Any]) -> list[str]:
    """What is found in a request that goes back behind the third one."""
    back = chat([HELLO, FIRST, GIVEN, *behind], said("So it is."), index=3)
    return lines(*TRIPS, back, only="client-assistant")


def test_a_call_that_was_changed_in_a_fork_is_found() -> None:
    other = said(None, ("call_2", "look_up", '{"word":"real"}'))
    [line] = forked(other, result("call_2", "true"), user("Go on."))
    assert line == (
        "#3 client-assistant-mutated (client, warning, P): no answer made the call call_2 with this name and these "
        'arguments: \'{"word":"real"}\' | #1 request, #3 request /messages/3/tool_calls/0'
    )


@pytest.mark.parametrize(
    "behind", [[MORE, result("call_2", "a spool")], [user("Never mind.")], [said("A reel?"), user("Yes.")]]
)
def test_a_fork_that_repeats_or_leaves_answers_changed_nothing(behind: list[dict[str, Any]]) -> None:
    assert forked(*behind) == []


def test_a_text_that_came_back_damaged_in_a_fork() -> None:
    answer = 'It is a strip, "which" holds < 3 voices.'
    trips = (
        chat([HELLO, user("Go on.")], said(answer)),
        chat([HELLO, user("Go on."), said(answer), user("And?")], said("x"), index=1),
    )
    back = chat([HELLO, user("Go on."), said(html.escape(answer)), user("Why?")], said("y"), index=2)
    [line] = lines(*trips, back, only="client-assistant")
    assert "the text of an answer came back HTML-escaped" in line
