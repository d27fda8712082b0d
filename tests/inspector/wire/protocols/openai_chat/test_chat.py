"""OpenAI Chat Completions and its dialects."""

from typing import Any

import pytest
from round_trips import CHAT, exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, ToolChoice, Usage

ASK = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}]}


def whole(message: dict[str, Any], finish: str | None = "stop", **more: Any) -> Reading:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return read(exchanged(CHAT, ASK, {"id": "c1", "model": "gpt-5-x", "choices": [choice], **more}))


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return {"id": "c1", "model": "gpt-5-x", "object": "chat.completion.chunk", "choices": [choice], **more}


def stream(*chunks: object, done: bool = True) -> Reading:
    return read(exchanged(CHAT, {**ASK, "stream": True}, sse(*chunks, done=done)))


def call(index: int | None = 0, id: str | None = None, name: str | None = None, arguments: Any = None) -> Any:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    item: dict[str, Any] = {"function": function}
    if index is not None:
        item["index"] = index
    if id is not None:
        item["id"] = id
    return {"tool_calls": [item]}


def calls(reading: Reading) -> list[tuple[str, str | None, str]]:
    assert reading.emission is not None
    return [(c.name, c.id, c.arguments_raw) for c in reading.emission.calls]


def verdict(reading: Reading) -> tuple[str | None, str, str, str]:
    assert reading.finish is not None
    assert reading.emission is not None
    return reading.finish.raw, reading.finish.label, reading.finish.effective, reading.emission.emitted


def test_the_request_is_read_with_pointers_calls_and_results() -> None:
    body = {
        "model": "gpt-5",
        "messages": [
            {"role": "developer", "content": "be brief"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {}}]},
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}},
                    {"id": "c2", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "42"}]},
        ],
        "tools": [
            {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"type": "object"}}},
            {"type": "custom", "custom": {"name": "sh"}},
            {"type": "web_search"},
        ],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "parallel_tool_calls": False,
        "max_completion_tokens": 9,
        "stop": "END",
        "temperature": 0,
    }
    request = read(exchanged(CHAT, body, {"choices": []})).request
    assert [m.role for m in request.messages] == ["system", "user", "assistant", "tool"]
    assert [[p.pointer for p in m.parts] for m in request.messages] == [
        ["/messages/0/content"],
        ["/messages/1/content/0", "/messages/1/content/1"],
        ["/messages/2/reasoning_content", "/messages/2/tool_calls/0", "/messages/2/tool_calls/1"],
        ["/messages/3"],
    ]
    assert [p.call and p.call.arguments for p in request.messages[2].parts] == [None, {"x": 1}, "ls -l"]
    assert [(r.call_id, r.text, r.is_error) for r in request.results] == [("c1", "42", False)]
    assert [(t.name, t.server) for t in request.tools] == [("f", False), ("sh", False), ("web_search", True)]
    assert request.tool_choice == ToolChoice("named", ("f",))
    assert (request.parallel_tool_calls, request.max_output, request.stop) == (False, 9, ("END",))
    assert request.parameters == {"temperature": 0}


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "custom", "custom": {"name": "sh"}}, ToolChoice("named", ("sh",))),
        (
            {
                "type": "allowed_tools",
                "allowed_tools": {"mode": "auto", "tools": [{"type": "function", "function": {"name": "f"}}]},
            },
            ToolChoice("auto", ("f",)),
        ),
        (None, None),
    ],
)
def test_tool_choices(choice: object, expected: ToolChoice | None) -> None:
    assert read(exchanged(CHAT, {**ASK, "tool_choice": choice}, {"choices": []})).request.tool_choice == expected


@pytest.mark.parametrize(
    ("finish", "label"),
    [
        ("stop", "complete"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("eos", "complete"),
        ("insufficient_system_resource", "error"),
        ("never_seen", "unknown"),
        (None, "unknown"),
        ("", "unknown"),
    ],
)
def test_finish_words_and_an_unseen_word_is_never_complete(finish: str | None, label: str) -> None:
    reading = whole({"content": "x"}, finish)
    assert reading.finish is not None
    assert (reading.finish.raw, reading.finish.label) == (finish, label)


def test_stop_beside_calls_means_the_client_must_run_them() -> None:
    function = {"name": "f", "arguments": "{}"}
    reading = whole({"tool_calls": [{"id": "a", "type": "function", "function": function}]}, "stop")
    assert verdict(reading) == ("stop", "complete", "tool_calls", "calls")


def test_arguments_that_do_not_parse_stay_as_they_are() -> None:
    function = {"name": "f", "arguments": '{"x": '}
    reading = whole({"tool_calls": [{"id": "a", "function": function}]}, "tool_calls")
    assert reading.emission is not None
    assert (reading.emission.calls[0].arguments, reading.emission.calls[0].arguments_raw) == (None, '{"x": ')


def test_a_legacy_function_call_is_a_call_without_an_id() -> None:
    reading = whole({"content": None, "function_call": {"name": "f", "arguments": "{}"}}, "function_call")
    assert calls(reading) == [("f", None, "{}")]
    assert verdict(reading)[1:] == ("tool_calls", "tool_calls", "calls")


def test_a_refusal_is_read_although_the_word_is_stop() -> None:
    reading = whole({"content": None, "refusal": "I can't."})
    assert verdict(reading) == ("stop", "complete", "refusal", "refusal")


def test_content_as_a_list_holds_thinking_and_text() -> None:
    content = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}]
    reading = whole({"content": content})
    assert reading.emission is not None
    assert (reading.emission.reasoning, reading.emission.text) == ("hm", "a")


def test_reasoning_alone_is_not_an_empty_answer() -> None:
    assert verdict(whole({"content": "", "reasoning": "hm"}))[3] == "reasoning_only"


def test_reasoning_details_bring_signatures_and_are_not_counted_twice() -> None:
    details = [{"type": "reasoning.text", "text": "hm", "signature": "sig"}, {"type": "x", "data": "enc"}]
    reading = whole({"content": "a", "reasoning": "hm", "reasoning_details": details})
    assert reading.emission is not None
    assert (reading.emission.reasoning, reading.emission.signatures) == ("hm", ("sig", "enc"))


def test_all_choices_have_their_calls_and_the_first_has_the_text() -> None:
    function = {"name": "f", "arguments": "{}"}
    choices = [
        {"index": 0, "message": {"content": "a"}, "finish_reason": "stop"},
        {"index": 1, "message": {"tool_calls": [{"id": "x", "function": function}]}, "finish_reason": "tool_calls"},
    ]
    reading = read(exchanged(CHAT, ASK, {"choices": choices}))
    assert reading.emission is not None
    assert reading.finish is not None
    assert (reading.emission.text, [c.choice for c in reading.emission.calls]) == ("a", [1])
    assert reading.finish.detail == "finish reasons of the choices: stop, tool_calls"


def test_audio_is_not_an_empty_answer_and_its_transcript_is_the_text() -> None:
    reading = whole({"content": None, "audio": {"id": "x", "data": "AA", "transcript": "hello"}})
    assert reading.emission is not None
    assert (reading.emission.emitted, reading.emission.text) == ("text", "hello")


def test_a_native_word_is_more_exact_than_the_routers() -> None:
    choice = {"message": {"content": ""}, "finish_reason": "content_filter", "native_finish_reason": "refusal"}
    reading = read(exchanged(CHAT, ASK, {"choices": [choice]}))
    assert verdict(reading)[:3] == ("content_filter", "refusal", "refusal")


def test_split_deltas_join_by_index() -> None:
    reading = stream(
        chunk({"role": "assistant", "content": None}),
        chunk(call(0, "a", "f", "")),
        chunk(call(0, arguments='{"x"')),
        chunk(call(1, "b", "g", "{}")),
        chunk(call(0, arguments=":1}")),
        chunk(finish="tool_calls"),
    )
    assert calls(reading) == [("f", "a", '{"x":1}'), ("g", "b", "{}")]
    assert verdict(reading) == ("tool_calls", "tool_calls", "tool_calls", "calls")
    assert reading.streamed


@pytest.mark.parametrize(
    "deltas",
    [
        [call(-1, "a", "f", "{}"), call(-1, "b", "g", "[]")],
        [call(1, "a", "f", "{}"), call(2, "b", "g", "[]")],
        [call(None, "a", "f", "{}"), call(None, "b", "g", "[]")],
        [call(0, "a", "f", "{}"), call(0, "b", "g", "[]")],
        [call(0, "a", "f", "{"), call(0, "a", "", "}"), call(1, "b", "g", "["), call(1, "b", "", "]")],
        [call(0, "a", "f", "{"), call(0, "a", "f", "}"), call(1, "b", "g", "["), call(1, "b", "g", "]")],
        [call(None, "a", "f", "{"), call(None, None, None, "}"), call(None, "b", "g", "[]")],
        [{"tool_calls": [*call(0, "a", "f", "{}")["tool_calls"], *call(0, "b", "g", "[]")["tool_calls"]]}],
    ],
    ids=["-1", "from 1", "none", "same", "id repeated", "name repeated", "none, split", "both in one delta"],
)
def test_calls_are_separated_whatever_the_index(deltas: list[Any]) -> None:
    reading = stream(*[chunk(delta) for delta in deltas], chunk(finish="tool_calls"))
    assert calls(reading) == [("f", "a", "{}"), ("g", "b", "[]")]


def test_whole_calls_without_ids_under_one_index_are_separated_and_named() -> None:
    reading = stream(chunk(call(0, "", "f", "{}")), chunk(call(0, "", "g", "[]")), chunk(finish="stop"))
    assert calls(reading) == [("f", None, "{}"), ("g", None, "[]")]
    assert any("share index 0" in problem for problem in reading.problems)


def test_arguments_as_an_object_are_kept_as_compact_json() -> None:
    reading = stream(chunk(call(0, "a", "f", {"x": 1})), chunk(finish="tool_calls"))
    assert calls(reading) == [("f", "a", '{"x":1}')]


@pytest.mark.parametrize(
    ("chunks", "done", "ended"),
    [
        ([chunk({"content": "a"}), chunk(finish="stop")], True, True),
        ([chunk({"content": "a"}), chunk(finish="stop")], False, True),
        ([chunk({"content": "a"}, finish="")], True, True),
        ([chunk({"content": "a"}, finish="")], False, False),
        ([chunk({"content": "a"})], False, False),
        ([], False, False),
    ],
)
def test_a_stream_without_a_finish_word_and_without_done_is_cut(chunks: list[object], done: bool, ended: bool) -> None:
    assert (verdict(stream(*chunks, done=done))[2] != "cut") == ended


def test_a_call_that_the_stream_ended_inside_is_partial() -> None:
    reading = stream(chunk(call(0, "a", "f", '{"x')), done=False)
    assert verdict(reading) == (None, "cut", "cut", "partial_call")


@pytest.mark.parametrize(
    "body",
    [
        sse(chunk({"content": "a"}), {"error": {"message": "boom", "code": 502}}, done=True),
        sse(chunk({"content": "a"})) + b'event: error\ndata: {"error":{"message":"boom","code":502}}\n\n',
        sse(chunk({"content": "a"})) + b'error: {"message":"boom","code":502}\n\n',
        sse(chunk({"content": "a"}), chunk(finish="error", error={"message": "boom", "code": 502})),
    ],
)
def test_an_error_inside_a_stream_is_an_error_with_what_had_come(body: bytes) -> None:
    reading = read(exchanged(CHAT, ASK, body))
    assert reading.error is not None
    assert (reading.error.message, reading.error.status, reading.error.in_stream) == ("boom", 502, True)
    assert verdict(reading)[2:] == ("error", "text")


@pytest.mark.parametrize(
    "chunks",
    [
        [chunk(finish="stop"), {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}],
        [chunk(finish="stop", usage={"prompt_tokens": 5, "completion_tokens": 2})],
        [chunk(finish="stop"), chunk(finish="stop", usage={"prompt_tokens": 5, "completion_tokens": 2})],
        [chunk(usage={"prompt_tokens": 5, "completion_tokens": 1}),
         chunk(finish="stop", usage={"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": None})],
        [chunk(finish="stop", x_groq={"usage": {"prompt_tokens": 5, "completion_tokens": 2}})],
        [chunk(finish="stop"), {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
         {"choices": [], "moderation": {}}],
    ],
)  # fmt: skip
def test_usage_is_found_wherever_the_server_puts_it(chunks: list[object]) -> None:
    assert stream(*chunks).usage == Usage(input=5, output=2)


def test_usage_counts_what_the_api_counts_and_says_nothing_it_does_not() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert whole({"content": "x"}, usage=usage).usage == Usage(10, 4, None, 7, 3)
    assert whole({"content": "x"}).usage is None


def test_reasoning_that_the_server_leaves_out_of_the_output_is_added() -> None:
    usage = {
        "prompt_tokens": 10,
        "completion_tokens": 2,
        "total_tokens": 15,
        "completion_tokens_details": {"reasoning_tokens": 3},
    }
    assert whole({"content": "x"}, usage=usage).usage == Usage(10, None, None, 5, 3)


def test_chunks_with_message_and_delta_are_read_once() -> None:
    def both(delta: str, message: str, finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": {"content": delta}, "message": {"content": message}, "finish_reason": finish}
        return {"choices": [choice]}

    reading = stream(both("a", "a"), both("b", "ab", "stop"), done=False)
    assert reading.emission is not None
    assert reading.emission.text == "ab"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:4000/v1/chat/completions",
        "http://localhost:4000/foo/bar/v1/chat/completions",
        "https://x.openai.azure.com/openai/deployments/gpt4/chat/completions?api-version=2024-10-21",
        "https://x.cloud.databricks.com/serving-endpoints/llama/invocations",
        "http://localhost:1/anything",
    ],
)
def test_messages_are_recognised_under_any_prefix(url: str) -> None:
    answer = {"object": "chat.completion", "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
    reading = read(exchanged(url, {"messages": ASK["messages"]}, answer))
    assert (reading.protocol, reading.kind) == ("openai-chat", "generation")


def test_the_deployment_in_the_path_is_the_model_when_the_body_names_none() -> None:
    url = "https://x.openai.azure.com/openai/deployments/gpt4/chat/completions"
    assert read(exchanged(url, {"messages": []}, {"choices": []})).request.model == "gpt4"


@pytest.mark.parametrize(
    "arguments", ['{"a":1,"a":2}', '{"a":NaN}', '{"a":12345678901234567890123}', '{"a":"\\ud83d"}', "nonsense", ""]
)
def test_strange_arguments_keep_their_text(arguments: str) -> None:
    reading = whole({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": arguments}}]}, "tool_calls")
    assert calls(reading) == [("f", "a", arguments)]


def test_the_service_tier_is_a_term_of_the_price() -> None:
    answer = {"object": "chat.completion", "choices": [], "usage": {"prompt_tokens": 1}, "service_tier": "flex"}

    assert read(exchanged(CHAT, {"messages": []}, answer)).price_terms == {"service_tier": "flex"}


@pytest.mark.parametrize("streamed", [False, True])
def test_a_finish_word_for_a_failure_is_an_error(streamed: bool) -> None:
    asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "hi"}], "stream": streamed}
    message = {"role": "assistant", "content": "It is"}
    choice = {"index": 0, "delta" if streamed else "message": message, "finish_reason": "error"}
    body = {"id": "c", "object": "chat.completion", "model": "gpt-5", "choices": [choice]}
    reading = read(exchanged(CHAT, asked, sse(body, done=True) if streamed else body))

    assert reading.error is not None
    assert (reading.error.message, reading.error.type) == ("The generation ended with 'error'.", "error")
    assert reading.error.in_stream is streamed
    assert reading.finish is not None
    assert reading.finish.effective == "error"
