"""Bedrock agents: text, calls that the client must run, their results, and the tokens of traces."""

from base64 import b64encode
from dataclasses import replace
from typing import Any

from aws_frames import frame
from round_trips import exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage

HOST = "https://bedrock-agent-runtime.us-east-1.amazonaws.com"
URL = f"{HOST}/agents/AGENT/agentAliases/ALIAS/sessions/s1/text"

type Json = dict[str, Any]


def chunk(text: str) -> bytes:
    return frame("chunk", {"bytes": b64encode(text.encode()).decode()})


def trace(kind: str, given: int, said: int) -> bytes:
    usage = {"inputTokens": given, "outputTokens": said}
    return frame("trace", {"trace": {kind: {"modelInvocationOutput": {"metadata": {"usage": usage}}}}})


def control(*inputs: Json) -> bytes:
    return frame("returnControl", {"invocationId": "inv_1", "invocationInputs": list(inputs)})


ADD = {
    "functionInvocationInput": {
        "actionGroup": "sums",
        "function": "add",
        "parameters": [{"name": "a", "type": "integer", "value": "1"}],
    }
}
GET = {
    "apiInvocationInput": {
        "actionGroup": "words",
        "httpMethod": "GET",
        "apiPath": "/words/{word}",
        "parameters": [{"name": "word", "type": "string", "value": "tape"}],
        "requestBody": {"content": {"application/json": {"properties": []}}},
    }
}


def ran(*results: Json) -> Json:
    return {"sessionState": {"invocationId": "inv_1", "returnControlInvocationResults": list(results)}}


ADDED = {"functionResult": {"actionGroup": "sums", "function": "add", "responseBody": {"TEXT": {"body": "2"}}}}
GOT = {
    "apiResult": {
        "actionGroup": "words",
        "httpMethod": "GET",
        "apiPath": "/words/{word}",
        "responseState": "FAILURE",
        "responseBody": {"application/json": {"body": "no"}},
    }
}


def trip(request: Json, *frames: bytes, url: str = URL) -> RoundTrip:
    return exchanged(url, request, b"".join(frames), content_type="application/vnd.amazon.eventstream")


def answered(*frames: bytes, url: str = URL) -> Reading:
    return read(trip({"inputText": "hi"}, *frames, url=url))


def test_text_comes_in_chunks_and_tokens_in_traces() -> None:
    reading = answered(
        trace("preProcessingTrace", 10, 2), chunk("Hel"), trace("orchestrationTrace", 20, 3), chunk("lo")
    )

    assert (reading.protocol, reading.request.model, reading.request.previous_id) == (
        "bedrock-agent",
        "agent/AGENT",
        "s1",
    )
    assert reading.emission and reading.emission.text == "Hello"
    assert reading.usage == Usage(input=30, output=5)
    assert reading.response_id == "s1"


def test_an_agent_without_traces_counts_nothing() -> None:
    assert answered(chunk("Hello"), frame("trace", {"trace": {"failureTrace": {}}})).usage is None


def test_what_the_client_must_run_are_its_calls() -> None:
    reading = answered(control(ADD, GET))

    assert reading.emission and reading.finish and reading.finish.effective == "tool_calls"
    assert [(call.id, call.name, call.arguments) for call in reading.emission.calls] == [
        ("inv_1/sums/add", "add", {"a": "1"}),
        (
            "inv_1/words/GET /words/{word}",
            "GET /words/{word}",
            {"word": "tape", "requestBody": {"content": {"application/json": {"properties": []}}}},
        ),
    ]


def test_the_results_of_calls_are_read() -> None:
    request = read(trip(ran(ADDED, GOT), chunk("ok"))).request

    assert [(r.call_id, r.name, r.text, r.is_error) for r in request.results] == [
        ("inv_1/sums/add", "add", "2", False),
        ("inv_1/words/GET /words/{word}", "GET /words/{word}", "no", True),
    ]


def test_files_are_named() -> None:
    reading = answered(
        chunk("Here."), frame("files", {"files": [{"name": "a.png", "type": "image/png", "bytes": "AA=="}]})
    )
    assert reading.emission and [part.text for part in reading.emission.content] == ["Here.", "[image/png]"]


def test_a_knowledge_base_streams_its_text_and_can_be_stopped() -> None:
    stopped = frame("guardrail", {"action": "INTERVENED"})
    reading = answered(frame("output", {"text": "Sorry."}), stopped, url=f"{HOST}/retrieveAndGenerateStream")

    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.effective) == ("Sorry.", "content_filter")


def test_a_chunk_that_is_not_base64_is_a_problem() -> None:
    assert any("base64" in problem for problem in answered(frame("chunk", {"bytes": "é"})).problems)


def test_the_turns_of_a_session_are_one_thread_and_its_call_is_answered() -> None:
    trips = [trip({"inputText": "hi"}, control(ADD)), trip(ran(ADDED), chunk("It is 2."))]
    labels: list[Any] = [d.label for d in label_all(replace(t, index=i, started_at=i) for i, t in enumerate(trips))]

    assert [label["turn"] for label in labels] == [1, 2] and labels[0]["thread"] == labels[1]["thread"]
    assert labels[0]["client"]["outcome"] == "dispatched"
    assert [f["id"] for label in labels for f in label["findings"] if f["severity"] != "info"] == []
