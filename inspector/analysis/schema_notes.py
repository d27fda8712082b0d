"""Where the arguments of a call break the tool's schema; simple cases only."""

from collections.abc import Mapping, Sequence

from turntape.cassettes.excerpts import listed

from ..wire.json_value import as_array, as_object, is_array, is_object
from ..wire.values import Tool, ToolCall

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def _is(value: object, name: str) -> bool:
    if name == "object":
        return is_object(value)
    if name == "array":
        return is_array(value)
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[name]) if name in _TYPES else True


def _types(schema: Mapping[str, object]) -> list[str]:
    given = schema.get("type")
    named = [given] if isinstance(given, str) else [one for one in as_array(given) if isinstance(one, str)]
    return [name.lower() for name in named]


def schema_notes(call: ToolCall, tools: Sequence[Tool]) -> dict[str, tuple[str, bool]]:
    """For each argument a note, and whether it breaks the schema. The note of a valid argument is its type.

    Empty when the tool was not offered, has no schema, or the arguments do not parse.
    """
    tool = next((tool for tool in tools if tool.name == call.name), None)
    schema = as_object(tool.schema) if tool else {}
    properties = as_object(schema.get("properties"))
    if not properties or not is_object(call.arguments):
        return {}
    notes: dict[str, tuple[str, bool]] = {}
    for key, value in call.arguments.items():
        if key not in properties:
            closed = schema.get("additionalProperties") is False
            notes[key] = ("not in the schema", True) if closed else ("not named in the schema", False)
            continue
        own = as_object(properties[key])
        names = _types(own)
        allowed = as_array(own.get("enum"))
        if names and not any(_is(value, name) for name in names):
            notes[key] = (f"must be {' or '.join(names)}", True)
        elif allowed and value not in allowed:
            notes[key] = (f"must be one of {listed([*map(str, allowed)], 6)}", True)
    for key in as_array(schema.get("required")):
        if isinstance(key, str) and key not in call.arguments:
            notes[key] = ("required, and missing", True)
    return notes
