"""cassetter's files as round trips, in YAML and TOML."""

from pathlib import Path
from typing import Any, cast

import pytest

from turntape.cassettes.importers.cassetter import read
from turntape.cassettes.importers.format import ImportFault, notes_of
from turntape.cassettes.importers.registry import detected
from turntape.cassettes.tape.model import Frame

YAML = """\
version: 1
interactions:
- request:
    method: GET
    uri: https://api.openai.com/v1/models
    headers: {}
    body:
      type: none
  response:
    status: 200
    headers:
      content-type:
      - application/json
    body:
      type: json
      content:
        z: 1.0
        "n": 12:30
        d: 2026-01-01
        u: "\\L café"
        a:
        - null
        - "yes"
  recorded_at: 2026-11-21T07:22:08.610000+00:00
- request:
    method: POST
    uri: https://api.openai.com/v1/chat/completions
    headers: {}
    body:
      type: binary
      content: >-
        0001ff
  response:
    status: 201
    headers: {}
    body:
      type: text
      content: "data: {}\\r\\n\\r\\n"
  recorded_at: 2026-11-21T07:22:07.510111+00:00
ws_interactions:
- uri: wss://api.openai.com/v1/realtime
  headers: {}
  frames:
  - direction: send
    frame_type: text
    body:
      type: text
      content: '{"go":1}'
    offset_ms: 0
  - direction: recv
    frame_type: binary
    body:
      type: binary
      content: '00010203'
    offset_ms: 250
  - direction: recv
    frame_type: close
    body:
      type: none
    offset_ms: 300
  recorded_at: '2026-11-21T07:23:00Z'
"""
TOML = """\
version = 1

[[interactions]]
recorded_at = "2026-11-21T07:22:08.770177+00:00"

[interactions.request]
method = "POST"
uri = "https://api.openai.com/v1/chat/completions"
body_type = "json"
body_content = '{"b":"yes","a":"é 12:30"}'

[interactions.request.headers]
accept = ["*/*"]

[interactions.response]
status = 200
body_type = "text"
body_content = \"\"\"
data: {}\\r
\\r
\"\"\"
"""


def imported(text: str):
    data, path = text.encode(), Path("a.yaml")
    assert detected(data, path).name == "cassetter"
    return list(read(data, path))


def test_yaml_comes_in_the_order_in_which_it_was_recorded() -> None:
    post, get, socket = imported(YAML)

    assert post.request.body == b"\x00\x01\xff"
    assert post.response and get.response
    assert post.response.body == b"data: {}\r\n\r\n"
    assert notes_of(post) == ()
    assert get.request.body == b""
    assert get.response.body == '{"z":1.0,"n":"12:30","d":"2026-01-01","u":"\u2028 café","a":[null,"yes"]}'.encode()
    assert "formatting" in notes_of(get)[0]
    assert (get.started_at, cast(Any, get.extra["imported"])["place"]) == (1795245728.61, "interactions[0]")
    assert socket.frames == (
        Frame("client", 0, b'{"go":1}', True),
        Frame("server", 250_000, b"\x00\x01\x02\x03", False),
    )


def test_toml_says_the_same() -> None:
    [trip] = imported(TOML)

    assert trip.request.body == '{"b":"yes","a":"é 12:30"}'.encode()
    assert trip.request.headers == (("accept", "*/*"),)
    assert trip.response
    assert trip.response.body == b"data: {}\r\n\r\n"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("type: binary", "type: sound"), "interactions[1]: the body is of an unknown type 'sound'"),
        (("0001ff", "0001f"), "interactions[1]: a binary body is not hexadecimal"),
        (("status: 201", "status: null"), "interactions[1]: the status is nothing and not a number"),
    ],
)
def test_what_is_wrong_names_the_place(change: tuple[str, str], said: str) -> None:
    with pytest.raises(ImportFault) as caught:
        imported(YAML.replace(*change))

    assert said in str(caught.value)


def test_only_a_body_that_was_stored_as_a_value_is_written_again() -> None:
    head, _, rest = YAML.partition("- request:")
    get, _, post = rest.partition("- request:")
    post = post.partition("ws_interactions:")[0]
    plain = (
        get.replace("type: json", "type: none").partition("      content:")[0] + "  recorded_at: 2026-11-21T07:22:09Z\n"
    )

    (as_value,), (without,), (raw,) = (imported(f"{head}- request:{one}") for one in (get, plain, post))

    assert (without.response and without.response.body, without.request.body) == (b"", b"")
    assert [bool(notes_of(one)) for one in (as_value, without, raw)] == [True, False, False]
