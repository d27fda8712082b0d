"""An answer at a given time of its arrival, read like a complete one."""

from bisect import bisect_left, bisect_right
from dataclasses import replace
from itertools import accumulate, pairwise

from turntape.cassettes.frozen import frozen

from ..wire.exchange import Exchange
from ..wire.registry import by_name
from ..wire.resolve_finish import reconcile
from ..wire.values import Reading
from .detail import Detail


@frozen
class Arrivals:
    """When the bytes of an answer arrived, in microseconds since the request."""

    times: tuple[int, ...]
    sizes: tuple[int, ...]
    """The bytes that had arrived at each of `times`."""
    length: int
    """When the round trip ended."""

    def share(self, at: int) -> float:
        """How much of the answer had arrived, from 0 to 1."""
        if at >= self.length or not self.sizes:
            return 1.0 if at >= self.length else 0.0
        number = bisect_right(self.times, at)
        return self.sizes[number - 1] / (self.sizes[-1] or 1) if number else 0.0

    def waits(self, least: int) -> list[tuple[int, int]]:
        """The times without any byte that are longer than `least`, each with its begin and its end."""
        return [(one, other) for one, other in pairwise((0, *self.times, self.length)) if other - one > least]


def arrivals(detail: Detail) -> Arrivals:
    """When the bytes of a round trip's answer arrived; of one without a stream, all at its end."""
    response, end = detail.round_trip.response, length(detail)
    if response is None or not detail.reading.streamed or not response.chunks:
        return Arrivals((), (), end)
    sizes = tuple(accumulate(chunk.size for chunk in response.chunks))
    return Arrivals(tuple(chunk.at for chunk in response.chunks), sizes, end)


def length(detail: Detail) -> int:
    """How long a round trip took, in microseconds."""
    response, ended = detail.round_trip.response, detail.round_trip.ended_at
    last = response.chunks[-1].at if response is not None and response.chunks else 0
    return max(ended or 0, last)


def first_token(detail: Detail) -> int | None:
    """When the first text, reasoning or call of a streamed answer had arrived, in microseconds after the request."""
    response = detail.round_trip.response
    if response is None or not detail.reading.streamed or not _begun(detail.reading):
        return None
    times = sorted({chunk.at for chunk in response.chunks})
    at = bisect_left(times, True, key=lambda moment: _begun(arrived(detail, moment)))
    return times[at] if at < len(times) else None


def _begun(reading: Reading) -> bool:
    """Whether something was emitted."""
    emission = reading.emission
    return emission is not None and bool(emission.text or emission.reasoning or emission.refusal or emission.calls)


def arrived(detail: Detail, at: int) -> Reading:
    """The reading of a round trip as it was `at` microseconds after its start.

    An answer that is not a stream arrives with its last byte.
    """
    reading, trip = detail.reading, detail.round_trip
    response, protocol = trip.response, by_name(reading.protocol)
    if response is None or protocol is None or at >= length(detail):
        return reading
    size = 0
    for chunk in response.chunks:
        if chunk.at > at:
            break
        size += chunk.size
    if not reading.streamed or not size:
        return replace(reading, emission=None, finish=None)
    part = replace(response, content=response.body[:size], chunks=tuple(c for c in response.chunks if c.at <= at))
    read = protocol.read_response(Exchange(replace(trip, response=part)), reading.request)
    emission, finish = reconcile(read, reading.request)
    return replace(reading, emission=emission, finish=finish)
