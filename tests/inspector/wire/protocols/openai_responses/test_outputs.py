"""Results in OpenAI Responses: the client's, the API's own, and those inside a call."""

from typing import Any

import pytest
from round_trips import exchanged

from turntape.inspector.analysis.conversation import conversation_of
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Emission, RequestReading, ToolResult

URL = "https://api.openai.com/v1/responses"


def emitted(*output: object) -> Emission:
    body = {"id": "resp_1", "object": "response", "status": "completed", "output": output}
    emission = read(exchanged(URL, {"model": "gpt-5", "input": "hi"}, body)).emission
    assert emission is not None
    return emission


def asked(*items: object) -> RequestReading:
    return read(exchanged(URL, {"model": "gpt-5", "input": items}, {})).request


def mcp(**fields: Any) -> dict[str, Any]:
    return {"type": "mcp_call", "id": "mcp_1", "name": "ask", "server_label": "wiki", "arguments": '{"q":1}', **fields}


@pytest.mark.parametrize(
    ("item", "result"),
    [
        (mcp(output="an answer"), ToolResult("mcp_1", "ask", False, "an answer", True)),
        (mcp(output="half", status="failed"), ToolResult("mcp_1", "ask", True, "half", True)),
        (mcp(error="gone"), ToolResult("mcp_1", "ask", True, "gone", True)),
        (
            mcp(error={"type": "http_error", "code": 502, "message": "Bad Gateway"}),
            ToolResult("mcp_1", "ask", True, "Bad Gateway", True),
        ),
        (
            mcp(error={"type": "mcp_tool_execution_error", "content": [{"type": "text", "text": "no repository"}]}),
            ToolResult("mcp_1", "ask", True, "no repository", True),
        ),
        (
            {
                "type": "code_interpreter_call",
                "id": "ci_1",
                "code": "1+1",
                "outputs": [{"type": "logs", "logs": "2"}, {"type": "image", "url": "u"}],
            },
            ToolResult("ci_1", "code_interpreter", False, "2\n[image]", True),
        ),
        (
            {"type": "file_search_call", "id": "fs_1", "queries": ["q"], "results": [{"text": "a"}, {"text": "b"}]},
            ToolResult("fs_1", "file_search", False, "a\nb", True),
        ),
    ],
)
def test_a_call_of_the_api_holds_its_own_result(item: dict[str, Any], result: ToolResult) -> None:
    emission = emitted(item)

    assert emission.server_results == (result,)
    assert [call.id for call in emission.server_calls] == [item["id"]] and emission.calls == ()


@pytest.mark.parametrize("item", [mcp(), mcp(output=None, error=None), {"type": "web_search_call", "id": "ws_1"}])
def test_a_call_without_a_result_has_none(item: dict[str, Any]) -> None:
    assert emitted(item).server_results == ()


PROGRAM = {"type": "program", "id": "p", "call_id": "prog_1", "code": "await f()", "fingerprint": "fp"}
PROGRAM_OUTPUT = {"type": "program_output", "id": "po", "call_id": "prog_1", "result": "7", "status": "completed"}
SPAWN = {"type": "multi_agent_call", "call_id": "ma_1", "action": "spawn_agent", "arguments": '{"name":"b"}'}
SPAWNED = {
    "type": "multi_agent_call_output",
    "call_id": "ma_1",
    "action": "spawn_agent",
    "output": [{"type": "output_text", "text": "started"}],
}


def test_a_program_is_a_call_of_the_api_with_its_code_and_its_result() -> None:
    emission = emitted(PROGRAM, PROGRAM_OUTPUT)

    (call,) = emission.server_calls
    assert (call.name, call.id, call.arguments) == ("program", "prog_1", {"code": "await f()"})
    assert emission.server_results == (ToolResult("prog_1", None, False, "7", True),)
    assert emitted(PROGRAM, {**PROGRAM_OUTPUT, "status": "incomplete"}).server_results[0].is_error


def test_a_call_between_agents_is_named_by_its_action() -> None:
    emission = emitted(SPAWN, SPAWNED)

    (call,) = emission.server_calls
    assert (call.name, call.id, call.arguments) == ("spawn_agent", "ma_1", {"name": "b"})
    assert emission.server_results == (ToolResult("ma_1", "spawn_agent", False, "started", True),)


def test_the_echo_of_what_the_api_ran_is_neither_a_call_nor_a_result_of_the_client() -> None:
    request = asked(PROGRAM, PROGRAM_OUTPUT, SPAWN, SPAWNED, mcp(output="an answer"))

    assert request.results == ()
    assert {message.role for message in request.messages} == {"assistant"}
    assert conversation_of(request.messages).units == []


def test_a_function_that_a_program_calls_is_answered_by_the_client() -> None:
    by = {"type": "program", "caller_id": "prog_1"}
    call = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}", "caller": by}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "3", "caller": by}

    assert [call.id for call in emitted(PROGRAM, call).calls] == ["call_1"]
    assert asked(PROGRAM, call, output).results == (ToolResult("call_1", None, False, "3"),)


LOADED = [{"type": "function", "name": "a"}, {"type": "namespace", "name": "n", "tools": [{"name": "b"}]}]


@pytest.mark.parametrize(("execution", "server"), [("server", True), ("client", False)])
def test_a_search_of_tools_names_what_it_found(execution: str, server: bool) -> None:
    item = {"type": "tool_search_output", "call_id": "ts_1", "execution": execution, "tools": LOADED}
    request = asked(item)

    assert [part.text for part in request.messages[0].parts] == ["a, b"]
    assert [result.call_id for result in request.results] == ([] if server else ["ts_1"])
    assert [(t.name, t.pointer) for t in request.added_tools] == [
        ("a", "/input/0/tools/0"),
        ("b", "/input/0/tools/1/tools/0"),
    ]
    assert emitted(item).server_results[0].server


def shell(stdout: str, stderr: str, outcome: object) -> dict[str, Any]:
    return {"type": "shell_call_output", "output": [{"stdout": stdout, "stderr": stderr, "outcome": outcome}]}


@pytest.mark.parametrize(
    ("item", "text", "is_error"),
    [
        ({"type": "function_call_output", "output": "4"}, "4", False),
        ({"type": "function_call_output", "output": [{"type": "input_text", "text": "4"}]}, "4", False),
        ({"type": "computer_call_output", "output": {"type": "computer_screenshot"}}, "[computer_screenshot]", False),
        ({"type": "apply_patch_call_output", "status": "failed", "output": "no such file"}, "no such file", True),
        (shell("a", "b", {"type": "exit", "exit_code": 0}), "a\nb", False),
        (shell("a", "", {"type": "exit", "exit_code": 1}), "a", True),
        (shell("a", "", {"type": "timeout"}), "a", True),
    ],
)
def test_an_output_of_the_client_has_a_text_and_says_whether_it_failed(
    item: dict[str, Any], text: str, is_error: bool
) -> None:
    assert asked({"call_id": "call_1", **item}).results == (ToolResult("call_1", None, is_error, text),)


def test_an_approval_answers_its_request() -> None:
    yes = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    no = {"type": "mcp_approval_response", "approval_request_id": "mcpr_2", "approve": False, "reason": "not now"}

    assert [(r.call_id, r.text) for r in asked(yes, no).results] == [
        ("mcpr_1", "approved"),
        ("mcpr_2", "not approved: not now"),
    ]
