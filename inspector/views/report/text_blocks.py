"""Texts and JSON values: long ones are folded, very long ones are cut."""

import json
from collections.abc import Sequence

from ...wire.json_value import is_object, parse_json
from ...wire.values import ToolCall, ToolResult
from ..text.number_format import several
from .markup import NOTHING, Html, joined, span, tag

TEXT = 30_000
"""Characters of a text that are shown."""
LINES, CHARACTERS = 14, 1200
"""A longer text starts folded."""


def folded(head: Sequence[Html | str], body: Html) -> Html:
    """A fold with the title `head`, which contains `body`."""
    return tag("details", tag("summary", *head), body)


def block(text: str, *, whole: bool = False, shut: bool = False) -> Html:
    """A text; a long one folded under its beginning unless `whole`, a very long one cut."""
    if not text:
        return tag("p", "empty", class_="dim")
    cut = NOTHING
    size_of = len(text)
    if size_of > TEXT:
        cut = tag("p", f"… {size_of - TEXT:,} more characters in the cassette", class_="dim")
        text = text[:TEXT]
    body = joined((tag("pre", text), cut))
    lines = text.count("\n") + 1
    if whole or (not shut and lines <= LINES and size_of <= CHARACTERS):
        return body
    begins = " ".join(text[:240].split())[:160]
    more = several(lines, "line") if lines > 1 else several(size_of, "character")
    return tag("details", tag("summary", span("begins", begins), span("dim", f" {more}")), body, class_="long")


def arguments(call: ToolCall) -> Html:
    """The arguments of a call by name; as text when they are not a JSON object."""
    if is_object(call.arguments):
        if not call.arguments:
            return tag("p", "no arguments", class_="dim")
        rows = (
            tag("div", tag("dt", key), tag("dd", block(value if isinstance(value, str) and value else pretty(value))))
            for key, value in call.arguments.items()
        )
        return tag("dl", *rows)
    if call.arguments is not None:
        return block(pretty(call.arguments))
    if not call.arguments_raw:
        return tag("p", "no arguments", class_="dim")
    return joined((tag("p", "these arguments are not valid JSON:", class_="bad"), block(call.arguments_raw)))


def result_block(result: ToolResult, name: str | None, where: str) -> Html:
    """The result of a call of the tool `name`."""
    look = "bad" if result.is_error else "client"
    head = [span(look, "← "), result.name or name or result.call_id or "a call"]
    if result.is_error:
        head.append(span("bad", " error"))
    return tag("div", tag("div", *head, span("dim", where)), block(result.text), class_="result")


def pretty(value: object) -> str:
    """A JSON value over several lines; a text that holds a JSON object as that object."""
    if isinstance(value, str) and is_object(parsed := parse_json(value)):
        value = parsed
    return json.dumps(value, ensure_ascii=False, indent=2)
