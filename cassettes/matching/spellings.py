"""One spelling for requests that an API takes as equal: a text or its only block, a default sent or left out.

Each API says in a trait what it takes as equal (`apis/interface.py`). This applies to keys of requests only: what was
sent is kept as it is.
"""

from collections.abc import Iterable
from inspect import cleandoc
from typing import cast

import orjson

from ..apis.interface import Spellings
from ..regex import regex
from .pointers import Nodes, plant, step

type Json = dict[str, object]

_TEXT_TYPES = frozenset({None, "text", "input_text", "output_text"})
_CAPITALS = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")
_NULL = {"type": "null"}
_ORDERED = orjson.OPT_SORT_KEYS
_HUMP = regex("_([a-z0-9])")


def _same(value: object) -> bytes:
    """One text for values that are equal; for JSON, `1` and `1.0` are."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return orjson.dumps(value, option=_ORDERED)


class PlainSpelling:
    """`PlainSpelling(spellings).write(body)` changes a request body in place.

    A block that has only a text, apart from what is at one of the pointers `ignored`, is that text.
    """

    def __init__(self, spellings: Spellings, ignored: Iterable[str] = ()) -> None:
        self._defaults = {
            pointer: frozenset(_same(value) for value in values) for pointer, values in spellings.defaults.items()
        }
        self._texts = frozenset(spellings.texts)
        self._messages = frozenset(spellings.messages)
        self._json = frozenset(spellings.json)
        self._schemas = frozenset(spellings.schemas)
        self._names = spellings.names
        self._two_names = spellings.two_names
        self._own = frozenset(spellings.own)
        self._described = frozenset(spellings.described)
        read = (
            *(self._names, self._defaults, self._texts, self._messages, self._json),
            *(self._schemas, self._own, self._described),
        )
        self._ignored = frozenset(ignored)
        pointers = {pointer for several in read for pointer in several} | (
            self._ignored if self._texts else frozenset[str]()
        )
        self._root = plant((pointer, pointer) for pointer in sorted(pointers))

    def write(self, body: Json) -> None:
        """Write the body in the plain spelling."""
        if self._root.below:
            self._fields(body, (self._root,))

    def _fields(self, fields: Json, nodes: Nodes) -> None:
        for name in list(fields):
            first = _HUMP.sub(lambda found: found[1].upper(), name) if self._two_names and "_" in name else name
            key = next((new for node in step(nodes, first) if (new := self._names.get(node.word or ""))), first)
            if key != name and key not in fields:
                fields[key] = fields.pop(name)
            else:
                key = name
            below = step(nodes, key)
            value = self._value(fields[key], below)
            if self._is_default(value, below):
                del fields[key]
            else:
                fields[key] = value

    def _value(self, value: object, nodes: Nodes) -> object:
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if not nodes and not self._two_names:
            return value
        pointers = {node.word for node in nodes if node.word is not None}
        if pointers & self._described:
            _plain_words(value)
        if pointers & self._own:
            return value
        if isinstance(value, str):
            return _as_json(value) if pointers & self._json else value
        if isinstance(value, dict):
            if pointers & self._json:
                return orjson.dumps(cast(Json, value), option=_ORDERED).decode()
            if pointers & self._schemas:
                return _plain_schema(cast(Json, value))
            self._fields(cast(Json, value), nodes)
            return cast(Json, value)
        if isinstance(value, list):
            items = cast(list[object], value)
            for place, item in enumerate(items):
                items[place] = self._value(item, step(nodes, str(place)))
            if pointers & self._texts:
                text = _only_text([self._counting(item, step(nodes, "0")) for item in items[:2]])
                return text if isinstance(text, str) else items
            if pointers & self._messages:
                return _only_message(items)
            return items
        return value

    def _counting(self, item: object, nodes: Nodes) -> object:
        """An item of a list without its ignored fields."""
        if not isinstance(item, dict):
            return item
        fields = cast(Json, item)
        return {
            key: value
            for key, value in fields.items()
            if not any(node.word in self._ignored for node in step(nodes, key))
        }

    def _is_default(self, value: object, nodes: Nodes) -> bool:
        if isinstance(value, str) and len(value) > 40:
            return False
        allowed = [self._defaults[node.word] for node in nodes if node.word in self._defaults]
        return bool(allowed) and any(_same(value) in one for one in allowed)


def _as_json(text: str) -> object:
    try:
        return orjson.dumps(orjson.loads(text), option=_ORDERED).decode()
    except (orjson.JSONDecodeError, TypeError):
        return text


def _plain_schema(schema: object) -> object:
    """A schema with the types of JSON Schema, and `nullable` where one of two alternatives is null."""
    if isinstance(schema, list):
        return [_plain_schema(item) for item in cast(list[object], schema)]
    if not isinstance(schema, dict):
        return schema
    fields = {
        name: str(value).lower() if name == "type" and value in _CAPITALS else _plain_schema(value)
        for name, value in cast(Json, schema).items()
    }
    ways = fields.get("anyOf")
    others = [one for one in cast(list[object], ways) if one != _NULL] if isinstance(ways, list) else []
    if len(others) == 1 and isinstance(others[0], dict) and ways != others:
        del fields["anyOf"]
        fields |= {**cast(Json, others[0]), "nullable": True}
    if fields.get("nullable") is True and fields.get("default", "") is None:
        del fields["default"]
    return fields


def _plain_words(value: object) -> None:
    """Write each `description` in the value as `inspect.cleandoc` does: Python 3.13 keeps docstrings in that form, and
    older versions keep them as they are indented in the source. Leave out the titles of fields that only repeat their
    names: whether pydantic's are sent depends on the version of the library."""
    if isinstance(value, dict):
        fields = cast(Json, value)
        for name, item in fields.items():
            if not isinstance(item, str):
                _plain_words(item)
            elif name == "description" and "\n" in item:
                fields[name] = "\n".join(line.rstrip() for line in cleandoc(item).splitlines())
        properties = fields.get("properties")
        for name, field in cast(Json, properties).items() if isinstance(properties, dict) else ():
            if isinstance(field, dict) and cast(Json, field).get("title") == name.title().replace("_", " ").strip():
                del cast(Json, field)["title"]
    elif isinstance(value, list):
        for item in cast(list[object], value):
            _plain_words(item)


def _only_text(items: list[object]) -> object:
    """The text of the only block; the list itself when it holds anything else."""
    if len(items) != 1 or not isinstance(items[0], dict):
        return items
    block = cast(Json, items[0])
    text = block.get("text")
    if isinstance(text, str) and block.get("type") in _TEXT_TYPES and block.keys() <= {"type", "text"}:
        return text
    return items


def _only_message(items: list[object]) -> object:
    """The text of the only message, which is the user's; the list itself when it holds anything else."""
    if len(items) != 1 or not isinstance(items[0], dict):
        return items
    message = cast(Json, items[0])
    text = message.get("content")
    if isinstance(text, str) and message.get("role") == "user" and message.keys() <= {"role", "content"}:
        return text
    return items
