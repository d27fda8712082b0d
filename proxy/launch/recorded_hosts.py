"""The places of a recording that the proxy must know when it is played."""

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from turntape.cassettes.replay.tools.http import place_of
from turntape.cassettes.replay.tools.sse import tool_streams
from turntape.cassettes.tape.model import RoundTrip


def recorded_hosts(trips: Iterable[RoundTrip]) -> tuple[str, ...]:
    """The hosts that were reached by https or wss, each once, in the order of the recording: TLS to them is opened."""
    found: dict[str, None] = {}
    for trip in trips:
        try:
            parts = urlsplit(trip.request.url)
        except ValueError:
            continue
        if parts.scheme in ("https", "wss") and parts.hostname:
            found[parts.hostname] = None
    return tuple(found)


def recorded_streams(trips: Sequence[RoundTrip]) -> Iterator[str]:
    """Host and path of each stream of a tool server in the transport of 2024-11-05, and of the messages to it."""
    for stream in tool_streams(trips):
        yield from (str(place_of(trip.request.url)) for trip in (stream.trip, *stream.posts))
