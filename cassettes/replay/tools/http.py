"""Recorded tool servers that are reached over HTTP, as sessions of the same kind as over stdio.

Streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, read 2026-11-22): a message
of the client is a POST, its answer is JSON or an event stream, and a GET opens a stream of the server's messages.
`sse` has the older transport.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from typing import NamedTuple

from ...framing import decode, messages
from ...frozen import mutable
from ...matching.request_key import header
from ...tape.model import Request, Response, RoundTrip, Side, ToolWire, split_url
from .recording import Json, id_of, message
from .sse import ToolStream, tool_streams

SESSION = "mcp-session-id"
EVENTS = "text/event-stream"


class Place(NamedTuple):
    """Where a server is."""

    host: str
    path: str

    def __str__(self) -> str:
        return self.host + self.path


@mutable
class HttpRecording:
    """What is recorded of the servers that are reached over HTTP."""

    exchanges: list[RoundTrip] = field(default_factory=list[RoundTrip])
    """One for each message of a client with its answer, and for each other message of a server, with `tool_wire`."""
    trips: dict[int, RoundTrip] = field(default_factory=dict[int, RoundTrip])
    """The round trips that hold them, by number."""
    places: dict[Place, list[RoundTrip]] = field(default_factory=dict[Place, list[RoundTrip]])
    streams: dict[Place, list[ToolStream]] = field(default_factory=dict[Place, list[ToolStream]])
    """The connections to servers of the older transport, by the place of their stream."""

    def at(self, host: str, path: str) -> Place | None:
        """The server at an address; the host need not be the recorded one when only one server has the path, which may
        have the name of an upstream before it."""
        return _named(self.places, host, path)

    @property
    def servers(self) -> tuple[Place, ...]:
        """Each server, by the URL that its clients have."""
        return (*self.places, *self.streams)

    def stream_at(self, host: str, path: str) -> Place | None:
        """As `at`, for the stream of a server of the older transport."""
        return _named(self.streams, host, path)


def _named(places: Collection[Place], host: str, path: str) -> Place | None:
    if (exact := Place(host, path)) in places:
        return exact
    same = [place for place in places if place.path == path]
    same = same or [place for place in places if place.path.strip("/") and path.endswith(place.path)]
    return same[0] if len(same) == 1 else None


class _Message(NamedTuple):
    at: float
    sender: Side
    raw: bytes
    trip: RoundTrip


def place_of(url: str) -> Place:
    """The place of a server by its URL."""
    parts = split_url(url)
    return Place(parts.netloc.rpartition("@")[2], parts.path)


def said_in(response: Response) -> list[tuple[bytes, int]]:
    """The messages in an answer, and when each had arrived, in microseconds."""
    if is_stream(response):
        events = [(event.data, event.at) for event in decode("sse", response.pieces) if event.kind == "data"]
        return [(raw, at) for data, at in events for raw in messages(data)]
    at = response.chunks[-1].at if response.chunks else 0
    return [(raw, at) for raw in messages(response.body)]


def is_stream(response: Response) -> bool:
    return header(response.headers, "content-type").startswith(EVENTS)


def http_recording(trips: Iterable[RoundTrip]) -> HttpRecording:
    """The tool servers over HTTP among these round trips."""
    found = HttpRecording()
    others: list[RoundTrip] = []
    over_http = [trip for trip in trips if trip.tool_wire is None]
    for stream in tool_streams(over_http):
        place = place_of(stream.trip.request.url)
        found.streams.setdefault(place, []).append(stream)
        found.trips.update((trip.index, trip) for trip in (stream.trip, *stream.posts))
        found.exchanges += _exchanges(str(place), [stream.trip, *stream.posts], stream.target)
    for trip in over_http:
        if trip.index in found.trips:
            continue
        if trip.request.method == "POST" and any(_is_json_rpc(message(raw)) for raw in messages(trip.request.body)):
            found.places.setdefault(place_of(trip.request.url), []).append(trip)
        elif trip.request.method in ("GET", "DELETE"):
            others.append(trip)  # also without an answer: a client that ends its session may not wait for one
    for trip in others:
        if (place := place_of(trip.request.url)) in found.places:
            found.places[place].append(trip)
    for place in [place for place, held in found.places.items() if not any(map(_is_answered, held))]:
        del found.places[place]
    for place, held in found.places.items():
        found.trips.update((trip.index, trip) for trip in held)
        found.exchanges += _exchanges(str(place), held)
    return found


def _is_json_rpc(data: Json) -> bool:
    return data.get("jsonrpc") == "2.0" and ("method" in data or "id" in data)


def _is_answered(trip: RoundTrip) -> bool:
    """True for a request with a JSON-RPC answer."""
    said = [raw for raw, _ in said_in(trip.response)] if trip.response is not None else []
    asked = [data for data in map(message, messages(trip.request.body)) if "method" in data]
    return any(_answers(raw, data) for data in asked for raw in said)


def _is_answer(data: Json) -> bool:
    return "method" not in data and ("result" in data or "error" in data)


def _answers(raw: bytes, asked: Json) -> bool:
    data = message(raw)
    return "method" not in data and "id" in asked and _is_json_rpc(data) and data.get("id") == asked["id"]


def _exchanges(server: str, trips: list[RoundTrip], session: str = "") -> Iterator[RoundTrip]:
    """The messages in these round trips as exchanges, of one session where it is given."""
    sessions: defaultdict[str, list[_Message]] = defaultdict(list)
    for trip in trips:
        answer = trip.response
        given = header(answer.headers, SESSION) if answer is not None else ""
        key = session or header(trip.request.headers, SESSION) or given or server
        if trip.request.method == "POST":
            sessions[key] += [_Message(trip.started_at, "client", raw, trip) for raw in messages(trip.request.body)]
        for raw, at in said_in(answer) if answer is not None else ():
            if trip.request.method != "DELETE" and _is_json_rpc(message(raw)):
                sessions[key].append(_Message(trip.started_at + at / 1_000_000, "server", raw, trip))
    for key, held in sessions.items():
        held.sort(key=lambda one: one.at)
        yield from _paired(server, key, held)


def _paired(server: str, key: str, held: list[_Message]) -> Iterator[RoundTrip]:
    """The messages of a session as exchanges. An answer is in the round trip of its request; or in the stream of a GET,
    where a stream continues that broke, and which may repeat what had come."""
    parsed = [message(one.raw) for one in held]
    said: defaultdict[object, list[int]] = defaultdict(list)
    for place, data in enumerate(parsed):
        if held[place].sender == "server" and _is_answer(data):
            said[id_of(data)].append(place)
    answers: dict[int, int] = {}
    for place, one in enumerate(held):
        if one.sender == "client" and "method" in parsed[place] and "id" in parsed[place]:
            found = said[id_of(parsed[place])]
            own = [later for later in found if held[later].trip is one.trip]
            streamed = (n for n in found if held[n].trip.request.method == "GET" and held[n].at >= one.at)
            if (later := next(iter(own), None)) is not None or (later := next(streamed, None)) is not None:
                answers[place] = later
                found.remove(later)
    for place, one in enumerate(held):
        if one.sender == "server" and _is_answer(parsed[place]):
            continue
        answer = held[answers[place]] if place in answers else None
        yield RoundTrip(
            Request("POST", one.trip.request.url, content=one.raw),
            Response(0, content=answer.raw) if answer else None,
            one.at,
            index=one.trip.index,
            ended_at=round((answer.at - one.at) * 1_000_000) if answer else None,
            tool_wire=ToolWire(key, server, one.sender, place, answers.get(place)),
        )
