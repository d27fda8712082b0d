"""A key that a client sends is found in the texts of the same exchange, although it has no form."""

import base64
import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.redaction.redactor import Redactor
from turntape.cassettes.redaction.sent_keys import sent_keys
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.replay.player import Player
from turntape.cassettes.tape.model import Frame, Headers, RoundTrip

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
    assert [key.decode() for key in sent_keys(((name, value),))] == found


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


@pytest.mark.parametrize("first", [(), (("api-key", KEY[::-1]),)], ids=["no key", "another key"])
def test_an_earlier_request_with_another_key_hides_no_key(first: Headers) -> None:
    """What an earlier body, or an earlier text, was searched for is not what this one is searched for."""
    redactor = Redactor()
    agent = ("user-agent", f"x {KEY}")
    long = [asked(f"printed {KEY} " + "word " * 2000 * (1 + more)) for more in (0, 1)]
    redactor.round_trip(replace(long[0], request=replace(long[0].request, headers=(*first, agent))))

    clean = redactor.round_trip(replace(long[1], request=replace(long[1].request, headers=(*SENT, agent))))

    assert KEY not in repr(clean)


def test_a_body_that_continues_an_earlier_one_with_the_same_key_is_searched_where_it_is_new() -> None:
    redactor = Redactor()
    texts = [f"printed {KEY} " + "word " * 2000 * (1 + more) + KEY for more in (0, 1, 2)]

    for text in texts:
        clean = redactor.round_trip(asked(text)).request.body
        assert KEY.encode() not in clean
        assert clean == Redactor(salt=redactor.salt).round_trip(asked(text)).request.body


MODEL = "claude-3-5-sonnet-20241022"


@pytest.mark.parametrize(
    ("text", "stays"),
    [
        (f'{{"model": "{MODEL}"}}', True),
        (f'{{"model":"{MODEL}","model_id":"{MODEL}"}}', True),
        (json.dumps(f'{{"modelName": "{MODEL}"}}'), True),
        (f"https://h/models/{MODEL}:generate", True),
        (f"https://h/openai/deployments/{MODEL}/chat", True),
        (f"?model={MODEL}", True),
        (f'{{"content": "{MODEL}"}}', False),
        (f'{{"remodel": 1, "x": "{MODEL}"}}', False),
        (f"model {MODEL}", False),
    ],
)
def test_a_key_that_is_the_name_of_the_model_stays_where_a_model_is_named(text: str, stays: bool) -> None:
    """Clients of local servers send any word as the key, and some send the name of the model."""
    knowing = Redactor().knowing((("authorization", f"Bearer {MODEL}"),))

    assert (knowing.body(text.encode()) == text.encode()) is stays


def basic(login: str) -> str:
    return f"Basic {base64.b64encode(login.encode()).decode()}"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (basic(f"me:{KEY}"), [basic(f"me:{KEY}")[6:], KEY]),
        (basic(f"{KEY}:"), [basic(f"{KEY}:")[6:], KEY]),
        (basic("me:word"), []),
        ("Basic AAAAA", []),
        ("Basic !", []),
    ],
)
def test_the_password_of_a_login_is_a_key(value: str, found: list[str]) -> None:
    assert [key.decode() for key in sent_keys((("authorization", value),))] == found


@pytest.mark.parametrize("indent", [None, 1])
def test_a_recording_from_before_keys_were_replaced_still_replays(tmp_path: Path, indent: int | None) -> None:
    tape = tmp_path / "run.cassette.jsonl"
    trip = asked(f"printed: {KEY}")
    with Recorder(tape) as recorder:
        recorder.write(replace(trip, request=replace(trip.request, headers=())))
    assert KEY.encode() in tape.read_bytes()

    player = Player(Cassette.load(tape))
    body = json.dumps(json.loads(trip.request.body), indent=indent).encode()
    assert player.answer(trip.request.method, trip.request.url, SENT, body).response is not None
    assert player.unplayed == []


def test_a_request_with_its_key_and_another_text_is_a_miss(tmp_path: Path) -> None:
    tape = tmp_path / "run.cassette.jsonl"
    trip = asked(f"printed: {KEY}")
    with Recorder(tape) as recorder:
        recorder.write(replace(trip, request=replace(trip.request, headers=())))

    with pytest.raises(Miss, match="other: REDACTED"):
        Player(Cassette.load(tape)).answer(
            trip.request.method, trip.request.url, SENT, asked(f"other: {KEY}").request.body
        )


@pytest.mark.parametrize("cuts", [(9,), (1, 31), (5, 10, 20)])
def test_a_key_that_continues_in_the_next_messages_of_a_session_is_found(cuts: tuple[int, ...]) -> None:
    """Also when the messages are plain text; what the other side says between them does not count."""
    parts = [KEY[start:end] for start, end in pairwise((0, *cuts, len(KEY)))]
    said = [Frame("server", 1, f"say {parts[0]}".encode(), text=True)]
    for number, part in enumerate(parts[1:], 2):
        said += [
            Frame("client", number, b"more", text=True),
            Frame("server", number, part.encode(), text=True),
        ]

    clean = Redactor().knowing(SENT).frames(said)

    assert KEY.encode() not in b"".join(frame.data for frame in clean if frame.sender == "server")
    assert [len(frame.data) for frame in clean] == [len(frame.data) for frame in said]
    assert [frame.data for frame in clean if frame.sender == "client"] == [b"more"] * (len(parts) - 1)
    assert clean[0].data.startswith(b"say ")
    assert [frame.data for frame in Redactor().frames(said)] == [frame.data for frame in said]


def test_a_key_that_is_to_be_kept_stays() -> None:
    """The key of a test's server may be in its fixtures."""
    text = f"printed {KEY}"
    frames = (Frame("server", 1, KEY[:9].encode(), text=True), Frame("server", 2, KEY[9:].encode(), text=True))
    knowing = Redactor(keep=(KEY[:3] + ".*",)).knowing(SENT)

    assert knowing.body(text.encode()).decode() == text
    assert knowing.frames(frames) == frames
    assert KEY not in Redactor(keep=("other.*",)).knowing(SENT).body(text.encode()).decode()
