"""Files of Ruby's VCR as round trips: text, bytes and base64 as bodies, and dates of HTTP."""

import base64
import gzip
import json
from pathlib import Path

import pytest

from turntape.cassettes.importers.format import ImportFault
from turntape.cassettes.importers.registry import detected
from turntape.cassettes.importers.ruby_vcr import read
from turntape.cassettes.tape.model import RoundTrip

BODY = """\
    body:
      encoding: UTF-8
      string: '{"id":"c"}'
"""
FILE = f"""\
---
http_interactions:
- request:
    method: post
    uri: https://api.openai.com/v1/chat/completions
    body:
      encoding: UTF-8
      string: '{{"model":"gpt-5"}}'
    headers:
      Content-Type:
      - application/json
      Accept:
      - "*/*"
  response:
    status:
      code: 200
      message: OK
    headers:
      Date:
      - Wed, 19 Aug 2026 14:34:20 GMT
      Content-Encoding:
      - gzip
{BODY}  recorded_at: Wed, 19 Aug 2026 14:34:22 GMT
recorded_with: VCR 6.4.0
"""


def imported(text: str) -> list[RoundTrip]:
    data, path = text.encode(), Path("a.yml")
    assert detected(data, path).name == "ruby-vcr"
    return list(read(data, path))


def test_a_recording_keeps_all_that_it_has() -> None:
    [trip] = imported(FILE)

    assert (trip.request.method, trip.request.body) == ("POST", b'{"model":"gpt-5"}')
    assert trip.request.headers == (("Content-Type", "application/json"), ("Accept", "*/*"))
    assert trip.response is not None
    assert (trip.response.status, trip.response.reason, trip.response.body) == (200, "OK", b'{"id":"c"}')
    assert (trip.started_at, trip.upstream, trip.route) == (1787150062.0, "openai", "import")


@pytest.mark.parametrize("spelling", ["string: !binary |-\n        {}", "base64_string: |\n        {}"])
def test_a_body_is_its_bytes_however_it_is_written(spelling: str) -> None:
    packed = base64.b64encode(gzip.compress(b'{"id":"c"}')).decode()
    body = f"    body:\n      encoding: ASCII-8BIT\n      {spelling.format(packed)}\n"

    [trip] = imported(FILE.replace(BODY, body))

    assert trip.response is not None
    assert (trip.response.body, trip.response.encoding) == (b'{"id":"c"}', "gzip")


def test_json_is_read_like_yaml() -> None:
    request = {"method": "get", "uri": "https://a.example", "body": {"encoding": "UTF-8", "string": ""}, "headers": {}}
    response = {"status": {"code": 404, "message": "Not Found"}, "headers": {}, "body": {"string": "gone"}}
    one = {"request": request, "response": response, "recorded_at": "Wed, 19 Aug 2026 14:34:22 GMT"}

    [trip] = imported(json.dumps({"http_interactions": [one], "recorded_with": "VCR 6.4.0"}))

    assert trip.response is not None
    assert (trip.response.status, trip.response.body) == (404, b"gone")


def test_a_recording_of_betamax_is_read_too() -> None:
    sent, answer = b'{"model":"gpt-5"}', b'{"id":"c"}'
    request = {
        "body": {"encoding": "utf-8", "base64_string": base64.b64encode(sent).decode()},
        "headers": {"Content-Type": ["application/json"]},
        "method": "POST",
        "uri": "https://api.openai.com/v1/chat/completions",
    }
    response = {
        "body": {"encoding": None, "base64_string": base64.b64encode(gzip.compress(answer)).decode()},
        "headers": {"content-encoding": ["gzip"]},
        "status": {"code": 200, "message": "OK"},
        "url": "https://api.openai.com/v1/chat/completions",
    }
    one = {"request": request, "response": response, "recorded_at": "2026-08-19T14:34:22"}

    [trip] = imported(json.dumps({"http_interactions": [one], "recorded_with": "betamax/0.9.0"}))

    assert trip.request.body == sent and trip.started_at == 1787150062.0
    assert trip.response is not None and trip.response.body == answer


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http_interactions:\nrecorded_with: VCR 6.4.0\n", "at its top: 'http_interactions' is nothing and not a list"),
        (FILE.replace("    uri:", "    url:"), r"at http_interactions\[0\]: 'uri' is missing; fix the file"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_file_and_place(text: str, said: str) -> None:
    with pytest.raises(ImportFault, match=rf"'a\.yml' {said}"):
        imported(text)
