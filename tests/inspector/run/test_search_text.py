"""What a search of a round trip looks at: what is new in it."""

from dataclasses import replace

import pytest
from conversations import HELLO, chat, result, said, user

from turntape.inspector.run import search_text as module
from turntape.inspector.run.labels import label_all
from turntape.inspector.run.search_text import search_text
from turntape.inspector.wire.values import Emission, ToolCall

LOOK = ("call_1", "look_up", '{"word":"TAPE"}')
RUN = [
    chat([HELLO], said("I look.", LOOK)),
    chat([HELLO, said("I look.", LOOK), result("call_1", "A Strip.")], said("A long strip."), index=1),
    chat([user("Another thing?")], status=429, error={"error": {"message": "Slow Down"}}, index=2),
]


def lines(place: int) -> list[str]:
    return search_text(label_all(RUN)[place]).split("\n")


def test_a_first_request_is_searched_as_a_whole() -> None:
    assert lines(0) == [
        "https://api.openai.com/v1/chat/completions",
        "openai-chat",
        "gpt-5",
        "gpt-5-2025-08-07",
        "i look.",
        "",
        "",
        'look_up {"word":"tape"}',
        "what is a tape?",
    ]


def test_of_a_later_request_only_what_is_new_and_nothing_of_the_answer_before() -> None:
    assert lines(1)[4:] == ["a long strip.", "", "", "a strip."]


def test_an_error_is_searched_too() -> None:
    assert "slow down" in lines(2) and "another thing?" in lines(2)


def test_reasoning_refusals_and_calls_of_the_api_are_searched() -> None:
    one = label_all(RUN)[0]
    server = ToolCall("web_search", "s1", {}, '{"q":"Reel"}', server=True)
    emission = Emission(text="Said", reasoning="Thought", refusal="I Will Not", server_calls=(server,))
    thought = replace(one, reading=replace(one.reading, emission=emission))

    assert search_text(thought).split("\n")[4:8] == ["said", "thought", "i will not", 'web_search {"q":"reel"}']


def test_of_a_long_prompt_the_end_is_searched_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SEARCHED", 200)
    messages = [user(f"{word} " * 20) for word in ("first", "second", "third")]

    found = search_text(label_all([chat(messages, said("x"))])[0])
    assert len(found) == 200
    assert "third" in found and "first" not in found
