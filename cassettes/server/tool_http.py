"""Recorded tool servers over HTTP: the sessions, the event streams, and which answer goes where."""

import asyncio
from collections import defaultdict
from collections.abc import Callable

from ..framing import messages
from ..matching.request_key import header
from ..replay.answer import replayed_headers
from ..replay.tools.batches import Sent
from ..replay.tools.http import EVENTS, SESSION, HttpRecording, Place, is_stream, said_in
from ..replay.tools.player import ToolConnection, ToolPlayer
from ..replay.tools.recording import Asked, message
from ..replay.tools.sse import ENDPOINT, target_of
from ..tape.model import Headers, RoundTrip
from .asgi import Message, Receive, Send

_PAUSE = 0.01
_LEAST_PAUSE = 0.001
"""Seconds between two looks at what is due: at most, and at least."""


class _Session:
    """One session of a client, or all requests without one."""

    def __init__(self, connection: ToolConnection) -> None:
        self.connection = connection
        self._queues: defaultdict[object, list[Sent]] = defaultdict(list)
        self._streamed: set[object] = set()
        """Requests whose answer is a stream, which takes what else the server says about them."""

    def stream(self, number: object) -> None:
        """The answer of a request is a stream."""
        self._streamed.add(number)

    def take(self, number: object) -> list[Sent]:
        """What is due for a request; for None, what belongs to no open stream."""
        for sent in self.connection.sent(asyncio.get_running_loop().time()):
            own = sent.is_answer or sent.origin in self._streamed
            self._queues[sent.origin if own else None].append(sent)
        return self._queues.pop(number, [])

    def take_all(self) -> list[Sent]:
        """Everything that is due."""
        return list(self.connection.sent(asyncio.get_running_loop().time()))


class _Answers:
    """The answers to the requests in one POST."""

    def __init__(self, numbers: list[object], *, is_batch: bool) -> None:
        self.open = numbers
        """The ids of requests without an answer."""
        self._is_batch = is_batch
        self._found: list[bytes] = []

    def add(self, sent: Sent) -> None:
        self.open.remove(sent.origin)
        self._found.append(sent.data)

    @property
    def body(self) -> bytes:
        """All answers as one body."""
        return b"[" + b",".join(self._found) + b"]" if self._is_batch else self._found[0]


class HttpTools:
    """The recorded tool servers over HTTP. `await tools.answer(…)` serves a request when it is for one of them."""

    def __init__(self, player: ToolPlayer, recording: HttpRecording) -> None:
        self._player = player
        self._recording = recording
        self._sessions: dict[tuple[Place, str], _Session] = {}
        self._opened: defaultdict[Place, int] = defaultdict(int)
        self._streams: dict[str, _Session] = {}
        """The sessions of the older transport, by path and query of the URL for the client's messages."""

    def listing(self, base: str) -> list[str]:
        """A line for each server, with its URL below `base`."""
        return [f"the tool server {place} at {base}{place.path}" for place in self._recording.servers]

    async def answer(
        self, scope: Message, target: str, headers: Headers, body: bytes, receive: Receive, send: Send
    ) -> bool:
        """Serve one request; False when it is for something else."""
        method, given, host = str(scope["method"]), header(headers, SESSION), header(headers, "host")
        target = target_of(target)
        if method == "POST" and target in self._streams:
            self._streams[target].connection.receive(body, asyncio.get_running_loop().time())
            await _send(send, 202)
            return True
        if method == "GET" and (opened := self._recording.stream_at(host, scope["path"])) is not None:
            await self._stream(opened, receive, send)
            return True
        place = self._recording.at(host, scope["path"])
        if place is None:
            return False
        if method == "POST" and any(message(raw).get("jsonrpc") == "2.0" for raw in messages(body)):
            await self._post(place, given, body, receive, send)
        elif method == "GET":
            await self._get(place, given, receive, send)
        elif method == "DELETE":
            recorded = self._recorded(place, "DELETE")
            await _send(send, recorded.response.status if recorded and recorded.response else 200)
        else:
            return False
        return True

    def _recorded(self, place: Place, method: str) -> RoundTrip | None:
        return next((trip for trip in self._recording.places[place] if trip.request.method == method), None)

    async def _post(self, place: Place, given: str, body: bytes, receive: Receive, send: Send) -> None:
        parts = messages(body)
        opens = any(message(raw).get("method") == "initialize" for raw in parts)
        if opens or not given:
            key = self._new_key(place) if opens else ""
            session = self._sessions.get((place, key)) if not opens else None
            if session is None:
                session = self._sessions[place, key] = _Session(self._player.connect(str(place), answers_apart=True))
        elif (place, given) in self._sessions:
            key, session = given, self._sessions[place, given]
        else:
            await _send(send, 404)  # the session is gone
            return
        asked: list[Asked | None] = []
        numbers: list[object] = []
        for raw in parts:
            recorded, said = session.connection.receive(raw, asyncio.get_running_loop().time()), message(raw)
            if said.get("id") is not None and "method" in said:
                asked.append(recorded)
                numbers.append(said["id"])
        if not numbers:
            await _send(send, 202)
            return
        trips = [self._recording.trips.get(one.index) for one in asked if one is not None]
        if any(trip is not None and trip.response is None for trip in trips):
            await _gone(receive)  # the client gave up, and does again
            return
        unanswered = all(one is not None and one.answer is None for one in asked)
        if unanswered and len(numbers) == 1 and any(trip is not None and _is_left_open(trip) for trip in trips):
            session.stream(numbers[0])
            await _start(send, 200, [("content-type", EVENTS), ("cache-control", "no-cache")])
            await _streamed(session, lambda: session.take(numbers[0]), receive, send)
            return
        extra = [(SESSION, key)] if opens and key else []
        answers = _Answers(numbers, is_batch=parts != [body])
        await self._answer(session, asked, answers, extra, send)

    def _new_key(self, place: Place) -> str:
        """The id of a new session: the recorded one, which a later session gets with a number."""
        ids = [
            found
            for trip in self._recording.places[place]
            if trip.response is not None and (found := header(trip.response.headers, SESSION))
        ]
        known = list(dict.fromkeys(ids))
        number = self._opened[place]
        self._opened[place] += 1
        if not known:
            return ""
        return known[number] if number < len(known) else f"{known[-1]}-{number}"

    async def _answer(
        self,
        session: _Session,
        asked: list[Asked | None],
        answers: "_Answers",
        extra: list[tuple[str, str]],
        send: Send,
    ) -> None:
        known = [one for one in asked if one is not None]
        trips = [trip for one in known if (trip := self._recording.trips.get(one.index)) is not None]
        response = trips[0].response if trips else None
        if response is not None and all(one.answer is None for one in known):
            # It was refused by HTTP alone.
            kept = [(name, value) for name, value in replayed_headers(response) if name.lower() != SESSION]
            await _send(send, response.status, kept, response.body)
            return
        streams = response is not None and is_stream(response)
        if streams:
            for number in answers.open:
                session.stream(number)
            await _start(send, 200, [("content-type", EVENTS), ("cache-control", "no-cache"), *extra])
        while not session.connection.closed:
            for sent in [one for number in list(answers.open) for one in session.take(number)]:
                if streams:
                    await _event(send, sent.data)
                if sent.is_answer:
                    answers.add(sent)
            if not answers.open:
                if streams:
                    await send({"type": "http.response.body", "body": b""})
                else:
                    status = response.status if response is not None else 200
                    await _send(send, status, [("content-type", "application/json"), *extra], answers.body)
                return
            due = session.connection.wait(asyncio.get_running_loop().time())
            await asyncio.sleep(_PAUSE if due is None else min(max(due, _LEAST_PAUSE), _PAUSE))
        if streams:
            await send({"type": "http.response.body", "body": b""})
        else:
            await _send(send, 502)

    async def _get(self, place: Place, given: str, receive: Receive, send: Send) -> None:
        """The stream of what the server says on its own, until the client leaves."""
        recorded = self._recorded(place, "GET")
        response = recorded.response if recorded is not None else None
        session = self._sessions.get((place, given))
        if response is None or not is_stream(response) or session is None:
            await _send(send, response.status if response is not None and not is_stream(response) else 405)
            return
        await _start(send, 200, [("content-type", EVENTS), ("cache-control", "no-cache")])
        await _streamed(session, lambda: session.take(None), receive, send)

    async def _stream(self, place: Place, receive: Receive, send: Send) -> None:
        """A connection of the older transport, until the client leaves."""
        known = [stream.target for stream in self._recording.streams[place]]
        number = self._opened[place]
        self._opened[place] += 1
        target = known[number] if number < len(known) else f"{known[-1]}-{number}"
        session = self._streams[target] = _Session(self._player.connect(str(place)))
        await _start(send, 200, [("content-type", EVENTS), ("cache-control", "no-cache")])
        await _event(send, target.encode(), ENDPOINT)
        try:
            await _streamed(session, session.take_all, receive, send)
        finally:
            del self._streams[target]


def _is_left_open(trip: RoundTrip) -> bool:
    """True for a stream without any answer that the client closed: it had listened or has given up."""
    if trip.closed_first != "client" or trip.response is None or not is_stream(trip.response):
        return False
    return all("method" in message(raw) for raw, _ in said_in(trip.response))


async def _streamed(session: _Session, take: Callable[[], list[Sent]], receive: Receive, send: Send) -> None:
    """What is due, as it becomes due, until the client leaves or the server ends."""
    left = asyncio.ensure_future(_gone(receive))
    try:
        while not left.done() and not session.connection.closed:
            for sent in take():
                await _event(send, sent.data)
            await asyncio.wait({left}, timeout=_PAUSE)
    finally:
        left.cancel()
    await send({"type": "http.response.body", "body": b""})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _start(send: Send, status: int, headers: list[tuple[str, str]]) -> None:
    fields = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": fields})


async def _send(send: Send, status: int, headers: list[tuple[str, str]] | None = None, body: bytes = b"") -> None:
    await _start(send, status, [*(headers or []), ("content-length", str(len(body)))])
    await send({"type": "http.response.body", "body": body})


async def _event(send: Send, data: bytes, name: str = "message") -> None:
    body = b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"
    await send({"type": "http.response.body", "body": body, "more_body": True})
