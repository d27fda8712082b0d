"""A fork: a run that is played from one cassette up to a turn, and recorded into another one from there."""

from ..frozen import frozen
from .model import RoundTrip

PLAYED = "played"
"""The field of `RoundTrip.extra` that names the recording an answer comes from."""


@frozen
class ForkSource:
    """The recording that a fork is made from, and what is played of it."""

    name: str
    """The path of its file."""
    at: int
    """The first live turn."""
    trips: tuple[RoundTrip, ...]
    turns: tuple[int, ...]
    """The numbers of the round trips that must be played before the first live request."""
    edited: frozenset[int] = frozenset()
    """The numbers of the round trips whose answer was changed."""


def played_from(source: ForkSource, recorded: RoundTrip) -> dict[str, object]:
    """The `extra` that a round trip played from `source` has in the new cassette."""
    origin: dict[str, object] = {"file": source.name.rpartition("/")[2], "index": recorded.index}
    if recorded.index in source.edited:
        origin["edited"] = True
    return {**recorded.extra, PLAYED: origin}
