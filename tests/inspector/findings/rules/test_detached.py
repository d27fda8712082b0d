import json
from dataclasses import replace
from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said, user
from dialogues import APIS, COHERE, MISTRAL, asks, calls, run, says
from judged import OLLAMA, judged, trip
from round_trips import CHAT

from turntape.cassettes.tape.model import RoundTrip

CALLED = said(None, CALL)
GIVEN = result("call_1", "a strip")
DONE = said("It is a strip that is wound on a reel.")
AS_TEXT, CUT, OPEN = "client-history-as-text", "client-history-truncated", "client-tool-calls-not-dispatched"


def found(name: str, *trips: RoundTrip) -> list[tuple[int, str]]:
    return [(one.at, one.severity) for one in judged(*trips) if one.id == name]


@pytest.mark.parametrize("whole", [[HELLO, CALLED, GIVEN], {"messages": [HELLO, CALLED, GIVEN]}])
def test_a_history_that_is_sent_as_json(whole: Any) -> None:
    second = chat([user(json.dumps(whole))], DONE, index=1)

    assert found(AS_TEXT, chat([HELLO], CALLED), second) == [(1, "warning")]
    assert found(AS_TEXT, second) == []
    assert found(AS_TEXT, chat([HELLO], CALLED), chat([user(json.dumps([{"a": 1}, {"b": 2}]))], DONE, index=1)) == []


def test_a_history_that_is_sent_as_yaml() -> None:
    history = [HELLO, CALLED, GIVEN]
    trips = [chat([HELLO], CALLED), chat(history, said("It is a strip."), index=1)]
    yaml = "- role: user\n  content: what is a tape?\n- role: assistant\n  content: It is a strip.\n"

    assert found(AS_TEXT, *trips, chat([user(f"{yaml}- role: user\n  content: Why?")], DONE, index=2)) == [
        (2, "warning")
    ]


def test_a_request_that_says_only_to_continue() -> None:
    second = chat([user("Please continue.")], DONE, index=1)

    assert found(CUT, chat([HELLO], CALLED), second) == [(1, "warning")]
    assert found(CUT, second) == []
    assert found(CUT, chat([HELLO], CALLED), chat([user("Please continue the list.")], DONE, index=1)) == []


@pytest.mark.parametrize("url", [CHAT, MISTRAL, COHERE, OLLAMA])
def test_a_request_that_says_only_to_continue_behind_a_system_prompt(url: str) -> None:
    prompt = {"role": "system", "content": "You look words up in a dictionary, and never guess."}

    def sent(*texts: str, index: int) -> RoundTrip:
        message = said("A strip.")
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"choices": [choice], "message": message, "finish_reason": "COMPLETE", "done": True}
        body = {"model": "m", "messages": [prompt, *map(user, texts)], "tools": TOOLS, "stream": False}
        return trip(url, body, {"id": "c", "model": "m", **answer}, index)

    opened, asks_on = sent("What is a tape?", index=0), sent("Continue.", index=1)

    assert found(CUT, opened, asks_on) == [(1, "warning")]
    assert found(CUT, asks_on) == []
    assert found(CUT, opened, sent("What is a reel?", index=1)) == []


def test_a_request_that_goes_back_is_an_info() -> None:
    asked = [HELLO, DONE, user("What is a reel?")]
    turns = said("A spool.")
    on = [*asked, turns, user("And a spool?")]
    trips = [chat([HELLO], DONE), chat(asked, turns, index=1), chat(on, said("A rod with two rims."), index=2)]
    back = chat([*asked, turns, user("Who made the first one?")], said("Nobody knows."), index=3)

    assert found(CUT, *trips, back) == [(3, "info")]
    assert found(CUT, *trips) == []


def test_a_request_that_comes_again_while_its_calls_are_open_is_an_info() -> None:
    first, again = chat([HELLO], CALLED), chat([HELLO], DONE, at=600, index=1)
    ran = chat([HELLO, CALLED, GIVEN], DONE, index=1)

    assert found(OPEN, first, again) == [(1, "info")]
    assert found(OPEN, first, ran, chat([HELLO], DONE, at=600, index=2)) == []


def test_a_request_that_comes_again_after_its_answer_is_named_as_one() -> None:
    first, ran = chat([HELLO], CALLED), chat([HELLO, CALLED, GIVEN], DONE, index=1)
    again = chat([HELLO, CALLED, GIVEN], DONE, at=600, index=2)
    [one] = [one for one in judged(first, ran, again) if one.id == CUT]

    assert one.severity == "info"
    assert one.message.startswith("the request of #1 is sent again unchanged although it got an answer")


def test_a_client_that_sends_every_message_as_the_users_forgets_the_calls() -> None:
    first, as_words = chat([HELLO], CALLED), [HELLO, user(""), user("a strip")]

    assert found(OPEN, first, chat(as_words, DONE, index=1)) == [(1, "warning")]
    assert found(OPEN, chat([HELLO], DONE), chat(as_words, DONE, index=1)) == []
    assert found(OPEN, first, chat([user("And what is a reel?")], DONE, index=1)) == []
    assert found(OPEN, first, chat([HELLO, CALLED, GIVEN, user("And?")], DONE, index=1)) == []
    assert found(OPEN, first, chat(as_words, DONE, index=1, tools=None)) == [(1, "warning")]
    another_task = [HELLO, user("Answer in five words.")]
    assert found(OPEN, first, chat(another_task, DONE, index=1, tools=None)) == []


def test_requests_whose_bodies_are_missing_do_not_come_again() -> None:
    trips = [chat([HELLO], said(None, CALL), index=number) for number in range(3)]
    cut = [replace(trip, request=replace(trip.request, content=b"")) for trip in trips]

    assert found("client-tool-calls-not-dispatched", *trips)
    assert not any(index in (1, 2) for index, _ in found("client-tool-calls-not-dispatched", *cut))


@pytest.mark.parametrize("api", APIS)
def test_a_transcript_with_the_arguments_of_a_call(api: str) -> None:
    opened = ([asks("What is a tape?")], calls("tape"))
    transcript = 'user: What is a tape?\nassistant: look_up {"word": "tape"}\ntool: a strip'

    def sent(text: str) -> list[tuple[int, str]]:
        return found(AS_TEXT, *run(api, opened, ([asks(text)], says("It is a strip that is wound on a reel."))))

    assert sent(transcript) == [(1, "warning")]
    assert sent(transcript.replace('"tape"', '"reel"')) == []
    assert sent(transcript.replace("assistant:", "note")) == []


@pytest.mark.parametrize("more", [{}, {"temperature": 0.5}, {"tool_choice": "auto"}])
def test_a_question_that_is_asked_again_without_the_call_and_its_result(more: dict[str, Any]) -> None:
    first = chat([HELLO], CALLED)

    assert found(OPEN, first, chat([HELLO], DONE, index=1, **more)) == [(1, "info")]
    assert found(OPEN, first, chat([HELLO, CALLED, GIVEN], DONE, index=1, **more)) == []
    assert found(OPEN, first, chat([user("another")], DONE, index=1, **more)) == []
    assert found(OPEN, chat([HELLO], DONE), chat([HELLO], said("No."), index=1, **more)) == []
    others = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
    assert found(OPEN, first, chat([HELLO], DONE, index=1, tools=others)) == [], "another agent"
