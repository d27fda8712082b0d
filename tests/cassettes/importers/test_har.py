"""HAR as browsers, proxies and API tools write it."""

import base64
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes.importers.format import ImportFault, notes_of
from turntape.cassettes.importers.har import read
from turntape.cassettes.importers.registry import detected
from turntape.cassettes.tape.model import Failure, Frame, RoundTrip


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "startedDateTime": "2026-11-21T07:22:08.500Z",
        "time": 130.5,
        "request": {
            "method": "POST",
            "url": "https://api.anthropic.com/v1/messages",
            "httpVersion": "h2",
            "headers": [{"name": ":authority", "value": "api.anthropic.com"}, {"name": "x-a", "value": "1"}],
            "queryString": [],
            "cookies": [],
            "postData": {"mimeType": "application/json", "text": '{"é":1}'},
        },
        "response": {
            "status": 200,
            "statusText": "OK",
            "httpVersion": "http/2.0",
            "headers": [{"name": "content-encoding", "value": "gzip"}],
            "cookies": [],
            "content": {"size": 2, "mimeType": "application/json", "text": "{}"},
            "redirectURL": "",
        },
        "cache": {},
        "timings": {"blocked": 1, "dns": -1, "connect": 9.5, "ssl": 4, "send": 0, "wait": 100, "receive": 20},
    } | changes


def imported(*entries: dict[str, Any]) -> list[RoundTrip]:
    data = json.dumps({"log": {"version": "1.2", "creator": {}, "entries": entries}}).encode()
    path = Path("a.har")
    assert detected(data, path).name == "har"
    return list(read(data, path))


def test_an_entry_keeps_all_that_it_has() -> None:
    [trip] = imported(entry())

    assert trip.request.headers == (("x-a", "1"),)
    assert trip.request.http_version == "HTTP/2"
    assert trip.request.body == '{"é":1}'.encode()
    assert trip.response
    assert (trip.response.body, trip.response.encoding, trip.response.http_version) == (b"{}", "gzip", "HTTP/2")
    assert trip.started_at == 1795245728.5
    assert (trip.request_at, trip.first_byte_at, trip.ended_at) == (10_500, 110_500, 130_500)
    assert (trip.upstream, trip.route, trip.failure) == ("anthropic", "import", None)


def test_bytes_are_in_base64_and_text_is_in_the_charset_of_its_type() -> None:
    binary = {"mimeType": "application/vnd.amazon.eventstream", "encoding": "base64", "text": "AAH/"}
    latin = {"mimeType": "text/plain; charset=ISO-8859-1", "text": "é"}

    first, second = imported(
        *(entry(response={"status": 200, "headers": [], "content": content}) for content in (binary, latin))
    )

    assert first.response
    assert second.response
    assert first.response.body == base64.b64decode("AAH/")
    assert second.response.body == b"\xe9"


def test_what_the_tool_lost_is_said() -> None:
    gone, severed = imported(
        entry(response={"status": 200, "headers": [], "content": {"size": 9}}),
        entry(response={"status": 200, "headers": [], "content": {"size": 3, "text": "a\ufffd"}}),
    )

    assert "no body" in notes_of(gone)[0]
    assert "replacement" in notes_of(severed)[0]


def test_a_request_without_an_answer_is_a_failure() -> None:
    refused, silent = imported(
        entry(response={"status": 0, "headers": [], "content": {}, "_error": "net::ERR_CONNECTION_REFUSED"}),
        entry(response={"status": 0, "headers": [], "content": {}}),
    )

    assert (refused.response, refused.failure) == (None, Failure("refused", "net::ERR_CONNECTION_REFUSED"))
    assert silent.failure
    assert silent.failure.kind == "cut"


def test_a_form_is_its_parameters_where_its_text_is_missing() -> None:
    asked = entry()["request"] | {"postData": {"params": [{"name": "a", "value": "b c"}]}}

    [trip] = imported(entry(request=asked))

    assert trip.request.body == b"a=b+c"


def test_websocket_messages_are_frames() -> None:
    messages = [
        {"type": "send", "time": 1795245729.0, "opcode": 1, "data": "go"},
        {"type": "receive", "time": 1795245729.5, "opcode": 2, "data": "AAE="},
    ]

    [trip] = imported(entry(_webSocketMessages=messages))

    assert trip.frames == (Frame("client", 500_000, b"go", True), Frame("server", 1_000_000, b"\x00\x01", False))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"request": None}, "log.entries[0]: 'request' is nothing and not a mapping"),
        ({"response": {"status": "x"}}, "log.entries[0]: the status is 'x'"),
        ({"response": {"status": 200, "content": {"encoding": "base64", "text": "a"}}}, "not valid base64"),
    ],
)
def test_what_is_wrong_names_the_place(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ImportFault) as caught:
        imported(entry(**changes))

    assert said in str(caught.value)


@pytest.mark.parametrize("chunked", [True, False])
def test_a_body_that_was_kept_chunk_by_chunk_is_joined(*, chunked: bool) -> None:
    """Polly.js writes the chunks of an encoded body as a list, each in base64 with its own padding."""
    packed = gzip.compress(b'{"id":"c"}')
    pieces = [base64.b64encode(piece).decode() for piece in (packed[:10], packed[10:])]
    assert pieces[0].endswith("==")
    text = json.dumps(pieces) if chunked else base64.b64encode(packed).decode()
    content = {"encoding": "base64", "mimeType": "application/json", "size": 9, "text": text}
    answer = {"status": 200, "headers": [{"name": "Content-Encoding", "value": "gzip"}], "content": content}
    asked = {"method": "POST", "url": "https://api.openai.com/v1/responses", "headers": []}
    document = {"log": {"entries": [{"request": asked, "response": answer}]}}

    [trip] = read(json.dumps(document).encode(), Path("recording.har"))

    assert trip.response is not None
    assert (trip.response.body, trip.response.encoding) == (b'{"id":"c"}', "gzip")
