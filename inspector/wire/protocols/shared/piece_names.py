"""Sees that one stream mixes the pieces of two answers, by the names that the pieces carry.

A gateway may change a name on the way, or give each piece its own. But a name that comes back after another one shows
that pieces of another answer are in between.
"""

from collections.abc import Iterable, Mapping

from ...json_value import Object, as_text


class PieceNames:
    """The names of the pieces of a stream so far: an id, a model, a time."""

    def __init__(self) -> None:
        self._seen: dict[str, list[object]] = {}
        self.problems: list[str] = []
        """The first name that came back, as a sentence."""

    def add(self, names: Mapping[str, object]) -> None:
        """Take in the names of one piece that holds something of the model; a name without a value is skipped."""
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


def second_message(events: Iterable[tuple[str, Object]], start: str) -> list[str]:
    """A problem when a second message begins in a stream of named events; `start` is the event that begins one."""
    begun = [event for name, event in events if (as_text(event.get("type")) or name) == start]
    ids = [as_text(event.get("id")) for event in begun]
    if len(begun) < 2 or (None not in ids and len(set(ids)) == 1):
        return []
    return [f"A second message begins in the stream: {start!r} arrived {len(begun)} times."]
