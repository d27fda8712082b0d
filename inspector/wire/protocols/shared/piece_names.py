"""Sees that one stream mixes the pieces of two answers, by the names that the pieces carry.

A gateway may change a name on the way, or give each piece its own. But a name that comes back after another one shows
that pieces of another answer are in between.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from ...json_value import Object, as_text

RESTARTED = frozenset({"the id", "the model", "the responseId", "the modelVersion"})
"""Names that change together where another answer begins."""


class PieceNames:
    """The names of the pieces of a stream so far: an id, a model, a time."""

    def __init__(self) -> None:
        self._seen: dict[str, list[object]] = {}
        self.problems: list[str] = []
        """The first name that came back, as a sentence."""

    def _see_restart(self, names: Mapping[str, object]) -> None:
        """Note that the id and the model change at once: a gateway may go on with another model's answer."""
        changed = [
            f"{what} changes from {seen[-1]!r} to {name!r}"
            for what, name in names.items()
            if what in RESTARTED and name and (seen := self._seen.get(what)) and seen[-1] != name
        ]
        if len(changed) > 1:
            self.problems = self.problems or [f"A second answer begins in the stream: {' and '.join(changed)}."]

    def add(self, names: Mapping[str, object]) -> None:
        """Take in the names of one piece that holds something of the model; a name without a value is skipped."""
        self._see_restart(names)
        for what, name in names.items():
            if not isinstance(name, str | int) or name == "":
                continue
            seen = self._seen.setdefault(what, [])
            if seen and seen[-1] == name:
                continue
            if name in seen:
                self.problems = self.problems or [
                    f"Pieces of two answers are mixed: {what} changes from {name!r} to {seen[-1]!r} and back."
                ]
            seen.append(name)


_LONG = 20
"""Shorter texts may begin alike by chance."""


def grow(pieces: Iterable[str]) -> bool:
    """True when each piece holds all pieces before it, as servers send it that mistake pieces for the text so far."""
    said = [piece for piece in pieces if piece]
    if len(said) < 3 or len(said[-1]) < _LONG:
        return False
    return all(len(later) > len(one) and later.startswith(one) for one, later in pairwise(said))


def second_message(events: Iterable[tuple[str, Object]], start: str) -> list[str]:
    """A problem when a second message begins in a stream of named events; `start` is the event that begins one."""
    begun = [event for name, event in events if (as_text(event.get("type")) or name) == start]
    ids = [as_text(event.get("id")) for event in begun]
    if len(begun) < 2 or (None not in ids and len(set(ids)) == 1):
        return []
    return [f"A second message begins in the stream: {start!r} arrived {len(begun)} times."]
