"""JSON from the wire: parsed where possible, with its types checked. The bytes remain the record."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard, cast

import orjson

from turntape.cassettes.framing.json_text import first_document, is_json, parse_json
from turntape.cassettes.whole_number import whole_number

__all__ = [
    "MOST",
    "Object",
    "as_array",
    "as_count",
    "as_object",
    "as_text",
    "compact",
    "compact_size",
    "first_document",
    "is_array",
    "is_json",
    "is_object",
    "objects_in",
    "parse_json",
    "repeated_key",
    "value_at",
]

type Object = dict[str, object]

MOST = 2**53
"""The highest integer that JSON exchanges exactly: RFC 8259 section 6 (read 2026-11-22)."""


def is_object(value: object) -> TypeGuard[Object]:
    """True for a JSON object."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[object]]:
    """True for a JSON array."""
    return isinstance(value, list)


def as_object(value: object) -> Object:
    """`value` if it is a JSON object, else an empty one."""
    return cast(Object, value) if isinstance(value, dict) else {}


def as_array(value: object) -> list[object]:
    """`value` if it is a JSON array, else an empty one."""
    return cast(list[object], value) if isinstance(value, list) else []


def objects_in(value: object) -> list[Object]:
    """The JSON objects of an array; empty for anything else."""
    return [cast(Object, item) for item in as_array(value) if isinstance(item, dict)]


def as_text(value: object) -> str | None:
    """`value` if it is a string, else None."""
    return value if isinstance(value, str) else None


def add_text(fields: Object, key: str, piece: str | None) -> None:
    """Add a piece to the text of a field. It grows in place: a sum would copy all of a long text for each piece."""
    text = as_text(fields.get(key)) or ""
    fields[key] = None  # CPython extends a text in place that nothing else refers to
    text += piece or ""
    fields[key] = text


def as_count(value: object) -> int | None:
    """`value` if it is a number that counts something (no boolean, at most 2⁵³, as JSON is exact), else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) <= MOST else None


def compact(value: object) -> str:
    """`value` as JSON text in one line, for people and for `arguments_raw` of APIs that send objects."""
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def compact_size(value: object) -> int:
    """The bytes of `compact(value)` in UTF-8."""
    try:
        return len(orjson.dumps(value))
    except (TypeError, ValueError):
        return len(compact(value).encode("utf-8", "surrogatepass"))


class _RepeatedKeyError(ValueError):
    """Ends the search: its text is the key."""


def repeated_key(text: str) -> str | None:
    """The first key that an object in the JSON has twice with different values."""

    def check(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for key, value in pairs:
            if key in found and found[key] != value:
                raise _RepeatedKeyError(key)
            found[key] = value
        return found

    try:
        json.loads(text, object_pairs_hook=check)
    except _RepeatedKeyError as found:
        return str(found)
    except (ValueError, RecursionError):
        return None
    return None


def values_at(value: object, steps: Sequence[str]) -> Iterator[object]:
    """The values at a path of keys, where `*` is each item of a list."""
    if not steps:
        yield value
    elif steps[0] == "*":
        for item in as_array(value):
            yield from values_at(item, steps[1:])
    elif steps[0] in as_object(value):
        yield from values_at(as_object(value)[steps[0]], steps[1:])


def value_at(value: object, steps: Iterable[str | int]) -> object:
    """The value at a path of keys and places, or None."""
    for step in steps:
        if is_object(value):
            value = value.get(str(step))
        elif is_array(value) and (place := whole_number(str(step))) is not None and place < len(value):
            value = value[place]
        else:
            return None
    return value
