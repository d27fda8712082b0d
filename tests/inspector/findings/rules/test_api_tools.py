"""Calls without an id, and tools of the API that failed."""

import json
from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said
from judged import (
    CONVERSE,
    Said,
    anthropic,
    asked,
    calls,
    gemini,
    ids,
    item_call,
    judged,
    lines,
    responses,
    trip,
    turn,
    use,
    words,
)
from round_trips import CHAT, GEMINI, sse

from turntape.cassettes.tape.model import RoundTrip

NO_ID, FAILED = "api-call-without-id", "server-tool-failed"
HI = {"role": "user", "content": "hi"}


def about(name: str, *trips: RoundTrip) -> list[Said]:
    return [one for one in judged(*trips) if one.id == name]


def chatted(call_id: Any) -> RoundTrip:
    call = {"id": call_id, "type": "function", "function": {"name": "look_up", "arguments": '{"word":"tape"}'}}
    return chat([HELLO], {"role": "assistant", "content": None, "tool_calls": [call]})


def mistral(call_id: Any) -> RoundTrip:
    one = chatted(call_id)
    assert one.response is not None
    url = "https://api.mistral.ai/v1/chat/completions"
    return trip(url, json.loads(one.request.body), json.loads(one.response.body))


def responded(call_id: Any) -> RoundTrip:
    return responses([HI], [{**item_call(), "call_id": call_id}])


def conversed(call_id: Any) -> RoundTrip:
    block = {"toolUse": {"toolUseId": call_id, "name": "look_up", "input": {"word": "tape"}}}
    tool = {"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object"}}}}
    body = {"messages": [{"role": "user", "content": [{"text": "hi"}]}], "toolConfig": {"tools": [tool]}}
    answer = {"output": {"message": {"role": "assistant", "content": [block]}}, "stopReason": "tool_use"}
    return trip(CONVERSE, body, answer)


def invoked(call_id: Any) -> RoundTrip:
    one = anthropic([asked("hi")], [use(call_id)])
    assert one.response is not None
    body = json.loads(one.request.body) | {"anthropic_version": "bedrock-2023-05-31"}
    return trip(CONVERSE.replace("/converse", "/invoke"), body, json.loads(one.response.body))


def cohere(call_id: Any) -> RoundTrip:
    call = {"id": call_id, "type": "function", "function": {"name": "look_up", "arguments": '{"word":"tape"}'}}
    message = {"role": "assistant", "tool_calls": [call]}
    body = {"model": "command-a", "messages": [HI], "tools": TOOLS}
    return trip("https://api.cohere.com/v2/chat", body, {"id": "c", "message": message, "finish_reason": "TOOL_CALL"})


APIS = [chatted, mistral, responded, lambda i: anthropic([asked("hi")], [use(i)]), conversed, invoked, cohere]


@pytest.mark.parametrize("api", APIS)
def test_a_call_has_an_id_wherever_the_api_needs_one(api: Any) -> None:
    [one] = about(NO_ID, api(""))

    assert (one.layer, one.severity, one.tier) == ("api", "warning", "P")
    assert one.message == "1 call without an id: 'look_up'"
    assert about(NO_ID, api("call_1")) == []
    assert len(about(NO_ID, api(None))) == 1


def test_a_word_for_nothing_is_not_an_id() -> None:
    assert [one.layer for one in about(NO_ID, chatted("null"))] == ["api"]
    assert not about(NO_ID, chatted("nullable"))


def test_an_api_without_ids_needs_none() -> None:
    assert about(NO_ID, gemini([turn("user", {"text": "hi"})], [calls()])) == []
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look_up", "arguments": {}}}]}
    body = {"model": "qwen3", "messages": [HI], "stream": False, "tools": TOOLS}
    answer = {"model": "qwen3", "message": message, "done": True, "done_reason": "stop"}
    assert about(NO_ID, trip("http://127.0.0.1:11434/api/chat", body, answer)) == []


def test_kinds_of_calls_that_have_their_id_elsewhere_or_none() -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "look_up", "arguments": "{}"}}
    assert about(NO_ID, chat([HELLO], old, finish="function_call")) == []
    wish = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "a", "arguments": "{}", "server_label": "s"}
    assert about(NO_ID, responses([HI], [wish])) == []
    searched = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    assert about(NO_ID, responses([HI], [searched])) == []
    custom = {"id": "", "type": "custom", "custom": {"name": "look_up", "input": "tape"}}
    assert len(about(NO_ID, chat([HELLO], {"role": "assistant", "content": None, "tool_calls": [custom]}))) == 1
    server = {"type": "server_tool_use", "id": "", "name": "web_search", "input": {}}
    assert about(NO_ID, anthropic([asked("hi")], [server, words("x")])) == []


def test_calls_without_an_id_are_listed_up_to_four() -> None:
    def function(n: int, call_id: str = "") -> dict[str, Any]:
        return {"id": call_id, "type": "function", "function": {"name": "look_up", "arguments": f'{{"word":"{n}"}}'}}

    many = [function(n) for n in range(5)] + [function(9, "call_9")]
    assert lines(chat([HELLO], {"role": "assistant", "content": None, "tool_calls": many}), only=NO_ID) == [
        "#0 api-call-without-id (api, warning, P): 5 calls without an id: 'look_up', 'look_up', 'look_up', 'look_up' | "
        + ", ".join(f"#0 response /choices/0/message/tool_calls/{n}" for n in range(4))
    ]


def test_a_call_that_did_not_arrive_whole_may_lack_its_id() -> None:
    delta = {"tool_calls": [{"index": 0, "function": {"name": "look_up", "arguments": '{"wo'}}]}
    event = {"id": "c", "model": "m", "choices": [{"index": 0, "delta": delta}]}
    body = {"model": "m", "messages": [HI], "stream": True, "tools": TOOLS}

    assert about(NO_ID, trip(CHAT, body, sse(event))) == []
    incomplete = {**item_call(), "call_id": "", "status": "incomplete"}
    assert about(NO_ID, responses([HI], [incomplete])) == []


def test_a_client_that_gives_an_id_of_its_own_makes_it_an_info() -> None:
    call = said(None, ("call_own", "look_up", '{"word":"tape"}'))

    def answered(text: str) -> list[str]:
        history = [HELLO, call, result("call_own", text)]
        return [one.severity for one in about(NO_ID, chatted(""), chat(history, said("A strip."), index=1))]

    assert answered("a strip") == ["info"]
    assert answered("error: no call") == ["warning"]


MCP = [
    {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "list_issues", "server_name": "tracker", "input": {}},
    {
        "type": "mcp_tool_result",
        "tool_use_id": "mcptoolu_1",
        "is_error": True,
        "content": [{"type": "text", "text": "401 Unauthorized"}],
    },
]


def searched(content: object, number: int = 1) -> list[dict[str, Any]]:
    call_id = f"srvtoolu_{number}"
    return [
        {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": "tape"}},
        {"type": "web_search_tool_result", "tool_use_id": call_id, "content": content},
    ]


UNAVAILABLE = {"type": "web_search_tool_result_error", "error_code": "unavailable"}


def failed_in_anthropic() -> list[tuple[RoundTrip, str, str]]:
    fetched = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {}},
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
        },
    ]
    return [
        (anthropic([asked("hi")], [*MCP, words("x")]), "list_issues", "401 Unauthorized"),
        (anthropic([asked("hi")], [*searched(UNAVAILABLE), words("x")]), "web_search", "unavailable"),
        (anthropic([asked("hi")], [*fetched, words("x")]), "web_fetch", "url_not_accessible"),
    ]


def message() -> dict[str, Any]:
    content = [{"type": "output_text", "text": "x", "annotations": []}]
    return {"type": "message", "role": "assistant", "id": "m", "status": "completed", "content": content}


def failed_in_responses() -> list[tuple[RoundTrip, str, str]]:
    asked_server = {"type": "mcp_call", "id": "mcp_1", "name": "list_issues", "server_label": "t", "arguments": "{}"}
    items = [
        ({"type": "web_search_call", "id": "ws_1", "status": "failed"}, "web_search", ""),
        ({"type": "file_search_call", "id": "fs_1", "status": "failed", "queries": []}, "file_search", ""),
        ({"type": "image_generation_call", "id": "i", "status": "failed"}, "image_generation", ""),
        ({**asked_server, "status": "failed", "error": "no such tool"}, "list_issues", "no such tool"),
        ({**asked_server, "error": {"type": "http_error", "message": "502"}, "output": None}, "list_issues", "502"),
        (
            {"type": "code_interpreter_call", "id": "ci", "status": "failed", "code": "1"},
            "code_interpreter",
            "",
        ),
    ]
    listing = {"type": "mcp_list_tools", "id": "l", "server_label": "tracker", "tools": [], "error": "401 Unauthorized"}
    items.append((listing, "tracker (list of tools)", "401 Unauthorized"))
    return [(responses([HI], [item, message()]), name, text) for item, name, text in items]


def failed_elsewhere() -> list[tuple[RoundTrip, str, str]]:
    use_it = {"toolUse": {"toolUseId": "t1", "name": "nova_grounding", "type": "server_tool_use", "input": {}}}
    gave = {"toolResult": {"toolUseId": "t1", "type": "nova_grounding_result", "status": "error",
                           "content": [{"text": "no hits"}]}}  # fmt: skip
    answer = {"output": {"message": {"role": "assistant", "content": [use_it, gave, {"text": "x"}]}},
              "stopReason": "end_turn"}  # fmt: skip
    body = {"messages": [{"role": "user", "content": [{"text": "hi"}]}]}
    late = {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED", "output": "too slow"}}
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    return [
        (trip(CONVERSE, body, answer), "nova_grounding", "no hits"),
        (gemini([turn("user", {"text": "hi"})], [code, late, {"text": "x"}]), "code_execution", "too slow"),
    ]


@pytest.mark.parametrize(("one", "name", "text"), [*failed_in_anthropic(), *failed_in_responses(), *failed_elsewhere()])
def test_a_tool_of_the_api_that_failed_is_reported(one: RoundTrip, name: str, text: str) -> None:
    [found] = about(FAILED, one)

    assert (found.layer, found.severity, found.tier) == ("api", "warning", "P")
    assert found.message == f"the tool {name!r}, which the API ran, failed" + (f": {text}" if text else "")


def test_a_failure_is_shown_at_its_place_and_in_part() -> None:
    said_so = {**MCP[1], "content": [{"type": "text", "text": "x" * 500}]}

    assert lines(anthropic([asked("hi")], [MCP[0], said_so, words("x")]), only=FAILED) == [
        "#0 server-tool-failed (api, warning, P): the tool 'list_issues', which the API ran, failed: "
        f"{'x' * 160} | #0 response /content/1",
    ]
    silent = {**MCP[1], "content": []}
    [line] = lines(anthropic([asked("hi")], [MCP[0], silent, words("x")]), only=FAILED)
    assert line.endswith("which the API ran, failed | #0 response /content/1")


def test_a_result_whose_call_is_not_there_has_the_name_of_its_type() -> None:
    [found] = about(FAILED, anthropic([asked("hi")], [MCP[1], words("x")]))
    assert "'mcp_tool_result'" in found.message
    other = {**searched(UNAVAILABLE)[1], "tool_use_id": "srvtoolu_9"}
    [found] = about(FAILED, anthropic([asked("hi")], [searched([])[0], other, words("x")]))
    assert "'web_search_tool_result'" in found.message


def test_a_tool_that_worked_is_fine() -> None:
    assert ids(anthropic([asked("hi")], [*searched([]), words("x")])) == set()
    assert ids(anthropic([asked("hi")], [MCP[0], {**MCP[1], "is_error": False}, words("x")])) == set()
    fine = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    assert ids(responses([HI], [fine, message()])) == set()
    listed = {"type": "mcp_list_tools", "id": "l", "server_label": "tracker", "tools": [], "error": None}
    assert ids(responses([HI], [listed, message()])) == set()
    update = {"type": "configuration_update", "error": "x"}
    assert FAILED not in ids(responses([HI], [update, message()]))


@pytest.mark.parametrize(
    ("blocks", "stop", "found"),
    [
        ([words("x")], None, True),
        ([searched([], 2)[0], words("x")], "end_turn", True),
        ([words("x")], "pause_turn", False),
        ([words("x")], "max_tokens", False),
        ([use()], None, False),
        ([{**searched([])[1], "tool_use_id": "srvtoolu_9"}, words("x")], None, False),
        ([searched([])[1], words("x")], None, False),
    ],
)
def test_a_tool_of_the_api_without_a_result_in_a_finished_answer(
    blocks: list[Any], stop: str | None, found: bool
) -> None:
    one = anthropic([asked("hi")], [searched([])[0], *blocks], stop=stop)

    said_so = {each.message for each in about(FAILED, one)}

    assert said_so == (
        {"the tool 'web_search', which the API runs, gave no result, and the answer ended"} if found else set()
    )


def test_a_tool_whose_call_and_result_are_one_item_has_its_result() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}

    assert about(FAILED, responses([HI], [search, message()])) == []


def test_a_tool_that_worked_afterwards_makes_it_an_info() -> None:
    again = anthropic([asked("hi")], [*searched(UNAVAILABLE), *searched([], 2), words("x")])
    assert [one.severity for one in about(FAILED, again)] == ["info"]
    before = anthropic([asked("hi")], [*searched([], 2), *searched(UNAVAILABLE), words("x")])
    assert [one.severity for one in about(FAILED, before)] == ["warning"]
    other = anthropic([asked("hi")], [*MCP, *searched([]), words("x")])
    assert [one.severity for one in about(FAILED, other)] == ["warning"]
    twice = anthropic([asked("hi")], [*searched(UNAVAILABLE), *searched(UNAVAILABLE, 2), words("x")])
    assert [one.severity for one in about(FAILED, twice)] == ["warning", "warning"]


def test_a_program_that_failed_is_the_models_and_an_info() -> None:
    ran = {"type": "code_execution_result", "return_code": 1, "stdout": "", "stderr": "ZeroDivisionError"}
    blocks = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "1/0"}},
        {"type": "code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": ran},
    ]
    assert lines(anthropic([asked("hi")], [*blocks, words("x")]), only=FAILED) == [
        "#0 server-tool-failed (model, info, P): a program of the model failed in 'code_execution': "
        "ZeroDivisionError | #0 response /content/1",
    ]
    failed = {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "ZeroDivisionError"}}
    code = {"executableCode": {"language": "PYTHON", "code": "1/0"}}
    [found] = about(FAILED, gemini([turn("user", {"text": "hi"})], [code, failed, {"text": "x"}]))
    assert (found.layer, found.severity) == ("model", "info")


def test_a_result_that_the_client_gave_is_not_the_apis() -> None:
    history = [HELLO, said(None, CALL), result("call_1", "error: no")]

    assert FAILED not in ids(chat([HELLO], said(None, CALL)), chat(history, said("x"), index=1))


def searching(kind: str, **fields: Any) -> RoundTrip:
    """An answer of Responses in which the API ran one of its own tools."""
    item = {"id": "ws_1", "type": kind, **fields}
    text = {"id": "m", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is."}]}
    return responses([HI], [item, text], tools=[{"type": "web_search"}])


@pytest.mark.parametrize(
    ("one", "tool"),
    [
        (searching("web_search_call", status="in_progress", action={"type": "search", "query": "q"}), "web_search"),
        (searching("web_search_call", status="searching", action={"type": "search", "query": "q"}), "web_search"),
        (searching("code_interpreter_call", status="interpreting", code="1+1", outputs=None), "code_interpreter"),
    ],
)
def test_a_tool_that_the_api_still_runs_when_the_answer_ends_failed(one: RoundTrip, tool: str) -> None:
    assert [(said.layer, said.message) for said in about(FAILED, one)] == [
        ("api", f"the tool {tool!r}, which the API runs, had not ended, and the answer ended")
    ]


def test_a_tool_of_the_api_that_ended_or_has_its_result_did_not_fail() -> None:
    assert about(FAILED, searching("web_search_call", status="completed", action={"type": "search"})) == []
    logs = [{"type": "logs", "logs": "2"}]
    assert about(FAILED, searching("code_interpreter_call", status="interpreting", code="1+1", outputs=logs)) == []
    picture = searching("image_generation_call", status="generating", result="iVBORw0KGgo=")
    assert about(FAILED, picture) == [], "the status of a picture that is there"


PROGRAM = {"executableCode": {"language": "PYTHON", "code": "print(1+1)"}}
OUTPUT = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
IT_IS = {"text": "It is 2."}


def programs(*parts: Any, tool: str = "codeExecution") -> list[str]:
    body = {"contents": [turn("user", {"text": "1+1?"})], "tools": [{tool: {}}]}
    answer = json.loads(gemini([], parts).response.body)  # pyright: ignore[reportOptionalMemberAccess]
    return [said.message for said in about(FAILED, trip(GEMINI, body, answer))]


def test_a_program_of_gemini_without_its_output_gave_no_result() -> None:
    lost = "the tool 'code_execution', which the API runs, gave no result, and the answer ended"

    assert programs(PROGRAM, IT_IS) == [lost]
    assert programs(PROGRAM, OUTPUT, IT_IS, PROGRAM) == [lost]
    assert programs(PROGRAM, OUTPUT, IT_IS) == []
    assert programs(PROGRAM, IT_IS, OUTPUT, tool="code_execution") == []
    assert programs(PROGRAM, IT_IS, tool="fileSearch") == [], "the model wrote a program that nobody offered to run"


def searched_by_mistral(*events: str) -> list[str]:
    """A stream of a conversation in which Mistral searched."""
    run = [{"type": f"tool.execution.{one}", "output_index": 0, "id": "t", "name": "web_search"} for one in events]
    said = {"type": "message.output.delta", "output_index": 1, "id": "m", "role": "assistant", "content": "It is."}
    begun = {"type": "conversation.response.started", "conversation_id": "conv_1"}
    done = {"type": "conversation.response.done", "usage": {"prompt_tokens": 9, "completion_tokens": 3}}
    body = sse(begun, *run, said, done, names=True)
    asked = {"inputs": "q", "stream": True, "model": "mistral-medium", "tools": [{"type": "web_search"}]}
    return [one.message for one in about(FAILED, trip("https://api.mistral.ai/v1/conversations", asked, body))]


def test_a_tool_that_mistral_started_and_never_ended_failed() -> None:
    assert searched_by_mistral("started", "done") == []
    assert searched_by_mistral("started") == [
        "the tool 'web_search', which the API runs, had not ended, and the answer ended"
    ]
