"""Runs in which one text is long and repeats itself, as a model writes that does not stop, or one list is long.

An expression or a loop that takes more than linear time is harmless with the texts of a story, and keeps a reader busy
for minutes with a few kilobytes of line breaks, or with the calls of a long session.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import orjson

from turntape.cassettes.tape.model import RoundTrip

from .inputs import places, runs

SIZE = 64_000
"""Characters of the long text."""
MANY = 3000
"""Items of the long list."""
PIECES = (
    "\n", " ", "\t", "\r\n", "a", "0", "1.", "\"", "\\\"", "\\", "\\n", "\\u00e9", "'", "{", "[", "(", "<", "`",
    "```", "```\n", "~", "|", "- ", "# ", "* ", "**", "=", "==", "=A", "/", "../", "//", "?", "&", "%20", "$", "_",
    "-", ".", ". ", ",", ", ", ": ", ";", "@a.", "http://", "word ", "A b. ", "é", "\u3000", "\U0001f600", "\u200b",
    "user: ", "Human: x\n", "<tool_call>", "</a>", "<a ", "{\"name\":", "\"arguments\":", "[1] ", "12:00 ",
    "2026-11-23 ", "Error: ", "sk-", "Bearer ", "key=", "eyJ", "AKIA", "-----", "0x", "a1", "REDACTED-",
)  # fmt: skip
FRONTS = ("", "", "", "```json", '{"a": "', "<tool_call>", "Error: ", "The result is ", "<think>", "data:", "Thought: ")
ENDS = ("", "", "\x00", "```", '"}', "</tool_call>", "\n", "!")
_LEAST, _MOST = 4, 400
"""Characters of the texts that are replaced."""


def pumped(number: int) -> tuple[str, list[RoundTrip], str]:
    """The run with that number: its dialect, its round trips, and what is long in it."""
    chance = random.Random(f"pumped {number}")
    return _with_many_items(number, chance) if chance.random() < 0.3 else _with_long_text(number, chance)


def _with_many_items(number: int, chance: random.Random) -> tuple[str, list[RoundTrip], str]:
    """One item of one list comes many times, or one event of a stream."""
    dialect, trips = runs()[number % len(runs())]
    place = chance.randrange(len(trips))
    trip = trips[place]
    response = trip.response
    if response is not None and chance.random() < 0.5:
        body, what = _longer(response.body, chance)
        trip = replace(trip, response=replace(response, content=body, chunks=()))
    else:
        body, what = _longer(trip.request.body, chance)
        trip = replace(trip, request=replace(trip.request, content=body))
    return dialect, [*trips[:place], trip, *trips[place + 1 :]], f"round trip {place} has {MANY} times {what[:60]}"


def _longer(body: bytes, chance: random.Random) -> tuple[bytes, str]:
    value = _json(body)
    lists = [(inner, key) for inner, key in places(value) if isinstance(inner[key], list) and inner[key]]
    if lists:
        inner, key = chance.choice(lists)
        place, with_own_ids = chance.randrange(len(inner[key])), chance.random() < 0.5
        item = inner[key][place]
        inner[key][place : place + 1] = [_copy(item, n) if with_own_ids else item for n in range(MANY)]
        return orjson.dumps(value), f"{key} {item}"
    end = b"\n\n" if b"\n\n" in body else b"\n"
    events = body.split(end)
    place = chance.randrange(len(events))
    what = events[place]
    events[place : place + 1] = [what] * MANY
    return end.join(events), what.decode("utf-8", "replace")


def _copy(item: Any, number: int) -> Any:
    """The same item with other ids, names and texts."""
    if isinstance(item, list):
        return [_copy(inner, number) for inner in item]
    if isinstance(item, dict):
        own = {name: f"{item[name]}{number}" for name in _OWN if isinstance(item.get(name), str)}
        return {name: own.get(name) or _copy(inner, number) for name, inner in item.items()}
    return item


_OWN = ("id", "call_id", "tool_call_id", "tool_use_id", "toolUseId", "name", "text", "content")


def _with_long_text(number: int, chance: random.Random) -> tuple[str, list[RoundTrip], str]:
    place = number % len(runs())
    dialect, trips = runs()[place]
    text = chance.choice(_texts(place))
    unit = "".join(chance.choice(PIECES) for _ in range(chance.choice((1, 1, 2, 3))))
    long = chance.choice(FRONTS) + unit * (SIZE // len(unit)) + chance.choice(ENDS)
    return dialect, [_with(trip, text, long) for trip in trips], f"{text[:40]!r} is {long[:20]!r} + {unit!r} * n"


@cache
def _texts(place: int) -> list[str]:
    """The texts of a run that may be long: those of its requests and answers, and of the JSON in them."""
    found: dict[str, None] = {}
    for trip in runs()[place][1]:
        for body in (trip.request.body, trip.response.body if trip.response else b""):
            for line in (body, *body.split(b"\n")):
                found |= dict.fromkeys(_leaves(_json(line.removeprefix(b"data: "))))
    return [text for text in found if _LEAST <= len(text) <= _MOST]


def _json(data: bytes | str) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return None


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value[:1] in ("{", "["):
            yield from _leaves(_json(value))
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)


def _with(trip: RoundTrip, text: str, long: str) -> RoundTrip:
    """The round trip with the long text wherever the text is a whole JSON string, also in JSON that is in a string."""
    once, twice = _spelled(text, long), _spelled(text, long, inner=True)
    request = replace(trip.request, content=trip.request.body.replace(*once).replace(*twice))
    if trip.response is None:
        return replace(trip, request=request)
    body = trip.response.body.replace(*once).replace(*twice)
    return replace(trip, request=request, response=replace(trip.response, content=body, chunks=()))


def _spelled(text: str, long: str, *, inner: bool = False) -> tuple[bytes, bytes]:
    """How a body spells the text, and the long one in its place."""
    spelled = orjson.dumps(text), orjson.dumps(long)
    if not inner:
        return spelled
    first, second = (orjson.dumps(one.decode())[1:-1] for one in spelled)
    return first, second
