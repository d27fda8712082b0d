"""Each part of a Gemini content, in camel case and in snake case."""

from typing import Any

import pytest

from turntape.inspector.wire.protocols.gemini.parts import get, grow_call, read_parts
from turntape.inspector.wire.values import Part, ToolCall, ToolResult

AT = "/contents/1"


def part_of(part: object, choice: int = 0) -> Part:
    first, second = read_parts({"role": "user", "parts": [{"text": "before"}, part]}, AT, choice)
    assert (first.kind, first.pointer) == ("text", f"{AT}/parts/0")
    assert second.pointer == f"{AT}/parts/1" and second.raw == part
    return second


@pytest.mark.parametrize(
    ("part", "kind", "text"),
    [
        ({"text": "hello"}, "text", "hello"),
        ({"text": ""}, "text", ""),
        ({"text": "hm", "thought": True}, "reasoning", "hm"),
        ({"text": "hm", "thought": "true"}, "text", "hm"),
        ({"thoughtSignature": "sealed"}, "reasoning", ""),
        ({"thought_signature": "sealed"}, "reasoning", ""),
        ({"audioTranscription": {"text": "hello"}, "inlineData": {}}, "text", "hello"),
        ({"audio_transcription": {"text": "hello"}}, "text", "hello"),
        ({"inlineData": {"mimeType": "image/png"}}, "media", "[image/png]"),
        ({"inline_data": {"mime_type": "image/png"}}, "media", "[image/png]"),
        ({"fileData": {"fileUri": "u"}}, "media", "[media]"),
        ({"file_data": {"mimeType": "text/csv"}}, "media", "[text/csv]"),
        ({"inlineData": {"mimeType": "image/png"}, "thoughtSignature": "sealed"}, "media", "[image/png]"),
        ({"hologram": {}}, "other", "[hologram]"),
        ({}, "other", ""),
    ],
)
def test_each_kind_of_part(part: dict[str, Any], kind: str, text: str) -> None:
    found = part_of(part)

    assert (found.kind, found.text) == (kind, text)


@pytest.mark.parametrize("name", ["thoughtSignature", "thought_signature"])
@pytest.mark.parametrize(
    "part",
    [{"text": "a"}, {"functionCall": {"name": "f"}}, {"executableCode": {"code": "1"}}, {}, {"audioTranscription": {}}],
)
def test_a_signature_is_kept(name: str, part: dict[str, Any]) -> None:
    assert part_of({**part, name: "sealed"}).signature == "sealed"
    assert part_of(part).signature is None


@pytest.mark.parametrize(
    ("part", "call"),
    [
        ({"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}, ToolCall("f", "c", {"a": 1}, '{"a":1}')),
        ({"function_call": {"name": "f"}}, ToolCall("f", None, {}, "{}")),
        ({"functionCall": {"id": "", "args": '{"a":1}'}}, ToolCall("", None, {"a": 1}, '{"a":1}')),
        ({"functionCall": {"name": "f", "willContinue": True}}, ToolCall("f", None, {}, "{}", complete=False)),
        ({"functionCall": {"name": "f", "will_continue": False}}, ToolCall("f", None, {}, "{}")),
        (
            {"executableCode": {"id": "e", "code": "1"}},
            ToolCall("code_execution", "e", {"id": "e", "code": "1"}, '{"id":"e","code":"1"}', server=True),
        ),
        (
            {"executable_code": {"code": "1"}},
            ToolCall("code_execution", None, {"code": "1"}, '{"code":"1"}', server=True),
        ),
        (
            {"toolCall": {"id": "t", "toolType": "SEARCH", "args": {"q": "x"}}},
            ToolCall("SEARCH", "t", {"q": "x"}, '{"q":"x"}', server=True),
        ),
        ({"tool_call": {"tool_type": "SEARCH", "args": {}}}, ToolCall("SEARCH", None, {}, "{}", server=True)),
        ({"toolCall": {"args": {}}}, ToolCall("toolCall", None, {}, "{}", server=True)),
    ],
)
def test_each_kind_of_call(part: dict[str, Any], call: ToolCall) -> None:
    assert part_of(part).call == call
    found = part_of(part, 2).call
    assert found is not None and found.choice == 2


@pytest.mark.parametrize(
    ("response", "text", "failed"),
    [
        ({"output": "3"}, "3", False),
        ({"result": ["a", "b"]}, "a\nb", False),
        ({"output": "3", "more": 1}, '{"output":"3","more":1}', False),
        ({"answer": 3}, '{"answer":3}', False),
        ({"error": "no"}, '{"error":"no"}', True),
        ({"error": "", "a": 1}, '{"error":"","a":1}', False),
        ({"error": False}, '{"error":false}', False),
        ({"error": None}, '{"error":null}', False),
        ("3", '"3"', False),
        (None, "", False),
    ],
)
def test_a_result_of_the_client(response: object, text: str, failed: bool) -> None:
    for name in ("functionResponse", "function_response"):
        found = part_of({name: {"id": "c", "name": "f", "response": response}})
        assert (found.kind, found.text, found.result) == ("result", text, ToolResult("c", "f", failed, text))


def test_media_in_a_result_are_named_after_its_text() -> None:
    parts = [{"inlineData": {"mimeType": "image/png"}}, {"text": "x"}, {"file_data": {}}]
    found = part_of({"functionResponse": {"name": "f", "response": {"output": "3"}, "parts": parts}})

    assert found.result == ToolResult(None, "f", False, "3\n[image/png]\n[media]")


@pytest.mark.parametrize(
    ("part", "result"),
    [
        (
            {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
            ToolResult(None, None, False, "2", True),
        ),
        (
            {"code_execution_result": {"id": "e", "outcome": "OUTCOME_FAILED", "output": "no"}},
            ToolResult("e", None, True, "no", True, program_failed=True),
        ),
        (
            {"codeExecutionResult": {"outcome": "OUTCOME_DEADLINE_EXCEEDED"}},
            ToolResult(None, None, True, "", True),
        ),
        ({"codeExecutionResult": {"outcome": 1, "output": "2"}}, ToolResult(None, None, False, "2", True)),
        ({"codeExecutionResult": {"output": "2"}}, ToolResult(None, None, False, "2", True)),
        (
            {"toolResponse": {"id": "t", "toolType": "SEARCH", "response": "found"}},
            ToolResult("t", "SEARCH", False, "found", True),
        ),
        ({"tool_response": {"tool_type": "SEARCH"}}, ToolResult(None, "SEARCH", False, "", True)),
    ],
)
def test_a_result_of_the_apis_own_tools(part: dict[str, Any], result: ToolResult) -> None:
    found = part_of(part)

    assert (found.kind, found.text, found.result) == ("result", result.text, result)


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("hello", [("hello", "")]),
        ({"parts": "hello"}, [("hello", "/parts")]),
        ({"parts": {"text": "hello"}}, [("hello", "/parts")]),
        ({"text": "hello"}, [("hello", "")]),
        ({"text": "hello", "parts": []}, []),
        (["a", {"parts": [{"text": "b"}, {"text": "c"}]}], [("a", "/0"), ("b", "/1/parts/0"), ("c", "/1/parts/1")]),
        ({}, []),
        (None, []),
    ],
)
def test_a_content_in_each_form(content: object, parts: list[tuple[str, str]]) -> None:
    found = read_parts(content, AT)

    assert [(part.text, part.pointer) for part in found] == [(text, AT + place) for text, place in parts]


def test_a_field_is_found_under_either_spelling() -> None:
    assert get({"jsonPath": 1, "json_path": 2}, "jsonPath") == 1
    assert get({"json_path": 2}, "jsonPath") == 2
    assert get({"jsonpath": 2}, "jsonPath") is None


def test_a_call_grows_by_pieces_at_their_paths() -> None:
    call: dict[str, object] = {"name": "f", "args": {"kept": 1}}
    grow_call(call, [{"jsonPath": "$.to.city", "stringValue": "Kö"}, {"json_path": "$.to.days", "number_value": 2}])
    grow_call(call, [{"jsonPath": "$.to.city", "stringValue": "ln"}, {"jsonPath": "$['now']", "boolValue": False}])
    grow_call(call, [{"jsonPath": "$.to.days", "numberValue": 3}, {"jsonPath": "", "stringValue": "lost"}])
    grow_call(call, [{"stringValue": "lost"}, {"jsonPath": "$.again", "stringValue": "1"}])
    grow_call(call, [{"jsonPath": "$.again", "numberValue": 2}])
    grow_call(call, [{"jsonPath": "$.list[0]", "stringValue": "a"}, {"jsonPath": "$.none", "nullValue": "NULL_VALUE"}])

    assert call["args"] == {
        "kept": 1,
        "to": {"city": "Köln", "days": 3},
        "now": False,
        "list": {"0": "a"},
        "none": "NULL_VALUE",
        "again": 2,
    }


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("a strip", "a strip"),
        ({"type": "car", "price": 3}, '{"type":"car","price":3}'),
        ({"type": "image", "data": "iVBORw0KGgo"}, '{"type":"image","data":"iVBORw0KGgo"}'),
        ([{"type": "text", "text": "a"}, {"type": "image", "data": "iVBO"}], 'a\n{"type":"image","data":"iVBO"}'),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        (3, "3"),
    ],
)
def test_the_model_reads_a_result_as_json(given: object, text: str) -> None:
    for key in ("output", "result"):
        found = part_of({"functionResponse": {"name": "f", "response": {key: given}}}).result
        assert found is not None
        assert found.text == text
