"""A secret that was found by its name is found again where it has none: in the same body, and in the answer to it."""

import json
from dataclasses import replace

import pytest
from factories import round_trip

from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.redaction.repeated_values import places_of, repeatable, replaced
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.replay.player import Player
from turntape.cassettes.tape.model import Frame, Side

KEY = "3f0c9a71e5b84d2296ac08f7d1b35e4c"


def asked(*texts: str) -> bytes:
    return json.dumps({"messages": [{"role": "user", "content": text} for text in texts]}).encode()


def streamed(text: str) -> bytes:
    pieces = [text[at : at + 5] for at in range(0, len(text), 5)]
    events = [json.dumps({"choices": [{"index": 0, "delta": {"content": piece}}]}) for piece in pieces]
    return "".join(f"data: {event}\n\n" for event in events).encode()


def said(stream: bytes) -> str:
    events = [json.loads(line[6:]) for line in stream.decode().split("\n") if line]
    return "".join(event["choices"][0]["delta"]["content"] for event in events)


@pytest.mark.parametrize("again", [f"use {KEY} now", f"({KEY})", f"a\n{KEY}\nb", f"https://a.example/?q={KEY}"])
@pytest.mark.parametrize("named", [f"API_KEY={KEY}", json.dumps({"api_key": KEY})])
def test_a_value_without_a_name_is_masked_as_where_it_has_one(named: str, again: str) -> None:
    clean = Redactor(salt="s").body(asked(named, again))

    first, second = (json.loads(clean)["messages"][place]["content"] for place in (0, 1))
    assert KEY.encode() not in clean
    assert first[first.index("REDACTED") :][:32] == second[second.index("REDACTED") :][:32]


def test_a_value_is_found_before_its_name() -> None:
    assert KEY.encode() not in Redactor().body(asked(f"use {KEY} now", f"API_KEY={KEY}"))


def test_the_answer_has_no_value_that_the_request_names() -> None:
    trip = round_trip(asked(f"API_KEY={KEY}"), streamed(f"I have used {KEY} for it."))

    clean = Redactor().round_trip(trip)

    assert clean.response is not None
    assert KEY not in said(clean.response.body)
    assert said(clean.response.body).startswith("I have used REDACTED-")


def test_a_stream_that_spells_a_value_with_its_name_and_without_has_it_nowhere() -> None:
    clean = Redactor().answer(streamed(f"API_KEY={KEY} is set, so {KEY} is used."), ())

    assert KEY not in said(clean)


@pytest.mark.parametrize("names", ["client", "server"])
def test_a_side_of_a_session_has_no_value_that_the_other_side_names(names: Side) -> None:
    says: Side = "server" if names == "client" else "client"
    spelled = [json.dumps({"type": "response.output_text.delta", "delta": KEY[at : at + 8]}) for at in range(0, 32, 8)]
    texts: list[tuple[Side, str]] = [(says, f"use {KEY} now"), (names, json.dumps({"output": f"API_KEY={KEY}"}))]
    texts.extend((says, piece) for piece in spelled)
    frames = tuple(Frame(side, number, text.encode(), True) for number, (side, text) in enumerate(texts))

    clean = Redactor().round_trip(replace(round_trip(), frames=frames)).frames

    assert not any(KEY in frame.data.decode() or KEY[:8] in frame.data.decode() for frame in clean)
    assert [len(frame.data) for frame in clean] == [len(frame.data) for frame in frames]


def test_a_side_of_a_session_keeps_what_the_other_side_does_not_name() -> None:
    frames = (Frame("client", 1, b"API_KEY=hunter2 in 2024", True), Frame("server", 2, f"id {KEY}".encode(), True))

    assert Redactor().frames(frames)[1] == frames[1]


@pytest.mark.parametrize(("earlier", "later"), [(f"API_KEY={KEY}", f"it was {KEY}"), (f"use {KEY}", f"API_KEY={KEY}")])
def test_the_next_request_is_cleaned_as_alone(earlier: str, later: str) -> None:
    """What both requests have is not searched again: a value of the one is known in the other."""
    first = asked("word " * 4000, earlier, "go on")
    second = asked("word " * 4000, earlier, "go on", later)
    redactor = Redactor(salt="s")
    redactor.request_body(first)

    assert redactor.request_body(second) == Redactor(salt="s").body(second)


@pytest.mark.parametrize(
    "value", ["hunter2", "correct-horse-battery", "gpt-4o-2024-05-13", "12345678901234567890", "a1b2c3d4e5f6a1b"]
)
def test_a_value_that_may_mean_something_else_is_not_searched_for(value: str) -> None:
    assert repeatable([value.encode()]) == ()


@pytest.mark.parametrize("around", [f"x{KEY}", f"{KEY}0", f"_{KEY}"])
def test_a_longer_word_with_the_value_in_it_stays(around: str) -> None:
    assert places_of([KEY.encode()], around.encode()) == {}


def test_the_name_of_a_model_stays() -> None:
    text = json.dumps({"model": KEY, "metadata": {"api_key": KEY}}).encode()

    assert json.loads(Redactor().body(text))["model"] == KEY


def test_what_the_user_keeps_stays() -> None:
    body = asked(f"API_KEY={KEY}", f"use {KEY}")

    assert Redactor(keep=[KEY]).body(body) == body


def test_a_key_whose_prefix_was_kept_is_not_a_value() -> None:
    redactor = Redactor()
    body = b"use sk-ant-api03-aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3 now"

    assert replaced(body, redactor.body(body)) == ()


def test_an_exchange_without_a_named_value_is_as_it_came() -> None:
    trip = round_trip(asked(f"the id is {KEY}"), streamed(f"it is {KEY}"))

    clean = Redactor().round_trip(replace(trip))

    assert clean.request.body == trip.request.body


OLDER = "REDACTED-0011aabb***************"
"""What an older version has written in the place of a value, where it had its name."""


@pytest.mark.parametrize("now", [KEY, KEY[::-1]])
def test_a_recording_in_which_a_value_stays_without_its_name_replays_for_that_value_alone(now: str) -> None:
    trip = round_trip(asked(f"API_KEY={OLDER}", f"use {KEY}"))
    player = Player([trip])

    sent = asked(f"API_KEY={now}", f"use {now}")
    if now == KEY:
        assert player.answer("POST", trip.request.url, (), sent).response == trip.response
    else:
        with pytest.raises(Miss):
            player.answer("POST", trip.request.url, (), sent)


def test_a_request_that_differs_otherwise_misses_an_older_recording_too() -> None:
    trip = round_trip(asked(f"API_KEY={OLDER}", f"use {KEY}"))

    with pytest.raises(Miss):
        Player([trip]).answer("POST", trip.request.url, (), asked(f"API_KEY={KEY}", f"do not use {KEY}"))
