"""JSON values as lines: as indented JSON, or as names and values."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

import orjson

from turntape.cassettes.regex import regex

from ....wire.json_value import is_array, is_object
from ....wire.printable import safe
from ...text.terminal_text import width_of
from .blocks import Body, Spans
from .text_lines import Prose

_JSON = regex(r'^(\s*)("(?:[^"\\]|\\.)*")(\s*:\s*)(.*)$')
_MARKS = regex(r"^[\[\]{},]*$")
_NUMBER = regex(r"^(?:-?\d[\d.eE+-]*|true|false|null),?$")


def json_line(text: str) -> Spans:
    """A line of pretty JSON with its key and its value in their colours."""
    found = _JSON.match(text)
    if found is None:
        rest, lead = text.lstrip(), text[: len(text) - len(text.lstrip())]
        return [(lead, "plain"), (rest, _value_look(rest))]
    lead, key, colon, value = found.groups()
    return [(lead, "plain"), (key, "key"), (colon, "dim"), (value, _value_look(value))]


def _value_look(text: str) -> str:
    """The look of a value, or of the rest of a text that was broken into lines."""
    if _MARKS.match(text):
        return "dim"
    return "number" if _NUMBER.match(text) else "string"


def pretty(value: object) -> str:
    """A JSON value over several lines."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except (TypeError, ValueError):
        return json.dumps(value, indent=2, ensure_ascii=False)


NUMBERS, LEAST = 24, 400
"""A list of more numbers is an embedding; and a text of base64 with at least so many characters is data."""
DEEPEST = 100
"""Levels of lists and objects in which data is looked for: a body may have more than Python can follow."""
_KEPT = 4
"""Numbers of an embedding that are shown."""
_BASE64 = regex(r"[A-Za-z0-9+/_-]+={0,2}")


def shortened(value: object, levels: int = DEEPEST) -> object:
    """A JSON value without what nobody reads: of an embedding and of data in base64 only the beginning is left.

    Below so many levels everything is left as it is.
    """
    if not levels:
        return value
    if isinstance(value, str):
        if len(value) < LEAST or not _BASE64.fullmatch(value):
            return value
        return f"{value[:16]}… ({len(value):,} characters of base64)"
    if is_object(value):
        return {name: shortened(inner, levels - 1) for name, inner in value.items()}
    if not is_array(value):
        return value
    if len(value) > NUMBERS and all(isinstance(one, int | float) for one in value):
        return [*value[:_KEPT], f"… {len(value):,} numbers"]
    return [shortened(inner, levels - 1) for inner in value]


def fields_of(value: object, indent: int = 0) -> Iterator[tuple[str, str, str]]:
    """A JSON object as `(lead, key, text)` rows; texts of several lines stay as they are."""
    lead = "  " * indent
    if is_object(value):
        for key, inner in value.items():
            if (is_object(inner) or is_array(inner)) and inner:
                yield lead, key, ""
                yield from fields_of(inner, indent + 1)
            else:
                yield lead, key, scalar(inner)
    elif is_array(value):
        for inner in value:
            yield from _item(inner, lead, indent)


def _item(value: object, lead: str, indent: int) -> Iterator[tuple[str, str, str]]:
    """An item of a list, behind a dash."""
    if not (is_object(value) and value):
        yield f"{lead}- ", "", scalar(value)
        return
    for number, (deep, key, text) in enumerate(fields_of(cast(object, value), indent + 1)):
        yield deep if number else f"{lead}- ", key, text


def scalar(value: object) -> str:
    """A text as it is, any other value as JSON."""
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError):
        return json.dumps(value, ensure_ascii=False)


def keyed(rows: Iterable[tuple[str, str, str]], notes: Mapping[str, tuple[str, str]] | None = None) -> Body:
    """The body that shows `(lead, key, text)` rows; `notes` follow the keys that they are for."""
    given, notes = list(rows), notes or {}

    def body(width: int) -> Sequence[Spans]:
        out: list[Spans] = []
        for lead, key, text in given:
            out += _row(lead, key, text, None if lead else notes.get(key), width)
        return out

    return body


def _row(lead: str, key: str, text: str, note: tuple[str, str] | None, width: int) -> Iterator[Spans]:
    tail: list[tuple[str, str]] = [(f"  {note[0]}", note[1])] if note else []
    head: list[tuple[str, str]] = [(lead, "dim"), (safe(key), "key"), (": " if key else "", "dim")]
    room = width - width_of(lead) - width_of(key) - 2
    if "\n" not in text and width_of(text) <= room:
        yield [*head, (safe(text), _scalar_look(text)), *tail]
        return
    yield [*head, *tail]
    inner = " " * (len(lead) + 2)
    for line in Prose(text, max(10, width - len(inner)), "plain"):
        yield [(inner, "plain"), *line]


def _scalar_look(text: str) -> str:
    return "number" if re.fullmatch(r"-?[\d.eE+]+|true|false|null", text) else "plain"
