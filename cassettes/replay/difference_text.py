"""Differences of two requests as lines for a person: the path, and below it the words that were and the words that are.

/messages/0/content
  - You are a sales agent.
  + You are a salesman.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from textwrap import wrap
from typing import Literal, cast
from unicodedata import category, normalize

import orjson

from ..counted import several
from ..excerpts import cut
from ..matching.embedded_files import is_file, shown
from ..matching.json_diff import Difference
from ..matching.pointers import segments
from ..matching.request_fields import CONVERSATIONS, part_of, part_of_item, tool_names
from ..regex import regex
from ..tape.model import RoundTrip
from ..whole_number import whole_number

_WIDTH = 68
"""Longer values are cut, so that a line fits 80 columns behind what pytest writes before it."""
_CONTEXT = 24
"""How many characters of a text are shown before and after what differs."""
_NEAR = 30
"""Places of a text that are nearer than this are shown as one."""
_PLACES = 3
"""At most this many places of one text are shown."""
_ALIGNED = 3000
_TOKEN = regex(r"\w+|\s+|[^\w\s]")
_NAMES = {
    "system": "the system prompt",
    "tools": "the tools",
    "messages": "a message",
    "tool_results": "a tool result",
    "model": "the model",
}
_SPEAKERS = {
    "user": "a user message",
    "assistant": "an assistant message",
    "model": "an assistant message",
    "chatbot": "an assistant message",
}
_TEXTS = {"input": "the input", "prompt": "the prompt"}
"""Fields that are a text instead of a history. Where something else than a chat is requested, nobody speaks there."""
_MESSAGES = frozenset({*_SPEAKERS.values(), *_TEXTS.values()})
_CALLS = frozenset({"tool_calls", "arguments", "functionCall", "function_call", "toolUse", "input"})
"""Fields of a message that hold a call of a tool."""
_ENDS = {"added": " is new", "removed": " is gone"}


def lines_of(found: Sequence[Difference]) -> list[str]:
    """The lines of differences, in their order; what only changed its place is said as one difference."""
    lines: list[str] = []
    for one in _with_moves(found):
        lines += (
            [one] if isinstance(one, str) else [f"{one.pointer or 'the body'}{_ENDS.get(one.kind, '')}", *_values(one)]
        )
    return lines


def parts_of(found: Sequence[Difference], recorded: RoundTrip | None) -> list[str]:
    """The part of the request that each difference is in. It has the same words for each API, and for each speaker."""
    parts = (part_in_words(one, recorded) for one in found)
    return [
        f"{_NAMES['messages'] if part in _MESSAGES else part}{_ENDS.get(one.kind, '')}"
        for one, part in zip(found, parts, strict=True)
    ]


def changes_of(found: Sequence[Difference], recorded: RoundTrip | None) -> list[str]:
    """What only differs of each text, by part: equal where one change was made in different texts, and for different
    APIs."""
    lines: list[str] = []
    for one, part in zip(found, parts_of(found, recorded), strict=True):
        lines.append(part)
        if one.kind == "changed" and isinstance(one.recorded, str) and isinstance(one.given, str):
            for low, high, low_new, high_new in _places(one.recorded, one.given, near=0):
                lines += [f"- {one.recorded[low:high]}", f"+ {one.given[low_new:high_new]}"]
        else:
            lines += _tools(one) or _values(one)
    return lines


def _tools(one: Difference) -> list[str]:
    """The names of the tools that are new or gone: each API defines a tool in another form."""
    if part_of(one.pointer) != "tools" or one.kind == "changed":
        return []
    sign, value = ("+", one.given) if one.kind == "added" else ("-", one.recorded)
    return [f"{sign} {name}" for name in tool_names(value)]


def part_in_words(difference: Difference, recorded: RoundTrip | None) -> str:
    """The part of a request that differs: `the system prompt`, `a tool result`, `temperature`."""
    part = part_of(difference.pointer)
    if part != "messages" or not difference.pointer:
        return _NAMES.get(part, part)
    at = segments(difference.pointer)
    item = _item_of(difference, recorded)
    if isinstance(item, str) and len(at) == 1:
        item = _only_item(at[0], recorded) or item
    if isinstance(item, str):
        return _TEXTS.get(at[0], _NAMES[part])
    part = part_of_item(item)
    if part != "messages":
        return _NAMES[part]
    if _CALLS.intersection(at[2:]):
        return "a tool call"
    role = cast(dict[str, object], item).get("role") if isinstance(item, dict) else None
    return _SPEAKERS.get(role.casefold(), _NAMES[part]) if isinstance(role, str) else _NAMES[part]


def _only_item(field: str, recorded: RoundTrip | None) -> object:
    """The first item of a recorded history that is compared as the text of its only item; None where it is a text."""
    body = body_of(recorded.request.body) if recorded is not None else None
    history = cast(dict[str, object], body).get(field) if isinstance(body, dict) else None
    return cast(list[object], history)[0] if isinstance(history, list) and history else None


def _item_of(difference: Difference, recorded: RoundTrip | None) -> object:
    """The item of the history that a difference is in: in some APIs the system prompt and tool results are items."""
    at = segments(difference.pointer)
    item = difference.recorded if difference.kind == "removed" else difference.given
    if len(at) <= 2 and isinstance(item, dict | str):
        return cast(object, item)
    body = body_of(recorded.request.body) if recorded is not None else None
    history = cast(dict[str, object], body).get(at[0]) if isinstance(body, dict) else None
    items = cast(list[object], history) if isinstance(history, list) and at[0] in CONVERSATIONS else []
    place = (whole_number(at[1]) or 0) if len(at) > 1 else 0
    return items[place] if place < len(items) else None


@lru_cache(2)
def body_of(body: bytes) -> object:
    """As `json_of`, for a recorded request: kept for its other differences, so not to be changed."""
    return json_of(body)


def json_of(body: bytes) -> object:
    """The value of a body; None if it is not JSON."""
    try:
        return cast(object, orjson.loads(body))
    except orjson.JSONDecodeError:
        return None


def _with_moves(found: Sequence[Difference]) -> Iterator[Difference | str]:
    """The differences; an item that is removed in one place of a list and added in another one has moved, and a value
    that is under another key of an object was renamed."""
    added = {_place_free(one): one for one in found if one.kind == "added"}
    moved: dict[int, Difference] = {}
    stays: set[int] = set()
    for one in found:
        twin = added.get(_place_free(one)) if one.kind == "removed" else None
        if twin is not None and twin.pointer == one.pointer:
            stays |= {id(one), id(twin)}  # its neighbours have changed places
        elif twin is not None and "/" in one.pointer:
            moved[id(one)] = twin
    gone = {id(twin) for twin in moved.values()} | stays
    for one in found:
        if id(one) in moved:
            folder, _, before = one.pointer.rpartition("/")
            after = moved[id(one)].pointer.rpartition("/")[2]
            was, now = whole_number(before), whole_number(after)
            if was is not None and now is not None:
                name = _name(one.recorded)
                yield f"{folder}: the order has changed: {name} was number {was + 1}, now {now + 1}"
            else:
                yield f"{folder}: {before} is now called {after}"
        elif id(one) not in gone:
            yield one


def _place_free(one: Difference) -> tuple[str, bytes]:
    value = one.recorded if one.kind == "removed" else one.given
    return one.pointer.rpartition("/")[0], orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=repr)


def _name(value: object) -> str:
    """What a person calls an item of a list: the name of a tool or call, or the item's beginning."""
    fields = cast(dict[str, object], value) if isinstance(value, dict) else {}
    inner = fields.get("function") or fields.get("toolSpec") or fields.get("functionCall")
    for one in (fields, inner):
        name = cast(dict[str, object], one).get("name") if isinstance(one, dict) else None
        if isinstance(name, str):
            return name
    return cut(_json(cast(object, value)), 40)


def _values(one: Difference) -> list[str]:
    if one.kind == "added":
        return [f"  + {cut(_json(one.given), _WIDTH)}"]
    if one.kind == "removed":
        return [f"  - {cut(_json(one.recorded), _WIDTH)}"]
    if isinstance(one.recorded, str) and isinstance(one.given, str):
        return _texts(one.recorded, one.given)
    return [f"  - {cut(_json(one.recorded), _WIDTH)}", f"  + {cut(_json(one.given), _WIDTH)}"]


def _texts(recorded: str, given: str) -> list[str]:
    """The places where two texts differ, each with a few words around it; of a file its size and digest."""
    if is_file(recorded) or is_file(given):
        return [f"  - {cut(shown(recorded), _WIDTH)}", f"  + {cut(shown(given), _WIDTH)}"]
    places = _places(recorded, given)
    lines: list[str] = []
    for low, high, low_new, high_new in places[:_PLACES]:
        was, now = _excerpt(recorded, low, high), _excerpt(given, low_new, high_new)
        if _as_seen(was) == _as_seen(now):
            was, now = _spelled(was), _spelled(now)
        lines += [*_wrapped("  - ", was), *_wrapped("  + ", now)]
    left = len(places) - _PLACES
    return [*lines, f"  … and {several(left, 'more place')} in this text"] if left > 0 else lines


def _wrapped(sign: str, text: str) -> list[str]:
    """A text behind its sign, in lines of at most the usual width."""
    pieces = wrap(text, _WIDTH, replace_whitespace=False, drop_whitespace=False, break_on_hyphens=False)
    return [f"{'    ' if number else sign}{piece}" for number, piece in enumerate(pieces)]


def _as_seen(text: str) -> str:
    """What a reader can distinguish: no kinds and numbers of spaces, and no characters without a width."""
    seen = "".join(char for char in normalize("NFKC", text) if category(char) not in ("Cf", "Cc", "Mn"))
    return " ".join(seen.split())


def _spelled(text: str) -> str:
    """A text with all its spaces visible, and other characters than ASCII by their number."""
    signs = {" ": "␠", **{sign: sign for sign in "…⏎␍"}}
    return "".join(signs.get(char) or ascii(char)[1:-1] for char in text)


def _places(recorded: str, given: str, near: int = _NEAR) -> list[tuple[int, int, int, int]]:
    """Where two texts differ, as from and to in each of them; places nearer than `near` are one."""
    old, new = _TOKEN.findall(recorded), _TOKEN.findall(given)
    start = next(
        (n for n, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new))
    )
    most = min(len(old), len(new)) - start
    end = next((n for n in range(most) if old[-1 - n] != new[-1 - n]), most)
    middle, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    codes: list[tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]]
    codes = [("replace", 0, len(middle), 0, len(middle_new))]
    if max(len(middle), len(middle_new)) <= _ALIGNED:
        codes = SequenceMatcher(None, middle, middle_new, autojunk=False).get_opcodes()
    at, at_new = _offsets(old), _offsets(new)
    places: list[tuple[int, int, int, int]] = []
    for tag, low, high, low_new, high_new in codes:
        if tag == "equal":
            continue
        place = (at[start + low], at[start + high], at_new[start + low_new], at_new[start + high_new])
        if places and place[0] - places[-1][1] < near:
            place = (places[-1][0], place[1], places[-1][2], place[3])
            places.pop()
        places.append(place)
    return places


def _offsets(tokens: Sequence[str]) -> list[int]:
    found = [0]
    for token in tokens:
        found.append(found[-1] + len(token))
    return found


def _excerpt(text: str, low: int, high: int) -> str:
    """A part of a text with the words around it, on one line."""
    start, end = max(0, low - _CONTEXT), min(len(text), high + _CONTEXT)
    if start:
        space = text.find(" ", start, low)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", high, end)
        end = space if space >= 0 else end
    shown = text[start:end]
    if high - low > 2 * _WIDTH:
        shown = f"{text[start : low + _WIDTH]} … {text[high - _WIDTH // 2 : end]}"
    shown = shown.replace("\r", "␍").replace("\n", "⏎")
    return f"{'…' if start else ''}{shown}{'…' if end < len(text) else ''}" or "(no text)"


def _json(value: object) -> str:
    if isinstance(value, dict | list):
        try:
            return orjson.dumps(cast(object, value)).decode()
        except (TypeError, ValueError):
            return repr(cast(object, value))
    if isinstance(value, str):
        return orjson.dumps(value).decode() if value.isprintable() is False or not value else f'"{value}"'
    return orjson.dumps(value, default=repr).decode()
