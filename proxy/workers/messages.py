"""What a worker says to the process that writes: objects over a pair of connected sockets, with their bodies as bytes.

The chunks of an answer are sent as two arrays of numbers, since an object for each of thousands takes long.
"""

from array import array
from collections.abc import Sequence
from dataclasses import replace

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import Chunk, RoundTrip

from ..capture.unrecorded import UnrecordedTraffic


@frozen
class Ready:
    """The port is open."""


@frozen
class Ended:
    """A round trip has ended. Its secrets are replaced."""

    trip: RoundTrip
    sizes: bytes = b""
    times: bytes = b""


@frozen
class Failed:
    """A round trip, or a line of a session, could not be made ready for the file."""

    reason: str
    round_trips: int


@frozen
class Line:
    """A line of a WebSocket session that runs."""

    session: str
    data: bytes


@frozen
class SessionOver:
    session: str


@frozen
class Unrecorded:
    """The traffic so far that is not recorded."""

    traffic: UnrecordedTraffic


type Message = Ready | Ended | Failed | Line | SessionOver | Unrecorded


def packed(trip: RoundTrip) -> Ended:
    """A round trip as it is sent."""
    if trip.response is None or not trip.response.chunks:
        return Ended(trip)
    chunks = trip.response.chunks
    sizes, times = array("q", [chunk.size for chunk in chunks]), array("q", [chunk.at for chunk in chunks])
    return Ended(replace(trip, response=replace(trip.response, chunks=())), sizes.tobytes(), times.tobytes())


def unpacked(ended: Ended) -> RoundTrip:
    """The inverse of `packed`."""
    trip = ended.trip
    if trip.response is None or not ended.sizes:
        return trip
    chunks = tuple(map(Chunk, _numbers(ended.sizes), _numbers(ended.times)))
    return replace(trip, response=replace(trip.response, chunks=chunks))


def _numbers(data: bytes) -> Sequence[int]:
    found = array("q")
    found.frombytes(data)
    return found
