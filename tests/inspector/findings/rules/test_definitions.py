"""Definitions of tools that no longer say what a model needs."""

import json
from copy import deepcopy
from typing import Any

import orjson
import pytest
from conversations import CALL, HELLO, TOOLS, chat, result, said
from dialogues import APIS, asks, calls, gives, run, says
from judged import anthropic, asked, emitted, ids, judged, lines, only, responses, trip, words

from turntape.cassettes.tape.model import RoundTrip

NAME = "client-tool-definition-damaged"
WORDS = "Look a word up in the dictionary that the user has chosen, and say what it means, with an example of its use."


def described(text: str | None) -> list[Any]:
    tools: list[Any] = deepcopy(TOOLS)
    tools[0]["function"]["description"] = text
    return tools


def offered(first: list[Any], second: list[Any]) -> list[str]:
    """A loop whose requests offer these tools."""
    call, given = said(None, CALL), result("call_1", "a strip")
    trips = chat([HELLO], call, tools=first), chat([HELLO, call, given], said("done"), index=1, tools=second)
    return [line.partition(" | ")[0] for line in lines(*trips, only=NAME)]


@pytest.mark.parametrize("text", ["None", "undefined", "[object Object]", "<function look_up at 0x7f>"])
def test_a_description_that_is_a_missing_value_is_found_at_once(text: str) -> None:
    assert offered(described(text), described(text)) == [
        f"#0 {NAME} (client, warning, P): the tool 'look_up' has {text!r} as its description"
    ]


@pytest.mark.parametrize(
    ("now", "what"),
    [
        (None, f"lost its description: {WORDS[:59] + '…'!r}"),
        (" ", f"lost its description: {WORDS[:59] + '…'!r}"),
        (str(WORDS.encode()), f"has its description as Python writes bytes: {str(WORDS.encode())[:59] + '…'!r}"),
        (WORDS[:9], f"has a description of which {len(WORDS) - 9} characters are missing: 'Look a wo'"),
        (WORDS[8:], f"has a description of which 8 characters are missing: {WORDS[8:67] + '…'!r}"),
    ],
)
def test_a_description_that_was_damaged_on_the_way(now: str | None, what: str) -> None:
    assert offered(described(WORDS), described(now)) == [f"#1 {NAME} (client, warning, P): the tool 'look_up' {what}"]


@pytest.mark.parametrize(
    ("was", "now"),
    [
        (WORDS, WORDS),
        (WORDS, "Look a word up."),
        (WORDS, f"{WORDS} Be brief."),
        ("Look.", None),
        (WORDS, WORDS.upper()),
    ],
    ids=["same", "other words", "more", "a short one", "case"],
)
def test_other_words_are_not_damage(was: str, now: str | None) -> None:
    assert offered(described(was), described(now)) == []


def without_parameters(one: RoundTrip) -> RoundTrip:
    """The request with no parameters of its tools, in the shape of any API."""
    body = orjson.loads(one.request.body)
    waiting: list[Any] = [body.get("tools"), body.get("toolConfig")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if "properties" in value:
                value["properties"] = {}
                value.pop("required", None)
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    assert one.response is not None
    return trip(one.request.url, body, orjson.loads(one.response.body), one.index)


@pytest.mark.parametrize("api", APIS)
def test_a_tool_that_lost_its_parameters_is_found_in_every_api(api: str) -> None:
    steps = [asks("What is a tape?"), calls("tape"), gives("a strip")]
    first, second = run(api, (steps[:1], steps[1]), (steps, says("A strip.")))
    assert lines(first, second, only=NAME) == []
    [line] = lines(first, without_parameters(second), only=NAME)
    assert line.startswith(
        f"#1 {NAME} (client, warning, P): the tool 'look_up' lost all its parameters: word | #0 request"
    )


def closed(required: list[str], **more: Any) -> list[Any]:
    """A tool that allows only what it describes."""
    tools: list[Any] = deepcopy(TOOLS)
    schema = tools[0]["function"]["parameters"]
    schema |= {"required": required, "additionalProperties": False} | more
    return tools


IMPOSSIBLE = "requires 'unit', which its schema neither describes nor allows: no call can fit it"


def test_a_schema_that_requires_what_it_does_not_allow_is_the_clients_and_not_the_models() -> None:
    tools = closed(["word", "unit"])
    call, given = said(None, CALL), result("call_1", "a strip")
    trips = chat([HELLO], call, tools=tools), chat([HELLO, call, given], said("done"), index=1, tools=tools)
    found = [line.partition(" | ")[0] for line in lines(*trips)]

    assert f"#0 {NAME} (client, warning, P): the tool 'look_up' {IMPOSSIBLE}" in found
    assert not any("model-args-break-schema" in line for line in found)


@pytest.mark.parametrize(
    "tools",
    [closed(["word"]), closed(["word", "unit"], additionalProperties=True),
     closed(["word", "unit"], patternProperties={"^u": {}})],
    ids=["described", "open", "by pattern"],
)  # fmt: skip
def test_a_schema_that_allows_what_it_requires_is_silent(tools: list[Any]) -> None:
    assert offered(tools, tools) == []


def test_a_schema_whose_parameters_were_stripped_is_the_clients() -> None:
    stripped = {"type": "object", "properties": {}, "required": ["word"]}
    tool = {
        "type": "function",
        "function": {"name": "look_up", "description": "Look a word up.", "parameters": stripped},
    }

    unfit = emitted(arguments="{}", tools=[tool])

    assert "requires 'word', and its schema describes no such parameter" in only(NAME, unfit).message
    assert "model-args-break-schema" not in ids(unfit), "the model could not know"


def test_one_parameter_that_is_required_and_not_described_is_the_clients() -> None:
    half = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word", "unit"]}
    tool = {"type": "function", "function": {"name": "look_up", "description": "Look a word up.", "parameters": half}}

    unfit = emitted(arguments='{"word":"tape"}', tools=[tool])

    assert "requires 'unit', and its schema describes no such parameter" in only(NAME, unfit).message
    assert "model-args-break-schema" not in ids(unfit), "the model could not know"
    assert "model-args-break-schema" in ids(emitted(arguments='{"word":5}', tools=[tool])), "this it could know"


SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
NAMED = {"name": "look_up", "description": "Look a word up."}


def in_chat(**schema: Any) -> RoundTrip:
    return chat([HELLO], said("x"), tools=[{"type": "function", "function": {**NAMED, **schema}}])


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (in_chat(input_schema=SCHEMA), "has its schema under 'input_schema'; the API reads 'parameters' and sees no "
         "parameters"),
        (in_chat(inputSchema=SCHEMA), "has its schema under 'inputSchema'; the API reads 'parameters' and sees no "
         "parameters"),
        (in_chat(parameters=json.dumps(SCHEMA)), "has its 'parameters' as a text and not as an object"),
        (responses([HELLO], [], tools=[{"type": "function", **NAMED, "input_schema": SCHEMA}]),
         "has its schema under 'input_schema'; the API reads 'parameters' and sees no parameters"),
        (anthropic([asked("hi")], [words("x")], tools=[{**NAMED, "parameters": SCHEMA}]),
         "has its schema under 'parameters'; the API reads 'input_schema' and sees no parameters"),
    ],
)  # fmt: skip
def test_a_schema_that_is_where_the_api_does_not_read_it(one: RoundTrip, what: str) -> None:
    assert only(NAME, one).message == f"the tool 'look_up' {what}"


@pytest.mark.parametrize(
    "one",
    [
        in_chat(),
        in_chat(parameters=SCHEMA),
        in_chat(parameters=SCHEMA, input_schema=SCHEMA),
        in_chat(parameters=None),
        chat([HELLO], said("x"), tools=[{"type": "custom", "custom": {**NAMED, "format": {"type": "text"}}}]),
        responses([HELLO], [], tools=[{"type": "web_search", "filters": {}}, {"type": "custom", **NAMED}]),
        anthropic([asked("hi")], [words("x")], tools=[{"type": "bash_20250124", "name": "bash"}]),
    ],
)
def test_a_schema_in_its_place_and_a_tool_without_one_are_silent(one: RoundTrip) -> None:
    assert NAME not in ids(one)


def function(name: str, description: str, *takes: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {one: {"type": "string"} for one in takes}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


def test_one_description_for_all_tools_is_found() -> None:
    tools = [function("look_up", WORDS, "word"), function("send", WORDS, "to", "text"), function("end", WORDS, "why")]

    [line] = lines(chat([HELLO], said("done"), tools=tools), only=NAME)

    assert line == (
        f"#0 {NAME} (client, warning, P): all 3 tools have one description, although each takes other parameters: "
        f"{WORDS[:59] + '…'!r} | #0 request /tools/0, #0 request /tools/1, #0 request /tools/2"
    )


@pytest.mark.parametrize(
    "tools",
    [
        [function("look_up", WORDS, "word")],
        [function("look_up", WORDS, "word"), function("find", WORDS, "word")],
        [function("look_up", "Run it.", "word"), function("send", "Run it.", "to")],
        [function("look_up", "", "word"), function("send", "", "to")],
        [function("look_up", WORDS, "word"), function("send", WORDS, "to"), function("end", "End the talk.", "why")],
    ],
    ids=["one tool", "the same parameters", "short", "none", "one differs"],
)
def test_descriptions_that_may_be_alike(tools: list[Any]) -> None:
    assert lines(chat([HELLO], said("done"), tools=tools), only=NAME) == []


@pytest.mark.parametrize(
    "one",
    [
        chat([HELLO], said("done"), tools=[{"type": "function", "function": TOOLS[0]}]),
        responses([HELLO], [], tools=TOOLS),
    ],
    ids=["twice", "as in Chat Completions"],
)
def test_a_definition_that_is_wrapped_once_too_often(one: RoundTrip) -> None:
    assert lines(one, only=NAME) == [
        f"#0 {NAME} (client, warning, P): the tool 'look_up' is wrapped once too often: the API looks for its name and "
        "its schema one level higher | #0 request /tools/0"
    ]


@pytest.mark.parametrize(
    "one",
    [
        chat([HELLO], said("done"), tools=TOOLS),
        chat([HELLO], said("done"), tools=[{"type": "web_search", "function": {}}]),
        responses([HELLO], [], tools=[{"type": "web_search"}]),
    ],
    ids=["a function", "another type", "a tool of the API"],
)
def test_a_definition_that_is_wrapped_as_the_api_wants_it(one: RoundTrip) -> None:
    assert lines(one, only=NAME) == []


@pytest.mark.parametrize(("place", "inside"), [("word", False), ("word/unit", True)])
def test_a_parameter_without_any_allowed_value_is_the_clients_and_not_the_models(place: str, inside: bool) -> None:
    tools: list[Any] = deepcopy(TOOLS)
    bare = {"type": "string", "enum": []}
    word = {"type": "object", "properties": {"unit": bare}} if inside else bare
    tools[0]["function"]["parameters"] = {"type": "object", "properties": {"word": word}}
    unfit = emitted(arguments='{"word":{"unit":"m"}}' if inside else '{"word":"tape"}', tools=tools)

    assert f"allows no value for {place!r}: the list of its values is empty" in only(NAME, unfit).message
    assert "model-args-break-schema" not in ids(unfit)


def test_a_schema_as_a_text_is_found_in_cohere_too() -> None:
    tools: list[Any] = deepcopy(TOOLS)
    tools[0]["function"]["parameters"] = json.dumps(tools[0]["function"]["parameters"])
    body = {"model": "command-a", "messages": [HELLO], "tools": tools}
    answer = {
        "id": "a",
        "finish_reason": "COMPLETE",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "done"}]},
    }

    assert "has its 'parameters' as a text" in only(NAME, trip("https://api.cohere.com/v2/chat", body, answer)).message


def test_one_description_for_two_tools_may_be_a_copy() -> None:
    tools = [function("by_place", WORDS, "places"), function("by_code", WORDS, "code")]

    assert [one.severity for one in judged(chat([HELLO], said("done"), tools=tools)) if one.id == NAME] == ["info"]


def brings(**definition: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"word": {"type": "string"}}}
    tool = {"type": "function", "name": "find_all", "description": WORDS, "parameters": schema, **definition}
    return {"type": "additional_tools", "role": "developer", "tools": [tool]}


ASKS: dict[str, Any] = {"role": "user", "content": "hi"}
SAYS: list[dict[str, Any]] = [
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "It is a strip.", "annotations": []}],
    }
]


def test_a_tool_that_a_message_brings_is_checked_too() -> None:
    first = responses([ASKS, brings(description="[object Object]")], SAYS)
    second = responses([ASKS, brings(description="[object Object]"), *SAYS, ASKS], SAYS, 1)

    assert lines(first, second, only=NAME) == [
        f"#0 {NAME} (client, warning, P): the tool 'find_all' has '[object Object]' as its description | "
        "#0 request /input/1/tools/0"
    ]


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (brings(description=WORDS[:9]), "characters are missing"),
        (brings(description=""), "lost its description"),
        (brings(parameters={"type": "object", "properties": {}}), "lost all its parameters: word"),
        (brings(), None),
        (brings(description="Find every word."), None),
    ],
)
def test_a_tool_that_is_brought_again_is_compared_with_the_first_time(
    second: dict[str, Any], found: str | None
) -> None:
    history = [ASKS, brings(), *SAYS, ASKS, second]
    trips = responses([ASKS, brings()], SAYS), responses(history, SAYS, 1), responses([*history, *SAYS, ASKS], SAYS, 2)

    messages = [one.message for one in judged(*trips) if one.id == NAME]

    assert len(messages) == (found is not None)
    assert found is None or found in messages[0]


def test_a_definition_in_a_block_of_an_anthropic_message_is_checked() -> None:
    definition = {"name": "find_all", "description": "undefined", "input_schema": {"type": "object"}}
    block = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}}

    one = only(NAME, anthropic([asked("hi"), {"role": "system", "content": [block]}], [words("done")]))

    assert one.message == "the tool 'find_all' has 'undefined' as its description"


def test_a_definition_that_the_search_of_the_api_returned_is_not_the_clients() -> None:
    found = {**brings(description="None"), "type": "tool_search_output", "id": "tso_1", "execution": "server"}

    assert NAME not in ids(responses([ASKS], [found, *SAYS]), responses([ASKS, found, *SAYS, ASKS], SAYS, 1))
    assert NAME in ids(responses([ASKS], SAYS), responses([ASKS, found, *SAYS, ASKS], SAYS, 1))
