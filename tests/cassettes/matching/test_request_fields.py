"""Which part of a request a value is in: every name of the tables, for every API."""

import pytest

from turntape.cassettes.matching.request_fields import (
    LINKS,
    PROMPT,
    _name_of,
    blocks,
    by_name,
    conversation,
    is_models,
    is_result,
    part_of,
    part_of_item,
    part_of_key,
    plain_name,
    result_id,
)


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("system", "system"),
        ("instructions", "system"),
        ("systemInstruction", "system"),
        ("system_instruction", "system"),
        ("preamble", "system"),
        ("tools", "tools"),
        ("functions", "tools"),
        ("toolConfig", "tools"),
        ("messages", "messages"),
        ("input", "messages"),
        ("contents", "messages"),
        ("prompt", "messages"),
        ("message", "messages"),
        ("chat_history", "messages"),
        ("temperature", "temperature"),
    ],
)
def test_a_top_level_field_is_in_this_part(key: str, part: str) -> None:
    assert part_of_key(key) == part


def test_what_the_model_reads_is_the_prompt() -> None:
    assert {"system", "tools", "messages", "tool_results"} == PROMPT


def test_the_fields_that_link_to_an_earlier_answer() -> None:
    assert set(LINKS) == {
        "previous_response_id",
        "conversation",
        "previous_interaction_id",
        "thread",
        "previous_message_id",
    }


def test_two_spellings_are_one_field() -> None:
    assert plain_name("maxOutputTokens") == plain_name("max_output_tokens") == "maxoutputtokens"


@pytest.mark.parametrize("name", ["messages", "input", "contents"])
def test_the_history_is_found_by_its_name(name: str) -> None:
    assert conversation({"model": "m", name: [1, 2]}) == [1, 2]
    assert conversation({name: "text"}) == []
    assert conversation({}) == []


def test_an_item_comes_with_its_blocks() -> None:
    item = {"role": "user", "content": [{"type": "text"}, "no block"], "parts": [{"text": "a"}]}

    assert list(blocks(item)) == [item, {"type": "text"}, {"text": "a"}]
    assert list(blocks({"content": "text"})) == [{"content": "text"}]
    assert list(blocks("text")) == []


RESULTS: list[tuple[dict[str, object], str | None]] = [
    ({"role": "tool", "tool_call_id": "c1"}, "c1"),
    ({"type": "tool_result", "tool_use_id": "c1"}, "c1"),
    ({"functionResponse": {"name": "f", "id": "c1"}}, "c1"),
    ({"function_response": {"name": "f", "id": "c1"}}, "c1"),
    ({"functionResponse": {"name": "f"}}, None),
    ({"toolResult": {"toolUseId": "c1"}}, "c1"),
    ({"type": "function_call_output", "call_id": "c1"}, "c1"),
    ({"type": "computer_call_output", "call_id": "c1"}, "c1"),
    ({"tool_call_id": 3}, None),
]


@pytest.mark.parametrize(("block", "call"), RESULTS)
def test_a_tool_result_names_its_call(block: dict[str, object], call: str | None) -> None:
    assert is_result(block)
    assert result_id(block) == call
    assert part_of_item({"role": "user", "content": [block]}) == "tool_results"
    assert not is_models(block) or "role" in block


@pytest.mark.parametrize(
    "block",
    [
        {"type": "function_call", "call_id": "c1"},
        {"type": "tool_use", "id": "c1"},
        {"type": "some_output"},
        {"type": 3, "call_id": "c1"},
        {"call_id": "c1"},
        {"role": "user"},
    ],
)
def test_anything_else_is_not_a_tool_result(block: dict[str, object]) -> None:
    assert not is_result(block)
    assert result_id(block) is None
    assert part_of_item(block) == "messages"


def test_only_an_object_can_be_a_tool_result() -> None:
    assert result_id("tool_call_id") is None
    assert result_id(None) is None


@pytest.mark.parametrize("role", ["assistant", "model", "Model", "chatbot", "CHATBOT"])
def test_an_item_with_this_role_is_an_earlier_answer(role: str) -> None:
    assert is_models({"role": role, "content": "a"})


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"type": "function_call", "call_id": "c"}, True),
        ({"type": "reasoning"}, True),
        ({"type": "function_call_output", "call_id": "c"}, False),
        ({"type": "message", "role": "user"}, False),
        ({"role": "system"}, False),
        ({"content": "a"}, False),
        ("assistant", False),
    ],
)
def test_an_item_without_such_a_role_is_an_answer_by_its_type(item: object, expected: bool) -> None:
    assert is_models(item) is expected


@pytest.mark.parametrize(
    ("item", "part"),
    [
        ({"role": "system"}, "system"),
        ({"role": "developer"}, "system"),
        ({"role": "user"}, "messages"),
        ({"role": "tool", "tool_call_id": "c"}, "tool_results"),
        ("text", "messages"),
    ],
)
def test_an_item_of_the_history_is_in_this_part(item: object, part: str) -> None:
    assert part_of_item(item) == part


@pytest.mark.parametrize(
    ("pointer", "part"),
    [
        ("", "messages"),
        ("model", "model"),
        ("/temperature", "temperature"),
        ("/messages/0/content", "messages"),
        ("/messages", "messages"),
        ("/input/0", "messages"),
        ("/systemInstruction/parts/0/text", "system"),
        ("/tools/0/name", "tools"),
        *[
            (f"/{container}/temperature", "temperature")
            for container in ("generationConfig", "generation_config", "inferenceConfig", "options", "config")
        ],
        ("/options", "options"),
    ],
)
def test_a_pointer_names_this_part(pointer: str, part: str) -> None:
    assert part_of(pointer) == part


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        ([{"name": "b"}, {"name": "a"}], ["a", "b"]),
        ([{"function": {"name": "b"}}, {"function": {"name": "a"}}], ["a", "b"]),
        ([{"toolSpec": {"name": "b"}}, {"toolSpec": {"name": "a"}}], ["a", "b"]),
        ([{"type": "web_search"}, {"name": "a"}], [None, "a"]),
        ([3, {"name": "a"}], [None, "a"]),
    ],
)
def test_tools_are_ordered_by_name_when_all_have_one(tools: list[object], names: list[str | None]) -> None:
    found = by_name(tools)

    assert isinstance(found, list)
    assert [_name_of(tool) for tool in found] == names


def test_the_tools_of_an_entry_are_ordered_too() -> None:
    declared = [{"functionDeclarations": [{"name": "b"}, {"name": "a"}]}, {"googleSearch": {}}]

    assert by_name(declared) == [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}, {"googleSearch": {}}]
    assert by_name({"name": "b"}) == {"name": "b"}
    # Lists elsewhere, such as required arguments, keep their order.
    assert by_name([{"name": "a", "required": ["z", "b"]}]) == [{"name": "a", "required": ["z", "b"]}]
