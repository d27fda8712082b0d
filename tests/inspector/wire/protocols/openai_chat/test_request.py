"""What a request of Chat Completions says, in each of the forms that clients and servers write."""

from typing import Any

import pytest

from turntape.inspector.wire.protocols.openai_chat.request import (
    content_parts,
    lacks_id,
    message_reasoning,
    read_call,
    read_chat_request,
    read_message,
    read_tool_choice,
)
from turntape.inspector.wire.values import Part, Tool, ToolCall, ToolChoice

AT = "/messages/2"


def seen(parts: Any) -> list[tuple[str, str, str]]:
    """Kind, place and text of each part."""
    return [(part.kind, part.pointer.removeprefix(AT), part.text) for part in parts]


@pytest.mark.parametrize(
    ("item", "kind", "text"),
    [
        ("hello", "text", "hello"),
        ({"type": "text", "text": "hello"}, "text", "hello"),
        ({"type": "input_text", "text": "hello"}, "text", "hello"),
        ({"type": "output_text", "text": ["hel", "lo"]}, "text", "hel\nlo"),
        ({"text": "hello"}, "text", "hello"),
        ({"type": "thinking", "thinking": "hm"}, "reasoning", "hm"),
        ({"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, "reasoning", "hm"),
        ({"type": "reasoning", "text": "hm"}, "reasoning", "hm"),
        ({"type": "reasoning", "reasoning": "hm"}, "reasoning", "hm"),
        ({"type": "refusal", "refusal": "no"}, "refusal", "no"),
        ({"type": "resource", "content": {"text": "hello"}}, "text", "hello"),
        ({"type": "resource", "content": {"blob": "AA"}}, "media", "[resource]"),
        *(
            ({"type": kind}, "media", f"[{kind}]")
            for kind in (
                *("image", "image_url", "input_image", "audio", "audio_url", "input_audio"),
                *("video", "video_url", "input_video", "document", "document_url", "file", "file_url", "input_file"),
                *("reference", "resource_link", "tool_file", "tool_reference", "container_upload"),
            )
        ),
        ({"type": "hologram"}, "other", "[hologram]"),
        ({"words": "hello"}, "other", "[other]"),
        (7, "other", "[other]"),
    ],
)
def test_each_part_of_a_content_has_its_kind_and_its_place(item: object, kind: str, text: str) -> None:
    (part, last) = content_parts([item, "after"], AT)

    assert (part.kind, part.text, part.pointer, part.raw) == (kind, text, f"{AT}/0", item)
    assert (last.kind, last.pointer) == ("text", f"{AT}/1")
    if isinstance(item, dict):
        assert content_parts(item, AT) == [part], "one part without a list around it"


def test_a_signature_of_a_thought_and_a_result_in_a_content_are_kept() -> None:
    thought, failed, given = content_parts(
        [
            {"type": "thinking", "thinking": "hm", "signature": "sealed"},
            {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True},
            {"type": "tool_result", "tool_use_id": "d", "content": [{"type": "text", "text": "1"}]},
        ],
        AT,
    )

    assert (thought.text, thought.signature) == ("hm", "sealed")
    assert failed.result and (failed.result.call_id, failed.result.is_error, failed.text) == ("c", True, "no")
    assert given.result and (given.result.call_id, given.result.is_error, given.result.text) == ("d", False, "1")


@pytest.mark.parametrize(("content", "parts"), [("hello", [("text", "", "hello")]), ("", []), (None, []), ([], [])])
def test_a_content_without_a_list(content: object, parts: list[tuple[str, str, str]]) -> None:
    assert seen(content_parts(content, AT)) == parts


@pytest.mark.parametrize(
    ("fields", "parts"),
    [
        ({"reasoning_content": "a"}, [("reasoning", "/reasoning_content", "a")]),
        ({"reasoning": "a"}, [("reasoning", "/reasoning", "a")]),
        ({"reasoning_text": "a"}, [("reasoning", "/reasoning_text", "a")]),
        ({"thinking": "a"}, [("reasoning", "/thinking", "a")]),
        ({"reasoning_content": "", "reasoning": "a", "thinking": "a"}, [("reasoning", "/reasoning", "a")]),
        ({"reasoning_content": ["a"]}, []),
        ({"reasoning_details": [{"text": "a"}, {"summary": "b"}]}, [("reasoning", "/reasoning_details/0", "a")]),
        ({"reasoning_details": [{"summary": "b"}]}, [("reasoning", "/reasoning_details/0", "b")]),
        (
            {"reasoning": "a", "reasoning_details": [{"text": "a"}, {"text": "a", "signature": "s"}]},
            [("reasoning", "/reasoning", "a"), ("reasoning", "/reasoning_details/1", "")],
        ),
        (
            {"reasoning_details": [{"data": "sealed"}, {"text": "b"}]},
            [("reasoning", "/reasoning_details/0", ""), ("reasoning", "/reasoning_details/1", "b")],
        ),
        ({"reasoning_opaque": "sealed"}, [("reasoning", "/reasoning_opaque", "")]),
        ({}, []),
    ],
)
def test_reasoning_is_read_once_from_the_field_that_has_it(
    fields: dict[str, Any], parts: list[tuple[str, str, str]]
) -> None:
    assert seen(message_reasoning(fields, AT)) == parts


def test_signatures_of_reasoning_are_kept() -> None:
    said = {
        "reasoning": "a",
        "reasoning_details": [{"text": "a", "signature": "one"}, {"data": "two"}],
        "reasoning_opaque": "three",
    }

    assert [part.signature for part in message_reasoning(said, AT)] == [None, "one", "two", "three"]


@pytest.mark.parametrize(
    ("role", "read"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("critic", "other"),
        (None, "other"),
    ],
)
def test_a_message_has_its_role_and_all_that_it_says_in_order(role: str | None, read: str) -> None:
    said = {
        "role": role,
        "reasoning": "hm",
        "content": "hello",
        "refusal": "no",
        "tool_calls": [{"id": "c", "function": {"name": "add", "arguments": "{}"}}],
        "function_call": {"name": "old", "arguments": "{}"},
    }

    message = read_message(said, AT)
    assert (message.role, message.pointer, message.raw) == (read, AT, said)
    assert seen(message.parts) == [
        ("reasoning", "/reasoning", "hm"),
        ("text", "/content", "hello"),
        ("refusal", "/refusal", "no"),
        ("call", "/tool_calls/0", ""),
        ("call", "/function_call", ""),
    ]


@pytest.mark.parametrize("role", ["tool", "function"])
def test_a_message_of_a_tool_is_its_result(role: str) -> None:
    said = {"role": role, "tool_call_id": "c", "name": "add", "content": [{"type": "text", "text": "1"}]}

    message = read_message(said, AT)
    (part,) = message.parts
    assert message.role == "tool" and part.result is not None
    assert (part.kind, part.text, part.pointer, part.raw) == ("result", "1", AT, said)
    assert (part.result.call_id, part.result.name, part.result.text, part.result.is_error) == ("c", "add", "1", False)


@pytest.mark.parametrize(
    ("old", "calls"),
    [
        ({"name": "add", "arguments": '{"a":1}'}, 1),
        ({"name": "add", "arguments": '{"a":2}'}, 2),
        ({"name": "sub", "arguments": '{"a":1}'}, 2),
        ({"arguments": '{"a":1}'}, 2),
        ({"name": "", "arguments": ""}, 1),
        (None, 1),
    ],
)
def test_a_call_that_is_said_in_the_old_form_too_is_one_call(old: object, calls: int) -> None:
    new = [{"id": "c", "function": {"name": "add", "arguments": '{"a":1}'}}]
    parts = read_message({"role": "assistant", "tool_calls": new, "function_call": old}, AT).parts

    assert [part.kind for part in parts] == ["call"] * calls


@pytest.mark.parametrize(
    ("item", "call"),
    [
        ({"id": "c", "function": {"name": "add", "arguments": '{"a":1}'}}, ToolCall("add", "c", {"a": 1}, '{"a":1}')),
        ({"id": "c", "function": {"name": "add", "arguments": {"a": 1}}}, ToolCall("add", "c", {"a": 1}, '{"a":1}')),
        ({"id": "c", "function": {"name": "add", "arguments": "{"}}, ToolCall("add", "c", None, "{")),
        ({"id": "c", "custom": {"name": "run", "input": "{}"}}, ToolCall("run", "c", "{}", "{}")),
        ({"id": "c", "custom": {"name": "run", "input": "x"}, "function": {}}, ToolCall("run", "c", "x", "x")),
        ({"custom": {}, "function": {"name": "add", "arguments": "{}"}}, ToolCall("add", None, {}, "{}")),
        ({"custom": {"name": "run"}, "function": {"name": "add"}}, ToolCall("add", None, None, "")),
        ({"custom": {"input": "x"}}, ToolCall("", None, "x", "x")),
        ({"id": "", "function": {"name": "add"}}, ToolCall("add", None, None, "")),
        ({"id": "null", "function": {"name": "add"}}, ToolCall("add", None, None, "")),
        ({}, ToolCall("", None, None, "")),
    ],
)
def test_a_call_in_each_form(item: dict[str, Any], call: ToolCall) -> None:
    assert read_call(item) == call
    assert read_call(item, 3).choice == 3


@pytest.mark.parametrize("kind", ["function", "custom", "type"])
@pytest.mark.parametrize(
    ("id_", "lacks"), [(None, True), ("", True), ("null", True), ("None", True), ("undefined", True), ("c", False)]
)
def test_what_servers_write_for_no_id_is_none(kind: str, id_: str | None, lacks: bool) -> None:
    assert lacks_id({kind: {}, "id": id_}) is lacks
    assert not lacks_id({"name": "old", "arguments": "", "id": id_}), "the old form never has an id"


SCHEMA = {"type": "object", "properties": {"a": {"type": "number"}}}


@pytest.mark.parametrize(
    ("tool", "read"),
    [
        (
            {"type": "function", "function": {"name": "add", "description": "Adds.", "parameters": SCHEMA}},
            Tool("add", "Adds.", SCHEMA, "/tools/1"),
        ),
        ({"function": {"name": "add"}}, Tool("add", None, None, "/tools/1")),
        ({"name": "add", "input_schema": SCHEMA}, Tool("add", None, SCHEMA, "/tools/1")),
        (
            {"type": "function", "name": "add", "description": "Adds.", "parameters": '{"type":"object"}'},
            Tool("add", "Adds.", {"type": "object"}, "/tools/1"),
        ),
        ({"type": "custom", "custom": {"name": "run"}}, Tool("run", None, None, "/tools/1")),
        (
            {"type": "web_search", "web_search": {"name": "find", "description": "Finds.", "parameters": SCHEMA}},
            Tool("find", "Finds.", None, "/tools/1", server=True),
        ),
        ({"type": "code_interpreter"}, Tool("code_interpreter", None, None, "/tools/1", server=True)),
        ({"type": "function", "function": {}}, Tool("function", None, None, "/tools/1", server=True)),
    ],
)
def test_a_tool_in_each_form(tool: dict[str, Any], read: Tool) -> None:
    assert read_chat_request({"tools": [{"function": {"name": "first"}}, tool]}).tools[1] == read


def test_functions_of_old_come_after_the_tools() -> None:
    asked = read_chat_request({"functions": [{"name": "old", "parameters": SCHEMA}], "tools": [{"name": "new"}]})

    assert asked.tools == (Tool("new", None, None, "/tools/0"), Tool("old", None, SCHEMA, "/functions/0"))


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        ("auto", ToolChoice("auto")),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        ({"type": "any"}, ToolChoice("required")),
        ({"type": "function", "function": {"name": "add"}}, ToolChoice("named", ("add",))),
        ({"type": "custom", "custom": {"name": "run"}}, ToolChoice("named", ("run",))),
        ({"name": "add"}, ToolChoice("named", ("add",))),
        (
            {"allowed_tools": {"mode": "auto", "tools": [{"function": {"name": "add"}}, {"name": "say"}]}},
            ToolChoice("auto", ("add", "say")),
        ),
        (
            {"allowed_tools": {"mode": "required", "tools": [{"function": {"name": "add"}}, {"name": "say"}]}},
            ToolChoice("required", ("add", "say")),
        ),
        (None, None),
        (7, None),
    ],
)
def test_a_choice_of_tools_in_each_form(value: object, choice: ToolChoice | None) -> None:
    found = read_tool_choice(value)

    assert found == choice
    assert read_chat_request({"function_call": value}).tool_choice == found
    assert read_chat_request({"tool_choice": value, "function_call": "none"}).tool_choice == found


def test_the_settings_of_a_request() -> None:
    asked = read_chat_request(
        {
            "model": "gpt-5",
            "stream": True,
            "parallel_tool_calls": False,
            "max_tokens": 9,
            "stop": "END",
            "temperature": 1,
            "messages": [{"role": "user", "content": "hi"}],
        },
        "in the URL",
    )

    assert (asked.model, asked.streamed, asked.parallel_tool_calls) == ("gpt-5", True, False)
    assert (asked.max_output, asked.stop, asked.parameters) == (9, ("END",), {"temperature": 1})
    assert [message.parts for message in asked.messages] == [(Part("text", "/messages/0/content", "hi", raw="hi"),)]


def test_what_a_request_leaves_open() -> None:
    asked = read_chat_request({"stream": "yes", "parallel_tool_calls": 1}, "in the URL")

    assert (asked.model, asked.streamed, asked.parallel_tool_calls) == ("in the URL", False, None)
    assert (asked.max_output, asked.stop, asked.tools, asked.tool_choice) == (None, (), (), None)
    assert read_chat_request({"max_completion_tokens": 5, "max_tokens": 9}).max_output == 5
    assert read_chat_request({"stop": ["A", "B"]}).stop == ("A", "B")
