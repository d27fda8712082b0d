"""What the answers of an API usually hold, counted in healthy loops."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ..recorded.bodies import Body, Event

type Keys = tuple[str | int, ...]
_SEEN, _ALWAYS = 5, 0.98
"""So many objects of a kind must be seen, and so many of them must have a field, before its absence counts."""


def objects_in(value: Any, keys: Keys = (), place: str = "") -> Iterator[tuple[Keys, str, dict[str, Any]]]:
    """Each object of a JSON value: the keys that lead to it, the name of its place, and the object.

    Items of one list share a place, and objects with a `type` have one for each type.
    """
    if isinstance(value, dict):
        tag = value.get("type")
        here = f"{place}({tag})" if isinstance(tag, str) else place
        yield keys, here, value
        for key, inner in value.items():
            yield from objects_in(inner, (*keys, key), f"{here}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from objects_in(inner, (*keys, number), f"{place}[]")


def kind_of(event: Event) -> str:
    """The kind of an event; empty in streams that have no kinds."""
    return event.name or str(event.value.get("type") or event.value.get("event_type") or "")


def bodies_of(answer: Body) -> Iterator[tuple[str, Any]]:
    """The JSON values of an answer, each with the kind of its event."""
    for event in answer.events if answer.events is not None else [Event("", answer.value, b"")]:
        if isinstance(event.value, dict):
            yield kind_of(event), event.value


@dataclass(slots=True)
class Norm:
    """What the answers of one API hold, streamed or whole."""

    objects: Counter[str] = field(default_factory=Counter[str])
    """How often an object was seen at a place."""
    types: defaultdict[tuple[str, str], Counter[type]] = field(default_factory=lambda: defaultdict(Counter))
    """By place and key: the types of its values."""
    empty: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Fields that are empty in some healthy answer."""
    streams: int = 0
    once: Counter[str] = field(default_factory=Counter[str])
    """In how many streams an event of this kind comes exactly once."""

    def add(self, answer: Body) -> None:
        kinds: Counter[str] = Counter()
        for kind, value in bodies_of(answer):
            kinds[kind] += 1
            for _, place, fields in objects_in(value, place=kind):
                self.objects[place] += 1
                for key, inner in fields.items():
                    self.types[place, key][type(inner)] += 1
                    if inner in ("", [], {}):
                        self.empty.add((place, key))
        self.streams += 1
        self.once.update(kind for kind, count in kinds.items() if kind and count == 1)

    def is_usual(self, place: str, key: str) -> bool:
        """True when practically every object at this place has the field, and always with one type."""
        types, seen = self.types[place, key], self.objects[place]
        return len(types) == 1 and type(None) not in types and seen >= _SEEN and types.total() >= _ALWAYS * seen

    def is_never_empty(self, place: str, key: str) -> bool:
        return self.is_usual(place, key) and (place, key) not in self.empty

    def comes_once(self, kind: str) -> bool:
        """True for an event that every stream has exactly once."""
        return self.streams >= _SEEN and self.once[kind] >= _ALWAYS * self.streams


def norm_of(answers: Iterable[Body]) -> Norm:
    norm = Norm()
    for answer in answers:
        norm.add(answer)
    return norm
