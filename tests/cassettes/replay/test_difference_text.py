"""What a failure says of each of 22 changes of one word, approved as text; and of what only moved."""

import copy
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from turntape.cassettes.matching.json_diff import Difference, differences
from turntape.cassettes.replay.difference_text import changes_of, lines_of, part_in_words
from turntape.cassettes.replay.miss import Miss
from turntape.cassettes.replay.player import Player
from turntape.cassettes.tape.model import Request, Response, RoundTrip

URL = "https://api.openai.com/v1/chat/completions"
LONG = "Read the whole file first. " * 12
BODY: dict[str, Any] = {
    "model": "gpt-5",
    "temperature": 0.2,
    "max_tokens": 100,
    "stop": ["END"],
    "metadata": {"team": "sales"},
    "tool_choice": "required",
    "messages": [
        {"role": "system", "content": f"You are a sales agent.\n{LONG}Write short mails. {LONG}Never shout."},
        {
            "role": "user",
            "content": [{"type": "text", "text": text} for text in ("Write to Acme.", "Today.", "Please.")],
        },
        {
            "role": "assistant",
            "content": "I will.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"who":"Acme"}'}},
                {"id": "c2", "type": "function", "function": {"name": "send", "arguments": '{"to":"Acme"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "found 3 people"},
        {"role": "tool", "tool_call_id": "c2", "content": "sent"},
        {"role": "user", "content": "Go on."},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": f"Use it to {name}.",
                "parameters": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
            },
        }
        for name in ("find", "send")
    ],
}
ANSWER = Response(200, content=b'[{"id":"c1"},{"id":"c2"}]')
"""The ids of calls are known to be the model's."""
SYSTEM, ASSISTANT = "/messages/0/content", "/messages/2"


def put(pointer: str, value: object) -> Callable[[dict[str, Any]], None]:
    """Set what the pointer names."""

    def change(body: Any) -> None:
        *path, last = pointer.split("/")[1:]
        for step in path:
            body = body[int(step)] if isinstance(body, list) else body[step]
        body[int(last) if isinstance(body, list) else last] = value

    return change


def words(pointer: str, old: str, new: str) -> Callable[[dict[str, Any]], None]:
    def change(body: dict[str, Any]) -> None:
        text: Any = body
        for step in pointer.split("/")[1:]:
            text = text[int(step)] if isinstance(text, list) else text[step]
        assert old in text
        put(pointer, text.replace(old, new, 1))(body)

    return change


def without(pointer: str) -> Callable[[dict[str, Any]], None]:
    def change(body: Any) -> None:
        *path, last = pointer.split("/")[1:]
        for step in path:
            body = body[int(step)] if isinstance(body, list) else body[step]
        del body[int(last) if isinstance(body, list) else last]

    return change


def swapped(body: dict[str, Any]) -> None:
    body["messages"][2]["tool_calls"].reverse()


def two_places(body: dict[str, Any]) -> None:
    words(SYSTEM, "sales", "field")(body)
    words(SYSTEM, "shout", "whisper")(body)


FUNCTION = "/tools/0/function"
APPROVED: dict[str, tuple[Callable[[dict[str, Any]], None], str, list[str]]] = {
    "a word of the system prompt": (
        words(SYSTEM, "sales", "field"),
        "the system prompt",
        [
            SYSTEM,
            "  - You are a sales agent.⏎Read the whole…",
            "  + You are a field agent.⏎Read the whole…",
        ],
    ),
    "a word deep in a long prompt": (
        words(SYSTEM, "short", "long"),
        "the system prompt",
        [
            SYSTEM,
            "  - …file first. Write short mails. Read the whole…",
            "  + …file first. Write long mails. Read the whole…",
        ],
    ),
    "two words far from each other": (
        two_places,
        "the system prompt",
        [
            SYSTEM,
            "  - You are a sales agent.⏎Read the whole…",
            "  + You are a field agent.⏎Read the whole…",
            "  - …file first. Never shout.",
            "  + …file first. Never whisper.",
        ],
    ),
    "the task": (
        words("/messages/1/content/0/text", "Acme", "Globex"),
        "a user message",
        ["/messages/1/content/0/text", "  - Write to Acme.", "  + Write to Globex."],
    ),
    "a block is gone": (
        without("/messages/1/content/1"),
        "a user message",
        ["/messages/1/content/1 is gone", '  - {"type":"text","text":"Today."}'],
    ),
    "the last message": (
        words("/messages/5/content", "on", "back"),
        "a user message",
        ["/messages/5/content", "  - Go on.", "  + Go back."],
    ),
    "a message is gone": (
        without("/messages/5"),
        "a user message",
        ["/messages/5 is gone", '  - {"role":"user","content":"Go on."}'],
    ),
    "a message is new": (
        lambda body: body["messages"].append({"role": "user", "content": "And?"}),
        "a user message",
        ["/messages/6 is new", '  + {"role":"user","content":"And?"}'],
    ),
    "a tool result": (
        words("/messages/3/content", "3", "4"),
        "a tool result",
        ["/messages/3/content", "  - found 3 people", "  + found 4 people"],
    ),
    "a tool result is gone": (
        without("/messages/4"),
        "a tool result",
        ["/messages/4 is gone", '  - {"role":"tool","tool_call_id":"c2","content":"sent"}'],
    ),
    "what the model said": (
        words(f"{ASSISTANT}/content", "will", "do"),
        "an assistant message",
        [f"{ASSISTANT}/content", "  - I will.", "  + I do."],
    ),
    "an argument of a call": (
        words(f"{ASSISTANT}/tool_calls/0/function/arguments", "Acme", "Globex"),
        "a tool call",
        [f"{ASSISTANT}/tool_calls/0/function/arguments", '  - {"who":"Acme"}', '  + {"who":"Globex"}'],
    ),
    "the order of two calls": (
        swapped,
        "a tool call",
        [f"{ASSISTANT}/tool_calls: the order has changed: send was number 2, now 1"],
    ),
    "the description of a tool": (
        words(f"{FUNCTION}/description", "Use", "Call"),
        "the tools",
        [f"{FUNCTION}/description", "  - Use it to find.", "  + Call it to find."],
    ),
    "the name of a tool": (
        put(f"{FUNCTION}/name", "search"),
        "the tools",
        [f"{FUNCTION}/name", "  - find", "  + search"],
    ),
    "the type of a parameter": (
        put(f"{FUNCTION}/parameters/properties/who/type", "number"),
        "the tools",
        [f"{FUNCTION}/parameters/properties/who/type", "  - string", "  + number"],
    ),
    "the name of a parameter": (
        put(f"{FUNCTION}/parameters/properties", {"whom": {"type": "string"}}),
        "the tools",
        [f"{FUNCTION}/parameters/properties: who is now called whom"],
    ),
    "a parameter is not required": (
        put(f"{FUNCTION}/parameters/required", []),
        "the tools",
        [f"{FUNCTION}/parameters/required/0 is gone", '  - "who"'],
    ),
    "the model": (put("/model", "gpt-5-mini"), "the model", ["/model", "  - gpt-5", "  + gpt-5-mini"]),
    "a number": (put("/temperature", 0.7), "temperature", ["/temperature", "  - 0.2", "  + 0.7"]),
    "a setting is gone": (without("/max_tokens"), "max_tokens", ["/max_tokens is gone", "  - 100"]),
    "a setting is new": (put("/top_p", 0.5), "top_p", ["/top_p is new", "  + 0.5"]),
    "an item of a setting": (put("/stop/0", "STOP"), "stop", ["/stop/0", "  - END", "  + STOP"]),
}


def missed(change: Callable[[dict[str, Any]], None]) -> Miss:
    player = Player(
        [
            RoundTrip(
                request=Request("POST", URL, content=orjson.dumps(BODY)),
                started_at=1.0,
                response=ANSWER,
            )
        ]
    )
    body = copy.deepcopy(BODY)
    change(body)
    with pytest.raises(Miss) as caught:
        player.answer("POST", URL, (), orjson.dumps(body))
    return caught.value


@pytest.mark.parametrize("name", APPROVED)
def test_a_change_of_one_word_is_said_as_approved(name: str) -> None:
    change, part, lines = APPROVED[name]
    miss = missed(change)

    assert part_in_words(miss.differences[0], miss.nearest) == part
    assert lines_of(miss.differences) == lines
    assert all(len(line) <= 80 - len("E       ") for line in lines)


@pytest.mark.parametrize(
    ("recorded", "given", "lines"),
    [
        ("Go to Rome.", "Go to\u00a0Rome.", ["  - Go␠to␠Rome.", "  + Go␠to\\xa0Rome."]),
        ("Go to Rome.", "Go to Rome. ", ["  - Go␠to␠Rome.", "  + Go␠to␠Rome.␠"]),
        ("Go to  Rome.", "Go to Rome.", ["  - Go␠to␠␠Rome.", "  + Go␠to␠Rome."]),
        ("caf\u00e9", "cafe\u0301", ["  - caf\\xe9", "  + cafe\\u0301"]),
        ("a\u200bb", "ab", ["  - a\\u200bb", "  + ab"]),
        ("café Rome", "café Paris", ["  - café Rome", "  + café Paris"]),
    ],
)
def test_what_no_reader_can_see_is_spelled(recorded: str, given: str, lines: list[str]) -> None:
    assert lines_of([Difference("/x", "changed", recorded, given)])[1:] == lines


def test_long_changes_fit_eighty_columns() -> None:
    sentence = "Never write to anybody who has not asked for it, and say so. " * 2
    lines = lines_of([Difference("/x", "changed", f"Be brief. {sentence}Stop.", f"Be brief. {'00' * 90}Stop.")])

    assert all(len(line) <= 80 - len("E       ") for line in lines)
    assert "".join(line.removeprefix("    ") for line in lines[1:4]).startswith(f"  - Be brief. {sentence[:100]}")
    assert [line[:4] for line in lines[1:]].count("  + ") == 1


def test_there_are_twenty_three_of_them() -> None:
    assert len(APPROVED) == 23


@pytest.mark.parametrize(
    ("field", "recorded", "given", "part"),
    [
        ("input", "a", "b", "the input"),
        ("input", ["a", "b"], ["a", "c"], "the input"),
        ("prompt", "a", "b", "the prompt"),
        ("message", "a", "b", "a message"),
        ("prompt", ["a"], ["a", "b"], "the prompt"),
        ("input", [{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}], "a user message"),
    ],
)
def test_a_text_that_nobody_says_is_called_by_its_field(field: str, recorded: object, given: object, part: str) -> None:
    trip = RoundTrip(
        request=Request("POST", URL, content=orjson.dumps({field: recorded})), started_at=1.0, response=ANSWER
    )
    found = differences({field: recorded}, {field: given})

    assert part_in_words(found[0], trip) == part


def test_the_part_is_the_same_in_words_for_a_history_and_for_a_text() -> None:
    history = [{"role": "user", "content": "a"}]
    trip = RoundTrip(
        request=Request("POST", URL, content=orjson.dumps({"messages": history})), started_at=1.0, response=ANSWER
    )
    found = [Difference("/messages/0/content", "changed", "a", "b"), Difference("/input", "changed", "a", "b")]

    assert changes_of(found, trip) == ["a message", "- a", "+ b", "a message", "- a", "+ b"]


def test_a_history_that_is_compared_as_a_text_is_that_of_its_speaker() -> None:
    body = {"input": [{"role": "user", "content": "a"}]}
    trip = RoundTrip(request=Request("POST", URL, content=orjson.dumps(body)), started_at=1.0, response=ANSWER)

    assert part_in_words(Difference("/input", "changed", "a", "b"), trip) == "a user message"


def test_messages_that_change_places_leave_the_one_between_them_unsaid() -> None:
    one, other, third = ({"role": "user", "content": text} for text in ("a", "b", "c"))
    found = differences({"messages": [one, other, third]}, {"messages": [third, other, one]})

    said = [line for line in lines_of(found) if "order has changed" not in line]

    assert said == []
    assert len(lines_of(found)) == 1


def _defined(form: str, name: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {}}
    return {
        "chat": {"type": "function", "function": {"name": name, "parameters": schema}},
        "responses": {"type": "function", "name": name, "parameters": schema, "strict": None},
        "messages": {"name": name, "input_schema": schema},
        "gemini": {"name": name, "parameters": {"type": "OBJECT"}},
        "converse": {"toolSpec": {"name": name, "inputSchema": {"json": schema}}},
    }[form]


def _offering(form: str, names: str) -> dict[str, object]:
    tools = [_defined(form, name) for name in names]
    if form == "gemini":
        return {"tools": [{"functionDeclarations": tools}] if tools else []}
    return {"toolConfig": {"tools": tools}} if form == "converse" else {"tools": tools}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("abc", "ac", ["the tools is gone", "- b"]),
        ("ac", "abc", ["the tools is new", "+ b"]),
        ("a", "", ["the tools is gone", "- a"]),
    ],
)
@pytest.mark.parametrize("form", ["chat", "responses", "messages", "gemini", "converse"])
def test_a_tool_that_is_new_or_gone_is_one_change_for_every_api(
    form: str, before: str, after: str, said: list[str]
) -> None:
    assert changes_of(differences(_offering(form, before), _offering(form, after)), None) == said


def test_what_is_new_in_the_schema_of_a_tool_is_said_in_full() -> None:
    before = {"tools": [{"name": "a", "input_schema": {"properties": {}}}]}
    after = {"tools": [{"name": "a", "input_schema": {"properties": {"name": {"type": "string"}}}}]}

    assert changes_of(differences(before, after), None) == ["the tools is new", '  + {"type":"string"}']
