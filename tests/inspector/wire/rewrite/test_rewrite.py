"""A streamed answer becomes a document, and an edited document frames that say the same."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import NotEditable, document, remade
from turntape.inspector.wire.values import Reading
from turntape.proxy.scripted.answer import Answer, Shape
from turntape.proxy.scripted.apis.anthropic import ANTHROPIC_MESSAGES
from turntape.proxy.scripted.apis.bedrock import BEDROCK_CONVERSE
from turntape.proxy.scripted.apis.cohere import COHERE_V2
from turntape.proxy.scripted.apis.gemini import GEMINI_GENERATE
from turntape.proxy.scripted.apis.ollama import OLLAMA_CHAT
from turntape.proxy.scripted.apis.openai_chat import OPENAI_CHAT
from turntape.proxy.scripted.apis.openai_responses import OPENAI_RESPONSES
from turntape.proxy.scripted.story import Call, Step

STEP = Step("I will send it.", (Call("send_email", {"to": "ann@example.com", "body": "Hi\n"}), Call("wait", {})))
ASKED: list[tuple[Shape, str, dict[str, Any]]] = [
    (OPENAI_CHAT, "https://api.openai.com/v1/chat/completions", {"stream_options": {"include_usage": True}}),
    (OPENAI_RESPONSES, "https://api.openai.com/v1/responses", {"input": "go"}),
    (ANTHROPIC_MESSAGES, "https://api.anthropic.com/v1/messages", {}),
    (GEMINI_GENERATE, "https://g.example/v1/models/gemini-3:streamGenerateContent?alt=sse", {"contents": []}),
    (GEMINI_GENERATE, "https://g.example/v1/models/gemini-3:streamGenerateContent", {"contents": []}),
    (BEDROCK_CONVERSE, "https://bedrock-runtime.us-east-1.amazonaws.com/model/nova/converse-stream", {}),
    (COHERE_V2, "https://api.cohere.com/v2/chat", {}),
    (OLLAMA_CHAT, "http://127.0.0.1:11434/api/chat", {}),
]
IDS = [f"{shape.name}{'-array' if url.endswith('Content') else ''}" for shape, url, _ in ASKED]


def streamed(shape: Shape, url: str, more: dict[str, Any], step: Step = STEP) -> RoundTrip:
    message = {"role": "user", "content": [{"text": "go"}] if shape is BEDROCK_CONVERSE else "go"}
    body = json.dumps({"model": "m", "stream": True, "messages": [message], **more}).encode()
    answer = Answer(shape.ask(url, {}, body), step, prefix=shape.prefix)
    content = b"".join(shape.stream(answer))
    headers = (("content-type", shape.content_type),)
    return RoundTrip(Request("POST", url, (), body), Response(200, "OK", headers, content), 0.0)


def answered(trip: RoundTrip, text: str) -> Reading:
    from dataclasses import replace

    assert trip.response
    return read(replace(trip, response=replace(trip.response, content=b"".join(remade(trip, text)))))


@pytest.mark.parametrize(("shape", "url", "more"), ASKED, ids=IDS)
def test_an_unchanged_document_reads_as_the_answer_did(shape: Shape, url: str, more: dict[str, Any]) -> None:
    trip = streamed(shape, url, more)

    was, now = read(trip), answered(trip, document(trip))

    assert was.emission and now.emission
    assert was.emission.calls
    assert (now.emission.text, now.emission.calls) == (was.emission.text, was.emission.calls)
    assert (now.finish, now.usage, now.streamed, now.problems) == (was.finish, was.usage, True, ())
    assert (now.response_id, now.response_model) == (was.response_id, was.response_model)


def changed(value: Any, change: Callable[[dict[str, Any]], None]) -> Any:
    """`value` with `change` made to every object in it."""
    if isinstance(value, dict):
        for item in value.values():
            changed(item, change)
        change(value)
    elif isinstance(value, list):
        for item in value:
            changed(item, change)
    return value


@pytest.mark.parametrize(("shape", "url", "more"), ASKED, ids=IDS)
def test_an_edited_argument_and_text_come_out_of_the_stream(shape: Shape, url: str, more: dict[str, Any]) -> None:
    trip = streamed(shape, url, more)

    def edit(fields: dict[str, Any]) -> None:
        if fields.get("to") == "ann@example.com":
            fields["to"] = "nobody@example.com"
        for key, value in fields.items():
            if value == STEP.text:
                fields[key] = "Not today."

    now = answered(trip, json.dumps(changed(json.loads(document(trip)), edit)))

    assert now.emission
    assert [call.arguments for call in now.emission.calls] == [{"to": "nobody@example.com", "body": "Hi\n"}, {}]
    assert "Not today." in (now.emission.text, now.emission.reasoning)
    assert now.problems == ()


def test_arguments_that_were_not_touched_stay_as_they_were_spelt() -> None:
    body = {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [
        {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{ "x" : 1.0 }'}},
        {"id": "b", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
        {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x'}},
    ]}, "finish_reason": "tool_calls"}]}  # fmt: skip
    request = Request("POST", "https://api.openai.com/v1/chat/completions", (), b'{"messages":[]}')
    trip = RoundTrip(request, Response(200, "OK", (), json.dumps(body).encode()), 0.0)
    edited = json.loads(document(trip))
    calls = edited["choices"][0]["message"]["tool_calls"]
    assert calls[0]["function"]["arguments"] == {"x": 1.0}

    calls[1]["function"]["arguments"]["x"] = 2
    [made] = remade(trip, json.dumps(edited))

    spelt = [call["function"]["arguments"] for call in json.loads(made)["choices"][0]["message"]["tool_calls"]]
    assert spelt == ['{ "x" : 1.0 }', '{"x":2}', '{"x']


@pytest.mark.parametrize(
    ("text", "word"),
    [("{", "line 1"), ("[]", "not an ob"), ('{"choices":[{"message":{"role":7}}]}', "cannot hold")],
)
def test_what_cannot_be_sent_is_refused_in_one_sentence(text: str, word: str) -> None:
    trip = streamed(*ASKED[0])

    with pytest.raises(NotEditable, match=word):
        remade(trip, text)


def test_a_stream_of_an_unknown_protocol_is_not_editable() -> None:
    request = Request("POST", "https://api.example/odd", (), b"{}")
    trip = RoundTrip(request, Response(200, "OK", (("content-type", "text/event-stream"),), b"data: {}\n\n"), 0.0)

    with pytest.raises(NotEditable, match="cannot be rewritten"):
        document(trip)
