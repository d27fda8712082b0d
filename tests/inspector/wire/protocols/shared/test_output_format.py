"""Where requests ask for JSON."""

from typing import Any

import pytest

from turntape.inspector.wire.protocols.shared.output_format import (
    chat_format,
    mime_format,
    response_format,
    schema_format,
)
from turntape.inspector.wire.values import OutputFormat

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}}


@pytest.mark.parametrize(
    "value",
    [
        {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": SCHEMA}},
        {"type": "json_schema", "name": "n", "strict": True, "schema": SCHEMA},
        {"type": "json_schema", "schema": SCHEMA},
        {"type": "json_schema", "json_schema": SCHEMA},
        {"type": "json_object", "schema": SCHEMA},
        {"type": "json_object", "json_schema": SCHEMA},
        {"type": "json_object", "value": SCHEMA},
        {"type": "json", "value": SCHEMA},
    ],
)
def test_every_dialect_of_a_schema_is_read(value: object) -> None:
    assert response_format(value, "/here") == OutputFormat("/here", SCHEMA)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "json_object"},
        {"type": "json"},
        {"type": "json_schema"},
        {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": {}}},
        {"type": "json_schema", "json_schema": {"name": "n", "strict": True, "schema": None}},
    ],
)
def test_without_a_schema_any_json_is_accepted(value: object) -> None:
    assert response_format(value, "/here") == OutputFormat("/here")


@pytest.mark.parametrize("strict", [False, None, "true", 1])
def test_openai_leaves_a_named_schema_to_the_model_where_it_is_not_strict(strict: object) -> None:
    named = {"name": "n", "schema": SCHEMA, "strict": strict}
    for value in ({"type": "json_schema", "json_schema": named}, {"type": "json_schema", **named}):
        assert response_format(value, "/here") == OutputFormat("/here", SCHEMA, enforced=False)


@pytest.mark.parametrize("value", [None, "json", {}, {"type": "text"}, {"type": "grammar"}, [{"type": "json_object"}]])
def test_a_format_that_does_not_ask_for_json_is_none(value: object) -> None:
    assert response_format(value, "/here") is None


def test_a_schema_may_have_a_property_called_schema() -> None:
    own = {"type": "object", "properties": {"schema": {"type": "string"}}, "schema": "x"}

    assert response_format({"type": "json_object", "json_schema": own}, "/f") == OutputFormat("/f", own)


def test_a_schema_may_be_json_in_a_string() -> None:
    assert schema_format('{"type": "object"}', "/s") == OutputFormat("/s", {"type": "object"})
    assert schema_format("no json", "/s") == OutputFormat("/s")
    assert schema_format([1], "/s") == OutputFormat("/s")


@pytest.mark.parametrize(
    ("mime", "schema", "asks"),
    [
        ("application/json", SCHEMA, True),
        ("application/json", None, True),
        ("APPLICATION/JSON", None, True),
        (None, SCHEMA, True),
        (None, None, False),
        (None, {}, False),
        ("text/plain", SCHEMA, False),
        ("text/x.enum", SCHEMA, False),
    ],
)
def test_a_media_type_asks_for_json(mime: object, schema: object, asks: bool) -> None:
    found = mime_format(mime, schema, "/f")

    assert found == (OutputFormat("/f", schema) if asks else None)


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({}, None),
        ({"response_format": {"type": "json_object"}}, OutputFormat("/response_format")),
        ({"response_format": None, "guided_json": SCHEMA}, None),
        ({"json_schema": SCHEMA}, OutputFormat("/json_schema", SCHEMA)),
        ({"json_schema": None}, None),
        ({"guided_json": SCHEMA}, OutputFormat("/guided_json", SCHEMA)),
        ({"structured_outputs": {"json": SCHEMA}}, OutputFormat("/structured_outputs/json", SCHEMA)),
        ({"structured_outputs": {"regex": "a+"}}, None),
    ],
)
def test_servers_have_other_fields_for_a_schema(fields: dict[str, object], found: OutputFormat | None) -> None:
    assert chat_format(fields) == found
