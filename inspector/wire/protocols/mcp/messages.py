"""The messages in one round trip, over HTTP, stdio or in process, each with its sender and its time.

Over HTTP, a POST holds messages of the client, and its answer is one JSON body or an event stream. A GET opens a stream
of the server's messages. In the transport of 2024-11-05, the first event of that stream (`endpoint`) names the URL for
POSTs, and all answers come on the stream.
"""

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit, urlunsplit

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.framing import Event, decode, frame, messages
from turntape.cassettes.frozen import frozen
from turntape.cassettes.redaction.field_names import SECRET_PARAMETERS
from turntape.cassettes.tape.model import Response, RoundTrip, Side

from ...exchange import Exchange, header
from ...json_value import Object, as_object, parse_json
from .shape import BEGINNING, SESSION_HEADER, is_mcp, may_hold_messages, messages_of, opening


@frozen
class WireMessage:
    sender: Side
    at: int
    """Microseconds since the start of the round trip."""
    raw: bytes
    data: Object
    """The message; empty when it is not a JSON object."""
    answer: bool
    """True when it came in the answer of the round trip."""
    part: int = 0
    """Its place in its batch."""
    batched: bool = False
    """Whether it came in a batch, even in one that holds nothing else."""


def messages_in(trip: RoundTrip) -> list[WireMessage]:
    """The messages of a round trip of MCP, those of the request first; never raises.

    Over HTTP only JSON-RPC counts. Over stdio a line that is something else is a message too, without `data`.
    """
    try:
        return [*_asked(trip), *_answered(trip)]
    except CassetteError:
        return []  # the cassette reports bodies that it cannot give


def _asked(trip: RoundTrip) -> Iterator[WireMessage]:
    wire = trip.tool_wire
    yield from _split(trip.request.body, wire.sender if wire else "client", trip.request_at or 0, wire is None, False)


def _answered(trip: RoundTrip) -> Iterator[WireMessage]:
    response, wire = trip.response, trip.tool_wire
    if response is None:
        return
    if wire is not None:
        other: Side = "server" if wire.sender == "client" else "client"
        yield from _split(response.body, other, trip.ended_at or trip.first_byte_at or 0, False, True)
        return
    events = events_of(response)
    at = response.chunks[-1].at if response.chunks else trip.ended_at or trip.first_byte_at or 0
    if events is None:
        yield from _split(response.body, "server", at, True, True)
        return
    for event in events:
        if event.problem is None and event.kind == "data" and event.name in ("", "message"):
            # Without the times of its pieces, a stream has come when the round trip has ended.
            yield from _split(event.data, "server", event.at if response.chunks else at, True, True)


def events_of(response: Response) -> list[Event] | None:
    """The events of an answer that is an event stream; None when it is one body."""
    kind = (header(response.headers, "content-type") or "").split(";")[0].strip().lower()
    return decode("sse", response.pieces) if frame(kind, response.body) == "sse" else None


def _split(raw: bytes, sender: Side, at: int, only_json_rpc: bool, answer: bool) -> Iterator[WireMessage]:
    """One message, or those of a batch."""
    if only_json_rpc and not may_hold_messages(raw):
        return
    batched = raw.lstrip()[:1] == b"["
    for place, part in enumerate(messages(raw)):
        data = as_object(parse_json(part))
        if not only_json_rpc or messages_of(data):
            yield WireMessage(sender, at, part, data, answer, place, batched)


def holds_mcp(exchange: Exchange) -> bool:
    """True when the answer proves that a round trip over HTTP is MCP's although its request does not.

    That is so for the stream of the old transport, whose first event is `endpoint`, and for a POST of its client (a
    ping, an answer), which is accepted with 202 and gets its answer on the stream.
    """
    response = exchange.response
    if response is None:
        return False
    if exchange.method == "GET" and exchange.content_type == "text/event-stream":
        return bool(_endpoint(exchange.round_trip))
    if exchange.method != "POST" or response.status != 202:
        return False
    return any(is_mcp(message, signed=True) for message in messages_of(exchange.body))


def session_of(trip: RoundTrip) -> str:
    """The session of a round trip: its id, or where there is none, the run and the URL to which messages go."""
    if trip.tool_wire is not None:
        return trip.tool_wire.session
    for headers in (trip.request.headers, trip.response.headers if trip.response else ()):
        if found := header(headers, SESSION_HEADER):
            return found
    address = address_of(trip)
    return f"{trip.run}:{address}" if trip.run else address


def address_of(trip: RoundTrip) -> str:
    """The URL to which a client sends messages, without credentials; for an old stream, the one that it names."""
    url = trip.request.url
    try:
        parts = urlsplit(urljoin(url, _endpoint(trip)))
    except ValueError:
        return url
    query = [pair for pair in parse_qsl(parts.query) if pair[0].lower() not in SECRET_PARAMETERS]
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))


def is_old_stream(trip: RoundTrip) -> bool:
    """Whether a round trip is the stream of the transport of 2024-11-05, on which one client gets all its answers."""
    return trip.tool_wire is None and bool(_endpoint(trip))


def _endpoint(trip: RoundTrip) -> str:
    """What the first event of an old stream names; empty for anything else."""
    if trip.request.method != "GET" or trip.response is None:
        return ""
    return opening(trip.response.body[:BEGINNING]) or "" if events_of(trip.response) else ""
