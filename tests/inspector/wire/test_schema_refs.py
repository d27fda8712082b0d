import pytest

from turntape.inspector.wire.schema_refs import lost_reference


@pytest.mark.parametrize(
    ("schema", "lost"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/a"}}}, "#/$defs/a"),
        ({"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {}}}, None),
        ({"items": [{"$ref": "#/items/1"}, {}]}, None),
        ({"items": [{"$ref": "#/items/2"}, {}]}, "#/items/2"),
        ({"items": [{"$ref": "#/items/²"}, {}]}, "#/items/²"),
        ({"items": [{"$ref": f"#/items/{'9' * 5000}"}, {}]}, f"#/items/{'9' * 5000}"),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {}}}, None),
        ({"$ref": "#"}, None),
        ({"$ref": "#anchor"}, None),
        ({"$ref": "https://example.com/a.json#/a"}, None),
        ({"properties": {"$ref": {"type": "string"}}}, None),
        ({"default": {"$ref": "#/$defs/a"}}, None),
        ({"$id": "https://example.com/b", "$ref": "#/$defs/a"}, "#/$defs/a"),
        ({"$defs": {"a": {"$id": "https://example.com/b", "items": {"$ref": "#/c"}}}}, None),
        (None, None),
    ],
)
def test_references_that_lead_nowhere(schema: object, lost: str | None) -> None:
    assert lost_reference(schema) == lost
