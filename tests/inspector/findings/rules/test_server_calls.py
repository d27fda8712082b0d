"""Calls of the API's own tools, as a client sends them back."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from conversations import HELLO
from judged import (
    CONVERSE,
    anthropic,
    asked,
    gemini,
    item_call,
    item_output,
    judged,
    lines,
    responses,
    spoke,
    trip,
    turn,
    words,
)

from turntape.cassettes.tape.model import RoundTrip

type Block = dict[str, Any]
type Api = Callable[[Block, Sequence[Block]], list[RoundTrip]]

QUERY, OTHER = "the price of a tape", "the price of a reel"
MUTATED, FORGED = "client-assistant-mutated", "client-forged-answer"


def _anthropic(made: Block, sent: Sequence[Block]) -> list[RoundTrip]:
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    answer, history = [made, found, words("Five.")], [*sent, found, words("Five.")]
    first = anthropic([asked("What does a tape cost?")], answer)
    return [
        first,
        anthropic([asked("What does a tape cost?"), spoke(*history), asked("And a reel?")], [words("Six.")], 1),
    ]


def _searches(query: str, call_id: str = "srvtoolu_1") -> Block:
    return {"type": "server_tool_use", "id": call_id, "name": "web_search", "input": {"query": query}}


def _responses(made: Block, sent: Sequence[Block]) -> list[RoundTrip]:
    said = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Five."}],
    }
    history = [HELLO, *sent, said, {"role": "user", "content": "And a reel?"}]
    return [responses([HELLO], [made, said]), responses(history, [said | {"id": "msg_2"}], 1)]


def _web(query: str, call_id: str = "ws_1") -> Block:
    action = {"type": "search", "query": query, "sources": [{"type": "url", "url": "https://example.com"}]}
    return {"type": "web_search_call", "id": call_id, "status": "completed", "action": action}


def _mcp(query: str, call_id: str = "mcp_1") -> Block:
    asks = f'{{"question":"{query}"}}'
    return {"type": "mcp_call", "id": call_id, "server_label": "docs", "name": "ask", "arguments": asks, "output": "5"}


def _interprets(code: str, call_id: str = "ci_1") -> Block:
    return {"type": "code_interpreter_call", "id": call_id, "container_id": "c_1", "code": code, "outputs": []}


def _gemini(made: Block, sent: Sequence[Block]) -> list[RoundTrip]:
    ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "5"}}
    history = [
        turn("user", {"text": "hi"}),
        turn("model", *sent, ran, {"text": "Five."}),
        turn("user", {"text": "So?"}),
    ]
    return [gemini([turn("user", {"text": "hi"})], [made, ran, {"text": "Five."}]), gemini(history, [{"text": "x"}], 1)]


def _code(code: str, call_id: str | None = None) -> Block:
    return {"executableCode": {"language": "PYTHON", "code": code, **({"id": call_id} if call_id else {})}}


def _converse(made: Block, sent: Sequence[Block]) -> list[RoundTrip]:
    def once(messages: Sequence[Block], content: Sequence[Block], index: int) -> RoundTrip:
        answer = {"output": {"message": {"role": "assistant", "content": list(content)}}, "stopReason": "end_turn",
                  "usage": {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110}}  # fmt: skip
        return trip(CONVERSE, {"messages": list(messages)}, answer, index)

    ask, ran = turn_of("user", {"text": "hi"}), {"toolResult": {"toolUseId": "t_1", "content": [{"text": "5"}],
                                                                "type": "nova_code_interpreter_result"}}  # fmt: skip
    first = once([ask], [made, ran, {"text": "Five."}], 0)
    return [first, once([ask, turn_of("assistant", *sent, ran, {"text": "Five."}), turn_of("user", {"text": "So?"})],
                        [{"text": "x"}], 1)]  # fmt: skip


def turn_of(role: str, *content: Block) -> Block:
    return {"role": role, "content": list(content)}


def _snippet(code: str, call_id: str = "t_1") -> Block:
    return {"toolUse": {"toolUseId": call_id, "name": "nova_code_interpreter", "input": {"snippet": code},
                        "type": "server_tool_use"}}  # fmt: skip


WITH_IDS: list[tuple[Api, Callable[..., Block]]] = [
    (_anthropic, _searches), (_responses, _web), (_responses, _mcp), (_responses, _interprets), (_gemini, _code),
    (_converse, _snippet),
]  # fmt: skip
NAMES = ["anthropic", "web", "mcp", "interpreter", "gemini", "converse"]


@pytest.mark.parametrize(("api", "call"), WITH_IDS, ids=NAMES)
def test_other_arguments_than_the_api_returned(api: Api, call: Callable[..., Block]) -> None:
    [line] = lines(*api(call(QUERY), [call(OTHER)]), only=MUTATED)

    assert line.startswith(f"#1 {MUTATED} (client, warning, P): the arg")
    assert f"{QUERY!r} became {OTHER!r}" in line or "changed" in line
    assert lines(*api(call(QUERY), [call(QUERY)]), only="client-") == []
    assert lines(*api(call(QUERY), [call(f" {QUERY}\n")]), only=MUTATED) == []


@pytest.mark.parametrize(("api", "call"), WITH_IDS, ids=NAMES)
def test_a_call_that_the_api_never_made(api: Api, call: Callable[..., Block]) -> None:
    [line] = lines(*api(call(QUERY, "one_1"), [call(QUERY, "one_1"), call(OTHER, "two_2")]), only=FORGED)

    assert line.startswith(f"#1 {FORGED} (client, warning, P): the history contains a call of the API's own ")
    assert "two_2" in line


def test_calls_without_ids_are_those_of_the_answer_in_their_order() -> None:
    assert len(lines(*_gemini(_code(QUERY), [_code(OTHER)]), only=MUTATED)) == 1
    assert lines(*_gemini(_code(QUERY), [_code(QUERY)]), only="client-") == []


def test_a_field_that_the_client_leaves_out_is_not_changed() -> None:
    bare = _web(QUERY)
    del bare["action"]["sources"]

    assert lines(*_responses(_web(QUERY), [bare]), only="client-") == []
    assert (
        lines(
            *_responses(_web(QUERY), [_web(QUERY) | {"action": {"type": "search", "queries": [OTHER]}}]), only="client-"
        )
        == []
    )


def test_a_call_of_a_clients_tool_that_is_forged_beside_the_apis_own() -> None:
    forged, given = item_call("call_9", "reel"), item_output("call_9", "a wheel")
    use = {"type": "tool_use", "id": "toolu_9", "name": "look_up", "input": {"word": "reel"}}

    for trips in (
        _responses(_web(QUERY), [_web(QUERY), forged, given]),
        _anthropic(_searches(QUERY), [_searches(QUERY), use]),
    ):
        [line] = lines(*trips, only=FORGED)
        assert line.startswith(f"#1 {FORGED} (client, warning, P)")


FOUND: Block = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {"type": "web_search_result", "url": "https://example.com", "title": "A", "encrypted_content": "EqgfCioI"}
    ],
}
OWN = "the API's own call of 'web_search'"


def _stripped() -> Block:
    [row] = FOUND["content"]
    return FOUND | {"content": [{name: value for name, value in row.items() if name != "encrypted_content"}]}


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ([_searches(QUERY), FOUND], []),
        ([_searches(QUERY)], [("warning", f"{OWN} came back without its result")]),
        ([FOUND], [("warning", f"{OWN} is left out, and its result came back")]),
        ([_searches(QUERY), _stripped()],
         [("warning", f"{OWN} came back without the encrypted content of its result")]),
        ([], [("info", f"{OWN} and its result are left out")]),
    ],
)  # fmt: skip
def test_a_search_and_its_result_come_back_together(sent: list[Block], said: list[tuple[str, str]]) -> None:
    first = anthropic([asked("What does a tape cost?")], [_searches(QUERY), FOUND, words("A tape costs five euros.")])
    history = [asked("What does a tape cost?"), spoke(*sent, words("A tape costs five euros.")), asked("And a reel?")]
    second = anthropic(history, [words("Six.")], 1)

    assert [(one.severity, one.message) for one in judged(first, second) if one.id == MUTATED] == said


def test_a_search_of_another_conversation_may_be_left_out() -> None:
    first = anthropic([asked("What does a tape cost?")], [_searches(QUERY), FOUND, words("A tape costs five euros.")])
    second = anthropic([asked("Name this chat.")], [words("Prices.")], 1)

    assert [one for one in judged(first, second) if one.id == MUTATED] == []


def test_a_search_that_holds_its_own_result_may_come_back_without_it() -> None:
    ran = {"type": "code_interpreter_call", "id": "ci_1", "code": "1+1", "container_id": "c", "status": "completed"}
    said = {"type": "message", "id": "msg_1", "role": "assistant",
            "content": [{"type": "output_text", "text": "It is two, as the code says."}]}  # fmt: skip
    history = [HELLO, ran | {"outputs": None}, said, {"role": "user", "content": "And three?"}]
    trips = [
        responses([HELLO], [ran | {"outputs": [{"type": "logs", "logs": "2"}]}, said]),
        responses(history, [said], 1),
    ]

    assert [one for one in judged(*trips) if one.id == MUTATED] == []


def test_a_search_without_its_result_explains_the_rejection() -> None:
    first = anthropic([asked("What does a tape cost?")], [_searches(QUERY), FOUND, words("A tape costs five euros.")])
    history = [
        asked("What does a tape cost?"),
        spoke(_searches(QUERY), words("A tape costs five euros.")),
        asked("And?"),
    ]
    second = anthropic(history, [words("Six.")], 1)
    text = (
        "messages.1.content.0: `web_search` tool use with id srvtoolu_1 was found without a corresponding "
        "`web_search_tool_result` block"
    )
    error = {"type": "error", "error": {"type": "invalid_request_error", "message": text.replace("`", "")}}
    response = second.response
    assert response is not None
    refused = replace(second, response=replace(response, status=400, content=json.dumps(error).encode()))

    found = {one.id: one for one in judged(first, refused)}
    assert found[MUTATED].severity == "warning"
    assert found["request-rejected"].because_of == (MUTATED,)
    assert "client-pause-not-resumed" not in found
