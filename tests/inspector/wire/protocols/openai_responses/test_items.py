"""How each item of OpenAI Responses is read, wherever it is: the API's calls, the client's, and what is said."""

from typing import Any, get_args

import pytest

from turntape.inspector.wire.protocols.openai_responses.items import (
    ROLES,
    answered_ids,
    item_message,
    item_parts,
    lacks_id,
)
from turntape.inspector.wire.values import Part, ToolCall

AT = "/input/3"


def part_of(item: dict[str, Any], **settings: Any) -> Part:
    part, *_ = item_parts(item, AT, **settings)
    return part


def call_of(item: dict[str, Any], *answered: str) -> ToolCall:
    part = part_of(item, answered=frozenset(answered))
    assert part.kind == "call" and part.call is not None and part.pointer == AT and part.raw == item
    return part.call


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (
            {"type": "function_call", "call_id": "c", "id": "fc", "name": "add", "arguments": '{"a":1}'},
            ToolCall("add", "c", {"a": 1}, '{"a":1}'),
        ),
        (
            {"type": "function_call", "id": "fc", "name": "add", "arguments": '{"a"', "status": "incomplete"},
            ToolCall("add", "fc", None, '{"a"', complete=False),
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "run", "input": '{"a":1}', "status": "in_progress"},
            ToolCall("run", "c", '{"a":1}', '{"a":1}', complete=False),
        ),
        (
            {"type": "computer_call", "call_id": "c", "action": {"type": "wait"}, "status": "completed"},
            ToolCall("computer", "c", {"type": "wait"}, '{"type":"wait"}'),
        ),
        (
            {"type": "computer_call", "call_id": "c", "actions": [{"type": "wait"}]},
            ToolCall("computer", "c", [{"type": "wait"}], '[{"type":"wait"}]'),
        ),
        (
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            ToolCall("local_shell", "c", {"command": ["ls"]}, '{"command":["ls"]}'),
        ),
        (
            {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
            ToolCall("shell", "c", {"commands": ["ls"]}, '{"commands":["ls"]}'),
        ),
        (
            {"type": "apply_patch_call", "call_id": "c", "operation": {"path": "a"}},
            ToolCall("apply_patch", "c", {"path": "a"}, '{"path":"a"}'),
        ),
        (
            {"type": "mcp_approval_request", "id": "m", "name": "add", "arguments": "{}"},
            ToolCall("add", "m", {}, "{}"),
        ),
        (
            {"type": "web_search_call", "id": "w", "action": {"query": "x"}},
            ToolCall("web_search", "w", {"query": "x"}, '{"query":"x"}', server=True),
        ),
        (
            {"type": "x_search_call", "id": "w", "action": {"query": "x"}},
            ToolCall("x_search", "w", {"query": "x"}, '{"query":"x"}', server=True),
        ),
        (
            {"type": "file_search_call", "id": "f", "queries": ["x"]},
            ToolCall("file_search", "f", ["x"], '["x"]', server=True),
        ),
        (
            {"type": "code_interpreter_call", "id": "i", "code": "[1]"},
            ToolCall("code_interpreter", "i", {"code": "[1]"}, '{"code":"[1]"}', server=True),
        ),
        (
            {"type": "code_interpreter_call", "id": "i", "code": None},
            ToolCall("code_interpreter", "i", None, "", server=True),
        ),
        (
            {"type": "image_generation_call", "id": "g", "revised_prompt": "a cat"},
            ToolCall("image_generation", "g", {"revised_prompt": "a cat"}, '{"revised_prompt":"a cat"}', server=True),
        ),
        (
            {"type": "mcp_call", "id": "m", "name": "ask", "arguments": '{"q":1}'},
            ToolCall("ask", "m", {"q": 1}, '{"q":1}', server=True),
        ),
        (
            {"type": "program", "call_id": "p", "code": "f()"},
            ToolCall("program", "p", {"code": "f()"}, '{"code":"f()"}', server=True),
        ),
        (
            {"type": "multi_agent_call", "call_id": "a", "action": "spawn", "arguments": "{}"},
            ToolCall("spawn", "a", {}, "{}", server=True),
        ),
        (
            {"type": "tool_search_call", "call_id": "t", "arguments": {"q": "x"}, "execution": "client"},
            ToolCall("tool_search", "t", {"q": "x"}, '{"q":"x"}'),
        ),
        (
            {"type": "tool_search_call", "id": "t", "arguments": {}, "execution": "server"},
            ToolCall("tool_search", "t", {}, "{}", server=True),
        ),
        ({"type": "tool_search_call", "arguments": {}}, ToolCall("tool_search", None, {}, "{}", server=True)),
        ({"type": "shell_call", "call_id": "", "id": ""}, ToolCall("shell", None, None, "")),
    ],
    ids=lambda value: value.get("type") if isinstance(value, dict) else "",
)
def test_each_kind_of_call(item: dict[str, Any], call: ToolCall) -> None:
    assert call_of(item) == call
    assert item_message(item, AT).role == "assistant"
    if call.id and item["type"] != "tool_search_call":
        assert call_of(item, "another", call.id).server, "its output is beside it, so the API ran it"
        assert call_of(item, "another").server is call.server


def test_the_fingerprint_of_a_call_is_kept() -> None:
    call = {"type": "program", "call_id": "p", "code": "f()"}

    assert part_of({**call, "fingerprint": "sealed"}).signature == "sealed"
    assert part_of(call).signature is None


@pytest.mark.parametrize(
    ("item", "lacks"),
    [
        ({"type": "function_call", "id": "fc"}, True),
        ({"type": "custom_tool_call", "call_id": ""}, True),
        ({"type": "function_call", "call_id": "c"}, False),
        ({"type": "mcp_approval_request", "id": "m"}, False),
        ({"type": "web_search_call", "id": "w"}, False),
        ({"type": "message"}, False),
        ({}, False),
    ],
)
def test_a_call_that_the_client_answers_by_another_id_than_its_own_needs_it(item: dict[str, Any], lacks: bool) -> None:
    assert lacks_id(item) is lacks


@pytest.mark.parametrize(
    ("part", "kind", "text"),
    [
        ("hello", "text", "hello"),
        ({"type": "input_text", "text": "hello"}, "text", "hello"),
        ({"type": "output_text", "text": ""}, "text", ""),
        ({"text": "hello"}, "text", "hello"),
        ({"type": "refusal", "refusal": "no"}, "refusal", "no"),
        ({"type": "reasoning_text", "text": "hm"}, "reasoning", "hm"),
        ({"type": "summary_text", "text": "hm"}, "reasoning", "hm"),
        ({"type": "output_audio", "transcript": "hello"}, "text", "hello"),
        ({"type": "output_audio"}, "media", "[output_audio]"),
        ({"type": "input_audio"}, "media", "[input_audio]"),
        ({"type": "input_image", "image_url": "u"}, "media", "[input_image]"),
        ({"type": "input_file", "file_id": "f"}, "media", "[input_file]"),
        ({"type": "computer_screenshot"}, "media", "[computer_screenshot]"),
        ({"type": "hologram"}, "other", "[hologram]"),
        ({"hologram": 1}, "other", "[part]"),
        (7, "other", "[part]"),
    ],
)
def test_each_part_of_a_message_has_its_kind_and_its_place(part: object, kind: str, text: str) -> None:
    (first, second) = item_parts({"role": "user", "content": ["before", part]}, AT)

    assert (first.kind, first.text, first.pointer) == ("text", "before", f"{AT}/content/0")
    assert (second.kind, second.text, second.pointer, second.raw) == (kind, text, f"{AT}/content/1", part)


@pytest.mark.parametrize(("content", "texts"), [("hello", ["hello"]), ("", []), ([], []), (None, []), ({}, [])])
def test_content_without_a_list_is_a_text_or_nothing(content: object, texts: list[str]) -> None:
    parts = item_parts({"type": "message", "content": content}, AT)

    assert [(part.kind, part.text, part.pointer) for part in parts] == [("text", one, f"{AT}/content") for one in texts]


@pytest.mark.parametrize(
    ("fields", "text", "signature"),
    [
        ({"summary": [{"type": "summary_text", "text": "a"}, {"text": "b"}]}, "a\n\nb", None),
        ({"content": [{"text": "c"}], "summary": [{"text": "a"}]}, "c", None),
        ({"content": [{"text": ""}], "summary": [{"text": ""}, {"text": "a"}]}, "a", None),
        ({"encrypted_content": "sealed", "signature": "s"}, "", "sealed"),
        ({"signature": "s"}, "", "s"),
        ({}, "", None),
    ],
)
def test_reasoning_is_its_content_or_its_summary(fields: dict[str, Any], text: str, signature: str | None) -> None:
    item = {"type": "reasoning", **fields}

    (part,) = item_parts(item, AT)
    assert part == Part("reasoning", AT, text, signature=signature, raw=item)
    assert item_message(item, AT).role == "assistant"


@pytest.mark.parametrize(
    ("item", "text", "signature"),
    [
        ({"type": "item_reference"}, "[item]", None),
        ({"type": "compaction", "encrypted_content": "sealed"}, "[compaction]", "sealed"),
        ({"type": "compaction_summary"}, "[compaction]", None),
        ({"type": "context_compaction", "encrypted_content": "sealed"}, "[compaction]", "sealed"),
        ({"type": "hologram"}, "[hologram]", None),
        ({}, "[item]", None),
    ],
)
def test_other_items_are_named_in_brackets(item: dict[str, Any], text: str, signature: str | None) -> None:
    assert item_parts(item, AT) == [Part("other", AT, text=text, signature=signature, raw=item)]
    message = item_message(item, AT)
    assert (message.role, message.pointer, message.raw) == ("other", AT, item)


def test_a_reference_and_each_part_of_an_answer_have_the_id_of_their_item() -> None:
    named: dict[str, Any] = {"type": "item_reference", "id": "msg_1"}
    said: dict[str, Any] = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi"}],
    }

    assert item_parts(named, AT) == [Part("other", AT, text="[msg_1]", raw=named, item_id="msg_1")]
    assert [part.item_id for part in item_parts(said, AT, emitted=True)] == ["msg_1"]
    assert [part.item_id for part in item_parts(said, AT)] == [None]


@pytest.mark.parametrize(
    ("item", "role"),
    [
        ({"role": "system", "content": "x"}, "system"),
        ({"role": "developer", "content": "x"}, "system"),
        ({"role": "user", "content": "x"}, "user"),
        ({"role": "assistant", "content": "x"}, "assistant"),
        ({"role": "tool", "content": "x"}, "tool"),
        ({"role": "critic", "content": "x"}, "other"),
        ({"role": None, "content": "x"}, "other"),
        ({"role": "assistant", "type": "function_call", "name": "add", "arguments": "{}"}, "assistant"),
        ({"type": "function_call_output", "call_id": "c", "output": "1"}, "tool"),
        ({"type": "mcp_approval_response", "approval_request_id": "m", "approve": True}, "tool"),
        ({"type": "program_output", "call_id": "p", "output": "1"}, "assistant"),
    ],
)
def test_the_role_of_an_item_is_its_own_or_follows_from_what_it_is(item: dict[str, Any], role: str) -> None:
    message = item_message(item, AT)

    assert (message.role, message.pointer, message.raw) == (role, AT, item)
    assert list(message.parts) == item_parts(item, AT)


def test_each_role_of_the_api_is_known() -> None:
    from openai.types.conversations.message import Message

    stated = Message.model_fields["role"].annotation
    assert stated is not None and frozenset(get_args(stated)) == ROLES


def test_an_output_answers_the_call_of_its_id() -> None:
    items: list[dict[str, object]] = [
        {"type": "shell_call", "call_id": "called"},
        {"type": "shell_call_output", "call_id": "a"},
        {"type": "function_call_output", "call_id": "b"},
        {"type": "function_call_output", "call_id": ""},
        {"type": "output_text", "call_id": "text"},
        {"call_id": "nothing"},
    ]

    assert answered_ids(items) == {"a", "b"}
