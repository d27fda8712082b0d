"""An answer at a given time of its arrival, read like a complete one."""

from dataclasses import replace

from ..wire.exchange import Exchange
from ..wire.registry import by_name
from ..wire.resolve_finish import reconcile
from ..wire.values import Reading
from .detail import Detail


def length(detail: Detail) -> int:
    """How long a round trip took, in microseconds."""
    response, ended = detail.round_trip.response, detail.round_trip.ended_at
    last = response.chunks[-1].at if response is not None and response.chunks else 0
    return max(ended or 0, last)


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
