"""The messages between clients and tool servers as one stream, the same for HTTP, stdio and in process."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import cached_property
from urllib.parse import urlsplit

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.frozen import frozen, mutable
from turntape.cassettes.tape.model import RoundTrip, Side

from ..wire.exchange import Exchange
from ..wire.json_value import Object, as_object, as_text, is_object
from ..wire.protocols.mcp.messages import WireMessage, address_of, is_old_stream, messages_in, session_of
from ..wire.protocols.mcp.shape import META, is_answer
from ..wire.protocols.mcp.tool_wire import detect

_MOST_EARLY = 1_000
"""So many replies wait for their request at most."""

type _Key = tuple[Side, str, object]
"""The sender of a request with the type and the value of its id: `1` and `"1"` are two ids."""
type _Open = tuple[int, int, float]
"""A request without an answer: the number of its round trip, its place in the session, and its time."""


@frozen(slots=False)
class ToolMessage:
    """One JSON-RPC message between a client and a tool server, or a line that is none. Each part is read only once."""

    session: str
    """One process or connection of a server: the id of the session; over HTTP without one, the run and the URL."""
    server: str
    """Over stdio and in process, the name that the client gives the server; over HTTP the name that the server gives
    itself (with its address, where a server before it had the same name), else that of the upstream, else the host."""
    sender: Side
    at: float
    """When it had arrived, in seconds since the epoch."""
    data: Object
    """The message; empty for a line that is not a JSON object."""
    raw: bytes
    """Its bytes: the line, the data of an event, the body, or one element of a batch."""
    index: int
    """The number of the round trip that holds it."""
    sequence: int
    """Its place among the messages of the session, from 0."""
    answers: int | None = None
    """The `sequence` of the request that it answers; None for a request, a notification, and for an answer whose
    request is not on the tape or has an answer already."""
    batched: bool = False
    """Whether it came in a batch."""

    @cached_property
    def method(self) -> str | None:
        """The method of a request or a notification."""
        return as_text(self.data.get("method"))

    @property
    def id(self) -> object:
        """The id of a request or of an answer: a text or a number; None when it has none."""
        return self.data.get("id")

    @cached_property
    def is_request(self) -> bool:
        """True for a message that wants an answer."""
        return self.method is not None and self.id is not None

    @cached_property
    def is_answer(self) -> bool:
        """True for a result or an error."""
        return is_answer(self.data)

    @cached_property
    def params(self) -> Object:
        """The parameters; empty when there are none."""
        return as_object(self.data.get("params"))

    @cached_property
    def result(self) -> Object | None:
        """The result of an answer; None for an error and for anything else."""
        found = self.data.get("result")
        return found if is_object(found) and self.is_answer else None

    @cached_property
    def error(self) -> Object | None:
        """The JSON-RPC error of an answer; None when it has none."""
        found = self.data.get("error")
        return found if is_object(found) and self.is_answer else None


def tool_messages(round_trips: Iterable[RoundTrip]) -> Iterator[ToolMessage]:
    """All messages of a cassette or of some of its round trips, in the order of time; never raises.

    Round trips that are not MCP's are left out. A round trip without a number gets its place.
    """
    reader = ToolMessageReader()
    held: list[_Held] = []
    for place, trip in enumerate(round_trips):
        numbered = trip if trip.index >= 0 else replace(trip, index=place)
        held += reader.held(numbered)
    yield from reader.taken(sorted(held, key=_Held.order))


class ToolMessageReader:
    """`add` round trips in the order in which they ended, for a caller that does not have them all yet."""

    def __init__(self) -> None:
        self._sessions: defaultdict[str, _Session] = defaultdict(_Session)
        self._names: dict[str, str] = {}
        """The name that the server at an address gives itself."""
        self._owners: dict[str, str] = {}
        """By such a name: the place of the first server that had it. Others get their place behind it."""
        self._issuers: dict[str, str] = {}
        """By the id of a session over HTTP: the host of the first server that gave it. Others may give the same one."""

    def add(self, round_trip: RoundTrip) -> list[ToolMessage]:
        """The messages of one round trip, in the order of time; none when it is not MCP's.

        Over HTTP a client replies to what a server asks in a stream before that stream has ended, so the reply is
        recorded first. It comes again, with the request that it answers.
        """
        return self.taken(sorted(self.held(round_trip), key=_Held.order))

    def held(self, trip: RoundTrip) -> "list[_Held]":
        """The messages of a round trip before they are paired."""
        if not _is_mcp(trip):
            return []
        session, address = self.session_of(trip), "" if trip.tool_wire else address_of(trip)
        found = [_Held(trip, session, address, place, one) for place, one in enumerate(messages_in(trip))]
        for one in found:
            if address and (name := _said_name(one.message.data)):
                self._names[address] = self._sessions[session].name = name
        return found

    def session_of(self, trip: RoundTrip) -> str:
        """The session of a round trip; with the host behind it, where another server gave the same id before."""
        session = session_of(trip)
        if trip.tool_wire is not None:
            return session
        host = _place(address_of(trip)).partition("/")[0]
        return session if self._issuers.setdefault(session, host) == host else f"{session} ({host})"

    def taken(self, held: "Iterable[_Held]") -> list[ToolMessage]:
        """The messages, numbered and paired within their sessions."""
        return [message for one in held for message in self._sessions[one.session].take(one, self._server(one))]

    def _server(self, one: "_Held") -> str:
        trip = one.trip
        if trip.tool_wire is not None:
            return trip.tool_wire.server
        said = self._sessions[one.session].name or self._names.get(one.address)
        if said is None:
            return trip.upstream or _host(one.address) or one.address
        place = _place(one.address)
        return said if self._owners.setdefault(said, place) == place else f"{said} ({place})"


def _is_mcp(trip: RoundTrip) -> bool:
    try:
        return detect(Exchange(trip)) is not None
    except (CassetteError, ValueError):  # a body that the cassette cannot give, a URL that is none
        return False


def _host(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _place(address: str) -> str:
    """The host, the port and the path of an address."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    return f"{parts.netloc}{parts.path}"


def _said_name(message: Object) -> str | None:
    """The name that a server gives itself in an answer."""
    result = as_object(message.get("result"))
    meta = as_object(result.get("_meta"))
    for info in (result.get("serverInfo"), meta.get(f"{META}serverInfo")):
        if name := as_text(as_object(info).get("name")):
            return name
    return None


@frozen
class _Held:
    """A message with what is known of its round trip."""

    trip: RoundTrip
    session: str
    address: str
    """Where its server is; empty for a server that is not on HTTP."""
    place: int
    """Its place in the round trip."""
    message: WireMessage

    @property
    def at(self) -> float:
        return self.trip.started_at + self.message.at / 1_000_000

    @property
    def counted(self) -> int | None:
        """Its place in the session, where the recorder has counted."""
        wire = self.trip.tool_wire
        place = wire and (wire.answered if self.message.answer else wire.sequence)
        return None if place is None else place + self.message.part

    def order(self) -> tuple[float, int, int, int]:
        """Sorts messages by time; within one microsecond by their place in the session, then in the file."""
        return self.at, self.counted or 0, self.trip.index, self.place


@mutable
class _Session:
    name: str | None = None
    """The name that the server gives itself."""
    count: int = 0
    open: dict[_Key, list[_Open]] = field(default_factory=dict[_Key, list[_Open]])
    """Requests without an answer: the numbers of their round trips, their places and their times, by sender and id."""
    early: dict[_Key, list[ToolMessage]] = field(default_factory=dict[_Key, list[ToolMessage]])
    """Replies of the client over HTTP to what is not recorded yet, by the sender and the id of that."""

    def take(self, one: _Held, server: str) -> Iterator[ToolMessage]:
        """Number a message and find what it answers; with a request, the reply to it that was recorded before."""
        message, trip, counted = one.message, one.trip, one.counted
        sequence = self.count if counted is None else counted
        self.count = max(self.count, sequence + 1)
        data = message.data
        answers = None
        if is_answer(data):
            answers = self._asked(one)
            if trip.tool_wire is not None and message.answer:
                answers = trip.tool_wire.sequence
        elif isinstance(data.get("method"), str) and (key := _key(message.sender, data.get("id"))):
            self.open.setdefault(key, []).append((trip.index, sequence, one.at))
        taken = ToolMessage(
            one.session,
            server,
            message.sender,
            one.at,
            data,
            message.raw,
            trip.index,
            sequence,
            answers,
            message.batched,
        )
        yield taken
        if trip.tool_wire is None and (answers is None or not taken.is_answer):
            yield from self._reply(taken)

    def _reply(self, taken: ToolMessage) -> Iterator[ToolMessage]:
        """Keep a reply whose request is not recorded yet, or give the one that a request had."""
        key = _key("server", taken.id)
        if key is None:
            return
        if taken.sender == "client" and taken.is_answer:
            waiting = self.early.setdefault(key, [])
            if len(self.early) < _MOST_EARLY and len(waiting) < _MOST_EARLY:
                waiting.append(taken)
        elif taken.sender == "server" and taken.is_request:
            waiting = self.early.get(key, [])
            reply = next((one for one in waiting if one.at >= taken.at), None)
            if reply is not None:
                waiting.remove(reply)
                self.open[key].remove((taken.index, taken.sequence, taken.at))
                yield replace(reply, server=taken.server, answers=taken.sequence)

    def _asked(self, one: _Held) -> int | None:
        """The place of the request that this answers; it is open no longer.

        The newest with that id that was sent before counts, and one in the same round trip before all others: clients
        that share a session may use the same ids. On the stream of the older transport, whose answers are recorded
        after all requests of its one client, it is the oldest. An error that says no id, or an unknown one, answers the
        only request of its round trip.
        """
        asker: Side = "client" if one.message.sender == "server" else "server"
        key = _key(asker, one.message.data.get("id"))
        waiting = self.open.get(key, []) if key else []
        if not waiting and one.message.answer and "error" in one.message.data:
            key, waiting = self._only_one_of(asker, one.trip.index)
        if key is None or not waiting:
            return None
        here = [asked for asked in waiting if asked[0] == one.trip.index]
        before = [asked for asked in waiting if asked[2] <= one.at]
        last = here or before or waiting
        found = last[0] if len(last) > 1 and not here and is_old_stream(one.trip) else last[-1]
        waiting.remove(found)
        if not waiting:
            del self.open[key]
        return found[1]

    def _only_one_of(self, asker: Side, index: int) -> "tuple[_Key | None, list[_Open]]":
        """The open request of a round trip, when there is exactly one."""
        found = [key for key, waiting in self.open.items() if key[0] == asker and any(a[0] == index for a in waiting)]
        return (found[0], self.open[found[0]]) if len(found) == 1 else (None, [])


def _key(sender: Side, name: object) -> _Key | None:
    """What an id of this sender is kept under; None when it is not an id."""
    if isinstance(name, bool) or not isinstance(name, str | int | float):
        return None
    return sender, "text" if isinstance(name, str) else "number", name
