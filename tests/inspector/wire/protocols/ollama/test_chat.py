"""Ollama's native endpoints: lines, calls without ids, words that end nothing."""

import json
from dataclasses import replace
from typing import Any

import pytest
from round_trips import exchanged

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage

URL = "http://localhost:11434/api/chat"
ASK = {"model": "qwen3", "messages": [{"role": "user", "content": "hi"}]}
CALL = {"function": {"name": "add", "arguments": {"a": 1}}}


def lines(*bodies: object, url: str = URL, request: object = ASK) -> Reading:
    body = "".join(json.dumps(one) + "\n" for one in bodies)
    return read(exchanged(url, request, body, content_type="application/x-ndjson"))


def line(content: str = "", done: str | None = None, **message: Any) -> dict[str, Any]:
    body: dict[str, Any] = {"model": "qwen3", "message": {"role": "assistant", "content": content, **message}}
    end = {"done": True, "done_reason": done, "prompt_eval_count": 4, "eval_count": 2}
    return {**body, **({"done": False} if done is None else end)}


def test_lines_add_up_to_text_thinking_and_usage() -> None:
    reading = lines(line("", thinking="hm"), line("He"), line("y"), line("", "stop"))
    assert reading.emission and (reading.emission.text, reading.emission.reasoning) == ("Hey", "hm")
    assert reading.usage == Usage(input=4, output=2)
    assert reading.finish and reading.finish.label == "complete"


@pytest.mark.parametrize(
    ("url", "kind"),
    [(URL, "generation"), ("https://ollama.com/api/chat", "generation"), ("https://shop.example/api/chat", "other")],
)
def test_an_answer_of_another_shape_is_ollamas_only_at_its_own_address(url: str, kind: str) -> None:
    assert read(exchanged(url, ASK, {"detail": "Method Not Allowed"})).kind == kind


def test_stop_beside_a_call_without_id_means_tool_calls() -> None:
    reading = lines(line("", tool_calls=[CALL]), line("", "stop"))
    assert reading.emission and reading.emission.calls[0].id is None
    assert reading.emission.calls[0].arguments == {"a": 1}
    assert reading.finish and reading.finish.effective == "tool_calls"


@pytest.mark.parametrize(("word", "label"), [("length", "length"), ("", "cut"), ("load", "unknown")])
def test_done_reasons(word: str, label: str) -> None:
    finish = lines(line("x", word)).finish
    assert finish and finish.label == label


def test_a_stream_without_its_last_line_is_cut() -> None:
    finish = lines(line("He"), line("y")).finish
    assert finish and finish.label == "cut"


def test_an_error_line_is_an_error() -> None:
    reading = lines(line("He"), {"error": "out of memory"})
    assert reading.error and reading.error.message == "out of memory"


def test_results_are_named_by_their_tool() -> None:
    result = {"role": "tool", "tool_name": "add", "content": "2"}
    request = {**ASK, "messages": [*ASK["messages"], result], "options": {"num_predict": 5}}
    asked = lines(line("x", "stop"), request=request).request
    assert asked.results[0].name == "add" and asked.results[0].call_id is None
    assert asked.max_output == 5 and asked.streamed


def test_generate_reads_its_prompt_and_response() -> None:
    request = {"model": "qwen3", "prompt": "hi", "system": "brief", "stream": False}
    answer = {"model": "qwen3", "response": "Hey", "done": True, "done_reason": "stop"}
    reading = read(exchanged("http://localhost:11434/api/generate", request, answer))
    assert (reading.protocol, reading.emission and reading.emission.text) == ("ollama-generate", "Hey")
    assert [part.text for part in reading.request.system] == ["brief"] and not reading.request.streamed


@pytest.mark.parametrize(
    ("sent", "kind"),
    [
        (b'{"model":"qwen3","messages":[{"role":"user","con', "generation"),
        (b'"messages"', "other"),
        (b'{"model":"qwen3"}', "other"),
    ],
)
def test_a_request_that_was_cut_is_still_ollamas(sent: bytes, kind: str) -> None:
    trip = exchanged(URL, {}, {"error": "unexpected EOF"}, status=400)
    trip = replace(trip, request=replace(trip.request, content=sent))
    assert read(trip).kind == kind
