"""Results of the API's own tools: their text, whether they failed, and that nobody takes them for the client's."""

from typing import Any

import pytest
from round_trips import MESSAGES, exchanged, sse

from turntape.inspector.analysis.conversation import conversation_of
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, ToolResult

ASK: dict[str, Any] = {"model": "claude-x", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
USE = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "q"}}


def answered(*content: object) -> Reading:
    body = {"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn", "model": "claude-x"}
    return read(exchanged(MESSAGES, ASK, body))


def result_of(block: dict[str, Any]) -> ToolResult:
    emission = answered(USE, {"tool_use_id": "srv_1", **block}).emission
    assert emission is not None
    (result,) = emission.server_results
    assert (result.call_id, result.server) == ("srv_1", True)
    return result


PAGE = {"type": "web_search_result", "title": "Tokyo", "url": "https://t.example", "encrypted_content": "Eq9="}
WROTE = "4\n\nwarned\n[code_execution_output]"
REDACTED = {"type": "advisor_redacted_result", "encrypted_content": "E"}
RAN = {"stdout": "4\n", "stderr": "warned", "content": [{"type": "code_execution_output", "file_id": "f"}]}
CODE = "code_execution_tool_result"
BASH = "bash_code_execution_tool_result"
EDITED = "text_editor_code_execution_tool_result"
SEARCHED = "tool_search_tool_result"


@pytest.mark.parametrize(
    ("kind", "content", "text", "is_error"),
    [
        ("web_search_tool_result", [PAGE], "Tokyo\nhttps://t.example", False),
        ("web_search_tool_result", [], "", False),
        (
            "web_search_tool_result",
            {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"},
            "max_uses_exceeded",
            True,
        ),
        (
            "web_fetch_tool_result",
            {
                "type": "web_fetch_result",
                "url": "https://t.example",
                "content": {"type": "document", "title": "T", "source": {"type": "text", "data": "Hello"}},
            },
            "https://t.example\nT\nHello",
            False,
        ),
        (
            "web_fetch_tool_result",
            {
                "type": "web_fetch_result",
                "url": "https://t.example",
                "content": {"type": "document", "source": {"type": "base64", "data": "JVBE"}},
            },
            "https://t.example\n[document]",
            False,
        ),
        (CODE, {"type": "code_execution_result", "return_code": 0, **RAN}, WROTE, False),
        (CODE, {"type": "code_execution_result", "return_code": 1, **RAN}, WROTE, True),
        (
            CODE,
            {"type": "encrypted_code_execution_result", "encrypted_stdout": "Eq9=", "stderr": "", "return_code": 0},
            "[encrypted_code_execution_result]",
            False,
        ),
        (BASH, {"type": "bash_code_execution_result", "stdout": "a", "stderr": "b", "return_code": 0}, "a\nb", False),
        (EDITED, {"type": "text_editor_code_execution_view_result", "content": "line"}, "line", False),
        (EDITED, {"type": "text_editor_code_execution_str_replace_result", "lines": ["-a", "+b"]}, "-a\n+b", False),
        (
            EDITED,
            {"type": "text_editor_code_execution_create_result", "is_file_update": True},
            "[text_editor_code_execution_create_result]",
            False,
        ),
        (
            SEARCHED,
            {
                "type": "tool_search_tool_search_result",
                "tool_references": [{"type": "tool_reference", "tool_name": "a"}, {"tool_name": "b", "type": "x"}],
            },
            "a\n[x]",
            False,
        ),
        (
            SEARCHED,
            {"type": "tool_search_tool_result_error", "error_code": "unavailable", "error_message": "try later"},
            "unavailable: try later",
            True,
        ),
        ("advisor_tool_result", {"type": "advisor_result", "text": "Do it."}, "Do it.", False),
        ("advisor_tool_result", REDACTED, "[advisor_redacted_result]", False),
        ("someday_tool_result", {"type": "someday_result", "what": 1}, "[someday_result]", False),
    ],
)
def test_each_kind_of_result_has_a_text_and_says_whether_it_failed(
    kind: str, content: object, text: str, is_error: bool
) -> None:
    result = result_of({"type": kind, "content": content})

    assert (result.text, result.is_error) == (text, is_error)


@pytest.mark.parametrize("is_error", [True, False])
def test_a_result_of_an_mcp_server_says_itself_whether_it_failed(is_error: bool) -> None:
    content = [{"type": "text", "text": "no such repository"}]
    result = result_of({"type": "mcp_tool_result", "content": content, "is_error": is_error})

    assert (result.text, result.is_error) == ("no such repository", is_error)


def test_a_streamed_result_is_read_as_one_in_a_body() -> None:
    ran = {"type": "bash_code_execution_result", "stdout": "a", "stderr": "", "return_code": 2}
    block = {"type": BASH, "tool_use_id": "srv_1", "content": ran}
    events = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "model": "claude-x"}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn"}},
        {"type": "message_stop"},
    ]
    reading = read(exchanged(MESSAGES, {**ASK, "stream": True}, sse(*events, names=True)))

    assert reading.emission is not None
    assert reading.emission.server_results == (ToolResult("srv_1", None, True, "a", True, program_failed=True),)
    assert reading.emission.emitted == "text"  # It is not empty, though the model has said nothing beside it.


def test_the_echo_of_a_server_result_is_not_a_result_of_the_client() -> None:
    echo = [USE, {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [PAGE]}]
    own = [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "4"}]
    messages = [{"role": "assistant", "content": echo}, {"role": "user", "content": own}]
    request = read(exchanged(MESSAGES, {**ASK, "messages": messages}, {})).request

    assert [result.text for result in request.results] == ["4"]
    assert [unit.kind for unit in conversation_of(request.messages).units] == ["result"]


@pytest.mark.parametrize(
    ("content", "program"),
    [
        ({"type": "code_execution_result", "return_code": 1}, True),
        ({"type": "code_execution_result", "return_code": 0}, False),
        ({"type": "code_execution_tool_result_error", "error_code": "unavailable"}, False),
        ({"type": "code_execution_tool_result_error", "error_code": "unavailable", "return_code": 1}, False),
    ],
)
def test_a_program_that_failed_is_not_a_tool_that_failed(content: dict[str, object], program: bool) -> None:
    assert result_of({"type": "code_execution_tool_result", "content": content}).program_failed is program


SAID = {"type": "text", "text": "x"}
STATE = {
    "type": "browser_state",
    "tabs": [{"tab_id": "1", "title": "Docs", "url": "https://d.example", "active": True}],
    "state_changes": [
        {"type": "tab_opened", "tab_id": "1"},
        {"type": "download_failed", "download_id": "d", "url": "https://f.example", "error": "no space"},
    ],
}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("4", "4"),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        ([{"type": "image", "source": {}}], "[image]"),
        ([{"type": "tool_reference", "tool_name": "lookup"}], "lookup"),
        ([{"type": "search_result", "title": "T", "source": "s", "content": [SAID]}], "T\ns\nx"),
        ([STATE], "Docs https://d.example\n1\nhttps://f.example\nno space"),
        ([{"type": "someday"}], "[someday]"),
        (None, ""),
    ],
)
def test_what_a_client_gives_is_a_text_too(content: object, text: str) -> None:
    block = {"type": "tool_result", "tool_use_id": "toolu_1", "content": content, "is_error": True}
    body = {**ASK, "messages": [{"role": "user", "content": [block]}]}

    (result,) = read(exchanged(MESSAGES, body, {})).request.results
    assert result == ToolResult("toolu_1", None, True, text)
