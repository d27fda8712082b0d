"""What two runs of one agent have in common although each of them has its own ids, times and thoughts."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from conversations import HELLO, chat, said
from round_trips import MESSAGES, exchanged

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.compare.diff_normalise import (
    OriginNames,
    address,
    digest_of,
    emission_form,
    finish_form,
)
from turntape.inspector.wire.parse import read

CALL = {"type": "tool_use", "id": "toolu_01ABCDEF", "name": "find", "input": {"q": "x"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "c2lnbmVk"}


def answered(*content: Any, id: str = "msg_1") -> RoundTrip:
    got = {"id": id, "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "content": content}
    return exchanged(MESSAGES, {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": []}, got)


def asked(*content: Any, **settings: Any) -> RoundTrip:
    message = {"role": "user", "content": list(content)}
    return exchanged(MESSAGES, {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [message], **settings}, {})


def result(call_id: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "3"}


def knowing(*answers: RoundTrip, reasoning: bool = True, elsewhere: dict[str, str] | None = None) -> OriginNames:
    names = OriginNames(elsewhere, reasoning=reasoning)
    for turn, trip in enumerate(answers, 1):
        names.learn(turn, read(trip))
    return names


def content_of(names: OriginNames, trip: RoundTrip) -> Any:
    body: Any = names.body(trip)
    return body["messages"][0]["content"]


def test_an_id_and_a_signature_are_their_origin() -> None:
    other = {**CALL, "id": "toolu_01GHIJKL"}
    names = knowing(answered(CALL, id="msg_A"), answered(THOUGHT, other, CALL, id="msg_B"))

    (thought, first, second, unknown) = content_of(
        names, asked(THOUGHT, result(CALL["id"]), result(other["id"]), result("toolu_01NEVER"))
    )
    assert thought["signature"] == "⟨signature 1 of turn 2⟩"
    assert first["tool_use_id"] == "⟨call 1 of turn 1⟩", "its first origin"
    assert second["tool_use_id"] == "⟨call 1 of turn 2⟩"
    assert unknown["tool_use_id"] not in (first["tool_use_id"], second["tool_use_id"])
    assert content_of(names, asked("msg_B")) == ["⟨answer of turn 2⟩"]


def test_an_origin_in_another_thread_is_named_so() -> None:
    elsewhere: dict[str, str] = {}
    knowing(answered(CALL), elsewhere=elsewhere)
    mine = knowing(answered({**CALL, "id": "toolu_01GHIJKL"}), elsewhere=elsewhere)

    found = content_of(mine, asked(result(CALL["id"]), result("toolu_01GHIJKL")))
    assert [one["tool_use_id"] for one in found] == ["⟨call 1 of turn 1 elsewhere⟩", "⟨call 1 of turn 1⟩"]


def test_ids_that_the_client_made_are_named_by_their_order() -> None:
    def chats(*ids: str) -> Any:
        calls = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in ids]
        return knowing().body(chat([{"role": "assistant", "content": None, "tool_calls": calls}]))

    assert chats("call_00001", "call_00002") == chats("made-7777", "made-8888")
    assert chats("call_00001", "call_00001") != chats("made-7777", "made-8888")
    assert chats("call_00001") != chats("a-call-by-words"), "a word and not an id"


SAME = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
BODIES: tuple[dict[str, Any], ...] = (
    {"model": "a", "messages": [SAME]},
    {"messages": [SAME], "model": "a"},
    {"model": "b", "messages": [SAME]},
    {"model": "a", "messages": [SAME, SAME]},
    {"model": "a", "messages": [{**SAME, "content": "hi"}]},
    {"model": "a", "messages": [SAME], "thinking": {"type": "enabled"}},
    {"model": "a", "messages": [SAME], "reasoning": {"effort": "low"}},
    {"model": "a", "messages": [SAME, {"role": "assistant", "content": [THOUGHT]}]},
    {"model": "a", "messages": [SAME, {"role": "assistant", "content": []}]},
    {"model": "a", "messages": [SAME, {"role": "assistant", "content": [], "reasoning_content": "hm"}]},
    {"model": "a", "messages": [SAME, {"role": "assistant", "content": [], "reasoning_details": [1]}]},
    {"model": "a", "messages": [SAME, {"type": "reasoning", "summary": []}]},
    {"model": "a", "messages": [SAME, {"thought": True, "text": "hm"}]},
    {"model": "a", "messages": {"0": SAME}},
    {"model": "a", "messages": []},
    {"model": "a", "messages": {}},
    {"model": "a", "messages": [SAME], "metadata": {"user_id": "u-12345678"}},
    {"model": "a", "messages": [SAME], "stop": None},
    {"model": "a", "messages": [{**SAME, "content": "At 2026-11-30T10:00:00Z"}]},
    {"model": "a", "messages": [{**SAME, "content": "At 2026-11-29T09:30:00Z"}]},
)


@pytest.mark.parametrize("reasoning", [True, False])
def test_digests_are_equal_where_the_normal_forms_are(reasoning: bool) -> None:
    names = OriginNames(reasoning=reasoning)
    trips = [exchanged(MESSAGES, body, {}) for body in BODIES]
    trips += [replace(trips[0], request=replace(trips[0].request, content=data)) for data in (b"{", b"[1]", b"", b"7")]

    forms = [orjson.dumps(names.body(trip), option=orjson.OPT_SORT_KEYS) for trip in trips]
    digests = [names.digest(trip) for trip in trips]

    for place, (form, digest) in enumerate(zip(forms, digests, strict=True)):
        assert [one == form for one in forms] == [one == digest for one in digests], trips[place].request.body
    assert digests == [OriginNames(reasoning=reasoning).digest(trip) for trip in trips]


def test_reasoning_in_the_history_is_left_out_on_request_and_its_setting_is_not() -> None:
    bare, *with_thoughts = (knowing(reasoning=False).body(exchanged(MESSAGES, BODIES[n], {})) for n in (8, 7, 9, 10))
    assert with_thoughts == [bare] * 3
    plain, *thoughts = (knowing(reasoning=False).body(exchanged(MESSAGES, BODIES[n], {})) for n in (0, 11, 12))
    assert thoughts == [plain] * 2
    for n in (5, 6):
        assert knowing(reasoning=False).body(exchanged(MESSAGES, BODIES[n], {})) != plain
    whole = [digest_of(knowing().body(exchanged(MESSAGES, BODIES[n], {}))) for n in range(7, 13)]
    assert len(set(whole)) == len(whole)


@pytest.mark.parametrize(
    "thought",
    [
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "thinking", "thinking": "hm"},
        {"type": "reasoning", "text": "hm"},
        {"thought": True, "text": "hm"},
    ],
)
def test_a_thought_in_a_message_is_left_out_on_request(thought: dict[str, Any]) -> None:
    spoken = {"type": "text", "text": "Hi"}

    assert content_of(knowing(reasoning=False), asked(thought, spoken)) == [spoken]
    assert len(content_of(knowing(), asked(thought, spoken))) == 2


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content", "reasoning_details", "thinking", "reasoningContent"])
def test_a_thought_beside_a_content_is_left_out_on_request(key: str) -> None:
    plain = {"role": "assistant", "content": "Hi"}
    trip = exchanged(MESSAGES, {"messages": [{**plain, key: ["hm"]}], key: {"effort": 1}}, {})

    assert knowing(reasoning=False).body(trip) == {"messages": [plain], key: {"effort": 1}}
    assert knowing().body(trip) == {"messages": [{**plain, key: ["hm"]}], key: {"effort": 1}}


def test_values_of_each_type_are_compared() -> None:
    assert knowing().body(exchanged(MESSAGES, {"a": [1, 2.5, True, None, "x"]}, {})) == {"a": [1, 2.5, True, None, "x"]}


def test_what_is_nested_without_end_is_compared_to_a_depth() -> None:
    def nested(levels: int, end: object) -> object:
        for _ in range(levels):
            end = [end]
        return knowing().body(exchanged(MESSAGES, {"messages": end}, {}))

    assert nested(100, "a") != nested(100, "b")
    assert nested(500, "a") == nested(500, "b")


def test_a_body_that_is_not_json_is_its_text() -> None:
    trip = asked()
    texts = [knowing().body(replace(trip, request=replace(trip.request, content=data))) for data in (b"a=1", b"\xff")]

    assert texts == ["a=1", "\ufffd"]


def test_digests_do_not_depend_on_the_order_of_keys_and_take_what_json_cannot_hold() -> None:
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1}) != digest_of({"a": 2, "b": 1})
    assert digest_of(["\ud800"]) != digest_of(["\ud801"]) and digest_of(2**80) != digest_of(2**81)


def test_what_is_compared_beside_the_body_is_what_changes_its_meaning() -> None:
    headers = (("Anthropic-Version", "1"), ("anthropic-beta", "b"), ("OpenAI-Beta", "c"), ("User-Agent", "x"))
    trip = asked()
    sent = replace(trip.request, method="post", url="https://gateway.example/v1/messages?beta=true", headers=headers)

    assert address(replace(trip, request=sent)) == {
        "method": "POST",
        "url": address(replace(trip, request=replace(sent, url="https://another.example/v1/messages?beta=true")))[
            "url"
        ],
        "headers": {"anthropic-version": "1", "anthropic-beta": "b", "openai-beta": "c"},
    }
    assert address(trip)["headers"] == {}


def test_an_answer_is_compared_without_its_ids() -> None:
    server = {"type": "server_tool_use", "id": "srvtoolu_01ABC", "name": "web_search", "input": {"q": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_01ABC", "content": []}
    trip = answered(THOUGHT, {"type": "text", "text": "Found."}, server, found, CALL)
    form = emission_form(read(trip).emission, OriginNames())

    assert form == {
        "text": "Found.",
        "refusal": None,
        "reasoning": "hm",
        "tool_calls": [{"name": "find", "arguments": {"q": "x"}}],
        "server_calls": [{"name": "web_search", "arguments": {"q": "x"}}],
        "other": [{"type": "web_search_tool_result", "content": []}],
    }
    assert emission_form(read(trip).emission, OriginNames(), reasoning=False) == {
        name: value for name, value in form.items() if name != "reasoning"
    }
    assert emission_form(read(answered({"type": "text", "text": "Hi"})).emission, OriginNames()) == {
        "text": "Hi", "refusal": None, "reasoning": "", "tool_calls": [],
    }  # fmt: skip
    assert emission_form(None, OriginNames()) == {}


def test_arguments_that_cannot_be_parsed_are_compared_as_they_are() -> None:
    trip = chat([HELLO], said(None, ("c1", "look_up", '{"word":')))

    assert emission_form(read(trip).emission, OriginNames())["tool_calls"] == [
        {"name": "look_up", "arguments": '{"word":'}
    ]


def test_how_an_api_finished_is_compared_without_the_wording_of_an_error() -> None:
    error = {"error": {"message": "No.", "type": "invalid_request_error", "code": "bad"}}
    refused = chat([HELLO], status=400, error=error)
    done = chat([HELLO], said("Hi"))
    lost = replace(done, response=None, failure=Failure("timeout", "no answer"))

    assert finish_form(refused, read(refused)) | {"finish_raw": None, "detail": None} == {
        "status": 400,
        "finish_raw": None,
        "effective": "error",
        "detail": None,
        "error": {"type": "invalid_request_error", "code": "bad", "status": 400},
        "failure": None,
    }
    assert finish_form(done, read(done)) == {
        "status": 200, "finish_raw": "stop", "effective": "complete", "detail": None, "error": None, "failure": None,
    }  # fmt: skip
    assert (finish_form(lost, read(lost))["status"], finish_form(lost, read(lost))["failure"]) == (None, "timeout")
