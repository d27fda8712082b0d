"""Mistral's conversations: entries, held by the API, whole and streamed."""

from typing import Any

import pytest
from round_trips import exchanged, sse

from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.mistral_conversations.conversations import conversation_usage
from turntape.inspector.wire.values import Reading, ToolResult, Usage

URL = "https://api.mistral.ai/v1/conversations"
USAGE = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
ADD = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}
ASK: dict[str, Any] = {
    "model": "mistral-medium-2508",
    "inputs": "What is 1 + 2?",
    "instructions": "Be brief.",
    "tools": [ADD, {"type": "web_search"}],
    "completion_args": {"max_tokens": 50, "stop": ["END"], "temperature": 0, "tool_choice": "auto"},
}
CALL = {
    "object": "entry", "type": "function.call", "id": "fc_1", "tool_call_id": "call_1", "name": "add",
    "arguments": '{"a":1,"b":2}', "model": "mistral-medium-2508",
}  # fmt: skip
SAID = {"object": "entry", "type": "message.output", "id": "msg_1", "role": "assistant", "content": "It is 3."}


def answered(*outputs: object, request: object = ASK, url: str = URL) -> Reading:
    body = {"object": "conversation.response", "conversation_id": "conv_1", "outputs": outputs, "usage": USAGE}
    return read(exchanged(url, request, body))


def test_the_request_is_read() -> None:
    request = answered(SAID).request

    assert (request.model, request.max_output, request.stop) == ("mistral-medium-2508", 50, ("END",))
    assert [part.text for part in request.system] == ["Be brief."]
    assert [(m.role, m.parts[0].text) for m in request.messages] == [("user", "What is 1 + 2?")]
    assert [(tool.name, tool.server) for tool in request.tools] == [("add", False), ("web_search", True)]
    assert request.parameters["temperature"] == 0 and request.previous_id is None


@pytest.mark.parametrize(
    ("outputs", "label", "text"),
    [([SAID], "complete", "It is 3."), ([CALL], "tool_calls", ""), ([SAID, CALL], "tool_calls", "It is 3.")],
)
def test_an_answer_is_text_or_calls_and_has_no_finish_word(outputs: list[object], label: str, text: str) -> None:
    reading = answered(*outputs)

    assert (reading.protocol, reading.response_id) == ("mistral-conversations", "conv_1")
    assert reading.finish and (reading.finish.raw, reading.finish.effective) == (None, label)
    assert reading.emission and reading.emission.text == text
    assert reading.usage == Usage(input=10, output=4)


def test_a_call_for_the_client_has_its_arguments_and_the_model_is_the_entrys() -> None:
    reading = answered(CALL)

    assert reading.emission is not None and reading.response_model == "mistral-medium-2508"
    (call,) = reading.emission.calls
    assert (call.id, call.name, call.arguments, call.server) == ("call_1", "add", {"a": 1, "b": 2}, False)


RAN = {"type": "tool.execution", "id": "te_1", "name": "code_interpreter", "arguments": '{"code":"1+2"}'}


@pytest.mark.parametrize(
    ("info", "results"),
    [
        ({"code": "1+2", "code_output": "3"}, (ToolResult("te_1", "code_interpreter", False, "3", server=True),)),
        ({"error": "no"}, (ToolResult("te_1", "code_interpreter", True, '{"error":"no"}', server=True),)),
        ({}, ()),
    ],
)
def test_a_tool_of_the_api_is_a_call_with_its_result(info: object, results: tuple[ToolResult, ...]) -> None:
    emission = answered({**RAN, "info": info}).emission

    assert emission is not None
    assert emission.calls == () and [call.name for call in emission.server_calls] == ["code_interpreter"]
    assert emission.server_results == results


def test_entries_of_the_inputs_are_messages() -> None:
    handoff = {"type": "agent.handoff", "previous_agent_name": "a", "next_agent_name": "b"}
    given = {"type": "function.result", "tool_call_id": "call_1", "result": "3"}
    typed = {"type": "message.input", "role": "user", "content": [{"type": "text", "text": "hi"}]}
    unknown = {"type": "someday"}
    entries = [{"role": "user", "content": "hi"}, typed, SAID, CALL, given, {**RAN, "info": {"x": 1}}, handoff, unknown]
    request = answered(SAID, request={"inputs": entries}, url=f"{URL}/conv_1").request

    roles = ["user", "user", "assistant", "assistant", "tool", "assistant", "other", "other"]
    assert [message.role for message in request.messages] == roles
    assert request.results == (ToolResult("call_1", None, False, "3"),)
    assert [message.parts[0].text for message in request.messages[6:]] == ["a hands over to b", "[someday]"]
    assert request.previous_id == "conv_1"


CALLING = {"type": "function.call.delta", "id": "f", "output_index": 2, "name": "add", "tool_call_id": "call_1"}
STREAM: list[dict[str, Any]] = [
    {"type": "conversation.response.started", "conversation_id": "conv_1"},
    {"type": "tool.execution.started", "id": "te_1", "output_index": 0, "name": "web_search", "arguments": '{"q"'},
    {"type": "tool.execution.delta", "id": "te_1", "output_index": 0, "name": "web_search", "arguments": ":1}"},
    {"type": "tool.execution.done", "id": "te_1", "output_index": 0, "name": "web_search", "info": {"n": 2}},
    {"type": "message.output.delta", "id": "m", "output_index": 1, "content": "It ", "model": "mistral-medium-2508"},
    {"type": "message.output.delta", "id": "m", "output_index": 1, "content": "is 3."},
    {
        "type": "message.output.delta",
        "id": "m",
        "output_index": 1,
        "content": {"type": "tool_reference", "title": "T", "tool": "web_search"},
    },
    {"type": "message.output.delta", "id": "m", "output_index": 1, "content": " Yes."},
    {**CALLING, "arguments": '{"a"'},
    {**CALLING, "arguments": ":1}"},
    {"type": "conversation.response.done", "usage": USAGE},
]


def streamed(events: list[dict[str, Any]]) -> Reading:
    return read(exchanged(URL, {**ASK, "stream": True}, sse(*events, names=True)))


def test_a_stream_is_read_as_an_answer_in_one_body() -> None:
    reading = streamed(STREAM)

    assert reading.emission and reading.emission.text == "It is 3. Yes."
    assert [(call.name, call.arguments, call.complete) for call in reading.emission.calls] == [("add", {"a": 1}, True)]
    assert [(call.name, call.arguments) for call in reading.emission.server_calls] == [("web_search", {"q": 1})]
    assert reading.emission.server_results == (ToolResult("te_1", "web_search", False, '{"n":2}', server=True),)
    assert reading.finish and reading.finish.effective == "tool_calls" and reading.usage == Usage(input=10, output=4)
    assert (reading.response_id, reading.response_model) == ("conv_1", "mistral-medium-2508")


def test_a_stream_without_its_end_is_cut() -> None:
    reading = streamed(STREAM[:-1])

    assert reading.finish and reading.finish.effective == "cut"
    assert reading.emission and not reading.emission.calls[0].complete


def test_an_error_in_a_stream_is_an_error() -> None:
    reading = streamed([STREAM[0], {"type": "conversation.response.error", "message": "overloaded", "code": 503}])

    assert reading.error and reading.error.message == "overloaded"
    assert reading.finish and reading.finish.effective == "error"


def test_thoughts_of_a_stream_are_reasoning() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    deltas = [{"type": "message.output.delta", "id": "m", "output_index": 0, "content": thought}] * 2
    emission = streamed([STREAM[0], *deltas, STREAM[4], STREAM[-1]]).emission

    assert emission is not None and (emission.text, emission.reasoning) == ("It ", "hm\nhm")


@pytest.mark.parametrize(
    ("more", "counted"),
    [
        ({"total_tokens": 14}, 10),
        ({"total_tokens": 21, "connector_tokens": 7}, 17),
        ({"total_tokens": 14, "connector_tokens": 7}, 10),
        ({}, 10),
    ],
)
def test_what_connectors_read_is_input(more: dict[str, int], counted: int) -> None:
    usage = conversation_usage({"prompt_tokens": 10, "completion_tokens": 4, **more})

    assert (usage.input, usage.output) == (counted, 4)


def test_openais_conversations_are_not_mistrals() -> None:
    made = exchanged("https://api.openai.com/v1/conversations", {"items": []}, {"object": "conversation", "id": "c"})

    assert read(made).protocol != "mistral-conversations"
    assert read(exchanged(URL, {}, {}, method="GET")).protocol != "mistral-conversations"


def test_the_turns_of_a_conversation_are_one_thread_and_its_call_is_answered() -> None:
    first = {"object": "conversation.response", "conversation_id": "conv_1", "outputs": [CALL], "usage": USAGE}
    then = {**first, "outputs": [SAID]}
    given = {"inputs": [{"type": "function.result", "tool_call_id": "call_1", "result": "3"}]}
    done = label_all([exchanged(URL, ASK, first), exchanged(f"{URL}/conv_1", given, then)])

    assert [one.label["thread"] for one in done] == [done[0].label["thread"]] * 2
    assert done[0].label["client"]["outcome"] == "dispatched"  # type: ignore[index,call-overload]
    findings: Any = [finding for one in done for finding in one.label["findings"]]  # type: ignore[union-attr]
    assert [finding["id"] for finding in findings if finding["severity"] in ("error", "warning")] == []
