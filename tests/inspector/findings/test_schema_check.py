"""Values against the schemas that requests hold."""

import socket

import pytest

from turntape.inspector.findings.schema_check import (
    Violation,
    answerable,
    described,
    impossible,
    undescribed,
    violations,
)

SCHEMA = {
    "type": "object",
    "properties": {
        "word": {"type": "string"},
        "count": {"type": "integer", "minimum": 1},
        "mode": {"enum": ["near", "far"]},
    },
    "required": ["word"],
    "additionalProperties": False,
}


UPPER: list[tuple[str, object, object]] = [
    ("STRING", "a", 5),
    ("NUMBER", 1.5, "a"),
    ("INTEGER", 5, 1.5),
    ("BOOLEAN", True, "a"),
    ("ARRAY", [1], "a"),
    ("OBJECT", {}, "a"),
]


def broken(schema: object, value: object) -> list[Violation]:
    return violations({"type": "object", "properties": {"a": schema}}, {"a": value})


@pytest.mark.parametrize(("name", "right", "wrong"), UPPER)
def test_types_in_capitals_are_types(name: str, right: object, wrong: object) -> None:
    assert broken({"type": name}, right) == []
    assert [one.kind for one in broken({"type": name}, wrong)] == ["wrong-type"]
    assert [one.kind for one in broken({"anyOf": [{"type": name}]}, wrong)] == ["anyOf"]


def test_half_a_surrogate_pair_does_not_stop_the_check() -> None:
    """A schema with such a text once crashed the process."""
    schema = {"type": "integer", "description": "half a pair: \ud83d"}

    assert broken(schema, 1) == []
    assert [one.kind for one in broken(schema, "a")] == ["wrong-type"]
    assert broken({"type": "integer"}, "\ud83d") == [], "such a value cannot be judged"


def test_only_a_type_is_written_small() -> None:
    assert broken({"const": "STRING"}, "STRING") == []
    assert broken({"type": "OTHER"}, "x") == [], "a schema that cannot be compiled judges nothing"
    assert violations({}, {"a": 1}) == []
    assert violations("object", {"a": 1}) == []


@pytest.mark.parametrize(
    ("type", "value", "benign"),
    [
        ("integer", "5", True),
        ("number", "-1.5", True),
        ("integer", "5 strips", False),
        ("boolean", "5", False),
        ("string", 5, True),
        ("string", 1.5, True),
        ("string", True, False),
        ("string", ["a"], False),
        ("array", 5, False),
    ],
)
def test_a_number_as_a_string_and_a_string_as_a_number_are_benign(type: str, value: object, benign: bool) -> None:
    [one] = broken({"type": type}, value)

    assert (one.kind, one.coercible) == ("wrong-type", benign)
    assert one.text.startswith("a: ")


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({}, "missing-required"),
        ({"word": "a", "count": "x"}, "wrong-type"),
        ({"word": "a", "mode": "x"}, "bad-enum"),
        ({"word": "a", "other": 1}, "extra-argument"),
        ({"word": "a", "count": 0}, "minimum"),
    ],
)
def test_the_way_in_which_arguments_break_a_schema_has_a_name(arguments: dict[str, object], kind: str) -> None:
    assert [one.kind for one in violations(SCHEMA, arguments)] == [kind]
    assert [one.kind for one in violations({"const": 1}, 2)] == ["bad-enum"]


def test_five_violations_are_enough() -> None:
    six = {"type": "object", "properties": {name: {"type": "string"} for name in "abcdef"}}

    assert len(violations(six, dict.fromkeys("abcdef", []))) == 5


def test_what_may_be_null_may_be_null() -> None:
    assert broken({"type": "STRING", "nullable": True}, None) == []
    assert broken({"type": "STRING", "nullable": True}, "a") == []
    assert [one.kind for one in broken({"type": "STRING", "nullable": False}, None)] == ["wrong-type"]
    assert broken({"enum": ["a", "b"], "nullable": True}, None) == []
    assert broken({"type": "ARRAY", "items": {"type": "INTEGER", "nullable": True}}, [1, None]) == []
    assert len(broken({"type": "INTEGER", "nullable": True}, "a")) == 1


def test_several_types_are_several_types() -> None:
    assert broken({"type": ["string", "null"]}, None) == []
    assert broken({"type": "NULL"}, None) == []


def test_violations_end_a_sentence() -> None:
    many = violations(SCHEMA, {"count": 0, "mode": "x", "a": 1})

    assert described(many) == (
        "(minimum, bad-enum, extra-argument, missing-required): count: 0 is less than the minimum of 1; "
        'mode: "x" is not one of "near" or "far"; Additional properties are not allowed (\'a\' was unexpected) '
        "and 1 more"
    )
    assert described(violations({"minimum": 3}, 1)) == "(minimum): 1 is less than the minimum of 3"
    twice = violations({"items": {"type": "string"}}, [[], []])
    assert described(twice).startswith("(wrong-type): 0: ")


def test_a_reference_that_leads_nowhere_judges_nothing() -> None:
    assert violations({"$ref": "#/$defs/nothing"}, 1) == []


def test_a_schema_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = server.getsockname()[1]

        assert violations({"$ref": f"http://127.0.0.1:{port}/schema.json"}, 1) == []
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_required_property_that_a_closed_schema_does_not_have_is_named_with_its_place() -> None:
    inner = {"type": "object", "properties": {"a": {}}, "required": ["a", "b"], "additionalProperties": False}

    assert impossible({"properties": {"x": inner}, "required": ["x"]}) == "x/b"
    assert impossible({"properties": {"x": inner}}) is None, "x may be left out"
    assert impossible({"required": ["x"], "additionalProperties": False}) == "x"
    assert impossible({"required": "x", "additionalProperties": False}) is None
    assert impossible({"properties": {"x": {}}, "required": ["x"], "additionalProperties": False}) is None
    assert impossible({"required": ["x"], "additionalProperties": {"type": "string"}}) is None
    assert impossible({"$ref": "#/$defs/a", "required": ["x"], "additionalProperties": False}) is None


@pytest.mark.parametrize(
    ("schema", "name"),
    [
        ({"type": "object", "properties": {}, "required": ["city"]}, "city"),
        ({"type": "object", "required": ["city", "unit"]}, "city"),
        ({"properties": {"town": {}}, "required": ["city"]}, "city"),
        ({"properties": {"city": {}}, "required": ["city", "unit"]}, "unit"),
        ({"properties": {"city": {}}, "required": ["unit"], "additionalProperties": {"type": "string"}}, None),
        ({"properties": {"city": {}}, "required": ["unit"], "additionalProperties": True}, None),
        ({"properties": {"city": {}}, "required": ["unit"], "additionalProperties": False}, "unit"),
        ({"properties": {"city": {}}, "required": ["city"]}, None),
        ({"properties": {}, "required": []}, None),
        ({"properties": {}}, None),
        ({"required": ["city"], "allOf": [{"properties": {"city": {}}}]}, None),
        ({"required": ["city"], "$ref": "#/$defs/a"}, None),
        ({"required": "city"}, None),
        (None, None),
    ],
)
def test_a_schema_that_does_not_describe_what_it_requires(schema: object, name: str | None) -> None:
    assert undescribed(schema) == name


def test_a_call_is_measured_by_what_the_schema_describes() -> None:
    schema = {"properties": {"city": {"type": "string"}}, "required": ["city", "country"]}

    assert violations(answerable(schema), {"city": "Porto"}) == []
    assert [one.kind for one in violations(answerable(schema), {})] == ["missing-required"]
    assert [one.kind for one in violations(answerable(schema), {"city": 5})] == ["wrong-type"]
    whole = {"properties": {"city": {}}, "required": ["city"]}
    assert answerable(whole) is whole
    assert answerable(None) is None
