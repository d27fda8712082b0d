"""OpenAI Responses: items, streams, what counts as an end."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trips import exchanged, sse

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, ToolChoice, Usage

URL = "https://api.openai.com/v1/responses"
ASK = {"model": "gpt-5", "input": "hi"}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "add",
    "arguments": '{"a":1}',
    "status": "completed",
}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}


def whole(*output: object, status: str | None = "completed", request: object = ASK, **more: Any) -> Reading:
    body = {"id": "resp_1", "object": "response", "model": "gpt-5-x", "status": status, "output": output, **more}
    return read(exchanged(URL, request, body))


def events(*output: dict[str, Any], final: object = ()) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = [{"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}]
    for i, item in enumerate(output):
        sent.append({"type": "response.output_item.added", "output_index": i, "item": {**item, "arguments": ""}})
        sent.append({"type": "response.function_call_arguments.delta", "output_index": i, "delta": '{"a"'})
        sent.append({"type": "response.function_call_arguments.delta", "output_index": i, "delta": ":1}"})
        sent.append({"type": "response.output_item.done", "output_index": i, "item": item})
    done = {"id": "resp_1", "status": "completed", "output": final}
    sent.append({"type": "response.completed", "response": done})
    return [{**event, "sequence_number": i} for i, event in enumerate(sent)]


def streamed(sent: list[dict[str, Any]], url: str = URL) -> Reading:
    return read(exchanged(url, {**ASK, "stream": True}, sse(*sent, names=True)))


def test_text_is_a_complete_answer_with_its_usage() -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 14,
    }
    reading = whole(SAID, usage=usage)
    assert reading.protocol == "openai-responses" and reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.label) == ("Hello", "complete")
    assert reading.usage == Usage(input=9, cache_read=4, output=5, reasoning=2)
    assert (reading.response_model, reading.response_id) == ("gpt-5-x", "resp_1")


def test_a_pending_call_makes_completed_mean_tool_calls_and_goes_by_call_id() -> None:
    reading = whole(CALL)
    assert reading.finish and reading.finish.label == "tool_calls" and reading.finish.raw == "completed"
    assert reading.emission and reading.emission.calls[0].id == "call_1"
    assert reading.emission.calls[0].arguments == {"a": 1}


@pytest.mark.parametrize(
    ("item", "server"),
    [
        ({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "free text"}, False),
        ({"type": "computer_call", "call_id": "c", "action": {"type": "click"}}, False),
        ({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}}, False),
        ({"type": "apply_patch_call", "call_id": "c", "operation": {"type": "create_file"}}, False),
        ({"type": "mcp_approval_request", "id": "c", "name": "go", "arguments": "{}"}, False),
        ({"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {}}, False),
        ({"type": "web_search_call", "id": "c", "action": {"query": "x"}}, True),
        ({"type": "code_interpreter_call", "id": "c", "code": "1+1"}, True),
        ({"type": "mcp_call", "id": "c", "name": "go", "arguments": "{}"}, True),
    ],
)
def test_the_clients_calls_are_separated_from_the_apis_own(item: dict[str, Any], server: bool) -> None:
    emission = whole(item).emission
    assert emission and len(emission.server_calls if server else emission.calls) == 1
    assert not (emission.calls if server else emission.server_calls)


def test_a_shell_call_with_its_output_beside_it_was_run_by_the_api() -> None:
    item = {"type": "shell_call", "call_id": "s1", "action": {"commands": ["ls"]}}
    emission = whole(item, {"type": "shell_call_output", "call_id": "s1", "output": []}).emission
    assert emission and emission.server_calls and not emission.calls


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("max_output_tokens", "length"),
        ("content_filter", "content_filter"),
        ("max_messages", "limit"),
        ("steered", "pause"),
        ("new_word", "unknown"),
    ],
)
def test_incomplete_is_labelled_by_its_reason(reason: str, label: str) -> None:
    finish = whole(SAID, status="incomplete", incomplete_details={"reason": reason}).finish
    assert finish and (finish.label, finish.detail) == (label, reason)


def test_an_incomplete_call_is_partial() -> None:
    item = {**CALL, "arguments": '{"a', "status": "incomplete"}
    reading = whole(item, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert reading.emission and reading.emission.emitted == "partial_call"
    assert reading.emission.calls[0].arguments is None and reading.emission.calls[0].arguments_raw == '{"a'


def test_a_failed_response_is_an_error_with_its_code() -> None:
    reading = whole(status="failed", error={"code": "rate_limit_exceeded", "message": "slow down"})
    assert reading.error and (reading.error.code, reading.error.message) == ("rate_limit_exceeded", "slow down")
    assert reading.finish and reading.finish.label == "error"


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_background_run_is_not_cut(status: str) -> None:
    finish = whole(status=status, background=True).finish
    assert finish and finish.effective == "unknown" and "background" in (finish.detail or "")


def test_a_refusal_is_kept_apart_from_the_label() -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}
    reading = whole(item)
    assert reading.emission and (reading.emission.emitted, reading.emission.refusal) == ("refusal", "No.")
    assert reading.finish and (reading.finish.label, reading.finish.effective) == ("complete", "refusal")


def test_a_backend_that_ends_with_an_empty_output_is_read_from_its_items() -> None:
    reading = streamed(events(CALL), "https://chatgpt.com/backend-api/codex/responses")
    assert reading.streamed and reading.emission and reading.emission.emitted == "calls"
    assert reading.emission.calls[0].arguments == {"a": 1}


def test_a_stream_cut_inside_a_call_keeps_what_had_arrived() -> None:
    reading = streamed(events(CALL)[:3])
    assert reading.finish and reading.finish.label == "cut"
    assert reading.emission and reading.emission.emitted == "partial_call"
    assert reading.emission.calls[0].arguments_raw == '{"a"' and not reading.emission.calls[0].complete


def test_lost_events_are_named() -> None:
    sent = events(CALL)
    assert any("missing" in problem for problem in streamed([*sent[:2], *sent[4:]]).problems)


def test_an_error_event_is_an_error_in_the_stream() -> None:
    event = {"type": "error", "code": "server_error", "message": "sorry", "sequence_number": 1}
    reading = streamed([events()[0], event])
    assert reading.error and reading.error.in_stream and reading.error.message == "sorry"


def test_deltas_of_text_reasoning_and_refusal_add_up() -> None:
    sent = [
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "summary_index": 0, "delta": "hm"},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "He"},
        {"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "y"},
    ]
    emission = streamed(sent).emission
    assert emission and (emission.reasoning, emission.text) == ("hm", "Hey")


def test_a_compaction_is_a_complete_answer_that_says_nothing() -> None:
    output = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "compaction", "id": "cmp_1", "encrypted_content": "xyz"},
    ]
    body = {"id": "resp_2", "object": "response.compaction", "output": output}
    reading = read(exchanged(f"{URL}/compact", ASK, body))
    assert reading.finish and reading.finish.label == "complete"
    assert reading.emission and reading.emission.text == "" and reading.emission.signatures == ("xyz",)


def test_the_request_is_read_item_by_item() -> None:
    request: dict[str, Any] = {
        "model": "gpt-5",
        "instructions": "be brief",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "add"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret"},
            CALL,
            {"type": "function_call_output", "call_id": "call_1", "output": "2"},
            {"type": "item_reference", "id": "msg_1"},
        ],
        "tools": [
            {"type": "function", "name": "add", "parameters": {"type": "object"}},
            {"type": "web_search"},
            {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "inner"}]},
        ],
        "tool_choice": {"type": "function", "name": "add"},
        "previous_response_id": "resp_0",
        "max_output_tokens": 7,
    }
    asked = whole(SAID, request=request).request
    assert [part.text for part in asked.system] == ["be brief"]
    assert [message.role for message in asked.messages] == ["user", "assistant", "assistant", "tool", "other"]
    assert asked.messages[1].parts[0].signature == "secret"
    assert asked.results[0].call_id == "call_1" and asked.results[0].text == "2"
    assert [(tool.name, tool.server) for tool in asked.tools] == [
        ("add", False),
        ("web_search", True),
        ("inner", False),
    ]
    assert asked.tools[2].pointer == "/tools/2/tools/0"
    assert asked.tool_choice == ToolChoice("named", ("add",))
    assert (asked.previous_id, asked.max_output) == ("resp_0", 7)


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("GET", "/resp_1", "stored"),
        ("DELETE", "/resp_1", "stored"),
        ("POST", "/resp_1/cancel", "stored"),
        ("POST", "/input_tokens", "count_tokens"),
    ],
)
def test_stored_answers_are_not_turns(method: str, path: str, kind: str) -> None:
    reading = read(exchanged(URL + path, b"", {"object": "response"}, method=method))
    assert (reading.kind, reading.finish) == (kind, None)


def test_a_gateway_under_a_foreign_path_is_known_by_its_answer() -> None:
    reading = read(exchanged("http://localhost:9/llm/ask", ASK, {"object": "response", "status": "completed"}))
    assert (reading.protocol, reading.kind) == ("openai-responses", "generation")


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_no_mutation_of_a_stream_raises(data: st.DataObject) -> None:
    """Whatever bytes are lost or changed, something is read and no reader falls."""
    body = bytearray(sse(*events(CALL, {**CALL, "id": "fc_2"}), names=True))
    for _ in range(data.draw(st.integers(1, 6))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    reading = read(exchanged(URL, ASK, bytes(body[: data.draw(st.integers(1, len(body)))])))
    assert not any("could not be read" in problem for problem in reading.problems)


def test_spoken_words_are_the_text_of_the_answer() -> None:
    sent: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
        {"type": "response.audio.delta", "delta": "UklG"},
        {"type": "response.audio.transcript.delta", "delta": "Good "},
        {"type": "response.audio.transcript.delta", "delta": "day"},
        {"type": "response.audio.transcript.done"},
        {"type": "response.audio.done"},
        {"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}},
    ]
    reading = streamed(sent)
    assert reading.emission is not None and reading.emission.text == "Good day"


def test_a_failed_part_of_the_session_does_not_end_the_response() -> None:
    failed = {"type": "response.steer.failed", "error": {"code": "too_late", "message": "no"}, "sequence_number": 2}
    sent = events(CALL, final=[CALL])
    reading = streamed([sent[0], failed, *sent[1:]])
    assert reading.error is None and reading.emission is not None and len(reading.emission.calls) == 1


def test_each_search_of_the_api_is_counted_and_the_opening_of_a_page_is_none() -> None:
    def searched(kind: str, status: str = "completed", **more: Any) -> dict[str, Any]:
        return {"type": kind, "id": "ws_1", "status": status, **more}

    items = [
        searched("web_search_call", action={"type": "search", "query": "tape"}),
        searched("web_search_call"),
        searched("web_search_call", action={"type": "open_page", "url": "https://example.com"}),
        searched("web_search_call", "failed", action={"type": "search", "query": "tape"}),
        searched("file_search_call", queries=["tape"]),
    ]
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}

    counted, none = whole(*items, SAID, usage=usage).usage, whole(SAID, usage=usage).usage

    assert counted is not None and none is not None
    assert (counted.web_searches, counted.file_searches) == (2, 1)
    assert (none.web_searches, none.file_searches) == (0, 0)
