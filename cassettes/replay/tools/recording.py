"""What is recorded of tool servers: their sessions, and what each said after which message of the client."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import cast

import orjson

from ...framing import batch, messages
from ...frozen import frozen, mutable
from ...tape.model import Request, Response, RoundTrip, Side, ToolServer, ToolWire

type Json = dict[str, object]
type Key = tuple[str, int]
"""The session of a message and its place in it."""

CALL, LISTEN = "tools/call", "subscriptions/listen"
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
"""In `_meta` of what a server says to a listener: the id of the request `subscriptions/listen`, whose answer comes at
its end (https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions, mcp 2.3.0, read
2026-11-23)."""


@frozen
class Said:
    """One recorded message of a session."""

    sender: Side
    raw: bytes
    at: float
    """Seconds since the epoch."""
    sequence: int
    """Its place among the messages of the session."""

    @property
    def data(self) -> Json:
        """The message; empty when it is not a JSON object."""
        return message(self.raw)

    @property
    def method(self) -> str | None:
        """The method of a request or a notification."""
        method = self.data.get("method")
        return method if isinstance(method, str) else None


@mutable
class Asked:
    """A recorded message of the client, its answer, and what else the server said until the client's next message."""

    request: Said
    session: "RecordedSession"
    index: int
    """The number of its round trip in the cassette."""
    answer: Said | None = None
    cut: bool = False
    """True when the server ended instead of an answer; not for a call that the client gave up while others were
    answered."""
    has_id: bool = True
    """False for a notification."""
    others: list[Said] = field(default_factory=list[Said])
    """Notifications and requests of the server, in order."""
    method: str = ""
    params: Json = field(default_factory=dict[str, object])
    """Without `_meta`."""
    token: object = None
    """The progress token of the request."""

    @property
    def key(self) -> Key:
        """No other message has the same."""
        return self.session.key, self.request.sequence

    @property
    def delay(self) -> float:
        """Seconds from the request to its answer."""
        return max(self.answer.at - self.request.at, 0.0) if self.answer else 0.0

    @property
    def is_call(self) -> bool:
        return self.method == CALL

    @property
    def name(self) -> str:
        """The tool of a call."""
        return str(self.params.get("name", ""))

    @property
    def arguments(self) -> object:
        return self.params.get("arguments") or {}

    @property
    def given(self) -> object:
        """What a message of a client is compared with: the arguments of a call, all parameters of another request."""
        return self.arguments if self.is_call else self.params

    @property
    def has_content(self) -> bool:
        """True when the answer has a result that says something: a text that was read, and not that a level was set."""
        return self.answer is not None and bool(self.answer.data.get("result"))


@mutable
class RecordedSession:
    """One process or connection of a tool server."""

    server: str
    key: str
    started_at: float
    greeting: list[Said] = field(default_factory=list[Said])
    """What the server said before the client's first message."""
    asked: list[Asked] = field(default_factory=list[Asked])
    """The requests and notifications of the client, in order."""
    answers_batches: bool = False
    """True when the server answered in batches."""
    process: ToolServer | None = None
    """How its process was started, what it wrote to stderr, and how it ended; None when that was not recorded."""

    @property
    def errors(self) -> list[tuple[float, bytes]]:
        """What it wrote to stderr, with the seconds since the epoch."""
        process = self.process
        return [] if process is None else [(self.started_at + at / 1_000_000, data) for at, data in process.stderr]

    @property
    def ends_unasked(self) -> bool:
        """True when the server ended before the client closed its end."""
        return self.process is not None and self.process.closed_first == "server"

    @property
    def last(self) -> float:
        """The time of the last message."""
        said = [*self.greeting, *(one for asked in self.asked for one in (asked.request, asked.answer, *asked.others))]
        return max((one.at for one in said if one is not None), default=self.started_at)

    def changes_before(self, kind: str, sequence: int) -> int:
        """How many times the server had said that a list (`tools`, `prompts`, …) has changed."""
        return sum(
            one.method == f"notifications/{kind}/list_changed" and one.sequence < sequence
            for one in (*self.greeting, *(other for asked in self.asked for other in asked.others))
        )


def message(raw: bytes) -> Json:
    """A JSON-RPC message; empty for a line that is not a JSON object."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return cast(Json, value) if isinstance(value, dict) else {}


def params_of(data: Mapping[str, object]) -> tuple[Json, object]:
    """The parameters without `_meta`, and the progress token."""
    params = data.get("params")
    if not isinstance(params, dict):
        return {}, None
    fields = dict(cast(Json, params))
    meta = fields.pop("_meta", None)
    return fields, cast(Json, meta).get("progressToken") if isinstance(meta, dict) else None


def meta_of(data: Mapping[str, object]) -> Json:
    """`_meta` of the parameters."""
    params = data.get("params")
    meta = cast(Json, params).get("_meta") if isinstance(params, dict) else None
    return cast(Json, meta) if isinstance(meta, dict) else {}


def canonical(value: object) -> bytes:
    """A JSON value as bytes that are equal for equal values. Numbers are doubles, as in JavaScript."""
    return orjson.dumps(_doubles(value), option=orjson.OPT_SORT_KEYS)


def _doubles(value: object) -> object:
    match value:
        case bool():
            return value
        case int():
            return float(value)
        case dict():
            return {key: _doubles(item) for key, item in cast(Json, value).items()}
        case list():
            return [_doubles(item) for item in cast(list[object], value)]
        case _:
            return value


def _as_it_is(data: bytes) -> bytes:
    return data


def recorded_sessions(
    trips: Iterable[RoundTrip],
    normalised: Callable[[bytes], bytes] = _as_it_is,
    processes: Iterable[ToolServer] = (),
) -> dict[str, list[RecordedSession]]:
    """The sessions over stdio and in process by the name of their server, in the order in which they started.

    `normalised` puts one mark in place of each secret in a message of the client. A process that ended on its own
    before any message has a session too.
    """
    parts: defaultdict[tuple[str, str], list[RoundTrip]] = defaultdict(list)
    for place, trip in enumerate(trips):
        if trip.tool_wire is not None:
            numbered = trip if trip.index >= 0 else replace(trip, index=place)
            parts[trip.tool_wire.server, trip.tool_wire.session].append(numbered)
    found: defaultdict[str, list[RecordedSession]] = defaultdict(list)
    for (server, key), exchanges in parts.items():
        found[server].append(_session(server, key, exchanges, normalised))
    known = {session.key: session for sessions in found.values() for session in sessions}
    for process in processes:
        session = known.get(process.session) or RecordedSession(process.server, process.session, 0.0)
        session.process, session.started_at = process, process.started_at or session.started_at
        if process.session not in known and session.ends_unasked:
            found[process.server].append(session)
    for sessions in found.values():
        sessions.sort(key=lambda session: session.started_at)
    return dict(found)


def _session(
    server: str, key: str, exchanges: list[RoundTrip], normalised: Callable[[bytes], bytes]
) -> RecordedSession:
    session = RecordedSession(server, key, min(trip.started_at for trip in exchanges))
    if any(batch(raw) for trip in exchanges for raw in _lines(trip)):
        session.answers_batches = any(_is_batch_of_answers(trip) for trip in exchanges)
        exchanges = list(_without_batches(exchanges))
    others: list[Said] = []
    for trip in exchanges:
        wire = trip.tool_wire
        assert wire is not None
        said = Said(wire.sender, trip.request.body, trip.started_at, wire.sequence)
        if wire.sender == "server":
            others.append(said)
        elif said.method is not None:
            asked = Asked(said, session, trip.index, has_id="id" in said.data)
            asked.cut = trip.failure is not None and trip.failure.kind == "cut"
            asked.method, (asked.params, asked.token) = said.method, params_of(message(normalised(said.raw)))
            if trip.response is not None and wire.answered is not None:
                at = trip.started_at + (trip.ended_at or 0) / 1_000_000
                asked.answer = Said("server", trip.response.body, at, wire.answered)
            session.asked.append(asked)
    session.asked.sort(key=lambda asked: asked.request.sequence)
    last_answer = max((asked.answer.sequence for asked in session.asked if asked.answer is not None), default=-1)
    for asked in session.asked:
        asked.cut = asked.cut and asked.request.sequence > last_answer
    for said in sorted(others, key=lambda said: said.sequence):
        _cause(session, said).append(said)
    return session


def _lines(trip: RoundTrip) -> Iterator[bytes]:
    yield trip.request.body
    if trip.response is not None:
        yield trip.response.body


def _is_batch_of_answers(trip: RoundTrip) -> bool:
    assert trip.tool_wire is not None
    parts = batch(trip.request.body) if trip.tool_wire.sender == "server" else None
    return any("method" not in message(part) for part in parts or ())


def _messages_of(trip: RoundTrip, wire: ToolWire) -> Iterator[tuple[Side, int, bytes, float]]:
    """The messages of an exchange: who has sent each, its place in the session, its bytes and its time."""
    for number, raw in enumerate(messages(trip.request.body)):
        yield wire.sender, wire.sequence + number, raw, trip.started_at
    if trip.response is not None and wire.answered is not None:
        at = trip.started_at + (trip.ended_at or 0) / 1_000_000
        for number, raw in enumerate(messages(trip.response.body)):
            yield "server" if wire.sender == "client" else "client", wire.answered + number, raw, at


def _without_batches(exchanges: Iterable[RoundTrip]) -> Iterator[RoundTrip]:
    """The exchanges of a session with each message of a batch as a separate one, and with its answer."""
    asked: list[tuple[ToolWire, bytes, RoundTrip]] = []
    answers: dict[tuple[Side, str, object], list[tuple[int, bytes, float]]] = {}
    for trip in exchanges:
        wire = trip.tool_wire
        assert wire is not None
        for sender, place, raw, at in _messages_of(trip, wire):
            data = message(raw)
            if "method" in data or "id" not in data:
                asked.append(
                    (replace(wire, sender=sender, sequence=place, answered=None), raw, replace(trip, started_at=at))
                )
            else:
                answers.setdefault((sender, *id_of(data)), []).append((place, raw, at))
    for wire, raw, trip in sorted(asked, key=lambda one: one[0].sequence):
        data = message(raw)
        answerer: Side = "server" if wire.sender == "client" else "client"
        waiting = answers.get((answerer, *id_of(data)), []) if "id" in data else []
        found = min((one for one in waiting if one[0] > wire.sequence), default=None)
        if found is not None:
            waiting.remove(found)
        place, answer, at = found or (None, b"", trip.started_at)
        yield replace(
            trip,
            request=Request(trip.request.method, trip.request.url, content=raw),
            response=Response(0, content=answer) if found else None,
            ended_at=round((at - trip.started_at) * 1_000_000),
            tool_wire=replace(wire, answered=place),
        )


def id_of(data: Json) -> tuple[str, object]:
    """The id of a message; 1 and "1" are different ids."""
    number = data.get("id")
    return type(number).__name__, number if isinstance(number, int | float | str) else None


def _cause(session: RecordedSession, said: Said) -> list[Said]:
    """Where a message of the server belongs: to the request whose progress it says, else to the last message of the
    client before it."""
    before = [asked for asked in session.asked if asked.request.sequence < said.sequence]
    token = params_of(said.data)[0].get("progressToken") if said.method == "notifications/progress" else None
    if token is not None:
        ours = [asked for asked in before if asked.token == token]
        before = ours or before
    return before[-1].others if before else session.greeting
