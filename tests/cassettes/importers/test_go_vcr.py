"""Files of go-vcr as round trips: their URL, status, duration and bodies, in YAML and JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes.importers.format import ImportFault
from turntape.cassettes.importers.go_vcr import read
from turntape.cassettes.importers.registry import detected
from turntape.cassettes.tape.model import RoundTrip

FILE = """\
---
version: 2
interactions:
- id: 0
  request:
    proto: HTTP/1.1
    proto_major: 1
    proto_minor: 1
    content_length: 17
    host: ""
    body: '{"model":"gpt-5"}'
    headers:
      Content-Type:
      - application/json
    url: https://api.openai.com/v1/chat/completions
    method: POST
  response:
    proto: HTTP/2.0
    proto_major: 2
    proto_minor: 0
    content_length: -1
    uncompressed: true
    body: '{"id":"c"}'
    headers:
      Date:
      - Wed, 19 Aug 2026 14:34:20 GMT
    status: 429 Too Many Requests
    code: 429
    duration: 1m2.5s
"""


def imported(text: str) -> list[RoundTrip]:
    data, path = text.encode(), Path("a.yaml")
    assert detected(data, path).name == "go-vcr"
    return list(read(data, path))


def pair(**answer: Any) -> str:
    asked = {"url": "https://api.openai.com/v1/responses", "method": "post", "body": "{}"}
    answered = {"body": "{}", "status": "200 OK", "code": 200, **answer}
    return json.dumps({"version": 1, "interactions": [{"request": asked, "response": answered}]})


def test_a_recording_keeps_all_that_it_has() -> None:
    [trip] = imported(FILE)

    assert (trip.request.method, trip.request.url) == ("POST", "https://api.openai.com/v1/chat/completions")
    assert trip.request.body == b'{"model":"gpt-5"}'
    assert trip.response is not None
    assert (trip.response.status, trip.response.reason) == (429, "Too Many Requests")
    assert (trip.response.body, trip.response.http_version) == (b'{"id":"c"}', "HTTP/2.0")
    assert (trip.started_at, trip.ended_at) == (1787150060.0, 62_500_000)
    assert trip.upstream == "openai"


@pytest.mark.parametrize(
    ("said", "microseconds"),
    [("988ms", 988_000), ("12.5µs", 12), (1_500_000, 1500), ("0s", None), ("soon", None), (True, None), (None, None)],
)
def test_a_duration_is_read_as_go_writes_it(said: object, microseconds: int | None) -> None:
    [trip] = imported(pair(duration=said))

    assert trip.ended_at == microseconds


def test_what_is_missing_is_named_with_its_place() -> None:
    with pytest.raises(ImportFault, match=r"interactions\[0\]: 'url' is missing"):
        imported(FILE.replace("    url: https://api.openai.com/v1/chat/completions\n", ""))
    with pytest.raises(ImportFault, match=r"interactions\[0\]: the status is nothing"):
        imported(pair(code=None))


def test_a_file_of_vcrpy_stays_one() -> None:
    assert detected(pair().replace('"url"', '"uri"').encode(), Path("a.json")).name == "vcrpy"
    assert detected(b"interactions:\n- request: {}\n  response: {}\nversion: 1\n", Path("a.yaml")).name == "vcrpy"
