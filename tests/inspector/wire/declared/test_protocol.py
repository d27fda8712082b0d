"""A declared gateway, whole and streamed."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from round_trips import exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.wire import registry
from turntape.inspector.wire.declared.declaration import parse
from turntape.inspector.wire.declared.protocol import declared
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import document, remade
from turntape.inspector.wire.values import Reading

URL = "https://gateway.acme.example/v2/converse"
ACME = declared(
    parse(
        {
            "name": "acme",
            "path": "v2/converse",
            "messages": "/msgs",
            "role": "/who",
            "content": "/body",
            "result_id": "/for",
            "text": "/out/text",
            "calls": "/out/calls",
            "finish": "/out/why",
            "usage_input": "/use/in",
            "usage_output": "/use/out",
            "usage_cached": "/use/cached",
            "finish_words": {"done": "complete", "tools": "tool_calls"},
            "ignore": ["/trace"],
        }
    )
)
CALL = {"id": "c1", "name": "search", "arguments": {"q": "x", "n": 1}}
REQUEST: dict[str, Any] = {
    "model": "m",
    "trace": "t",
    "stream": True,
    "tools": [{"name": "search", "description": "finds", "parameters": {"type": "object"}}],
    "msgs": [
        {"who": "system", "body": "be brief"},
        {"who": "user", "body": "find x"},
        {"who": "assistant", "body": "I search", "calls": [CALL]},
        {"who": "function", "body": "found", "for": "c1"},
    ],
}
ANSWER = {
    "id": "a1",
    "model": "m-1",
    "out": {"text": "Hello", "calls": [CALL], "why": "tools"},
    "use": {"in": 9, "out": 2},
}


@pytest.fixture(autouse=True)
def only_acme(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setattr(registry, "registered", lambda: (ACME,))
        registry.forget()
        yield
    registry.forget()


def streamed(*events: object) -> RoundTrip:
    body = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)
    return exchanged(URL, REQUEST, body, content_type="text/event-stream")


def content_of(reading: Reading) -> tuple[object, ...]:
    emission, finish, usage = reading.emission, reading.finish, reading.usage
    assert emission and finish and usage
    calls = [(call.id, call.name, call.arguments) for call in emission.calls]
    return emission.text, calls, finish.raw, finish.effective, usage.input, usage.output


def test_a_request_and_a_whole_answer() -> None:
    reading = read(exchanged(URL, REQUEST, ANSWER))

    assert (reading.protocol, reading.kind, reading.streamed) == ("acme", "generation", False)
    assert [message.role for message in reading.request.messages] == ["system", "user", "assistant", "tool"]
    assert [message.pointer for message in reading.request.messages][-1] == "/msgs/3"
    assert reading.request.results[0].call_id == "c1"
    assert (reading.request.model, reading.request.streamed, reading.request.tools[0].name) == ("m", True, "search")
    assert set(reading.request.parameters) == {"trace", "stream"}
    assert content_of(reading) == ("Hello", [("c1", "search", {"q": "x", "n": 1})], "tools", "tool_calls", 9, 2)
    assert (reading.response_model, reading.response_id) == ("m-1", "a1")


def test_a_stream_joins_texts_and_collects_calls() -> None:
    events = [{"out": {"text": "Hel"}}, {"out": {"text": "lo"}, "use": {"in": 9}}, {"out": {"calls": [CALL]}}]

    whole = read(streamed(*events, {"out": {"why": "tools"}, "use": {"out": 2}}))
    cut = read(streamed(*events))

    assert content_of(whole) == content_of(read(exchanged(URL, REQUEST, ANSWER)))
    assert whole.streamed
    assert cut.finish is not None and cut.finish.effective == "cut"


def test_a_stream_is_rewritten_as_the_same_answer() -> None:
    trip = streamed({"out": {"text": "Hel"}}, {"out": {"text": "lo", "why": "done"}, "use": {"in": 9, "out": 2}})
    assert trip.response is not None

    again = replace(trip, response=replace(trip.response, content=b"".join(remade(trip, document(trip)))))

    assert content_of(read(again)) == content_of(read(trip))


def test_another_path_is_not_the_gateways() -> None:
    assert read(exchanged("https://gateway.acme.example/v2/other", REQUEST, ANSWER)).protocol == "unknown"


def test_matching_and_recording_know_it() -> None:
    api = ACME.api
    assert api.path is not None
    assert all(api.path.fullmatch(path) for path in ("converse", "v2/converse", "gateway/v2/converse"))
    assert not api.path.fullmatch("converses")
    assert api.ignored.pointers == ("/trace",)
    assert api.ignored.ids == ("/msgs/*/calls/*/id", "/msgs/*/for")
    assert api.stream_ends == (b'"why":"', b'"why": "')
    assert api.turn_paths == ("/v2/converse",)


def test_its_faults() -> None:
    faults = ACME.api.faults
    assert faults.truncate and faults.relabel and faults.empty and faults.error_event
    first: dict[str, Any] = {"out": {"text": "Hello"}}
    last: dict[str, Any] = {"out": {"calls": [json.loads(json.dumps(CALL))], "why": "tools"}}
    documents = [first, None, last]

    assert faults.truncate(documents) == ({2}, set())
    assert last["out"]["calls"][0]["arguments"] == {"q": "x"}
    assert faults.relabel(documents, "limit") == ({2}, set())
    assert last["out"]["why"] == "limit"
    assert faults.empty(documents) == ({0, 2}, set())
    assert (first["out"]["text"], last["out"]["calls"], last["out"]["why"]) == ("", [], "done")
    assert faults.truncate(documents) == (set(), set())
    assert faults.error_event(3).startswith(b'data: {"error":')
