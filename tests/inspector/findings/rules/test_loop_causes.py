"""Loops that the client or the API causes."""

import json
from typing import Any

import pytest
from conversations import HELLO, chat, result, said, user
from judged import (
    CONVERSE,
    anthropic,
    asked,
    calls,
    given,
    gives,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    spoke,
    trip,
    turn,
    use,
    words,
)
from round_trips import GEMINI, sse
from rule_exceptions_steps import demanded, replayed

from turntape.cassettes.tape.model import RoundTrip

FORCED = "client-forced-tool-loop"
REPLAYED = "api-answer-replayed"
ASKED = asked("what is a tape?")


def with_anthropic(choice: dict[str, Any] | None, count: int = 3) -> list[RoundTrip]:
    fields: dict[str, Any] = {"tool_choice": choice} if choice else {}
    history, trips = [ASKED], list[RoundTrip]()
    for n in range(count):
        trips.append(anthropic(history, [use(f"toolu_{n}")], n, **fields))
        history = [*history, spoke(use(f"toolu_{n}")), asked(given(f"toolu_{n}", "none"))]
    return trips


def with_responses(choice: object, count: int = 3) -> list[RoundTrip]:
    items, trips = [user("what is a tape?")], list[RoundTrip]()
    for n in range(count):
        trips.append(responses(items, [item_call(f"call_{n}")], n, tool_choice=choice))
        items = [*items, item_call(f"call_{n}"), item_output(f"call_{n}", "none")]
    return trips


def with_gemini(mode: str, count: int = 3) -> list[RoundTrip]:
    config = {"functionCallingConfig": {"mode": mode}}
    contents, trips = [turn("user", {"text": "what is a tape?"})], list[RoundTrip]()
    for n in range(count):
        body = {"contents": contents, "tools": _TOOLS, "toolConfig": config}
        trips.append(trip(GEMINI, body, _answer(n), n))
        contents = [*contents, turn("model", calls()), turn("user", gives("none"))]
    return trips


_TOOLS = [{"functionDeclarations": [{"name": "look_up", "parameters": {"type": "object", "properties": {}}}]}]


def _answer(number: int) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": [calls()]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-3", "responseId": f"r{number}"}


LOOPS = {
    "chat": demanded()[:3],
    "anthropic": with_anthropic({"type": "any"}),
    "responses": with_responses("required"),
    "named": with_responses({"type": "function", "name": "look_up"}),
    "gemini": with_gemini("ANY"),
}
FREE = {
    "anthropic": with_anthropic(None),
    "responses": with_responses("auto"),
    "gemini": with_gemini("AUTO"),
}


@pytest.mark.parametrize("api", LOOPS)
def test_a_forced_call_that_is_repeated_is_the_clients_fault_in_every_api(api: str) -> None:
    one = only(FORCED, *LOOPS[api])

    assert (one.layer, one.severity, one.tier, one.at) == ("client", "error", "S", 2)
    assert only("model-repeated-call", *LOOPS[api]).because_of == (FORCED,)


@pytest.mark.parametrize("api", FREE)
def test_a_call_that_the_model_chose_itself_is_its_own_fault(api: str) -> None:
    assert FORCED not in ids(*FREE[api])
    assert only("model-repeated-call", *FREE[api]).because_of == ()


def test_two_forced_calls_are_not_a_loop() -> None:
    assert FORCED not in ids(*demanded()[:2])


def test_a_forced_loop_is_reported_again_when_the_model_is_stuck() -> None:
    trips = demanded(results=("none",) * 6)

    assert [one.at for one in judged(*trips) if one.id == FORCED] == [2, 4]
    assert [one.because_of for one in judged(*trips) if one.id == "model-repeated-call"] == [(FORCED,), (FORCED,)]


def test_the_message_of_a_forced_loop() -> None:
    assert lines(*demanded()[:3], only=FORCED) == [
        f"#2 {FORCED} (client, error, S): tool_choice demands a call (required) and the model made the same call of "
        "'look_up' 3 times in a row: it has no other way to continue | #2 request tool choice required, "
        "#0 call look_up, #1 call look_up, #2 call look_up"
    ]


def test_an_answer_that_comes_again_is_the_apis_fault() -> None:
    assert lines(*replayed(), only=REPLAYED) == [
        f"#1 {REPLAYED} (api, error, P): the answer has the id and the content of #0, although the request is another "
        "one: chatcmpl-0 | #0 response, #1 response"
    ]


def test_a_loop_of_answers_that_come_again_is_not_the_models() -> None:
    call = said(None, ("call_1", "look_up", '{"word":"tape"}'))
    history: list[dict[str, Any]] = [HELLO]
    trips: list[RoundTrip] = []
    for n in range(3):
        one = chat(history, call)
        trips.append(trip(one.request.url, _body(one), _reply(call), n))
        history = [*history, call, result("call_1", "none")]

    assert [one.at for one in judged(*trips) if one.id == REPLAYED] == [1, 2]
    assert only("model-repeated-call", *trips).because_of == (REPLAYED,)


def _body(one: RoundTrip) -> dict[str, Any]:
    return json.loads(one.request.body)


def _reply(message: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return {"id": "chatcmpl-0", "object": "chat.completion", "model": "gpt-5", "choices": [choice], "usage": usage}


@pytest.mark.parametrize("api", ["anthropic", "responses"])
def test_an_answer_that_comes_again_is_found_in_every_api_with_ids(api: str) -> None:
    if api == "anthropic":
        first = anthropic([ASKED], [words("It is a strip.")])
        again = anthropic([ASKED, spoke(words("It is a strip.")), asked("and a reel?")], [words("It is a strip.")])
    else:
        said_ = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                 "content": [{"type": "output_text", "text": "It is a strip.", "annotations": []}]}  # fmt: skip
        first = responses([user("what is a tape?")], [said_])
        again = responses([user("what is a tape?"), said_, user("and a reel?")], [said_])

    one = only(REPLAYED, first, trip(again.request.url, _body(again), _body_of(again), 1))
    assert (one.layer, one.at) == ("api", 1)


def _body_of(one: RoundTrip) -> dict[str, Any]:
    assert one.response is not None
    return json.loads(one.response.body)


def _with_converse(*call_ids: str) -> list[RoundTrip]:
    """Turns of an API that gives its answers no id: the same call in each, under these ids."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"text": "what is a tape?"}]}]
    trips: list[RoundTrip] = []
    for n, call_id in enumerate(call_ids):
        called = {"toolUse": {"toolUseId": call_id, "name": "look_up", "input": {"word": "tape"}}}
        body = {
            "output": {"message": {"role": "assistant", "content": [called]}},
            "stopReason": "tool_use",
            "usage": {"inputTokens": 100, "outputTokens": 10, "totalTokens": 110},
        }
        offered = {"toolSpec": {"name": "look_up", "inputSchema": {"json": {"type": "object"}}}}
        trips.append(trip(CONVERSE, {"messages": messages, "toolConfig": {"tools": [offered]}}, body, n))
        given = {"toolResult": {"toolUseId": call_id, "content": [{"text": f"strip {n}"}]}}
        messages = [*messages, {"role": "assistant", "content": [called]}, {"role": "user", "content": [given]}]
    return trips


def test_an_answer_without_an_id_is_replayed_if_it_has_the_random_id_of_a_call() -> None:
    first, second = "tooluse_rRmNJXd6AXIisNck6KAmUx", "tooluse_k5WHQUrqFgm8eDWkXPCheP"

    assert lines(*_with_converse(first, first), only=REPLAYED) == [
        f"#1 {REPLAYED} (api, error, P): the answer has the call id and the content of #0, although the request is "
        f"another one: {first} | #0 response, #1 response"
    ]
    assert lines(*_with_converse(first, second), only=REPLAYED) == []
    assert lines(*_with_converse("call_0", "call_0"), only=REPLAYED) == [], "a server that counts its calls"
    again = _with_converse(first)
    assert lines(*again, trip(again[0].request.url, _body(again[0]), _body_of(again[0]), 1), only=REPLAYED) == []


def test_a_run_of_assistants_that_continues_keeps_its_id() -> None:
    url = "https://api.openai.com/v1/threads/thread_1/runs"
    call = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"word":"tape"}'}}
    needs = {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": [call]}}
    begun = {"id": "run_1", "object": "thread.run", "thread_id": "thread_1", "status": "requires_action"}
    begun |= {"required_action": needs}
    text = {"index": 0, "type": "text", "text": {"value": "A strip."}}
    delta = {"id": "msg_2", "object": "thread.message.delta", "delta": {"content": [text]}}
    done = {**begun, "status": "completed", "required_action": None}
    outputs = {"tool_outputs": [{"tool_call_id": "call_1", "output": "a strip"}], "stream": True}
    later = trip(f"{url}/run_1/submit_tool_outputs", outputs, sse(delta, done, done=True), 1)

    assert "api-id-repeated" not in ids(trip(url, {"assistant_id": "asst_1"}, begun), later)
