"""What a client writes in any order, in one order: results of parallel calls, its notes on them, sets and skills.

This applies to keys of requests only: what was sent is kept as it is, and reported where it differs.
"""

import re
from typing import cast

import orjson

from ..regex import regex
from .request_fields import Json, conversation, part_of_key, result_id

_LISTS = ("content", "parts")
_NOTE = regex(r"<system-reminder>(?:(?!<system-reminder>).)*</system-reminder>\s*\Z", re.DOTALL)
"""What a client adds to that result of a turn which is ready last, in a separate block or behind the text."""
_SKILLS = regex(r"(?P<lead><available_skills>\s*)(?P<all><skill>.*</skill>)(?=\s*</available_skills>)", re.DOTALL)
_SKILL = regex(r"<skill>.*?</skill>", re.DOTALL)
_NAME = regex(r"<name>(.*?)</name>", re.DOTALL)
_AVAILABLE = regex(r"(?<=\(Available: )'[^']*'(?:, '[^']*')+(?=\))")


def write_in_order(body: Json) -> None:
    """Change a request: results of parallel calls are in the order of their ids, because their order depends on which
    tool ended first; notes of the client on them come last; the values of an `enum` are sorted."""
    items = conversation(body)
    _sort_results(items)
    for item in items:
        for name in _LISTS:
            inner = cast(Json, item).get(name) if isinstance(item, dict) else None
            if isinstance(inner, list):
                _sort_results(cast(list[object], inner))
    for key, value in body.items():
        if part_of_key(key) == "tools":
            _sort_sets(value)


def text_in_order(text: str) -> str:
    """A text whose list of skills is in the order of their names. A client lists them in the order of a folder."""
    if "(Available: '" in text:
        text = _AVAILABLE.sub(lambda found: ", ".join(sorted(found.group().split(", "))), text)
    if "<available_skills>" in text:
        text = _SKILLS.sub(lambda found: found["lead"] + _skills_in_order(found["all"]), text)
    return text


def _skills_in_order(text: str) -> str:
    skills = sorted(_SKILL.findall(text), key=lambda skill: _NAME.findall(skill))
    between = _SKILL.split(text)
    return "".join(word for pair in zip(between, [*skills, ""], strict=True) for word in pair)


def _sort_results(items: list[object]) -> None:
    start = 0
    while start < len(items):
        end = start
        while end < len(items) and result_id(items[end]) is not None:
            end += 1
        if end - start > 1:
            results = sorted(items[start:end], key=lambda item: result_id(item) or "")
            items[start:end] = results
            _move_notes([cast(Json, item) for item in results])
        start = end + 1


def _move_notes(results: list[Json]) -> None:
    """Put the notes of all results into the last one."""
    notes = [note for result in results for note in _take_notes(result)]
    if notes:
        last = results[-1]
        content = last.get("content")
        blocks = cast(list[object], content) if isinstance(content, list) else [{"type": "text", "text": content}]
        last["content"] = [*blocks, *({"type": "text", "text": note} for note in notes)]


def _take_notes(result: Json) -> list[object]:
    """Remove the notes at the end of a result."""
    content = result.get("content")
    if isinstance(content, str):
        text, notes = _without_notes(content)
        if notes:
            result["content"] = text
        return notes
    if not isinstance(content, list) or not content:
        return []
    blocks = cast(list[object], content)
    notes: list[object] = []
    while len(blocks) > 1 and (found := _whole_note(blocks[-1])):
        notes.insert(0, found)
        del blocks[-1]
    last = blocks[-1]
    text = cast(Json, last).get("text") if isinstance(last, dict) else None
    if not isinstance(text, str):
        return notes
    if notes:
        cast(Json, last)["text"] = text.removesuffix("\n")
        return notes
    text, notes = _without_notes(text)
    if notes:
        cast(Json, last)["text"] = text
    return notes


def _whole_note(block: object) -> str | None:
    text = cast(Json, block).get("text") if isinstance(block, dict) else None
    return text.strip() if isinstance(text, str) and _NOTE.match(text) else None


def _without_notes(text: str) -> tuple[str, list[object]]:
    notes: list[object] = []
    while text.rstrip().endswith("</system-reminder>") and (found := _NOTE.search(text)):
        notes.insert(0, found.group().strip())
        text = text[: found.start()].rstrip("\n")
    return text, notes


def _sort_sets(schema: object) -> None:
    if isinstance(schema, list):
        for item in cast(list[object], schema):
            _sort_sets(item)
    elif isinstance(schema, dict):
        fields = cast(Json, schema)
        values = fields.get("enum")
        if isinstance(values, list):
            fields["enum"] = sorted(cast(list[object], values), key=orjson.dumps)
        for item in fields.values():
            _sort_sets(item)
