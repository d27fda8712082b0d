"""vcrpy's files as round trips: its spellings of bodies, headers and dates, and what is wrong with a file."""

import base64
import gzip
import json
from pathlib import Path

import pytest

from turntape.cassettes.importers import messages
from turntape.cassettes.importers.format import ImportFault, notes_of
from turntape.cassettes.importers.registry import detected
from turntape.cassettes.importers.vcrpy import read
from turntape.cassettes.tape.bounds import MOST_IN_TOTAL, MOST_OF_A_BODY
from turntape.cassettes.tape.model import RoundTrip

ASKED = '{"model":"gpt-5","stream":true}'
HEAD = """\
interactions:
- request:
    body: '{"model":"gpt-5","stream":true}'
    headers:
      content-type:
      - application/json
      x-two:
      - a
      - b
    method: POST
    uri: https://api.openai.com/v1/chat/completions
  response:
"""
TAIL = """\
    headers:
      Date:
      - Sat, 21 Nov 2026 07:22:08 GMT
    status:
      code: 200
      message: OK
version: 1
"""


def imported(text: str | bytes) -> list[RoundTrip]:
    data = text if isinstance(text, bytes) else text.encode()
    path = Path("a.yaml")
    assert detected(data, path).name == "vcrpy"
    return list(read(data, path))


def answered(body: str, headers: str = "") -> RoundTrip:
    tail = TAIL.replace("    headers:\n", f"    headers:\n{headers}")
    [trip] = imported(HEAD + body + tail)
    return trip


def test_a_recording_keeps_all_that_it_has() -> None:
    trip = answered("    body:\n      string: 'data: {}'\n")

    assert (trip.request.method, trip.request.url) == ("POST", "https://api.openai.com/v1/chat/completions")
    assert trip.request.body == ASKED.encode()
    assert trip.request.headers == (("content-type", "application/json"), ("x-two", "a"), ("x-two", "b"))
    assert trip.response
    assert (trip.response.status, trip.response.reason, trip.response.body) == (200, "OK", b"data: {}")
    assert (trip.route, trip.upstream, trip.started_at) == ("import", "openai", 1795245728.0)
    assert trip.extra["imported"] == {"format": "vcrpy", "file": "a.yaml", "place": "interactions[0]"}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('    body:\n      string: "caf\\xE9 \\u2028 \\U0001F600\\r\\n"\n', "café \u2028 \U0001f600\r\n".encode()),
        ("    body:\n      string: |+\n        data: {}\n\n        data: [DONE]\n\n", b"data: {}\n\ndata: [DONE]\n\n"),
        ("    body:\n      string: !!binary |\n        AAEC/w==\n", b"\x00\x01\x02\xff"),
        ("    body:\n      string: !!python/unicode 'old'\n", b"old"),
        ("    body:\n      base64_string: AAEC/w==\n", b"\x00\x01\x02\xff"),
        ("    body: {}\n", b""),
        ("    body:\n      string: null\n", b""),
        ("    content: plain\n", b"plain"),
        ("    body:\n      string: ''\n", b""),
    ],
)
def test_a_body_is_its_bytes_however_it_is_written(body: str, expected: bytes) -> None:
    response = answered(body).response

    assert response
    assert response.body == expected


@pytest.mark.parametrize(
    "spelling",
    [
        "!!python/object/new:_io.BytesIO\n      state: !!python/tuple\n      - !!binary |\n        eyJhIjoxfQ==\n"
        "      - 0\n      - null",
        "!!python/object/apply:builtins.iter\n      args:\n      - - '{\"a\"'\n        - ':1}'",
        "!!binary |\n      eyJhIjoxfQ==",
        "'{\"a\":1}'",
        "!!python/object/new:some.str.subclass\n    - '{\"a\":1}'",
    ],
    ids=["file", "iterator", "bytes", "text", "subclass"],
)
def test_a_python_object_is_the_data_in_it(spelling: str) -> None:
    [trip] = imported((HEAD + TAIL).replace(f"'{ASKED}'", spelling))

    assert trip.request.body == b'{"a":1}'


def test_header_names_of_aiohttp_are_text() -> None:
    name = "      ? !!python/object/new:multidict._multidict.istr\n      - Content-Type\n      : - text/plain\n"

    response = answered("    body:\n      string: x\n", name).response

    assert response
    assert response.headers[0] == ("Content-Type", "text/plain")


def test_nothing_in_a_file_is_ever_called(tmp_path: Path) -> None:
    target = tmp_path / "made"
    path = f"!!python/object/apply:pathlib.Path ['{target}']"
    evil = f"!!python/object/apply:pathlib.Path.touch\n      args:\n      - {path}"

    [trip] = imported((HEAD + TAIL).replace(f"'{ASKED}'", evil))

    assert not target.exists()
    assert trip.request.body == str(target).encode()


def test_a_content_encoding_is_undone_and_one_that_was_undone_already_is_noticed() -> None:
    packed = base64.b64encode(gzip.compress(b'{"ok":true}')).decode()
    encoding = "      Content-Encoding:\n      - gzip\n"

    as_sent = answered(f"    body:\n      string: !!binary |\n        {packed}\n", encoding).response
    as_read = answered("    body:\n      string: '{\"ok\":true}'\n", encoding).response

    assert as_sent
    assert as_read
    assert as_sent.body == as_read.body == b'{"ok":true}'
    assert as_sent.encoding == as_read.encoding == "gzip"


def test_a_body_that_is_endless_without_its_encoding_stays_as_it_came() -> None:
    bomb = gzip.compress(bytes(MOST_OF_A_BODY + 1))
    body = f"    body:\n      string: !!binary |\n        {base64.b64encode(bomb).decode()}\n"
    trip = answered(body, "      Content-Encoding:\n      - gzip\n")

    assert trip.response
    assert (trip.response.body, trip.response.encoding) == (bomb, None)
    [note] = notes_of(trip)
    assert f"longer than {MOST_OF_A_BODY:,} bytes" in note


def test_many_bodies_that_are_long_without_their_encoding_are_bounded_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "MOST_OF_A_BODY", 10_000)
    monkeypatch.setattr(messages, "MOST_IN_TOTAL", 40_000)
    long = gzip.compress(bytes(10_000))
    short = gzip.compress(b'{"ok":true}')
    answers = "".join(
        f"""- request: {{method: POST, uri: 'http://a.example/v1', headers: {{}}, body: ''}}
  response:
    status: {{code: 200, message: OK}}
    headers: {{Content-Encoding: [gzip]}}
    body:
      string: !!binary |
        {base64.b64encode(one).decode()}
"""
        for one in [short] + [long] * 7
    )

    trips = list(read(f"interactions:\n{answers}version: 1\n".encode(), tmp_path / "a.yaml"))

    kept = [trip for trip in trips if trip.response and trip.response.encoding is None]
    assert sum(len(trip.response.body) for trip in trips if trip.response and trip.response.encoding) <= 40_000
    assert len(kept) == 4
    assert all(trip.response and trip.response.body == long for trip in kept)
    assert {note for trip in kept for note in notes_of(trip)} == {
        f"bodies are kept as they came: without their content-encodings the file is longer than {MOST_IN_TOTAL:,} bytes"
    }


ALIASES = "\n".join(f"x{n}: &x{n} [{', '.join([f'*x{n - 1}'] * 9)}]" for n in range(1, 9))
ANSWERED = """interactions:
- request: {method: POST, uri: 'http://a.example/v1', headers: {}, body: ''}
  response:
    status: {code: 200, message: OK}
"""


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (
            f"x0: &x0 [a, b]\n{ALIASES}\n{ANSWERED}    parsed_body: *x8\n",
            "its aliases give more than 10,000,000 values",
        ),
        (f"x0: &x0 [{'a' * 100_000}]\n{ALIASES}\n{ANSWERED}    parsed_body: *x5\n", "its aliases give more than"),
        (f"{ANSWERED}    parsed_body: &a [*a]\n", "an alias is within its own value"),
        (f"{ANSWERED}    parsed_body: {'[' * 5000}\n", "valid YAML|nested too deep"),
    ],
)
def test_aliases_that_never_end_or_grow_without_bound_are_refused(document: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ImportFault, match=why):
        list(read(document.encode(), tmp_path / "a.yaml"))


def test_an_alias_within_reason_is_what_it_means(tmp_path: Path) -> None:
    document = f"x: &x {{a: [1, 2]}}\n{ANSWERED}    parsed_body: [*x, *x]\n"

    [trip] = read(document.encode(), tmp_path / "a.yaml")

    assert trip.response and trip.response.body == b'[{"a":[1,2]},{"a":[1,2]}]'


def test_a_body_that_was_cut_is_what_came() -> None:
    said = b"".join(b"%x" % (at * 7919) for at in range(400))
    packed = base64.b64encode(gzip.compress(said)[:-40]).decode()
    body = f"    body:\n      string: !!binary |\n        {packed}\n"
    trip = answered(body, "      Content-Encoding:\n      - gzip\n")

    assert trip.response
    assert trip.response.encoding == "gzip"
    assert 100 < len(trip.response.body) < len(said) and said.startswith(trip.response.body)


def test_bytes_in_an_encoding_that_is_not_known_stay_and_that_is_said() -> None:
    trip = answered("    body:\n      string: !!binary |\n        AAEC/w==\n", "      Content-Encoding:\n      - own\n")

    assert trip.response
    assert (trip.response.body, trip.response.encoding) == (b"\x00\x01\x02\xff", None)
    [note] = notes_of(trip)
    assert "'own'" in note


def test_a_body_that_was_stored_as_a_value_is_written_again_and_noted() -> None:
    parsed = (
        "parsed_body:\n      time: 12:30\n      day: 2026-01-01\n      yes: true\n      big: 12345678901234567890\n"
    )
    [trip] = imported((HEAD + TAIL).replace(f"body: '{ASKED}'", parsed.rstrip()))

    assert trip.request.body == b'{"time":"12:30","day":"2026-01-01","yes":true,"big":12345678901234567890}'
    [note] = notes_of(trip)
    assert "formatting" in note


def test_json_is_read_like_yaml() -> None:
    document = {
        "version": 1,
        "interactions": [
            {
                "request": {"method": "post", "uri": "http://x/", "body": "\ud83d", "headers": {"a": "1"}},
                "response": {"status": {"code": 529, "message": ""}, "headers": {}, "body": {"string": "é"}},
            }
        ],
    }

    [trip] = imported(b"\xef\xbb\xbf" + json.dumps(document, indent=4).encode())

    assert trip.request.body == b"\xed\xa0\xbd"
    assert trip.request.headers == (("a", "1"),)
    assert trip.response
    assert (trip.response.status, trip.response.body) == (529, "é".encode())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("interactions:\n- request: {\n", "line "),
        ("interactions:\n- request: 1\n", "interactions[0]: 'request' is a number and not a mapping"),
        (HEAD + TAIL.replace("code: 200", "code: fine"), "interactions[0]: the status is 'fine' and not a number"),
        ((HEAD + TAIL).replace("    uri: ", "    url: "), "interactions[0]: 'uri' is missing"),
        ((HEAD + TAIL).replace(f"'{ASKED}'", "12"), "interactions[0]: the body of the request is a number"),
        ("- request: !!python/object:vcr.request.Request\n    x: 1\n", "before 1.0"),
        ('{"interactions": [}', "line 1, column 19"),
    ],
)
def test_what_is_wrong_is_one_sentence_with_file_and_place(text: str, said: str) -> None:
    with pytest.raises(ImportFault) as caught:
        imported(text)

    assert said in str(caught.value)
    assert "'a.yaml'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_without_pyyaml_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "yaml", None)

    with pytest.raises(ImportFault, match=r"pip install 'turntape\[import\]'"):
        imported(HEAD + TAIL)


def test_requests_and_answers_that_a_serializer_wrote_apart_are_paired_in_order() -> None:
    asked = "- {{method: POST, uri: 'http://x/{0}', body: 'q{0}', headers: {{}}}}"
    answered = "- {{status: {{code: 200, message: OK}}, headers: {{}}, body: {{string: 'a{0}'}}}}"
    apart = "\n".join(["requests:", asked.format(1), asked.format(2), "responses:", answered.format(1)])

    first, second = imported(apart + "\n" + answered.format(2) + "\n")

    assert [(one.request.body, one.response and one.response.body) for one in (first, second)] == [
        (b"q1", b"a1"),
        (b"q2", b"a2"),
    ]
    with pytest.raises(ImportFault, match="it has 2 requests and 1 responses"):
        imported(apart + "\n")
