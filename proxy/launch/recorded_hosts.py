"""The hosts of a recording: when it is played, the proxy must open TLS to each of them."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from turntape.cassettes.tape.model import RoundTrip


def recorded_hosts(trips: Iterable[RoundTrip]) -> tuple[str, ...]:
    """The hosts that were reached by https or wss, each once, in the order of the recording."""
    found: dict[str, None] = {}
    for trip in trips:
        try:
            parts = urlsplit(trip.request.url)
        except ValueError:
            continue
        if parts.scheme in ("https", "wss") and parts.hostname:
            found[parts.hostname] = None
    return tuple(found)
