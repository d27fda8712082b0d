"""A recording without its address may be of any host that serves files; other places are found by their address."""

from dataclasses import replace

import pytest

from tests.factories import round_trip
from turntape.cassettes.replay.recorded_places import RecordedPlaces
from turntape.cassettes.tape.model import RoundTrip

FILES, TRACES, ELSEWHERE = "raw.githubusercontent.com", "api.smith.langchain.com", "api.openai.com"


def recorded(method: str, url: str, body: bytes = b"") -> RoundTrip:
    trip = round_trip()
    return replace(trip, request=replace(trip.request, method=method, url=url, content=body))


@pytest.mark.parametrize(
    ("trip", "places"),
    [
        (recorded("GET", "**REDACTED**"), {FILES}),
        (recorded("POST", "**REDACTED**"), set[str]()),
        (recorded("GET", "**REDACTED**", b"{}"), set[str]()),
        (recorded("GET", f"https://{FILES}/other"), set[str]()),
        (recorded("GET", f"https://{TRACES}/a.png"), {TRACES}),
    ],
)
def test_where_a_recording_may_be_from(trip: RoundTrip, places: set[str]) -> None:
    found = RecordedPlaces([trip])
    assert {host for host in (FILES, TRACES, ELSEWHERE) if found.has(host, "/a.png")} == places
