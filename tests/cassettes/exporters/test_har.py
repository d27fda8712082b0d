"""A cassette as HAR and back: the same bytes, and all that the tape knows."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

from factories import round_trip
from hypothesis import given
from hypothesis import strategies as st

from turntape.cassettes.exporters.har import har
from turntape.cassettes.importers.har import read
from turntape.cassettes.importers.registry import detected
from turntape.cassettes.tape.model import Failure, Frame, Response, RoundTrip


def there_and_back(*trips: RoundTrip) -> list[RoundTrip]:
    data = b"".join(har(trips))
    assert detected(data, Path("a.har")).name == "har"
    return [replace(trip, extra={}) for trip in read(data, Path("a.har"))]


def test_a_round_trip_comes_back_whole() -> None:
    trip = round_trip(
        run="r1",
        request_at=10,
        first_byte_at=500,
        ended_at=2001,
        closed_first="client",
        started_at=1_780_000_000.123456,
    )
    assert trip.response
    trip = replace(
        trip,
        request=replace(trip.request, http_version="HTTP/2"),
        response=replace(trip.response, trailers=(("x-end", "1"),), reason="Fine"),
    )

    assert there_and_back(trip) == [replace(trip, route="import", upstream="openai")]


def test_a_failure_comes_back_as_it_was() -> None:
    refused = round_trip(answer=None, failure=Failure("refused", "connect call failed"), ended_at=5)
    cut = round_trip(failure=Failure("cut", "the server closed"), ended_at=5, closed_first="server")

    back = there_and_back(refused, cut)

    assert [(trip.failure, trip.response is None) for trip in back] == [(refused.failure, True), (cut.failure, False)]


def test_messages_of_a_websocket_come_back() -> None:
    frames = (Frame("client", 0, "é".encode(), True), Frame("server", 2_000_000, b"\x00\xff", False))
    trip = replace(round_trip(b"", b""), response=Response(101), frames=frames)

    [back] = there_and_back(trip)

    assert [(f.sender, f.data, f.text) for f in back.frames] == [(f.sender, f.data, f.text) for f in frames]


@given(body=st.binary(max_size=200), answer=st.binary(max_size=200), charset=st.sampled_from(["", "; charset=latin-1"]))
def test_any_bytes_come_back(body: bytes, answer: bytes, charset: str) -> None:
    headers = (("content-type", f"text/plain{charset}"),)
    trip = round_trip(body, answer, headers=headers)
    assert trip.response
    trip = replace(trip, response=replace(trip.response, headers=headers))

    [back] = there_and_back(trip)

    assert back.request.body == body
    assert back.response
    assert back.response.body == answer
    assert trip.response
    assert back.response.chunks == trip.response.chunks


def test_an_encoding_that_was_undone_is_not_undone_again() -> None:
    packed = gzip.compress(b"a file that was gzip already")
    trip = round_trip(b"{}", packed)
    assert trip.response
    trip = replace(trip, response=replace(trip.response, headers=(("content-encoding", "gzip"),), encoding="gzip"))

    [back] = there_and_back(trip)

    assert back.response
    assert (back.response.body, back.response.encoding) == (packed, "gzip")


def test_other_readers_find_what_the_specification_asks_for() -> None:
    [entry] = json.loads(b"".join(har([round_trip(url="https://x.example/v1?a=1&b=")])))["log"]["entries"]

    assert {"startedDateTime", "time", "request", "response", "cache", "timings"} <= entry.keys()
    assert entry["request"]["queryString"] == [{"name": "a", "value": "1"}, {"name": "b", "value": ""}]
    assert entry["request"]["postData"] == {"mimeType": "application/json", "text": '{"a":1}'}
    assert entry["response"]["content"] == {"size": 7, "mimeType": "application/json", "text": '{"b":2}'}
    assert entry["timings"]["send"] >= 0
