"""Cloudflare Workers AI: answers wrapped in `result`, two shapes of calls, streams without a finish word."""

import json
from typing import Any

import pytest
from conversations import HELLO, TOOLS
from judged import judged, trip
from round_trips import exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage

MODEL = "@cf/meta/llama-3.1-8b-instruct"
URL = f"https://api.cloudflare.com/client/v4/accounts/a/ai/run/{MODEL}"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}


def answered(result: object, request: object = ASK, url: str = URL, **more: object) -> Reading:
    body = {"result": result, "success": True, "errors": [], "messages": [], **more}
    return read(exchanged(url, request, body))


@pytest.mark.parametrize(
    "url", [URL, URL.replace("@", "%40"), f"https://gateway.ai.cloudflare.com/v1/a/g/workers-ai/{MODEL}"]
)
def test_a_whole_answer_is_read(url: str) -> None:
    reading = answered({"response": "Hello", "usage": USAGE}, url=url)

    assert (reading.protocol, reading.request.model, reading.request.max_output) == ("cloudflare-run", MODEL, 9)
    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.raw, reading.finish.effective) == ("Hello", None, "complete")
    assert reading.usage == Usage(input=7, output=3)


@pytest.mark.parametrize(
    ("call", "call_id"),
    [
        ({"name": "add", "arguments": {"a": 1}}, None),
        ({"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}, "c1"),
    ],
)
def test_calls_are_read_in_both_shapes(call: object, call_id: str | None) -> None:
    reading = answered({"response": None, "tool_calls": [call]})

    assert reading.emission and reading.finish and reading.finish.effective == "tool_calls"
    assert [(c.id, c.name, c.arguments) for c in reading.emission.calls] == [(call_id, "add", {"a": 1})]
    assert reading.emission.content[0].pointer == "/result/tool_calls/0"


def test_a_prompt_is_a_message() -> None:
    request = answered({"response": "x"}, request={"prompt": "hi", "temperature": 0}).request

    assert [(m.role, m.parts[0].text) for m in request.messages] == [("user", "hi")]
    assert request.parameters == {"temperature": 0}


def streamed(*chunks: object, done: bool = True) -> Reading:
    return read(exchanged(URL, {**ASK, "stream": True}, sse(*chunks, done=done)))


def test_a_stream_ends_with_done() -> None:
    chunks = [{"response": "Hel"}, {"response": "lo"}, {"response": "", "usage": USAGE}]
    whole, cut = streamed(*chunks), streamed(*chunks[:2], done=False)

    assert whole.emission and whole.finish and whole.usage == Usage(input=7, output=3)
    assert (whole.emission.text, whole.finish.effective, whole.request.streamed) == ("Hello", "complete", True)
    assert cut.emission and cut.finish and (cut.emission.text, cut.finish.effective) == ("Hello", "cut")


def test_a_model_that_answers_as_openai_does_is_read_as_openais() -> None:
    message = {"role": "assistant", "content": "Hello"}
    reading = answered({"choices": [{"index": 0, "message": message, "finish_reason": "length"}]})
    assert reading.emission and reading.finish and reading.finish.effective == "length"

    delta = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    assert streamed(delta).finish == read(exchanged(URL, ASK, sse(delta, done=True))).finish


def test_an_answer_without_success_is_an_error() -> None:
    reading = answered({}, success=False, errors=[{"code": 5007, "message": "No such model"}])
    failed = read(exchanged(URL, ASK, {"success": False, "errors": [{"code": 1, "message": "no"}]}, status=400))

    for one, message in ((reading, "No such model"), (failed, "no")):
        assert one.protocol == "cloudflare-run" and one.error and one.error.message == message
        assert one.finish and one.finish.effective == "error"


@pytest.mark.parametrize("result", [{"image": "iVBO"}, {"data": [[0.1]]}, {"text": "spoken"}])
def test_other_models_on_this_path_do_not_write_text(result: object) -> None:
    assert answered(result, request={"prompt": "a cat"}).protocol != "cloudflare-run"
    assert read(exchanged(URL, ASK, {}, method="GET")).protocol != "cloudflare-run"


CALLED = {"name": "look_up", "arguments": {"word": "tape"}}
RAN = {"role": "tool", "name": "look_up", "content": "a strip"}


@pytest.mark.parametrize(
    "sent",
    [
        [{"role": "assistant", "content": json.dumps(CALLED)}],
        [{"role": "assistant", "content": "", "tool_calls": [CALLED]}],
        [{"role": "assistant", "content": None, "tool_calls": [{"type": "function", "function": CALLED}]}],
    ],
    ids=["as runWithTools of @cloudflare/ai-utils", "as the API gave it", "as OpenAI"],
)
def test_a_call_that_is_sent_back_is_the_models(sent: list[dict[str, Any]]) -> None:
    called = {"result": {"response": None, "tool_calls": [CALLED]}, "success": True}
    first = trip(URL, {"messages": [HELLO], "tools": TOOLS}, called)
    then = trip(URL, {"messages": [HELLO, *sent, RAN]}, {"result": {"response": "A strip."}, "success": True}, 1)

    assert [call.name for call in read(then).request.calls] == ["look_up"]
    assert [one.id for one in judged(first, then) if one.severity != "info"] == []


def test_an_answer_that_is_json_of_another_kind_is_a_text() -> None:
    for text in ('{"name": "tape"}', '{"name": "look_up", "arguments": {}, "why": "x"}', "{name"):
        sent = {"role": "assistant", "content": text}
        then = trip(URL, {"messages": [HELLO, sent]}, {"result": {"response": "A strip."}, "success": True})

        assert list(read(then).request.calls) == []
