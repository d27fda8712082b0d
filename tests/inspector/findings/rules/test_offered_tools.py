"""Calls of tools that the request does not offer."""

from typing import Any

import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said
from judged import (
    DECLARED,
    FUNCTION,
    LOOK_UP,
    anthropic,
    asked,
    emitted,
    ids,
    item_call,
    item_output,
    judged,
    lines,
    only,
    responses,
    trip,
    turn,
    use,
    words,
)
from round_trips import CHAT, GEMINI, sse

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all

WRONG = "model-args-break-schema"


@pytest.mark.parametrize(
    ("name", "said_of_it"),
    [
        ("look_out", "was not offered"),
        ("", "called a tool without a name; the request offers look_up"),
        ("multi_tool_use.parallel", "wrapped its calls"),
        ("default_api:look_up", "it put a prefix before 'look_up'"),
        (" look_up", "there is white space around 'look_up'"),
    ],
)
def test_a_tool_that_was_not_offered_is_the_models_fault(name: str, said_of_it: str) -> None:
    one = only("model-unknown-tool", emitted(name))

    assert (one.layer, one.tier) == ("model", "P")
    assert said_of_it in one.message


def test_a_tool_that_the_client_no_longer_offers_is_its_fault() -> None:
    other = [{"type": "function", "function": {"name": "count", "parameters": {"type": "object"}}}]
    first, again = said(None, CALL), said(None, ("call_2", *CALL[1:]))
    history = [HELLO, first, result("call_1", "a strip")]
    system = {"role": "system", "content": "You count words."}

    trips = chat([HELLO], first), chat(history, again, index=1, tools=other)
    one = only("client-tool-withdrawn", *trips)
    assert one.message == "the model called 'look_up', which the request no longer offers; #0 offered it"
    assert "model-unknown-tool" not in ids(*trips)
    assert "model-unknown-tool" in ids(trips[0], chat([system, *history], again, index=1, tools=other))


def test_a_tool_of_a_request_that_shows_none_is_not_judged() -> None:
    assert "model-unknown-tool" in ids(emitted("look_out", tools=None))
    assert "model-unknown-tool" not in ids(emitted("look_out", tools=None, conversation="conv_1"))


def test_tools_that_the_api_loads_are_not_judged() -> None:
    search = {"type": "tool_search"}

    assert "model-unknown-tool" not in ids(
        responses([{"role": "user", "content": "hi"}], [item_call()], tools=[search])
    )
    spaced, mine = {**item_call(), "name": "look_up\n"}, {"type": "function", "name": "look_up", "parameters": {}}
    assert "model-unknown-tool" in ids(responses([{"role": "user", "content": "hi"}], [spaced], tools=[search, mine]))


def test_a_made_up_tool_beside_a_search_among_the_tools_of_the_request() -> None:
    made_up, hi = {**item_call(), "name": "look_out"}, {"role": "user", "content": "hi"}
    mine = {"type": "function", "name": "look_up", "parameters": {}}
    bm25 = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
    late = {**LOOK_UP, "name": "look_out", "defer_loading": True}
    call = {**use(word="tape"), "name": "look_out"}
    found = {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {"tool_name": "look_out"}}

    assert "model-unknown-tool" in ids(responses([hi], [made_up], tools=[mine, {"type": "tool_search"}]))
    assert "model-unknown-tool" in ids(anthropic([asked("hi")], [call], tools=[LOOK_UP, bm25]))
    assert "model-unknown-tool" not in ids(anthropic([asked("hi")], [call], tools=[LOOK_UP, bm25, late]))
    assert "model-unknown-tool" not in ids(anthropic([asked("hi")], [found, call], tools=[LOOK_UP, bm25]))


def test_a_previous_response_leaves_some_doubt() -> None:
    call = {**item_call(), "name": "look_out"}

    assert only("model-unknown-tool", responses([], [call], previous_response_id="resp_0")).tier == "S"


CLICK = {"type": "tool_use", "id": "toolu_1", "name": "left_click", "input": {}, "toolset_name": "computer"}

FOUND = {"type": "function_call", "call_id": "call_1", "name": "found", "arguments": "{}", "status": "completed"}

FOUND_TOOL = {
    "type": "function",
    "name": "found",
    "parameters": {"type": "object", "properties": {"x": {}}, "required": ["x"]},
}


def test_a_tool_of_an_offered_toolset_was_offered() -> None:
    toolset = {"type": "computer_toolset_20260801"}

    assert "model-unknown-tool" not in ids(anthropic([asked("hi")], [CLICK], tools=[toolset]))
    other = {key: value for key, value in CLICK.items() if key != "toolset_name"}
    assert "model-unknown-tool" in ids(anthropic([asked("hi")], [other], tools=[toolset]))


def test_a_tool_that_a_message_defines_was_offered_with_its_schema() -> None:
    brought = {"type": "additional_tools", "role": "developer", "tools": [FOUND_TOOL]}
    seen = ids(responses([{"role": "user", "content": "hi"}, brought], [FOUND]))

    assert "model-unknown-tool" not in seen and WRONG in seen
    assert "model-unknown-tool" in ids(responses([{"role": "user", "content": "hi"}], [FOUND]))


ASK: dict[str, Any] = {"role": "user", "content": "hi"}


def function(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "description": "x", "parameters": schema}}


def test_a_tool_that_was_not_offered_is_named_beside_those_that_were() -> None:
    many = [function(name) for name in "jihgfedcba"]

    assert lines(emitted("look_out")) == [
        (
            "#0 model-unknown-tool (model, error, P): the model called 'look_out', which was not offered; "
            "the request offers look_up | #0 call call_1, #0 request /tools"
        ),
    ]
    assert lines(emitted("look_out", tools=many)) == [
        (
            "#0 model-unknown-tool (model, error, P): the model called 'look_out', which was not offered; "
            "the request offers a, b, c, d, e, f, g, h and 2 more | #0 call call_1, #0 request /tools"
        ),
    ]
    assert lines(emitted("multi_tool_use")) == [
        (
            "#0 model-unknown-tool (model, error, P): the model wrapped its calls in 'multi_tool_use', which "
            "is not a tool of the request | #0 call call_1, #0 request /tools"
        ),
    ]
    assert lines(emitted("default_api:look_up")) == [
        (
            "#0 model-unknown-tool (model, error, P): the model called 'default_api:look_up': it put a "
            "prefix before 'look_up', which was offered | #0 call call_1, #0 request /tools"
        ),
    ]
    for prefix in ("tools.", "mcp/", "a.b:"):
        assert "it put a prefix before 'look_up'" in only("model-unknown-tool", emitted(f"{prefix}look_up")).message
    assert lines(chat([HELLO], said(None, ("", "look_out", "{}"))), only="model-") == [
        (
            "#0 model-unknown-tool (model, error, P): the model called 'look_out', which was not offered; "
            "the request offers look_up | #0 call look_out, #0 request /tools"
        ),
    ]


def test_tools_may_be_held_where_the_request_does_not_show_them() -> None:
    strange = item_call() | {"name": "look_out"}
    search = said(None, ("c0", "tool_search_tool", "{}"))
    history = [HELLO, search, result("c0", "found look_out")]
    loaded = {"type": "additional_tools", "tools": [{"name": "look_out"}]}

    assert "model-unknown-tool" in ids(responses([ASK], [strange]))
    assert only("model-unknown-tool", responses([ASK], [strange], conversation="conv_1")).tier == "S"
    assert "model-unknown-tool" not in ids(responses([ASK], [strange], prompt={"id": "pmpt_1"}))
    assert "model-unknown-tool" not in ids(chat(history, said(None, ("c1", "look_out", "{}"))))
    assert "model-unknown-tool" not in ids(responses([ASK, loaded], [strange]))
    assert "model-unknown-tool" in ids(responses([ASK, loaded], [item_call() | {"name": "look_in"}]))


def test_calls_beside_a_choice_that_was_cut_are_not_judged() -> None:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "look_out", "arguments": "{"}}
    events = [
        {"id": "c", "choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]},
        {"id": "c", "choices": [{"index": 1, "delta": {"content": "It"}}]},
    ]
    body = {"model": "gpt-5", "messages": [HELLO], "stream": True, "n": 2, "tools": TOOLS}

    assert "model-unknown-tool" in ids(trip(CHAT, body, sse(*events, done=True)))
    assert "model-unknown-tool" not in ids(trip(CHAT, body, sse(*events)))


def test_calls_of_a_refusal_at_the_cap_are_not_judged() -> None:
    refused = said(None, ("call_1", "look_out", '{"word":"tape"}')) | {"refusal": "No."}

    assert "model-unknown-tool" not in ids(chat([HELLO], refused, finish="length"))
    assert "model-unknown-tool" in ids(chat([HELLO], refused, finish="stop"))


@pytest.mark.parametrize(
    "one",
    [
        responses(
            [{"role": "user", "content": "hi"}], [item_call() | {"name": "find"}], tools=[FUNCTION, {"type": hosted}]
        )
        for hosted in ("web_search", "web_search_preview_2025_03_11", "file_search", "image_generation")
    ]
    + [
        anthropic([asked("hi")], [use(name="find")], tools=[LOOK_UP, {"type": f"{hosted}_20260209", "name": hosted}])
        for hosted in ("web_search", "web_fetch", "code_execution")
    ],
)
def test_a_hosted_tool_that_works_at_the_api_alone_hides_no_unknown_tool(one: RoundTrip) -> None:
    assert only("model-unknown-tool", one).severity == "error"


@pytest.mark.parametrize("hosted", ["googleSearch", "urlContext", "codeExecution"])
def test_a_hosted_tool_of_gemini_hides_no_unknown_tool(hosted: str) -> None:
    found = {"functionCall": {"name": "find", "args": {}}}
    body = {"contents": [turn("user", {"text": "hi"})], "tools": [DECLARED, {hosted: {}}]}
    answer = {"candidates": [{"content": {"role": "model", "parts": [found]}, "finishReason": "STOP"}]}

    assert "model-unknown-tool" in ids(trip(GEMINI, body, answer))


def test_a_call_in_the_answer_to_a_request_without_tools() -> None:
    reported = lines(chat([HELLO], said(None, CALL), tools=None), only="model-unknown-tool")

    assert reported == [
        "#0 model-unknown-tool (model, error, P): the answer calls 'look_up', and the request offers no tools | "
        "#0 call call_1, #0 request"
    ]
    assert lines(chat([HELLO], said("It is a strip."), tools=None), only="model-unknown-tool") == []


def test_tools_that_are_all_withdrawn_are_the_clients_fault() -> None:
    first = chat([HELLO], said(None, CALL))
    history = [HELLO, said(None, CALL), result("call_1", "a strip")]
    second = chat(history, said(None, ("call_2", "look_up", '{"word":"tape"}')), tools=None, at=1.0)

    assert [line.split()[1] for line in lines(first, second, only="client-tool-withdrawn")] == ["client-tool-withdrawn"]
    assert lines(first, second, only="model-unknown-tool") == []


@pytest.mark.parametrize("answer", [said("No."), said(None, CALL)])
def test_a_tool_that_is_required_and_not_offered_is_the_clients_mistake(answer: dict[str, Any]) -> None:
    def choosing(name: str, **more: Any) -> list[str]:
        choice = {"type": "function", "function": {"name": name}}
        return lines(chat([HELLO], answer, tool_choice=choice, **more), only="tool-choice-violated")

    [one] = choosing("final_output")
    assert "(client, error, P)" in one and "offers no such tool" in one
    assert all("(client" not in line for line in choosing("look_up"))
    assert all("(client" not in line for line in choosing("final_output", tools=None)), "the API may hold the tools"


@pytest.mark.parametrize(
    ("choice", "answer", "kept"),
    [
        ("required", said("x"), False),
        ("required", said(None, CALL), True),
        ("none", said(None, CALL), False),
        ("none", said("x"), True),
        ({"type": "function", "function": {"name": "look_up"}}, said(None, CALL), True),
        ({"type": "function", "function": {"name": "find"}}, said(None, CALL), False),
        ("auto", said("x"), True),
    ],
)
def test_a_choice_of_tools_is_kept(choice: object, answer: dict[str, Any], kept: bool) -> None:
    assert ("tool-choice-violated" not in ids(chat([HELLO], answer, tool_choice=choice))) is kept


def chosen(choice: object, answer: dict[str, Any], **fields: Any) -> list[str]:
    return lines(chat([HELLO], answer, tool_choice=choice, **fields), only="tool-choice")


@pytest.mark.parametrize("finish", ["length", "content_filter"])
def test_a_choice_is_not_judged_by_half_an_answer(finish: str) -> None:
    half = chat([HELLO], said("x"), finish=finish, tool_choice="required")

    assert "tool-choice-violated" not in ids(half)


def test_a_choice_of_tools_that_was_not_kept_is_named() -> None:
    by_name = {"type": "function", "function": {"name": "find"}}

    assert chosen("required", said("x")) == [
        (
            "#0 tool-choice-violated (api, error, P): a call of any tool was required and the answer has no call "
            "| #0 "
            "request tool choice required, #0 response"
        ),
    ]
    assert chosen("none", said(None, CALL)) == [
        (
            "#0 tool-choice-violated (api, error, P): tool calls were forbidden and 'look_up' was called "
            "| #0 request tool choice none, #0 response"
        ),
    ]
    assert chosen(by_name, said(None, CALL)) == [
        (
            "#0 tool-choice-violated (client, error, P): a call of 'find' is required, and the request offers no such "
            "tool | #0 request tool choice named find, #0 response"
        ),
    ]
    assert chosen(by_name, said("x")) == [
        (
            "#0 tool-choice-violated (client, error, P): a call of 'find' is required, and the request offers no such "
            "tool | #0 request tool choice named find, #0 response"
        ),
    ]
    assert chosen("required", said("")) == [], "another rule reports the empty answer"
    assert chosen("required", {"role": "assistant", "content": None, "refusal": "No."}) == []
    assert chosen("required", said("x"), finish="a_new_word") != []
    assert chosen("required", said("x"), finish="length") == []


def test_a_tool_of_the_api_satisfies_a_choice() -> None:
    searched = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "x"}}
    text = {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "Well."}]}
    by_name = {"type": "function", "name": "find"}

    for choice in ("required", by_name):
        assert "tool-choice-violated" not in ids(responses([ASK], [searched, text], tool_choice=choice))
        assert "tool-choice-violated" in ids(responses([ASK], [text], tool_choice=choice))


def test_a_choice_of_tools_counts_also_at_a_stop_string() -> None:
    choice: dict[str, Any] = {"tool_choice": {"type": "any"}}
    one = anthropic([asked("hi")], [words("It")], stop="stop_sequence", stop_sequences=["x"], **choice)

    assert "tool-choice-violated" in ids(one)


@pytest.mark.parametrize("kind", ["computer", "computer_use", "computer_use_preview"])
def test_a_call_of_the_computer_is_one_of_the_tool_that_was_offered_under_another_type(kind: str) -> None:
    call: dict[str, Any] = {"id": "cc_1", "type": "computer_call", "call_id": "c", "action": {"type": "screenshot"}}
    chosen = {"tools": [{"type": kind}], "tool_choice": {"type": kind}}

    assert ids(responses([HELLO], [call], **chosen)) == set()
    assert "model-unknown-tool" in ids(responses([HELLO], [call], tools=[{"type": "local_shell"}]))


CONVERSATIONS = "https://api.mistral.ai/v1/conversations"


def held(
    said: str | tuple[str, str], index: int = 0, to: str = "", url: str = CONVERSATIONS, tools: Any = (), **fields: Any
) -> RoundTrip:
    """A turn of a conversation that Mistral holds: a text, or the name and the arguments of a call."""
    entry: dict[str, Any] = {"type": "message.output", "role": "assistant", "content": said, "id": f"msg_{index}"}
    if isinstance(said, tuple):
        entry = {"type": "function.call", "tool_call_id": f"call_{index}", "name": said[0], "arguments": said[1]}
    body = {"inputs": "What is tape?", "stream": False, **({"tools": list(tools)} if tools else {}), **fields}
    answer = {"object": "conversation.response", "conversation_id": "conv_1", "outputs": [entry]}
    return trip(url + to, body, answer, index)


RUN = [{"type": "function.result", "tool_call_id": "call_0", "result": "a strip"}]
OPENED = held(("look_up", '{"word":"tape"}'), tools=TOOLS, model="mistral-medium")


@pytest.mark.parametrize(
    ("said", "found"),
    [
        (("look_up", '{"word":"wire"}'), set()),
        (("look_out", "{}"), {"model-unknown-tool"}),
        (("look_up", '{"words":"wire"}'), {WRONG}),
        ('look_up({"word": "wire"})', {"call-as-text"}),
        ("It is a strip.", set()),
    ],
)
@pytest.mark.parametrize("to", ["/conv_1", "/conv_1/restart"])
def test_a_conversation_keeps_the_tools_that_it_began_with(said: Any, found: set[str], to: str) -> None:
    reported = judged(OPENED, held(said, 1, to, inputs=RUN))

    assert {one.id for one in reported if one.at == 1 and one.severity != "info"} == found


def test_the_place_of_a_tool_that_is_kept_is_in_the_request_that_brought_it() -> None:
    wrong = held(("look_up", '{"words":"wire"}'), 1, "/conv_1", inputs=RUN)
    again = held(("look_out", "{}"), 2, "/conv_1", inputs="And?")

    assert [line.split(" | ")[1] for line in lines(OPENED, wrong, again) if "#0 request" in line] == [
        "#1 call call_1, #0 request /tools/0",
        "#2 call call_2, #0 request /tools",
    ]


def test_a_conversation_that_began_outside_the_recording_has_unknown_tools() -> None:
    assert "model-unknown-tool" not in ids(held(("look_out", "{}"), 0, "/conv_1", inputs=RUN))
    assert "model-unknown-tool" not in ids(OPENED, held(("look_out", "{}"), 1, "/conv_2", inputs=RUN))


def test_an_api_that_takes_the_tools_from_each_request_keeps_none() -> None:
    opened = responses([{"role": "user", "content": "hi"}], [item_call()], tools=[FUNCTION])
    then = responses(
        [item_output()], [item_call("call_2") | {"name": "look_out"}], 1, previous_response_id="resp_0", tools=None
    )

    assert "model-unknown-tool" not in ids(opened, then)


@pytest.mark.parametrize(
    ("said", "emitted"), [('look_up({"word": "wire"})', "call_as_text"), ("It is a strip.", "text")]
)
def test_the_label_says_that_a_call_of_a_tool_that_is_kept_was_written_as_text(said: str, emitted: str) -> None:
    labels = [done.label["model"] for done in label_all([OPENED, held(said, 1, "/conv_1", inputs=RUN)])]

    assert [one["emitted"] for one in labels] == ["calls", emitted]  # pyright: ignore[reportIndexIssue]


def test_a_conversation_keeps_its_settings_and_its_id() -> None:
    """Only the first request of a conversation has the settings, and every answer has the conversation's id."""
    cool = {"temperature": 0.3}
    first = held(("look_up", '{"word":"tape"}'), tools=TOOLS, model="mistral-medium", completion_args=cool)
    later = held("It is a strip.", 1, "/conv_1", inputs=RUN)
    other = held("It is a strip.", 1, "/conv_1", inputs=RUN, completion_args={"temperature": 0.9})

    assert not {"client-sampling-params-changed", "api-id-repeated"} & ids(first, later)
    assert "client-sampling-params-changed" in ids(first, other)
