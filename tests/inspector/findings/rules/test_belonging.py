"""Answers that do not belong to their requests, in every API."""

import pytest
from dialogues import APIS, Piece, asks, calls, gives, says
from judged import ids, only

from turntape.cassettes.tape.model import RoundTrip

NAMES = sorted(APIS)
QUESTION = "Which region grew the most from 2025 to 2026?"
LONG = "The warehouse holds three tables: orders, regions and customers, and each of them has a column with an id."
PLAYED = "Take a coat.\n\nHuman: Thanks. And an umbrella?\n\nAssistant: Yes, it will rain."


@pytest.mark.parametrize("api", NAMES)
def test_an_answer_that_is_the_question_is_named(api: str) -> None:
    one = only("model-parroted", APIS[api]([asks(QUESTION)], says(QUESTION), 0))

    assert (one.layer, one.severity, one.tier) == ("model", "warning", "S")
    assert one.message == f"the answer is the user's message, word for word: {QUESTION!r}"


@pytest.mark.parametrize("answer", [f"{QUESTION} The Nordics.", "The Nordics.", '{"question": 1}'])
def test_another_answer_is_not_an_echo(answer: str) -> None:
    assert "model-parroted" not in ids(APIS["chat"]([asks(QUESTION)], says(answer), 0))


def asked_in_turn(api: str, *questions: str, answer: str = LONG) -> list[RoundTrip]:
    history: list[Piece] = []
    trips: list[RoundTrip] = []
    for n, question in enumerate(questions):
        history = [*history, asks(question)]
        trips.append(APIS[api](history, says(answer), n))
        history = [*history, says(answer)]
    return trips


@pytest.mark.parametrize("api", NAMES)
def test_three_questions_with_one_answer_are_named_at_the_third(api: str) -> None:
    one = only("model-same-answer", *asked_in_turn(api, "What is in it?", "How many rows?", "Who owns it?"))

    assert (one.at, one.layer, one.severity) == (2, "model", "warning")
    assert one.message.startswith(f"3 different questions got the same answer of {len(LONG)} characters")


def test_two_questions_are_enough_for_a_very_long_answer() -> None:
    trips = asked_in_turn("chat", "What is in it?", "How many rows?", answer=LONG * 3)

    assert only("model-same-answer", *trips).at == 1


@pytest.mark.parametrize("api", NAMES)
def test_invented_turns_of_the_user_are_named(api: str) -> None:
    one = only("model-plays-user", APIS[api]([asks("Do I need a coat?")], says(PLAYED), 0))

    assert (one.layer, one.severity) == ("model", "warning")
    assert one.message.startswith("the answer continues with 1 invented turn of the user: 'Human: Thanks. And an")


@pytest.mark.parametrize("text", ["User: rosa\nPassword: x", "Assistant: Yes.", "A human: one of us."])
def test_a_label_alone_is_not_a_turn(text: str) -> None:
    assert "model-plays-user" not in ids(APIS["chat"]([asks("hi")], says(text), 0))


@pytest.mark.parametrize("api", NAMES)
@pytest.mark.parametrize("piece", ["Wait, let me check the order again. ", "0", "no "])
def test_an_answer_that_repeats_itself_is_named(api: str, piece: str) -> None:
    one = only("model-repeats-itself", APIS[api]([asks("hi")], says("Well. " + piece * 250), 0))

    assert (one.layer, one.severity) == ("model", "warning")
    assert "times at its end" in one.message


def test_the_same_call_after_a_reading_tool_is_silent() -> None:
    called = calls("tape")
    trips = [
        APIS["chat"]([asks("look")], called, 0),
        APIS["chat"]([asks("look"), called, gives("a strip")], called, 1),
    ]

    assert "model-acted-twice" not in ids(*trips)
