"""One `[[protocols]]` table: where the requests and answers of a chat-like gateway hold their fields.

Every place is a JSON pointer: from the body (`messages`, `text`), from one message (`role`), from one call (`call_id`)
or from one tool (`tool_name`).
"""

import difflib
from collections.abc import Mapping
from dataclasses import MISSING, Field, field, fields
from typing import cast, get_args

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen

from ..values import FinishLabel

LABELS: tuple[str, ...] = get_args(FinishLabel.__value__)
STREAMS = ("sse", "ndjson")


@frozen(kw_only=True)
class Declaration:
    """The keys of a `[[protocols]]` table. A place that the gateway does not have is left out."""

    name: str
    """The name in `show --json` and labels."""
    path: str
    """How the path of the endpoint ends, without a leading slash: `v1/converse`."""
    title: str = ""
    spec: str = ""
    """Where the shape is specified."""
    messages: str
    """In a request: the list of messages."""
    text: str
    """In an answer, and in each event of a stream: the text."""
    request_model: str = "/model"
    tools: str = "/tools"
    tool_name: str = "/name"
    tool_description: str = "/description"
    tool_schema: str = "/parameters"
    role: str = "/role"
    content: str = "/content"
    message_calls: str = "/calls"
    """In a message of the assistant: the list of its calls."""
    result_id: str = "/call_id"
    """In a message with a result: the id of the call that it answers."""
    calls: str = "/calls"
    """In an answer: the list of calls."""
    call_id: str = "/id"
    call_name: str = "/name"
    call_arguments: str = "/arguments"
    """In a call: the arguments, an object or JSON in a string."""
    model: str = "/model"
    id: str = "/id"
    finish: str = "/finish_reason"
    usage_input: str = "/usage/input_tokens"
    usage_output: str = "/usage/output_tokens"
    usage_cached: str = "/usage/cached_tokens"
    """Of the input tokens, those that were read from a cache."""
    finish_words: Mapping[str, str] = field(default_factory=dict[str, str])
    """The gateway's finish words and what they mean: `done = "complete"`."""
    ignore: tuple[str, ...] = ()
    """Pointers into the request that differ in every run; `*` is any key or place."""
    streams: str = "sse"
    stream_end: str = ""
    """Bytes that are only in the last event of a stream; empty: `data: [DONE]`, or the finish word."""
    price_provider: str = ""
    """The provider in genai-prices whose prices apply."""


_FIELDS: dict[str, Field[object]] = {one.name: one for one in fields(Declaration)}
_REQUIRED = tuple(name for name, one in _FIELDS.items() if one.default is MISSING and one.default_factory is MISSING)
_NO_POINTERS = frozenset(
    {"name", "path", "title", "spec", "finish_words", "ignore", "streams", "stream_end", "price_provider"}
)


def parse(table: Mapping[str, object]) -> Declaration:
    """The declaration in a table. Raises CassetteError that names the table, the key and what to write."""
    where = f"the protocol {table.get('name', '(no name)')!r} in the settings"
    for name in _REQUIRED:
        if name not in table:
            raise CassetteError(f"{where} has no {name!r}; it needs {', '.join(_REQUIRED)}")
    return Declaration(**{name: _value(name, value, where) for name, value in table.items()})  # type: ignore[arg-type]


def _value(name: str, value: object, where: str) -> object:
    if name not in _FIELDS:
        near = difflib.get_close_matches(name, _FIELDS, 1, 0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"the known keys are {', '.join(_FIELDS)}"
        raise CassetteError(f"{where} has the unknown key {name!r}; {hint}")
    if name == "finish_words":
        return _finish_words(value, where)
    if name == "ignore":
        if not isinstance(value, list | tuple) or not all(_is_pointer(one) for one in cast(list[object], value)):
            raise CassetteError(f"{where} has ignore = {value!r}; write a list of JSON pointers such as '/trace'")
        return tuple(cast(list[str], value))
    if not isinstance(value, str) or (not value and name in _REQUIRED):
        raise CassetteError(f"{where} has {name} = {value!r}; write a string")
    if name == "streams" and value not in STREAMS:
        raise CassetteError(f"{where} has streams = {value!r}; write one of {', '.join(STREAMS)}")
    if name not in _NO_POINTERS and not _is_pointer(value):
        raise CassetteError(f"{where} has {name} = {value!r}; write a JSON pointer such as '/out/{name}'")
    return value


def _finish_words(value: object, where: str) -> dict[str, str]:
    words = cast(dict[str, object], value) if isinstance(value, dict) else {}
    if not isinstance(value, dict) or not all(label in LABELS for label in words.values()):
        raise CassetteError(f"{where} has finish_words = {value!r}; write WORD = LABEL, a label of {', '.join(LABELS)}")
    return cast(dict[str, str], words)


def _is_pointer(value: object) -> bool:
    return isinstance(value, str) and (value == "" or value.startswith("/"))
