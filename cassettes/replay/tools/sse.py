"""Recorded tool servers of the older transport over HTTP.

The client opens an event stream with a GET. The first event names the URL for its messages, which are POSTs with an
empty answer; everything that the server says comes in the stream
(https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse, read 2026-11-22).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...framing import decode
from ...tape.model import Response, RoundTrip, joined_url, split_url

ENDPOINT = "endpoint"
"""The name of the first event."""


class ToolStream(NamedTuple):
    """One recorded connection of a client."""

    trip: RoundTrip
    """The GET with the stream."""
    target: str
    """Path and query of the URL for the client's messages."""
    posts: tuple[RoundTrip, ...]


def tool_streams(trips: Sequence[RoundTrip]) -> Iterator[ToolStream]:
    """The connections among these round trips, in their order."""
    for trip in trips:
        if trip.request.method == "GET" and trip.response is not None and (named := _endpoint(trip.response)):
            target = target_of(joined_url(trip.request.url, named))
            posts = (one for one in trips if one.request.method == "POST" and target_of(one.request.url) == target)
            yield ToolStream(trip, target, tuple(posts))


def target_of(url: str) -> str:
    """Path and query of a URL."""
    parts = split_url(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _endpoint(response: Response) -> str:
    """The URL in the first event of a stream; empty when it is another kind of answer."""
    if not response.body.lstrip().startswith((b"event:", b"data:")):
        return ""
    first = next((event for event in decode("sse", response.pieces) if event.kind == "data"), None)
    return first.data.decode(errors="replace").strip() if first is not None and first.name == ENDPOINT else ""
