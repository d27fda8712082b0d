"""How much memory a round trip takes while it waits."""

from collections.abc import Sized
from typing import Protocol, runtime_checkable

from ..tape.model import RoundTrip

_PER_CHUNK = 100
"""About how many bytes the size and the time of a chunk take."""
PER_ITEM = 1000
"""About how many bytes the rest of a round trip takes."""


def unloaded_bytes(trip: RoundTrip) -> int:
    """How many bytes the bodies have that are loaded on demand, where they say so."""
    contents = [trip.request.content, *((trip.response.content,) if trip.response else ())]
    return sum(len(content) for content in contents if isinstance(content, Sized) and not isinstance(content, bytes))


@runtime_checkable
class PartlyHeld(Protocol):
    """A body that is loaded on demand, but for a part of it."""

    @property
    def held(self) -> int: ...


def held_bytes(trip: RoundTrip) -> int:
    """About how many bytes of memory a round trip holds. Of a body that is loaded on demand, what it says it holds."""
    contents = [trip.request.content, *((trip.response.content,) if trip.response else ())]
    bodies = sum(
        len(content) if isinstance(content, bytes) else content.held
        for content in contents
        if isinstance(content, bytes | PartlyHeld)
    )
    chunks = len(trip.response.chunks) if trip.response else 0
    frames = sum(len(frame.data) for frame in trip.frames)
    return PER_ITEM + bodies + frames + _PER_CHUNK * (chunks + len(trip.frames))
