"""The content blocks of Converse, and what the events of a stream add up to."""

import json
from typing import Any

import pytest

from turntape.inspector.wire.protocols.bedrock.converse_blocks import (
    assemble,
    block_parts,
    converse_usage,
    lacks_id,
    read_converse_request,
)
from turntape.inspector.wire.values import Part, Tool, ToolCall, ToolChoice, ToolResult, Usage

AT = "/messages/2/content"


@pytest.mark.parametrize(
    ("block", "kind", "text"),
    [
        ({"text": "hello"}, "text", "hello"),
        ({"text": ""}, "text", ""),
        ({"citationsContent": {"content": [{"text": "hello"}]}}, "text", "hello"),
        ({"guardContent": {"text": {"text": "hello", "qualifiers": []}}}, "text", "hello"),
        ({"guardContent": {"image": {}}}, "media", "[image]"),
        ({"searchResult": {"title": "T", "source": "S", "content": [{"text": "C"}]}}, "media", "T\nS\nC"),
        ({"image": {}}, "media", "[image]"),
        ({"document": {}}, "media", "[document]"),
        ({"video": {}}, "media", "[video]"),
        ({"audio": {}}, "media", "[audio]"),
        ({"toolAddition": {"tool": {"name": "f"}}}, "other", "adds the tool f"),
        ({"toolRemoval": {"tool": {"serverName": "s", "name": "f"}}}, "other", "removes the tool s/f"),
        ({"toolAddition": {}}, "other", "adds the tool ?"),
        ({"hologram": {}}, "other", "[hologram]"),
        ({}, "other", "[block]"),
        (7, "other", "[block]"),
    ],
)
def test_each_kind_of_block(block: object, kind: str, text: str) -> None:
    (found, after) = block_parts([block, {"cachePoint": {"type": "default"}}, {"text": "after"}], AT)

    assert (found.kind, found.text, found.pointer, found.raw) == (kind, text, f"{AT}/0", block)
    assert (after.text, after.pointer) == ("after", f"{AT}/2"), "a cache point is not a part, and has its place"


def test_a_content_may_be_a_text() -> None:
    assert block_parts("hello", AT) == [Part("text", AT, "hello", raw="hello")]


@pytest.mark.parametrize(
    ("block", "call"),
    [
        ({"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}}, ToolCall("f", "c", {"a": 1}, '{"a":1}')),
        ({"toolUse": {"name": "f", "input": '{"a":'}, "cut": True}, ToolCall("f", None, None, '{"a":', complete=False)),
        (
            {"toolUse": {"toolUseId": "c", "name": "f", "input": {}, "type": "server_tool_use"}},
            ToolCall("f", "c", {}, "{}", server=True),
        ),
    ],
)
def test_a_call(block: dict[str, Any], call: ToolCall) -> None:
    assert block_parts([block], AT) == [Part("call", f"{AT}/0", call=call, raw=block)]
    assert lacks_id(block) is (call.id is None)
    assert not lacks_id({"text": "x"})


@pytest.mark.parametrize(
    ("result", "text", "failed", "server"),
    [
        ({"content": [{"text": "a"}, {"json": {"b": 1}}]}, 'a\n{"b":1}', False, False),
        (
            {"content": [{"image": {}}, {"document": {}}, {"searchResult": {"title": "T"}}]},
            "[image]\n[document]\nT",
            False,
            False,
        ),
        ({"content": [{"text": "no"}], "status": "error"}, "no", True, False),
        ({"content": [{"text": "a"}], "status": "success"}, "a", False, False),
        ({"content": [{"other": 1}], "type": "web_search_result"}, '{"other":1}', False, True),
        ({}, "", False, False),
    ],
)
def test_a_result(result: dict[str, Any], text: str, failed: bool, server: bool) -> None:
    block = {"toolResult": {"toolUseId": "c", **result}}

    assert block_parts([block], AT) == [
        Part("result", f"{AT}/0", text, result=ToolResult("c", None, failed, text, server), raw=block)
    ]


@pytest.mark.parametrize(
    ("reasoning", "text", "signature"),
    [
        ({"reasoningText": {"text": "hm", "signature": "sealed"}}, "hm", "sealed"),
        ({"reasoningText": {"text": "hm"}}, "hm", None),
        ({"redactedContent": "hidden"}, "", "hidden"),
    ],
)
def test_reasoning(reasoning: dict[str, Any], text: str, signature: str | None) -> None:
    (found,) = block_parts([{"reasoningContent": reasoning}], AT)

    assert (found.kind, found.text, found.signature) == ("reasoning", text, signature)


RESULT = {"toolResult": {"toolUseId": "c", "content": []}}
SCHEMA = {"type": "object"}


def test_a_request_is_read_with_its_roles_tools_and_settings() -> None:
    asked = read_converse_request(
        {
            "system": [{"text": "Be brief."}],
            "messages": [
                {"role": "user", "content": [{"text": "hi"}, RESULT]},
                {"role": "assistant", "content": [{"text": "ho"}]},
                {"role": "user", "content": [RESULT, RESULT]},
                {"role": "user", "content": []},
                {"role": "system", "content": [{"text": "more"}]},
                {"role": "critic", "content": [{"text": "no"}]},
            ],
            "toolConfig": {
                "tools": [
                    {"toolSpec": {"name": "f", "description": "Does.", "inputSchema": {"json": SCHEMA}}},
                    {"toolSpec": {"name": "g", "inputSchema": {"json": json.dumps(SCHEMA)}}},
                    {"systemTool": {"name": "nova_grounding"}},
                    {"cachePoint": {"type": "default"}},
                ],
                "toolChoice": {"tool": {"name": "f"}},
            },
            "inferenceConfig": {"maxTokens": 9, "stopSequences": ["END"], "temperature": 1},
            "outputConfig": {
                "textFormat": {"type": "json_schema", "structure": {"jsonSchema": {"schema": json.dumps(SCHEMA)}}}
            },
        },
        "m",
        streamed=True,
    )

    assert [message.role for message in asked.messages] == ["user", "assistant", "tool", "user", "system", "other"]
    assert [part.text for part in asked.system] == ["Be brief."]
    assert (asked.model, asked.streamed) == ("m", True)
    assert asked.parameters.keys() == {"inferenceConfig", "outputConfig"}
    assert asked.tools == (
        Tool("f", "Does.", SCHEMA, "/toolConfig/tools/0"),
        Tool("g", None, SCHEMA, "/toolConfig/tools/1"),
        Tool("nova_grounding", None, None, "/toolConfig/tools/2", server=True),
    )
    assert asked.tool_choice == ToolChoice("named", ("f",))
    assert (asked.max_output, asked.stop) == (9, ("END",))
    assert asked.output_format is not None and asked.output_format.schema == SCHEMA


@pytest.mark.parametrize(("choice", "mode"), [({"auto": {}}, "auto"), ({"any": {}}, "required")])
def test_a_choice_of_tools(choice: dict[str, Any], mode: str) -> None:
    found = read_converse_request({"toolConfig": {"toolChoice": choice}}, None, streamed=False).tool_choice

    assert found is not None and (found.mode, found.names) == (mode, ())


@pytest.mark.parametrize(
    ("usage", "read"),
    [
        ({"inputTokens": 7, "outputTokens": 2, "totalTokens": 9}, Usage(7, None, None, 2)),
        ({"inputTokenCount": 7, "outputTokenCount": 2}, Usage(7, None, None, 2)),
        (
            {"inputTokens": 7, "outputTokens": 2, "totalTokens": 19, "cacheReadInputTokens": 10},
            Usage(17, 10, None, 2),
        ),
        (
            {"inputTokens": 17, "outputTokens": 2, "totalTokens": 19, "cacheReadInputTokens": 10},
            Usage(17, 10, None, 2),
        ),
        (
            {
                "inputTokens": 7, "outputTokens": 2, "totalTokens": 19, "cacheWriteInputTokens": 10,
                "cacheDetails": [{"ttl": "1h", "inputTokens": 4}, {"ttl": "5m", "inputTokens": 6}],
            },
            Usage(17, None, 10, 2, cache_write_1h=4),
        ),
        ({"outputTokens": 2}, Usage(None, None, None, 2)),
        ({}, None),
    ],
)  # fmt: skip
def test_usage_is_whole_however_the_cached_tokens_are_counted(usage: dict[str, Any], read: Usage | None) -> None:
    assert converse_usage(usage) == read


BLOCKS: list[dict[str, Any]] = [
    {"reasoningContent": {"reasoningText": {"text": "Let me see.", "signature": "sealed"}}},
    {"text": "I look."},
    {"toolUse": {"toolUseId": "c1", "name": "find", "input": {"city": "Köln", "days": [1, 2]}}},
    {"toolUse": {"toolUseId": "c2", "name": "now", "input": {}}},
    {"toolResult": {"toolUseId": "c3", "content": [{"text": "found"}]}},
]


def events(size: int) -> list[tuple[str, dict[str, Any]]]:
    made: list[tuple[str, dict[str, Any]]] = [("messageStart", {"role": "assistant"})]
    for index, block in enumerate(BLOCKS):
        ((kind, value),) = block.items()
        deltas: list[dict[str, Any]]
        match kind:
            case "text":
                deltas = [{"text": value[at : at + size]} for at in range(0, len(value), size)]
            case "reasoningContent":
                text = value["reasoningText"]["text"]
                deltas = [{kind: {"text": text[at : at + size]}} for at in range(0, len(text), size)]
                deltas.append({kind: {"signature": "sealed"}})
            case "toolUse":
                begun = {key: one for key, one in value.items() if key != "input"}
                made.append(("contentBlockStart", {"contentBlockIndex": index, "start": {kind: begun}}))
                raw = json.dumps(value["input"], ensure_ascii=False) if value["input"] else ""
                deltas = [{kind: {"input": raw[at : at + size]}} for at in range(0, len(raw), size)]
            case _:
                made.append(("contentBlockStart", {"contentBlockIndex": index, "start": {kind: {"toolUseId": "c3"}}}))
                deltas = [{kind: [{"text": one}]} for one in ("fou", "nd")]
        made += [("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}) for delta in deltas]
        made.append(("contentBlockStop", {"contentBlockIndex": index}))
    return [*made, ("messageStop", {"stopReason": "tool_use"}), ("metadata", {"usage": {"inputTokens": 7}, "x": 1})]


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_events_of_a_stream_add_up_to_the_message(size: int) -> None:
    assert assemble(events(size)) == {
        "output": {"message": {"role": "assistant", "content": BLOCKS}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 7},
    }


def test_a_call_inside_which_a_stream_ends_is_cut_unless_the_message_ended() -> None:
    def last(kept: list[tuple[str, dict[str, Any]]]) -> Any:
        body: Any = assemble(kept)
        return body["output"]["message"]["content"][-1]

    every = [event for event in events(1000) if event[1].get("contentBlockIndex") in (None, 2)]
    begun = every[:3]
    assert last(begun) == {
        "toolUse": {**BLOCKS[2]["toolUse"], "input": '{"city": "Köln", "days": [1, 2]}'},
        "cut": True,
    }
    assert last(every[:2]) == {"toolUse": {**BLOCKS[2]["toolUse"], "input": ""}, "cut": True}
    assert last([*begun, ("contentBlockStop", {"contentBlockIndex": 2})]) == BLOCKS[2]
    assert last([*begun, ("messageStop", {"stopReason": "tool_use"})]) == BLOCKS[2]


@pytest.mark.parametrize("raw", ['{"a":1,"a":2}', "{", "[1]", '{"a":{"b":1,"b":2},"c":1}'])
def test_an_input_that_no_object_holds_stays_the_text_that_came(raw: str) -> None:
    body: Any = assemble(
        [
            ("contentBlockStart", {"start": {"toolUse": {"toolUseId": "c", "name": "f"}}}),
            ("contentBlockDelta", {"delta": {"toolUse": {"input": raw}}}),
            ("contentBlockStop", {}),
        ]
    )

    assert body["output"]["message"]["content"][0]["toolUse"]["input"] == raw


def test_what_comes_beside_a_call_is_kept_after_it() -> None:
    body: Any = assemble(
        [
            ("contentBlockStart", {"start": {"toolUse": {"toolUseId": "c", "name": "f"}}}),
            ("contentBlockDelta", {"delta": {"text": "aside"}}),
            ("contentBlockDelta", {"delta": {"toolUse": {"input": {"a": 1}}}}),
            ("contentBlockStop", {}),
            (
                "contentBlockDelta",
                {"contentBlockIndex": 1, "delta": {"reasoningContent": {"redactedContent": "hidden"}}},
            ),
            ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"citation": {"title": "T"}}}),
            ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"citation": {"title": "U"}}}),
            ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"image": {"format": "png"}}}),
            ("contentBlockDelta", {"contentBlockIndex": 2, "delta": {"image": {"source": {}}}}),
        ]
    )

    assert body["output"]["message"]["content"] == [
        {"toolUse": {"toolUseId": "c", "name": "f", "input": {"a": 1}}},
        {"text": "aside"},
        {
            "reasoningContent": {"reasoningText": {}, "redactedContent": "hidden"},
            "citations": [{"title": "T"}, {"title": "U"}],
        },
        {"image": {"format": "png", "source": {}}},
    ]
