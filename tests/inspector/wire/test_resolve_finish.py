"""The order of the rules that turn a word, an emission and a transport into what a client must do."""

import json
from typing import Literal

import pytest

from turntape.inspector.wire.resolve_finish import calls_in_text, reconcile
from turntape.inspector.wire.values import (
    ApiError,
    Choice,
    FinishLabel,
    Message,
    Part,
    PartKind,
    RequestReading,
    ResponseReading,
    Tool,
    ToolCall,
    ToolChoice,
)

CALL = ToolCall("f", "c", {}, "{}")
TORN = ToolCall("f", "c", None, '{"x', complete=False)
SERVER = ToolCall("search", "s", {}, "{}", server=True)
ERROR = ApiError("boom")
ASK = RequestReading(tools=(Tool("get_weather", None, None, "/tools/0"),))


@pytest.mark.parametrize(
    ("answer", "label", "effective", "emitted"),
    [
        (ResponseReading(text="a", finish="complete", ended=True), "complete", "complete", "text"),
        (ResponseReading(text="a"), "cut", "cut", "text"),
        (ResponseReading(), "cut", "cut", "empty"),
        (ResponseReading(error=ERROR, ended=True), "error", "error", "none"),
        (ResponseReading(error=ERROR, text="a"), "error", "error", "text"),
        (ResponseReading(error=ERROR, text="a", finish="complete", ended=True), "complete", "error", "text"),
        (ResponseReading(calls=(CALL,), finish="malformed", ended=True), "malformed", "malformed", "calls"),
        (ResponseReading(calls=(CALL,), finish="content_filter", ended=True), "content_filter",
         "content_filter", "calls"),
        (ResponseReading(calls=(CALL,), finish="refusal", ended=True), "refusal", "refusal", "calls"),
        (ResponseReading(finish="refusal", ended=True), "refusal", "refusal", "refusal"),
        (ResponseReading(text="I cannot", finish="refusal", ended=True), "refusal", "refusal", "text"),
        (ResponseReading(text=" \n", finish="refusal", ended=True), "refusal", "refusal", "refusal"),
        (ResponseReading(refusal="no", finish="complete", ended=True), "complete", "refusal", "refusal"),
        (ResponseReading(refusal="", finish="complete", ended=True), "complete", "refusal", "refusal"),
        (ResponseReading(refusal="no", finish="malformed", ended=True), "malformed", "malformed", "refusal"),
        (ResponseReading(refusal="no", finish="content_filter", ended=True), "content_filter", "content_filter",
         "refusal"),
        (ResponseReading(calls=(TORN, CALL), finish="complete", ended=True), "complete", "complete", "partial_call"),
        (ResponseReading(error=ERROR, reasoning="hm"), "error", "error", "reasoning_only"),
        (ResponseReading(reasoning="hm", finish="tool_calls", ended=True), "tool_calls", "complete", "reasoning_only"),
        (ResponseReading(error=ERROR, finish="tool_calls", ended=True), "tool_calls", "error", "none"),
        (ResponseReading(calls=(CALL,), finish="length", ended=True), "length", "length", "partial_call"),
        (ResponseReading(calls=(CALL,), finish="context_full", ended=True), "context_full", "context_full",
         "partial_call"),
        (ResponseReading(calls=(TORN,), finish="tool_calls", ended=True), "tool_calls", "length", "partial_call"),
        (ResponseReading(calls=(CALL,)), "cut", "cut", "partial_call"),
        (ResponseReading(calls=(CALL,), finish="complete", ended=True), "complete", "tool_calls", "calls"),
        (ResponseReading(calls=(CALL,), finish="stop_sequence", ended=True), "stop_sequence", "tool_calls",
         "calls"),
        (ResponseReading(calls=(CALL,), ended=True), "unknown", "tool_calls", "calls"),
        (ResponseReading(calls=(CALL,), finish="tool_calls", ended=True), "tool_calls", "tool_calls", "calls"),
        (ResponseReading(calls=(CALL,), finish="pause", ended=True), "pause", "pause", "calls"),
        (ResponseReading(finish="tool_calls", ended=True), "tool_calls", "unknown", "empty"),
        (ResponseReading(text="a", finish="tool_calls", ended=True), "tool_calls", "complete", "text"),
        (ResponseReading(reasoning="hm", finish="complete", ended=True), "complete", "complete",
         "reasoning_only"),
        (ResponseReading(text=" \n", finish="complete", ended=True), "complete", "complete", "empty"),
        (ResponseReading(other_content=True, finish="complete", ended=True), "complete", "complete", "text"),
        (ResponseReading(server_calls=(SERVER,), finish="pause", ended=True), "pause", "pause", "text"),
    ],
)  # fmt: skip
def test_rules(answer: ResponseReading, label: FinishLabel, effective: str, emitted: str) -> None:
    emission, finish = reconcile(answer, RequestReading())
    assert (finish.label, finish.effective, emission.emitted) == (label, effective, emitted)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<tool_call>{"name": "get_weather"}</tool_call>', "call_as_text"),
        ("<function=get_weather>", "call_as_text"),
        ('<invoke name="get_weather">', "call_as_text"),
        ("<function_call> get_weather", "call_as_text"),
        ("<|python_tag|>get_weather.call()", "call_as_text"),
        ("<|tool_call|>get_weather", "call_as_text"),
        ("<｜tool▁calls▁begin｜>get_weather", "call_as_text"),
        ('functools[{"name": "get_weather"}]', "call_as_text"),
        ("```tool_code\nget_weather city\n```", "call_as_text"),
        ("<tool_call> get_weather", "call_as_text"),
        ("<|channel|>commentary get_weather", "call_as_text"),
        ("to=functions.get_weather", "call_as_text"),
        ('```python\n{"arguments": {}, "name": "get_weather"}\n```', "text"),
        ('[TOOL_CALLS][{"name":"get_weather"}]', "call_as_text"),
        ('```json\n{"name": "get_weather", "arguments": {}}\n```', "call_as_text"),
        ('<tool_call>{"name": "other"}</tool_call>', "text"),
        ("I would call get_weather.", "text"),
        ('{"name": "get_weather", "arguments": {"city": "Rome"}}', "call_as_text"),
        ('  {"name": "get_weather", "parameters": {}}\n', "call_as_text"),
        ('{"type": "function", "name": "get_weather", "parameters": {"city": "Rome"}}', "call_as_text"),
        ('{"type": "function", "function": {"name": "get_weather", "arguments": "{}"}}', "call_as_text"),
        ('{"function": "get_weather", "args": {}}', "call_as_text"),
        ('{"tool": "get_weather", "tool_input": {}}', "call_as_text"),
        ('{"tool_name": "get_weather", "input": {}}', "call_as_text"),
        ('{"function_name": "get_weather", "arguments": {}}', "call_as_text"),
        ('[{"name": "get_weather", "arguments": {}}]', "call_as_text"),
        ('{"name": "get_weather", "arguments": {}}\n\n{"name": "get_weather", "arguments": {}}', "call_as_text"),
        ('```json\n{\n  "arguments": {},\n  "name": "get_weather"\n}\n```', "call_as_text"),
        ('```\n{"arguments": {}, "name": "get_weather"}\n```', "call_as_text"),
        ('```tool_call\n{"arguments": {}, "name": "get_weather"}\n```', "call_as_text"),
        ('{"name": "other", "arguments": {}}', "text"),
        ('{"name": "get_weather"}', "text"),
        ('{"name": "get_weather", "arguments": null}', "text"),
        ('{"name": "get_weather", "population": 3}', "text"),
        ('{"city": "get_weather", "arguments": {}}', "text"),
        ('[{"name": "get_weather", "arguments": {}}, {"name": "other", "arguments": {}}]', "text"),
        ('{"name": "get_weather", "arguments": {}} is how to ask.', "text"),
        ('{"name": "get_weather", "arguments": {}}\nand so on', "text"),
        ('Use {"name": "get_weather", "arguments": {}}', "text"),
        ('Now:\n```json\n{"name": "get_weather", "arguments": {}}\n```', "call_as_text"),
        ('Call it like this:\n```json\n{"name": "get_weather", "arguments": {}}\n```\nIt answers.', "text"),
        ("[]", "text"),
        ("{}", "text"),
        ("get_weather", "text"),
    ],
)
def test_a_call_written_as_prose_is_known_by_marker_and_name(text: str, expected: str) -> None:
    answer = ResponseReading(text=text, finish="complete", ended=True)
    assert reconcile(answer, ASK)[0].emitted == expected
    assert reconcile(answer, RequestReading())[0].emitted == "text"
    assert reconcile(answer, RequestReading(tools=ASK.tools, tool_choice=ToolChoice("none")))[0].emitted == "text"


SEARCH = '<tool_call>{"name": "search", "arguments": {"q": "x"}}</tool_call>'


def asked(*messages: Message, system: str = "") -> RequestReading:
    tools = (Tool("search", None, {"properties": {"q": {}}}, "/tools/0"),)
    return RequestReading(tools=tools, system=(Part("text", "/system", system),), messages=messages)


def said(role: Literal["user", "assistant"], text: str, kind: PartKind = "text") -> Message:
    return Message(role, (Part(kind, "/messages/0/content", text),), "/messages/0")


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (asked(), ["search"]),
        (asked(said("user", "Look for x.")), ["search"]),
        (asked(said("user", "What is x?")), ["search"]),
        (asked(said("user", "How do I call search?")), []),
        (asked(said("user", "How do I call search?"), said("user", "Look for x.")), ["search"]),
        (asked(said("user", "Look for x."), said("user", "How do I call search?")), []),
        (asked(said("user", "How do I call search?"), said("user", "a picture", "media")), []),
        (asked(said("user", "Look for x."), system=f"Write {SEARCH} to look."), []),
        (asked(said("user", f"You wrote {SEARCH}. Do it."), said("user", "Look for x.")), []),
        (asked(said("assistant", SEARCH, "call"), said("user", "Look for x.")), ["search"]),
    ],
)
def test_a_call_in_a_text_was_meant_unless_the_request_shows_it_or_asks_about_it(
    request_: RequestReading, found: list[str]
) -> None:
    assert [call.name for call in calls_in_text(SEARCH, request_)] == found


@pytest.mark.parametrize(
    ("text", "made", "found"),
    [
        (SEARCH, (ToolCall("search", "c", {"q": "x"}, ""),), []),
        (SEARCH, (CALL, ToolCall("search", "c", {"q": "x"}, "")), []),
        (SEARCH, (ToolCall("search", "c", {"q": "y"}, ""),), ["search"]),
        (SEARCH, (CALL,), ["search"]),
        ("search(q='x')", (CALL,), []),
        ("search(q='x')", (), ["search"]),
    ],
)
def test_beside_real_calls_a_written_one_counts_when_markup_says_so_and_it_was_not_made(
    text: str, made: tuple[ToolCall, ...], found: list[str]
) -> None:
    assert [call.name for call in calls_in_text(text, asked(), made)] == found


def test_tools_that_the_conversation_defines_can_be_called_in_a_text() -> None:
    answer = ResponseReading(text="Action: " + SEARCH.split(">")[1].split("<")[0], finish="complete", ended=True)
    added = RequestReading(added_tools=asked().tools)

    assert reconcile(answer, added)[0].emitted == "call_as_text"
    assert [call.name for call in calls_in_text(SEARCH, added)] == ["search"]


NEEDS = RequestReading(
    tools=(Tool("get_weather", None, {"properties": {"city": {}}, "required": ["city"]}, "/tools/0"),)
)


@pytest.mark.parametrize("name", ["name", "tool", "function", "tool_name", "function_name"])
@pytest.mark.parametrize("arguments", ["arguments", "parameters", "args", "input", "tool_input"])
def test_json_that_names_a_tool_and_arguments_is_a_call_also_when_the_tool_needs_others(
    name: str, arguments: str
) -> None:
    def emitted(**said: object) -> str:
        answer = ResponseReading(text=json.dumps(said), finish="complete", ended=True)
        return reconcile(answer, NEEDS)[0].emitted

    assert emitted(**{name: "get_weather", arguments: {"town": "Rome"}}) == "call_as_text"
    assert emitted(**{name: "get_weather", arguments: ["Rome"]}) == "text"
    assert emitted(**{name: "get_time", arguments: {"town": "Rome"}}) == "text"


@pytest.mark.parametrize("label", ["Action", "actions", "Tool calls", "function_call", "ToolCall", "call"])
def test_a_word_may_be_before_a_bare_call(label: str) -> None:
    answer = ResponseReading(text=f'{label}: {{"name": "get_weather", "args": "{{}}"}}', finish="complete", ended=True)

    assert reconcile(answer, ASK)[0].emitted == "call_as_text"


def test_a_marker_with_the_name_of_one_of_several_tools_is_a_call() -> None:
    answer = ResponseReading(text="<tool_call>get_weather", finish="complete", ended=True)
    two = RequestReading(tools=(*ASK.tools, Tool("other", None, None, "/tools/1")))

    assert reconcile(answer, two)[0].emitted == "call_as_text"


def test_what_the_answer_says_is_what_was_emitted() -> None:
    found, other, choice = Part("text", "/0", "said"), Part("reasoning", "/1", "hm"), Choice(1, "stop", "complete", ())
    answer = ResponseReading(
        text="said",
        reasoning="hm",
        refusal="no",
        calls=(CALL,),
        server_calls=(SERVER,),
        signatures=("s",),
        content=(found, other),
        choices=(choice,),
        finish="tool_calls",
        ended=True,
    )

    emission = reconcile(answer, RequestReading())[0]

    assert (emission.text, emission.reasoning, emission.refusal) == ("said", "hm", "no")
    assert (emission.calls, emission.server_calls, emission.signatures) == ((CALL,), (SERVER,), ("s",))
    assert (emission.content, emission.choices) == ((found, other), (choice,))
