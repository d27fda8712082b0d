"""A recorded file is searched for what still looks like a secret."""

from dataclasses import replace
from pathlib import Path

import pytest
from factories import round_trip

from turntape.cassettes import Cassette, Recorder, Redactor, Response, RoundTrip
from turntape.cassettes.redaction.lint import secrets_in
from turntape.cassettes.tape.model import Failure, Frame

KEY = "sk-proj-abcDEF123456ghiJKL789012mnoPQR345678"


def with_answer(**fields: object) -> RoundTrip:
    response = {"status": 200, "reason": "OK", "headers": (), "content": b"{}", **fields}
    return replace(round_trip(), response=Response(**response))


PLACES: dict[str, RoundTrip] = {
    "request URL": round_trip(url=f"https://a.example/?q={KEY}"),
    "request header x-mine": round_trip(headers=(("accept", "a/b"), ("x-mine", "plain"))),
    "request header Authorization": round_trip(headers=(("Authorization", "Bearer plain"),)),
    "request body": round_trip(f'{{"key":"{KEY}"}}'.encode()),
    "response header set-cookie": with_answer(headers=(("x-note", "plain"), ("set-cookie", "a=b"))),
    "response body": with_answer(content=f"the key is {KEY}".encode()),
    "response reason": with_answer(reason=f"no key {KEY}"),
    "response trailer x-note": with_answer(trailers=(("x-plain", "a"), ("x-note", KEY))),
    "WebSocket message 1": replace(
        round_trip(), frames=(Frame("client", 1, b"{}", True), Frame("server", 2, f'"{KEY}"'.encode(), True))
    ),
    "failure message": replace(round_trip(), failure=Failure("cut", f"the server said {KEY}")),
    "fault 1": replace(round_trip(), faults=("plain", f"could not write {KEY}")),
    "field x-text": replace(round_trip(), extra={"x-plain": "a", "x-text": KEY}),
    "field x-object": replace(round_trip(), extra={"x-object": {"a": 1, "b": ["c", {"d": KEY}]}}),
    "field x-tuple": replace(round_trip(), extra={"x-tuple": (None, KEY)}),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_secret_is_named_by_its_place(place: str) -> None:
    clean = round_trip()

    assert secrets_in(Cassette.from_round_trips([clean, PLACES[place]])) == [f"#1 {place}"]


def test_all_places_of_a_round_trip_are_named_and_no_secret_is_shown() -> None:
    trip = replace(PLACES["response body"], request=replace(PLACES["request body"].request, url=f"https://a/{KEY}"))

    found = secrets_in(Cassette.from_round_trips([trip]))

    assert found == ["#0 request URL", "#0 request body", "#0 response body"]


def test_a_round_trip_without_an_answer_is_searched_too() -> None:
    trips = [round_trip(f'"{KEY}"'.encode(), None), PLACES["response body"]]

    assert secrets_in(Cassette.from_round_trips(trips)) == ["#0 request body", "#1 response body"]


def test_a_key_with_a_shape_under_a_name_that_a_recorder_replaced_is_clean() -> None:
    body = Redactor(salt="a").body(f'{{"openai_api_key":"{KEY}"}}'.encode())

    assert secrets_in(Cassette.from_round_trips([round_trip(body)])) == []


@pytest.mark.parametrize("place", PLACES)
def test_what_a_recorder_wrote_is_clean(place: str, tmp_path: Path) -> None:
    path = tmp_path / "run.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(PLACES[place])

    assert secrets_in(Cassette.load(path)) == []
    assert secrets_in(Cassette.load(path), Redactor(salt="another")) == []


def test_an_empty_header_is_not_a_secret() -> None:
    assert secrets_in(Cassette.from_round_trips([round_trip(headers=(("x-mine", ""),))])) == []


def test_the_given_rules_are_used() -> None:
    trips = [round_trip(b'"corp-123456"', headers=(("x-mine", "plain"),))]
    cassette = Cassette.from_round_trips(trips)

    assert secrets_in(cassette, Redactor(("corp-[0-9]+",))) == ["#0 request header x-mine", "#0 request body"]
    assert secrets_in(cassette, Redactor(allow_headers=("x-mine",))) == []


def test_a_parameter_that_is_masked_already_is_clean() -> None:
    url = Redactor(salt="a").url("https://a.example/?key=plain")

    assert "REDACTED" in url
    assert secrets_in(Cassette.from_round_trips([round_trip(url=url)]), Redactor(salt="b")) == []


def test_a_secret_beside_one_that_is_masked_already_is_named() -> None:
    url = Redactor(salt="a").url("https://a.example/?key=plain") + f"&q={KEY}"

    assert secrets_in(Cassette.from_round_trips([round_trip(url=url)]), Redactor(salt="b")) == ["#0 request URL"]
