"""Replay of WebSocket sessions: a message of the client is answered with the server's messages that followed it.

Messages are matched like request bodies, with the same ignored fields, whichever session they were recorded in.
Messages that the server sent first are sent when the socket opens.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

import orjson

from ..replay.answer import MISS_STATUS, replayed_headers
from ..replay.miss import KIND, Miss
from ..replay.pace import Pace, Pauses
from ..replay.player import Player
from ..tape.model import Chunk, Frame, Headers, Response, RoundTrip
from .asgi import Message, Receive, Send

METHOD = "WEBSOCKET"
"""Used in place of an HTTP method."""


def greeting(session: RoundTrip) -> tuple[Frame, ...]:
    """The server's messages before the first message of the client."""
    first = next((place for place, frame in enumerate(session.frames) if frame.sender == "client"), None)
    return session.frames[:first]


def exchanges(session: RoundTrip) -> Iterator[RoundTrip]:
    """Each message of the client as one request; `frames` has the server's messages up to the client's next one."""
    starts = [place for place, frame in enumerate(session.frames) if frame.sender == "client"]
    for start, end in zip(starts, [*starts[1:], len(session.frames)], strict=True):
        asked, said = session.frames[start], session.frames[start + 1 : end]
        response = Response(
            200,
            content=b"".join(frame.data for frame in said),
            chunks=tuple(Chunk(len(frame.data), max(0, frame.at - asked.at)) for frame in said),
        )
        request = replace(session.request, method=METHOD, headers=(), content=asked.data, encoding=None)
        yield replace(session, request=request, response=response, frames=said, failure=None)


class Sockets:
    """The sessions of a player's cassette. `await talk(…)` serves one ASGI connection."""

    def __init__(self, player: Player, pace: Pace | None = None) -> None:
        self._player = player
        self._pace = pace or Pace()
        sessions = [trip for trip in player.cassette if trip.frames]
        said = [exchange for session in sessions for exchange in exchanges(session)]
        self._messages = Player(said, matching=player.matching)
        self._opened: dict[str, RoundTrip] = {}
        """The last session by target: a client that connects again gets the messages that are left."""

    async def talk(self, target: str, headers: Headers, scope: Message, receive: Receive, send: Send) -> None:
        await receive()
        try:
            opened = self._player.answer("GET", target, headers, b"")
        except Miss as miss:
            if target not in self._opened:
                await _refuse(scope, send, MISS_STATUS, [], orjson.dumps(miss.document(MISS_STATUS)))
                return
            opened = self._opened[target]
        self._opened[target] = opened
        if opened.response is None or opened.response.status != 101:
            status = opened.response.status if opened.response else 502
            refused = replayed_headers(opened.response) if opened.response else []
            await _refuse(scope, send, status, refused, opened.response.body if opened.response else b"")
            return
        given = replayed_headers(opened.response)
        protocol = next((value for name, value in given if name.lower() == "sec-websocket-protocol"), None)
        accepted = [(k.encode(), v.encode()) for k, v in given if not k.lower().startswith(("sec-", "upgrade"))]
        await send({"type": "websocket.accept", "subprotocol": protocol, "headers": accepted})
        await self._say(greeting(opened), 0, send)
        while (message := await receive())["type"] == "websocket.receive":
            asked = message.get("bytes")
            if asked is None:
                asked = str(message.get("text", "")).encode("utf-8", "surrogatepass")
            # What this run has in place of recorded values is the same in requests and in messages.
            self._messages.bindings = self._player.bindings
            try:
                answer = self._messages.answer(METHOD, target, (), asked)
            except Miss as miss:
                self._player.add_message_miss(miss)
                await send({"type": "websocket.send", "text": orjson.dumps(_error(miss)).decode()})
                continue
            self._player.bindings = self._messages.bindings
            chunks = answer.response.chunks if answer.response else ()
            await self._say(answer.frames, answer.frames[0].at - chunks[0].at if chunks else 0, send)

    async def _say(self, frames: Sequence[Frame], last: int, send: Send) -> None:
        pauses = Pauses(self._pace, last)
        for frame in frames:
            if wait := pauses.before(frame.at):
                await asyncio.sleep(wait)
            body = {"text": frame.data.decode("utf-8", "surrogatepass")} if frame.text else {"bytes": frame.data}
            await send({"type": "websocket.send", **body})


def _error(miss: Miss) -> dict[str, object]:
    """The miss as an error event. Its code is a string, because clients wait forever for any other type."""
    error = {"type": KIND, "code": KIND, "message": str(miss), "param": miss.pointer}
    return {"type": "error", "status": MISS_STATUS, "error": error}


async def _refuse(scope: Message, send: Send, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    """Answer the upgrade with plain HTTP, if the server can."""
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    fields = [(k.lower().encode(), v.encode()) for k, v in headers] or [(b"content-type", b"application/json")]
    fields.append((b"content-length", str(len(body)).encode()))
    await send({"type": "websocket.http.response.start", "status": status, "headers": fields})
    await send({"type": "websocket.http.response.body", "body": body})
