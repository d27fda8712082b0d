"""A key that a client sends is found in the texts of the same exchange, although it has no form."""

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.redaction.sent_keys import sent_keys
from turntape.cassettes.replay.player import Player
from turntape.cassettes.tape.model import Frame, RoundTrip

KEY = "3f0c9a71e5b84d2296ac08f7d1b35e4c"
"""As those of Azure OpenAI until 2024: 32 hexadecimal digits."""
SENT = (("api-key", KEY), ("content-type", "application/json"))


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("api-key", KEY, [KEY]),
        ("Api-Key", KEY, [KEY]),
        ("authorization", f"Bearer {KEY}", [KEY]),
        ("authorization", "bearer not-needed", []),
        ("authorization", "Bearer this-is-not-needed-here", []),
        ("authorization", "Bearer 12345678901234567890", []),
        ("authorization", "Bearer REDACTED-0123abcd", []),
        ("api-key", f"REDACTED-0123abcd{KEY}", []),
        ("api-key", f"{KEY} {KEY}", []),
        ("cookie", f"session={KEY}", []),
        ("mcp-session-id", KEY, []),
        ("x-request-id", KEY, []),
        ("api-key", "", []),
    ],
)
def test_only_a_field_with_a_key_names_one(name: str, value: str, found: list[str]) -> None:
    assert [pattern.pattern.decode() for pattern in sent_keys(((name, value),))] == found


def asked(text: str) -> RoundTrip:
    body = json.dumps({"messages": [{"role": "tool", "content": text}]}).encode()
    trip = round_trip(body)
    return replace(trip, request=replace(trip.request, headers=SENT))


@pytest.mark.parametrize(
    "text",
    [KEY, f"x{KEY}x", f"printed: {KEY} and {KEY}", base64.b64encode(f"the key is {KEY} here".encode()).decode()],
    ids=["alone", "within a word", "twice", "base64"],
)
def test_a_key_without_a_form_is_not_in_the_body(text: str) -> None:
    clean = Redactor().round_trip(asked(text))

    assert text.encode() not in clean.request.body
    assert KEY.encode() not in clean.request.body
    assert len(clean.request.body) == len(asked(text).request.body)
    assert Redactor().round_trip(
        replace(asked(text), request=replace(asked(text).request, headers=()))
    ).request.body == (asked(text).request.body)


def test_a_key_that_a_model_spells_over_two_events_is_not_in_the_answer() -> None:
    trip = asked("say it")
    assert trip.response is not None
    events = [
        b'data: {"choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % part.encode() for part in (KEY[:11], KEY[11:])
    ]
    said = replace(trip, response=replace(trip.response, content=b"".join(events)))

    clean = Redactor().round_trip(said).response

    assert clean is not None
    assert KEY[:11].encode() not in clean.body and KEY[11:].encode() not in clean.body


def test_a_key_is_in_no_other_text_of_the_exchange() -> None:
    trip = replace(
        asked("x"),
        run=f"run-{KEY}",
        frames=(Frame("client", 1, f"a {KEY}".encode(), text=True),),
        faults=(f"a fault with {KEY}",),
        extra={"note": [KEY]},
    )
    clean = Redactor().round_trip(trip)

    assert KEY not in repr(clean)


def test_the_next_exchange_does_not_know_the_key() -> None:
    redactor = Redactor()
    redactor.round_trip(asked(KEY))
    other = replace(asked(KEY), request=replace(asked(KEY).request, headers=()))

    assert redactor.round_trip(other).request.body == asked(KEY).request.body


def test_a_request_with_its_own_key_in_its_body_still_replays(tmp_path: Path) -> None:
    tape = tmp_path / "run.cassette.jsonl"
    trip = asked(f"printed: {KEY}")
    with Recorder(tape) as recorder:
        recorder.write(trip)
    assert KEY.encode() not in tape.read_bytes()

    [kept] = Cassette.load(tape)
    answer = Player(Cassette.load(tape)).answer(kept.request.method, kept.request.url, SENT, trip.request.body)
    assert answer.response is not None
