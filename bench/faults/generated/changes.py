"""One change of one answer, at random: a field, an event, or the end of the body."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from ..recorded.bodies import Body
from .norm import Keys, Norm, bodies_of, kind_of, objects_in


@dataclass(frozen=True, slots=True)
class Change:
    """What was changed."""

    kind: str
    place: str
    """Of the field, of the event, or `body`."""
    noticed: bool
    """Whether a client can notice it: no healthy answer of the API is like that."""
    body: bytes | None = None
    """The bytes of the answer where they cannot be made from its JSON."""


_OWN = frozenset({"args", "arguments", "input", "metadata", "parameters", "properties"})
"""Objects whose fields the model or the user names."""
_OTHER: dict[type, object] = {str: 7, int: "seven", float: "seven", bool: "yes", dict: [], list: {}}


def change(answer: Body, norm: Norm, random: Random) -> Change | None:
    """Change one thing in an answer; None when it has nothing to change in the way that was drawn."""
    kinds = ["drop", "null", "type", "empty", "id", "cut"]
    if answer.events is not None:
        kinds += ["drop event", "double event", "swap events"]
    kind = random.choice(kinds)
    if kind == "cut":
        return _cut(answer, random)
    if "event" in kind:
        return _event(answer, kind, norm, random)
    fields = list(_fields(answer))
    if not fields:
        return None
    return _field(kind, *random.choice(fields), norm, random, answer)


def _fields(answer: Body) -> Iterator[tuple[str, dict[str, Any], str]]:
    for kind, value in bodies_of(answer):
        for _, place, holder in objects_in(value, place=kind):
            if _OWN.isdisjoint(place.replace("(", ".").split(".")):
                yield from ((place, holder, key) for key in holder)


def _field(
    kind: str, place: str, holder: dict[str, Any], key: str, norm: Norm, random: Random, answer: Body
) -> Change | None:
    value, usual = holder[key], norm.is_usual(place, key)
    where = f"{place}.{key}"
    if kind == "drop":
        del holder[key]
    elif value is None:
        return None
    elif kind == "null":
        holder[key] = None
    elif kind == "type":
        holder[key] = _OTHER[type(value)]
    elif kind == "empty":
        if not isinstance(value, str | list | dict) or not value:
            return None
        holder[key], usual = type(value)(), norm.is_never_empty(place, key)
    else:
        if not isinstance(value, str) or len(_same(answer, place, key, value)) < 2:
            return None
        holder[key], usual = f"{value}-{random.randrange(100)}", key == "id" or key.endswith(("_id", "Id"))
    return Change(kind, where, usual)


def _same(answer: Body, place: str, key: str, value: str) -> list[Keys]:
    """Where the same text is in the same field of other events."""
    return [
        keys
        for kind, body in bodies_of(answer)
        for keys, at, holder in objects_in(body, place=kind)
        if at == place and holder.get(key) == value
    ]


def _event(answer: Body, kind: str, norm: Norm, random: Random) -> Change | None:
    events = answer.events or []
    places = [n for n, event in enumerate(events) if isinstance(event.value, dict)]
    if len(places) < 3:
        return None
    at = random.randrange(len(places) - 1)
    number, after = places[at], places[at + 1]
    name = kind_of(events[number])
    usual = norm.comes_once(name)
    if kind == "drop event":
        del events[number]
    elif kind == "double event":
        events.insert(number, events[number])
    else:
        if events[number].value == events[after].value:
            return None
        usual = usual and norm.comes_once(kind_of(events[after]))
        events[number], events[after] = events[after], events[number]
    return Change(kind, f"event {name}".strip(), usual)


def _cut(answer: Body, random: Random) -> Change:
    pieces = answer.pieces()
    if answer.events is None or answer.kind == "array":
        body = b"".join(pieces)
        return Change("cut", "body", True, body[: random.randrange(1, len(body))])
    kept = random.randrange(1, max(2, len(pieces) * 2 // 3))
    return Change("cut", "body", len(pieces) > 2, b"".join(pieces[:kept]))
