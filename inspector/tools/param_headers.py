"""Parameters of a tool that a client repeats in headers (`x-mcp-header`), from version 2026-07-28 on.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http, read 2026-11-29.
"""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ..wire.json_value import as_object, compact, is_array, is_object

_KEY = "x-mcp-header"
_TOKEN = regex(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
"""What the name of a header may be."""
_PLAIN = frozenset({"integer", "string", "boolean"})
"""The types whose values a header can hold."""
_DEEP = 40


def wrong_headers(schema: object) -> str | None:
    """How the headers that a schema names cannot be sent; None when they can. The end of a sentence about it."""
    names: set[str] = set()
    for place, said, reached in _named(schema, "", True, 0):
        if not isinstance(said["name"], str) or not _TOKEN.fullmatch(said["name"]):
            return f"wants {place!r} in a header named {cut(compact(said['name']), 40)}, which cannot be one"
        if not reached:
            return f"wants {place!r} in a header, and only a property that is always there may be"
        if said["type"] not in _PLAIN:
            return f"wants {place!r} in a header, whose type is {cut(compact(said['type']), 40)}"
        if (name := said["name"].lower()) in names:
            return f"names the header {said['name']!r} for two properties"
        names.add(name)
    return None


def _named(schema: object, place: str, reached: bool, deep: int) -> Iterator[tuple[str, dict[str, object], bool]]:
    """Every part of a schema that names a header; `reached`: whether only `properties` lead to it."""
    if deep > _DEEP:
        return
    if is_array(schema):
        for one in schema:
            yield from _named(one, place, False, deep + 1)
    if not is_object(schema):
        return
    if _KEY in schema:
        yield place, {"name": schema[_KEY], "type": schema.get("type")}, reached and bool(place)
    for key, value in schema.items():
        if key == "properties":
            for name, one in as_object(value).items():
                yield from _named(one, f"{place}/{name}".lstrip("/"), reached, deep + 1)
        elif key not in _VALUES:
            yield from _named(value, place, False, deep + 1)


_VALUES = frozenset({"default", "const", "enum", "examples", _KEY})
"""Keywords that hold values and not schemas."""
