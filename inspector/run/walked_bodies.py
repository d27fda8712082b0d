"""What a request body has that the body it continues does not have, so that a long thread is walked once.

`read_body` gives bodies that have much in common the same values: the items of an array that two bodies share are the
same objects.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from itertools import compress, count
from operator import is_, is_not

from ..wire.json_value import is_array
from ..wire.request_bodies import HELD

KEPT = 8
"""How many bodies are compared with: those of agents that take turns."""


class WalkedBodies:
    """The latest bodies whose texts were all looked at."""

    def __init__(self) -> None:
        self._kept: deque[tuple[Mapping[str, object], int]] = deque(maxlen=KEPT)
        """Values, and the bytes of their bodies."""

    def news(self, body: Mapping[str, object], size: int) -> Iterator[tuple[str, object]]:
        """The members of a body and the items of its arrays that are new, with their JSON pointers.

        From then on the body counts as looked at, in the place of the one that it continues.
        """
        found = max(((_shared(one, body), at) for at, (one, _) in enumerate(self._kept)), default=(0, 0))
        base: Mapping[str, object] = {}
        if found[0]:
            base = self._kept[found[1]][0]
            del self._kept[found[1]]
        self._kept.append((body, size))
        while len(self._kept) > 1 and sum(size for _, size in self._kept) > HELD:
            self._kept.popleft()
        for name, value in body.items():
            if name not in base:
                yield "", {name: value}
            elif is_array(value) and is_array(before := base[name]):
                for at in (*compress(count(), map(is_not, before, value)), *range(len(before), len(value))):
                    if at >= len(before) or value[at] != before[at]:
                        yield f"/{name}/{at}", value[at]
            elif value != base[name]:
                yield f"/{name}", value


def _shared(one: Mapping[str, object], other: Mapping[str, object]) -> int:
    """How many items of arrays are the same objects in two bodies."""
    arrays = ((one.get(name), value) for name, value in other.items())
    return sum(_same_items(before, value) for before, value in arrays if is_array(before) and is_array(value))


def _same_items(before: list[object], now: list[object]) -> int:
    """How many items in the same places are the same objects."""
    return sum(map(is_, before, now))
