"""How much memory a round trip takes while it waits."""

from collections.abc import Sized

from ..tape.model import RoundTrip

_PER_CHUNK = 100
"""About how many bytes the size and the time of a chunk take."""
PER_ITEM = 1000
"""About how many bytes the rest of a round trip takes."""


def unloaded_bytes(trip: RoundTrip) -> int:
    """How many bytes the bodies have that are loaded on demand, where they say so."""
    contents = [trip.request.content, *((trip.response.content,) if trip.response else ())]
    return sum(len(content) for content in contents if isinstance(content, Sized) and not isinstance(content, bytes))


def held_bytes(trip: RoundTrip) -> int:
    """About how many bytes of memory a round trip holds. A body that is loaded on demand counts as 0."""
    contents = [trip.request.content, *((trip.response.content,) if trip.response else ())]
    bodies = sum(len(content) for content in contents if isinstance(content, bytes))
    chunks = len(trip.response.chunks) if trip.response else 0
    frames = sum(len(frame.data) for frame in trip.frames)
    return PER_ITEM + bodies + frames + _PER_CHUNK * (chunks + len(trip.frames))
