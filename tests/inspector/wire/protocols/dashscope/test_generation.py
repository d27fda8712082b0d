"""DashScope's own endpoints: requests as dashscope 2.0.2 sends them, answers whole, in pieces and growing."""

import json
from dataclasses import replace
from typing import Any

import pytest
from round_trips import exchanged

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage

HOST = "https://dashscope-intl.aliyuncs.com/api/v1/services/aigc"
URL = f"{HOST}/text-generation/generation"
STREAMED = (("accept", "text/event-stream"), ("x-dashscope-sse", "enable"))
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {}}}}
USAGE = {"input_tokens": 20, "output_tokens": 5, "total_tokens": 25}
CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a":1}'}}


def ask(*messages: dict[str, Any], **parameters: object) -> dict[str, Any]:
    history = list(messages) or [{"role": "user", "content": "hi"}]
    return {"model": "qwen-plus", "input": {"messages": history}, "parameters": {"tools": [TOOL], **parameters}}


def said(message: dict[str, Any], finish: str | None = "stop", **fields: object) -> dict[str, Any]:
    choice = {"finish_reason": finish, "message": {"role": "assistant", **message}}
    return {"output": {"choices": [choice], **fields}, "usage": USAGE, "request_id": "r1"}


def events(*bodies: object, name: str = "result", status: int = 200) -> bytes:
    """A stream as DashScope sends it: numbered events, each with a comment that has a status."""
    lines = (f"id:{i}\nevent:{name}\n:HTTP_STATUS/{status}\ndata:{json.dumps(b)}\n\n" for i, b in enumerate(bodies, 1))
    return "".join(lines).encode()


def answered(answer: object, request: object = None) -> Reading:
    return read(exchanged(URL, request or ask(), answer))


def streamed(*bodies: object, request: object = None) -> Reading:
    asked = request or ask(incremental_output=True)
    return read(exchanged(URL, asked, events(*bodies), content_type="text/event-stream", request_headers=STREAMED))


def test_a_whole_answer_is_read() -> None:
    reading = answered(said({"content": "Hello"}), ask(max_tokens=9, stop=["END"], tool_choice="auto", temperature=0))
    request = reading.request

    assert (reading.protocol, reading.provider, request.model) == ("dashscope", "alibaba", "qwen-plus")
    assert (request.max_output, request.stop, request.streamed) == (9, ("END",), False)
    assert request.parameters == {"temperature": 0}
    assert [(tool.name, tool.pointer) for tool in request.tools] == [("add", "/parameters/tools/0")]
    assert [(m.role, m.pointer, m.parts[0].text) for m in request.messages] == [("user", "/input/messages/0", "hi")]
    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.raw, reading.finish.effective) == ("Hello", "stop", "complete")
    assert reading.emission.content[0].pointer == "/output/choices/0/message/content"
    assert (reading.usage, reading.response_id) == (Usage(input=20, output=5), "r1")


@pytest.mark.parametrize("url", [URL, f"{HOST}/multimodal-generation/generation"])
def test_content_has_its_kind_as_a_key(url: str) -> None:
    content = [{"text": "what is it"}, {"image": "https://x/y.png", "max_pixels": 9}, {"hologram": "z"}]
    reading = read(exchanged(url, ask({"role": "user", "content": content}), said({"content": [{"text": "A cat"}]})))

    parts = reading.request.messages[0].parts
    assert [(part.kind, part.text) for part in parts] == [
        ("text", "what is it"),
        ("media", "[image]"),
        ("other", "[hologram]"),
    ]
    assert reading.emission and reading.emission.text == "A cat"
    assert reading.emission.content[0].pointer == "/output/choices/0/message/content/0"


def test_speech_synthesis_on_the_same_path_is_not_a_turn() -> None:
    body = {"model": "qwen3-tts", "input": {"text": "hi", "voice": "Cherry"}, "parameters": {}}
    assert read(exchanged(f"{HOST}/multimodal-generation/generation", body, {"output": {"audio": {}}})).kind == "other"


def test_the_old_form_has_a_prompt_and_a_text() -> None:
    body = {"model": "qwen-max", "input": {"prompt": "and now?", "history": [{"user": "hi", "bot": "yes?"}]}}
    reading = answered({"output": {"text": "Bye", "finish_reason": "length"}, "usage": USAGE}, body)

    assert [(m.role, m.parts[0].text) for m in reading.request.messages] == [
        ("user", "hi"),
        ("assistant", "yes?"),
        ("user", "and now?"),
    ]
    assert reading.emission and reading.finish and (reading.emission.text, reading.finish.label) == ("Bye", "length")
    assert reading.emission.content[0].pointer == "/output/text"


PIECES = [
    said({"content": "", "reasoning_content": "He is"}, "null"),
    said({"content": "", "reasoning_content": " polite."}, "null"),
    said({"content": "Hel", "reasoning_content": ""}, "null"),
    said({"content": "lo", "reasoning_content": ""}, "stop"),
]
GROWING = [
    said({"content": "", "reasoning_content": "He is"}, "null"),
    said({"content": "", "reasoning_content": "He is polite."}, "null"),
    said({"content": "Hel", "reasoning_content": "He is polite."}, "null"),
    said({"content": "Hello", "reasoning_content": "He is polite."}, "stop"),
]


@pytest.mark.parametrize(
    ("bodies", "request_body"),
    [
        pytest.param(PIECES, ask(incremental_output=True), id="in pieces"),
        pytest.param(GROWING, ask(), id="growing"),
        pytest.param(PIECES, ask(), id="in pieces, as some models always stream"),
    ],
)
def test_a_stream_comes_in_pieces_or_grows(bodies: list[Any], request_body: Any) -> None:
    reading = streamed(*bodies, request=request_body)

    assert reading.streamed and reading.request.streamed and reading.emission and reading.finish
    assert (reading.emission.text, reading.emission.reasoning) == ("Hello", "He is polite.")
    assert (reading.finish.raw, reading.finish.effective) == ("stop", "complete")
    assert reading.usage == Usage(input=20, output=5)


def test_pieces_that_are_alike_are_all_kept() -> None:
    reading = streamed(said({"content": "ha"}, "null"), said({"content": "ha"}, "stop"))
    assert reading.emission and reading.emission.text == "haha"


@pytest.mark.parametrize("piece", ["content", "list"])
def test_a_stream_without_a_finish_word_is_cut(piece: str) -> None:
    content = "Hel" if piece == "content" else [{"text": "Hel"}]
    reading = streamed(said({"content": content}, "null"))
    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.raw, reading.finish.effective) == ("Hel", None, "cut")


def test_calls_are_joined_by_index() -> None:
    def piece(index: int, arguments: str, **fields: Any) -> dict[str, Any]:
        name = {"name": fields.pop("name")} if "name" in fields else {}
        return {"index": index, "type": "function", "function": {**name, "arguments": arguments}, **fields}

    reading = streamed(
        said({"content": "", "tool_calls": [piece(0, "", id="call_1", name="add")]}, "null"),
        said({"content": "", "tool_calls": [piece(0, '{"a"', id="")]}, "null"),
        said({"content": "", "tool_calls": [piece(1, "{}", id="call_2", name="sub")]}, "null"),
        said({"content": "", "tool_calls": [piece(0, ":1}", id="")]}, "tool_calls"),
    )

    assert reading.emission and reading.finish and reading.finish.effective == "tool_calls"
    assert [(c.id, c.name, c.arguments) for c in reading.emission.calls] == [
        ("call_1", "add", {"a": 1}),
        ("call_2", "sub", {}),
    ]


def test_several_choices_are_all_readable() -> None:
    choices = [
        {"index": i, "finish_reason": word, "message": {"role": "assistant", "content": text}}
        for i, (text, word) in enumerate([("one", "stop"), ("two", "length")])
    ]
    whole = answered({"output": {"choices": choices}, "usage": USAGE}, ask(n=2))
    stream = streamed(*({"output": {"choices": [choice]}, "usage": USAGE} for choice in choices))

    for reading in (whole, stream):
        assert reading.emission and reading.finish
        assert (reading.emission.text, reading.finish.label) == ("one", "length")
        assert [(c.text, c.finish) for c in reading.emission.choices] == [("one", "complete"), ("two", "length")]


def test_what_the_apis_own_search_found_is_a_result() -> None:
    found = {"search_results": [{"index": 1, "title": "Tape", "url": "https://x/tape", "site_name": "X"}]}
    usage = {**USAGE, "plugins": {"search": {"count": 1}}}
    reading = answered({**said({"content": "It is a strip."}, search_info=found), "usage": usage})

    assert reading.emission
    [result] = reading.emission.server_results
    assert (result.name, result.text, result.server) == ("web_search", "Tape https://x/tape", True)
    assert reading.usage == Usage(input=20, output=5, web_searches=1)


@pytest.mark.parametrize("status", [200, 429])
def test_an_error_has_a_code_and_a_message(status: int) -> None:
    body = {"code": "Throttling.RateQuota", "message": "Too fast.", "request_id": "r1"}
    reading = read(exchanged(URL, ask(), body, status=status))

    assert reading.error and (reading.error.code, reading.error.message) == ("Throttling.RateQuota", "Too fast.")
    assert reading.finish and reading.finish.effective == "error"


def test_an_error_in_a_stream_keeps_what_came_before() -> None:
    error = {"code": "InternalError", "message": "Gone.", "request_id": "r1"}
    stream = events(said({"content": "Hel"}, "null")) + events(error, name="error", status=500)
    reading = read(exchanged(URL, ask(), stream, content_type="text/event-stream", request_headers=STREAMED))

    assert reading.error and (reading.error.message, reading.error.in_stream) == ("Gone.", True)
    assert reading.emission and reading.emission.text == "Hel"


def test_a_loop_is_one_thread_and_its_call_is_answered() -> None:
    message = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    user = {"role": "user", "content": "hi"}
    result = {"role": "tool", "tool_call_id": "call_1", "name": "add", "content": "2"}
    trips: list[RoundTrip] = [
        exchanged(URL, ask(user), said(message, "tool_calls")),
        exchanged(URL, ask(user, message, result), {**said({"content": "It is 2."}), "request_id": "r2"}),
    ]

    labels = [done.label for done in label_all(replace(t, index=i, started_at=i) for i, t in enumerate(trips))]

    assert [(label["thread"], label["turn"]) for label in labels] == [
        (labels[0]["thread"], 1),
        (labels[0]["thread"], 2),
    ]
    client: Any = labels[0]["client"]
    assert client["outcome"] == "dispatched"
    assert client["results"] == [{"call_id": "call_1", "is_error": False, "ran": None}]
    assert client["echo"]["state"] == "verbatim"
    assert [label["findings"] for label in labels] == [[], []]
