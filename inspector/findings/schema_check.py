"""Whether a value keeps to a JSON Schema as an API takes it, and how it breaks it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NoReturn

from turntape.cassettes.excerpts import listed
from turntape.cassettes.frozen import frozen

from ..wire.json_value import compact, is_array, is_object, value_at

if TYPE_CHECKING:
    import jsonschema_rs

_MOST = 5
"""At most this many violations of one value are reported."""
_KINDS = {
    "required": "missing-required",
    "type": "wrong-type",
    "enum": "bad-enum",
    "const": "bad-enum",
    "additionalProperties": "extra-argument",
}
"""What people call the keyword that a value breaks; any other keyword keeps its name."""
_UPPER_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


@frozen
class Violation:
    """One way in which a value breaks a schema."""

    kind: str
    text: str
    """What is wrong and where."""
    coercible: bool
    """True for a number where a string is wanted, or the other way round, which frameworks are known to convert, and
    for a text that has another format than its `format` names, which few tools check."""


def violations(schema: object, value: object) -> list[Violation]:
    """The first violations of the schema; none when it is empty or cannot be compiled."""
    if not is_object(schema) or not schema:
        return []
    # The validator crashes the process on half of a surrogate pair, which JSON may hold.
    validator = _validator(compact(_standard(schema)).encode("utf-8", "replace").decode())
    if validator is None:
        return []
    try:
        errors = list(validator.iter_errors(value))
    except ValueError:
        return []
    found: list[Violation] = []
    for error in errors[:_MOST]:
        place = "/".join(str(step) for step in error.instance_path)
        kind = _KINDS.get(error.kind.name, error.kind.name)
        text = f"{place}: {error.message}" if place else error.message
        coercible = kind == "format" or kind == "wrong-type" and _coercible(value, list(error.instance_path), text)
        found.append(Violation(kind, text, coercible))
    return found


def described(broken: Sequence[Violation]) -> str:
    """`(missing-required): "word" is a required property`, for the end of a sentence."""
    kinds = ", ".join(dict.fromkeys(one.kind for one in broken))
    return f"({kinds}): {listed([one.text for one in broken], 3, '; ')}"


def impossible(schema: object, at: str = "") -> str | None:
    """The first property that a schema requires, does not describe and does not allow, so that no value can fit it.

    Beside a reference, older drafts ignore everything else.
    """
    if not is_object(schema) or "$ref" in schema:
        return None
    described_here = schema.get("properties")
    known = described_here if is_object(described_here) else {}
    required = schema.get("required")
    closed = schema.get("additionalProperties") is False and not schema.get("patternProperties")
    if closed and is_array(required):
        lacking = next((name for name in required if isinstance(name, str) and name not in known), None)
        if lacking is not None:
            return f"{at}{lacking}"
    for name in required if is_array(required) else ():
        if isinstance(name, str) and (found := impossible(known.get(name), f"{at}{name}/")) is not None:
            return found
    return None


def barred(schema: object) -> str | None:
    """The first property whose list of allowed values is empty, so that a model can give it no value."""
    described_here = schema.get("properties") if is_object(schema) else None
    for name, one in described_here.items() if is_object(described_here) else ():
        if is_object(one) and is_array(one.get("enum")) and not one["enum"]:
            return name
        if (found := barred(one)) is not None:
            return f"{name}/{found}"
    return None


def undescribed(schema: object) -> str | None:
    """The first property that a schema requires and does not describe: a model cannot know what to give.

    None where another part of the schema may describe it, or where the schema says that it takes any other.
    """
    return next(iter(_undescribed(schema)), None)


def _undescribed(schema: object) -> list[str]:
    if not is_object(schema) or not _ELSEWHERE.isdisjoint(schema):
        return []
    if schema.get("additionalProperties", False) is not False:
        return []
    properties, required = schema.get("properties"), schema.get("required")
    known = properties if is_object(properties) else {}
    return [name for name in required if isinstance(name, str) and name not in known] if is_array(required) else []


def answerable(schema: object) -> object:
    """The schema without what it requires and does not describe."""
    lacking = _undescribed(schema)
    if not lacking or not is_object(schema) or not is_array(required := schema.get("required")):
        return schema
    return {**schema, "required": [name for name in required if name not in lacking]}


_ELSEWHERE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "if", "patternProperties"})
"""Keywords by which a schema may describe properties outside `properties`."""


@lru_cache(maxsize=512)
def _validator(schema: str) -> "jsonschema_rs.Validator | None":
    import jsonschema_rs  # a recording without tools needs no schemas

    try:
        return jsonschema_rs.validator_for(schema, retriever=_refuse, validate_formats=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def _refuse(address: str) -> NoReturn:
    """A schema in a recording may name any address: reading a recording must not open a connection."""
    raise ValueError(address)


def _standard(schema: object) -> object:
    """The schema in standard words: Gemini writes types in capitals, and OpenAPI `nullable` for "or null"."""
    if is_array(schema):
        return [_standard(item) for item in schema]
    if not is_object(schema):
        return schema
    plain = {key: _type(value) if key == "type" else _standard(value) for key, value in schema.items()}
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") is True else plain


def _type(value: object) -> object:
    return value.lower() if isinstance(value, str) and value in _UPPER_TYPES else _standard(value)


def _coercible(whole: object, path: list[str | int], text: str) -> bool:
    value = value_at(whole, path)
    if isinstance(value, str):
        wanted = text.rsplit("type", 1)[-1]
        return any(word in wanted for word in ("number", "integer")) and bool(re.fullmatch(r"-?\d+(\.\d+)?", value))
    return isinstance(value, int | float) and not isinstance(value, bool) and '"string"' in text
