"""A loop with the messages between its client and one tool server, made so that both agree."""

import json
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Literal

from turntape.cassettes.tape.model import Failure, Request, Response, RoundTrip, Side, ToolWire

from ..dialects.dialect import compact
from ..recorded.bodies import Json
from ..recorded.catalogue.edits import results_for
from ..recorded.loops import START, Loop, Recording
from ..recorded.shapes import Shape

SERVER = "desk"
AGENT: Json = {"name": "c", "version": "1"}
FIRST = -1
"""The turn of messages at the start of the server."""


@dataclass(slots=True, eq=False)
class Exchange:
    """A message with its answer, some seconds after a turn."""

    turn: int
    sent: Json | bytes
    got: Json | None = None
    from_server: bool = False
    ended: Literal["", "client", "server"] = ""
    """Who closed the connection while the answer was due."""
    gap: float = 1.0
    """Seconds after the message before it."""
    lasts: float = 0.02
    """Seconds until its answer, or until the connection is closed."""
    number: int = 0
    """Which call of the turn it is."""
    session: str = "s1"
    server: str = SERVER

    @property
    def arguments(self) -> Json:
        return self.sent["params"]["arguments"] if isinstance(self.sent, dict) else {}

    def give(self, result: Json) -> None:
        """Another result."""
        assert isinstance(self.sent, dict)
        self.got = {"jsonrpc": "2.0", "id": self.sent["id"], "result": result}


@dataclass(slots=True)
class ToolLoop:
    """Both wires of a run."""

    name: str
    loop: Loop
    exchanges: list[Exchange]
    at: dict[int, int] = field(default_factory=dict[int, int])
    """The number of the round trip of each turn, and (by identity) of each exchange, once they are written."""

    @property
    def shape(self) -> Shape:
        return self.loop.shape

    @property
    def calls(self) -> list[Exchange]:
        return [one for one in self.exchanges if isinstance(one.sent, dict) and one.sent.get("method") == "tools/call"]

    @property
    def lists(self) -> list[Exchange]:
        """Every `tools/list` with its answer."""
        return [one for one in self.exchanges if one.got and "tools" in one.got.get("result", {})]

    @property
    def listed(self) -> list[Json]:
        """The definitions that the server states last."""
        return self.lists[-1].got["result"]["tools"]  # type: ignore[index, no-any-return]

    def stated(self, name: str) -> list[Json]:
        """Every definition of a tool."""
        return [tool for one in self.lists for tool in one.got["result"]["tools"] if tool["name"] == name]  # type: ignore[index]

    def another_start(self) -> list[Exchange]:
        """Copies of what a session begins with: the handshake, the notice that ends it, and the list of tools."""
        handshake, notice, *_ = self.exchanges
        return [deepcopy(one) for one in (handshake, notice, self.lists[-1])]

    def shown(self, call: Exchange) -> list[Any]:
        """The results of a call in all later requests."""
        return [result for _, result in results_for(self.loop, call.turn, call.number)]

    def add(self, after: Exchange, new: Exchange) -> Exchange:
        self.exchanges.insert(self.exchanges.index(after) + 1, new)
        return new

    def trips(self) -> list[RoundTrip]:
        """All round trips in order of time."""
        turns = self.loop.trips()
        made: list[tuple[float, RoundTrip, object]] = [
            (trip.started_at + 0.5, trip, number) for number, trip in enumerate(turns)
        ]
        made += [(trip.started_at, trip, id(one)) for one, trip in self._wire(turns)]
        made.sort(key=lambda row: row[0])
        self.at = {key: place for place, (_, _, key) in enumerate(made) if isinstance(key, int)}
        return [replace(trip, index=place) for place, (_, trip, _) in enumerate(made)]

    def _wire(self, turns: list[RoundTrip]) -> Iterator[tuple[Exchange, RoundTrip]]:
        last, now = None, 0.0
        counts: Counter[str] = Counter()
        for one in self.exchanges:
            if one.turn != last:
                last, now = one.turn, START - 10 if one.turn == FIRST else turns[one.turn].started_at
            now += one.gap
            place = counts[one.session]
            answered = place + 1 if one.got is not None else None
            counts[one.session] += 1 if answered is None else 2
            sender: Side = "server" if one.from_server else "client"
            wire = ToolWire(one.session, one.server, sender, place, answered)
            failure = None
            if one.ended:
                failure = Failure("client_gone" if one.ended == "client" else "cut", f"the {one.ended} went away")
            yield (
                one,
                RoundTrip(
                    Request("STDIO", f"stdio://{one.server}", content=_bytes(one.sent)),
                    None if one.got is None else Response(0, content=_bytes(one.got)),
                    now,
                    request_at=0,
                    first_byte_at=int(one.lasts * 1e6) if one.got is not None else None,
                    ended_at=int(one.lasts * 1e6),
                    closed_first=one.ended or None,
                    failure=failure,
                    route="stdio",
                    tool_wire=wire,
                ),
            )


def _bytes(message: Json | bytes) -> bytes:
    return message if isinstance(message, bytes) else compact(message).encode()


@dataclass(frozen=True, slots=True)
class ToolRecording:
    """A healthy loop with a healthy tool server."""

    recording: Recording

    @property
    def name(self) -> str:
        return self.recording.name

    @property
    def protocol(self) -> str:
        return self.recording.protocol

    @property
    def trips(self) -> tuple[RoundTrip, ...]:
        """Nothing: loops with tools are not read without one of their round trips."""
        return ()

    def loop(self) -> ToolLoop:
        loop = self.recording.loop()
        return ToolLoop(loop.name, loop, list(_exchanges(loop)))


def with_tools(recordings: list[Recording]) -> list[ToolRecording]:
    """Those recordings whose tools the client runs, with their tool wire."""
    return [made for one in recordings if usable(made := ToolRecording(one))]


def usable(one: ToolRecording) -> bool:
    """True when each call has a tool that was offered, arguments in JSON, and a result."""
    made = one.loop()
    calls = [call for turn in made.loop.turns for call in made.shape.answered(turn.answer)]
    offered = {tool["name"] for tool in made.listed}
    return bool(calls) and len(made.calls) == len(calls) and all(call.name.get() in offered for call in calls)


def _exchanges(loop: Loop) -> Iterator[Exchange]:
    shape = loop.shape
    yield Exchange(
        FIRST,
        _request(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": AGENT}),
        _result(
            0,
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": SERVER, "version": "1"},
            },
        ),
    )
    yield Exchange(FIRST, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    yield Exchange(FIRST, _request(1, "tools/list", {}), _result(1, {"tools": _tools(loop)}))
    number = 1
    exact = blake2b(loop.name.encode()).digest()[0] % 2 == 0
    for place, turn in enumerate(loop.turns):
        for order, call in enumerate(shape.answered(turn.answer)):
            shown = [result for _, result in results_for(loop, place, order)]
            if not shown or not isinstance(call.known, dict):
                continue
            number += 1
            params: Json = {"name": call.name.get(), "arguments": json.loads(json.dumps(call.known))}
            if exact and call.identity:
                params["_meta"] = {"callId": call.identity}
            result: Json = {"content": [{"type": "text", "text": text_of(shown[0].text.value)}]}
            if marks_failure(shown[0].node):
                result["isError"] = True
            yield Exchange(place, _request(number, "tools/call", params), _result(number, result), number=order)


def _tools(loop: Loop) -> list[Json]:
    """The definitions of a server whose tools a client offers as they are."""
    found: dict[str, Json] = {}
    for turn in loop.turns:
        for tool in loop.shape.tools(turn.request):
            schema: Any = json.loads(json.dumps(tool.schema)) if isinstance(tool.schema, dict) else {"type": "object"}
            said = tool.description.value if tool.description is not None else ""
            found.setdefault(tool.name.value, {"name": tool.name.value, "description": said, "inputSchema": schema})
    return list(found.values())


def _request(number: int, method: str, params: Json) -> Json:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _result(number: int, result: Json) -> Json:
    return {"jsonrpc": "2.0", "id": number, "result": result}


def marks_failure(node: Any) -> bool:
    """Whether a result in a request is marked as failed, where the API has a mark or a word for it."""
    if not isinstance(node, dict):
        return False
    if node.get("is_error") is True or node.get("status") == "error":
        return True
    for key in ("toolResult", "functionResponse", "function_response", "response"):
        inner = node.get(key)
        if isinstance(inner, dict) and ("error" in inner or marks_failure(inner)):
            return True
    return False


def text_of(value: Any) -> str:
    """What a result in a request says: its text, or its JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and "text" in one for one in value):
        return "\n".join(one["text"] for one in value)
    return compact(value)
