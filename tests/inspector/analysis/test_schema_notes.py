"""Arguments against the schema that the tool was offered with."""

import pytest

from turntape.inspector.analysis.schema_notes import schema_notes
from turntape.inspector.wire.values import Tool, ToolCall

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "line": {"type": "integer"},
        "mode": {"enum": ["read", "write"]},
        "deep": {"type": ["boolean", "null"]},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def notes(arguments: object, schema: object = SCHEMA) -> dict[str, tuple[str, bool]]:
    call = ToolCall("open", "1", arguments, "")
    return schema_notes(call, [Tool("open", None, schema, "/tools/0")])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"path": "a", "line": 3, "mode": "read", "deep": None}, {}),
        ({"path": "a", "line": 3.0}, {}),
        ({"path": 1}, {"path": ("must be string", True)}),
        ({"path": "a", "line": True}, {"line": ("must be integer", True)}),
        ({"path": "a", "mode": "append"}, {"mode": ("must be one of read, write", True)}),
        ({"line": 3}, {"path": ("required, and missing", True)}),
        ({"path": "a", "extra": 1}, {"extra": ("not in the schema", True)}),
        (None, {}),
    ],
)
def test_a_call_is_noted(arguments: object, expected: dict[str, tuple[str, bool]]) -> None:
    assert notes(arguments) == expected


def test_a_tool_that_was_not_offered_has_no_notes() -> None:
    assert schema_notes(ToolCall("other", None, {"a": 1}, ""), []) == {}


def test_an_open_schema_only_remarks_on_what_it_does_not_name() -> None:
    schema = {"properties": {"path": {"type": "string"}}}

    assert notes({"path": "a", "extra": 1}, schema) == {"extra": ("not named in the schema", False)}
