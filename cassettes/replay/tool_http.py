"""Recorded tool servers that are reached over HTTP, as sessions of the same kind as over stdio.

Streamable HTTP (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports, read 2026-11-22): a message
of the client is a POST, its answer is JSON or an event stream, and a GET opens a stream of the server's messages.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from ..framing import decode
from ..matching.request_key import header
from ..tape.model import Request, Response, RoundTrip, Side, ToolWire
from .tool_recording import Json, message

SESSION = "mcp-session-id"
EVENTS = "text/event-stream"


class Place(NamedTuple):
    """Where a server is."""

    host: str
    path: str

    def __str__(self) -> str:
        return self.host + self.path


@dataclass(slots=True)
class HttpRecording:
    """What is recorded of the servers that are reached over HTTP."""

    exchanges: list[RoundTrip] = field(default_factory=list[RoundTrip])
    """One for each message of a client with its answer, and for each other message of a server, with `tool_wire`."""
    trips: dict[int, RoundTrip] = field(default_factory=dict[int, RoundTrip])
    """The round trips that hold them, by number."""
    places: dict[Place, list[RoundTrip]] = field(default_factory=dict[Place, list[RoundTrip]])

    def at(self, host: str, path: str) -> Place | None:
        """The server at an address; the host need not be the recorded one when only one server has the path."""
        if (exact := Place(host, path)) in self.places:
            return exact
        same = [place for place in self.places if place.path == path]
        return same[0] if len(same) == 1 else None


class _Message(NamedTuple):
    at: float
    sender: Side
    raw: bytes
    trip: RoundTrip


def place_of(url: str) -> Place:
    """The place of a server by its URL."""
    parts = urlsplit(url)
    return Place(parts.netloc.rpartition("@")[2], parts.path)


def said_in(response: Response) -> list[tuple[bytes, int]]:
    """The messages in an answer, and when each had arrived, in microseconds."""
    if is_stream(response):
        return [(event.data, event.at) for event in decode("sse", response.pieces) if event.kind == "data"]
    return [(response.body, response.chunks[-1].at if response.chunks else 0)]


def is_stream(response: Response) -> bool:
    return header(response.headers, "content-type").startswith(EVENTS)


def http_recording(trips: Iterable[RoundTrip]) -> HttpRecording:
    """The tool servers over HTTP among these round trips."""
    found = HttpRecording()
    others: list[RoundTrip] = []
    for trip in trips:
        if trip.tool_wire is not None or trip.response is None:
            continue
        if trip.request.method == "POST" and _is_json_rpc(message(trip.request.body)):
            found.places.setdefault(place_of(trip.request.url), []).append(trip)
        elif trip.request.method in ("GET", "DELETE"):
            others.append(trip)
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
    data = message(trip.request.body)
    return (
        trip.response is not None and "method" in data and any(_answers(raw, data) for raw, _ in said_in(trip.response))
    )


def _answers(raw: bytes, asked: Json) -> bool:
    data = message(raw)
    return "method" not in data and "id" in asked and _is_json_rpc(data) and data.get("id") == asked["id"]


def _exchanges(server: str, trips: list[RoundTrip]) -> Iterator[RoundTrip]:
    sessions: defaultdict[str, list[_Message]] = defaultdict(list)
    for trip in trips:
        assert trip.response is not None
        key = header(trip.request.headers, SESSION) or header(trip.response.headers, SESSION) or server
        if trip.request.method == "POST":
            sessions[key].append(_Message(trip.started_at, "client", trip.request.body, trip))
        for raw, at in said_in(trip.response):
            if trip.request.method != "DELETE" and _is_json_rpc(message(raw)):
                sessions[key].append(_Message(trip.started_at + at / 1_000_000, "server", raw, trip))
    for key, messages in sessions.items():
        messages.sort(key=lambda one: one.at)
        yield from _paired(server, key, messages)


def _paired(server: str, key: str, messages: list[_Message]) -> Iterator[RoundTrip]:
    """The messages of a session as exchanges; the answer of a request is in the same round trip."""
    answers: dict[int, int] = {}
    used: set[int] = set()
    for place, one in enumerate(messages):
        if one.sender == "client":
            data = message(one.raw)
            for later, other in enumerate(messages):
                if other.trip is one.trip and other.sender == "server" and _answers(other.raw, data):
                    answers[place] = later
                    used.add(later)
                    break
    for place, one in enumerate(messages):
        if place in used:
            continue
        answer = messages[answers[place]] if place in answers else None
        yield RoundTrip(
            Request("POST", one.trip.request.url, content=one.raw),
            Response(0, content=answer.raw) if answer else None,
            one.at,
            index=one.trip.index,
            ended_at=round((answer.at - one.at) * 1_000_000) if answer else None,
            tool_wire=ToolWire(key, server, one.sender, place, answers.get(place)),
        )
