"""A run that is played from a tape up to a turn, and recorded from there on into a cassette of its own."""

from dataclasses import dataclass

from .model import RoundTrip

PLAYED = "played"
"""The field of `RoundTrip.extra` that says which recording an answer is from."""


@dataclass(frozen=True, slots=True)
class Forked:
    """What is played before the fork."""

    name: str
    """The file that it is from."""
    at: int
    """The turn from which the run is live."""
    trips: tuple[RoundTrip, ...]
    turns: tuple[int, ...]
    """The numbers of those that must be played before anything goes live."""
    edited: frozenset[int] = frozenset()
    """The numbers of those whose answer was changed."""


def played_as(tape: Forked, recorded: RoundTrip) -> dict[str, object]:
    """The `extra` of a round trip that is played from `tape`, in the new cassette."""
    said: dict[str, object] = {"file": tape.name.rpartition("/")[2], "index": recorded.index}
    if recorded.index in tape.edited:
        said["edited"] = True
    return {**recorded.extra, PLAYED: said}
