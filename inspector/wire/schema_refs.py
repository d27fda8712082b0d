"""References inside a JSON Schema.

https://json-schema.org/draft/2020-12/json-schema-core#section-8.2.3.1 (read 2026-11-23)
"""

from collections.abc import Iterator

from turntape.cassettes.whole_number import whole_number

from .json_value import Object, as_object, is_array, is_object, value_at

_DATA = frozenset({"const", "default", "enum", "example", "examples"})
"""Keywords whose values are data, not schemas."""


def lost_reference(schema: object) -> str | None:
    """The first `$ref` to a place in the schema itself that the schema does not have; None when there is none.

    References to anchors and to other documents are not followed, nor any in a schema whose parts have their own `$id`.
    """
    holders = list(_objects(schema))
    if any("$id" in one for one in holders[1:]):
        return None
    named = (one.get("$ref") for one in holders)
    local = (one for one in named if isinstance(one, str) and one.startswith("#/"))
    return next((one for one in local if not _leads_somewhere(schema, one)), None)


def _objects(schema: object) -> Iterator[Object]:
    """Every object in a schema that is not data, the schema itself first."""
    waiting = [schema]
    while waiting:
        value = waiting.pop()
        if is_object(value):
            yield value
            waiting += [one for key, one in value.items() if key not in _DATA]
        elif is_array(value):
            waiting += value


def _leads_somewhere(schema: object, reference: str) -> bool:
    *path, last = (step.replace("~1", "/").replace("~0", "~") for step in reference.split("/")[1:])
    holder = value_at(schema, path)
    if is_array(holder):
        return (place := whole_number(last)) is not None and place < len(holder)
    return last in as_object(holder)
