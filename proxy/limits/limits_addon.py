"""The addon that ends a run at its limits: further turns are answered by us, and recorded with a mark.

A turn waits until the reader beside the proxy has labelled what ended before it, so that the limits hold to the
turn. That is the one place where turntape holds a request, and it is there only when a limit was given.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import json
import logging
from collections.abc import Callable

from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy.layers.websocket import WebSocketMessageInjected
from mitmproxy.websocket import WebSocketMessage
from wsproto.frame_protocol import Opcode

from turntape.cassettes.tape.model import RoundTrip

from ..engine.error_answers import HEADERS, STATUS, event, refusal
from ..engine.recorder_addon import Tap
from .limits import MARK, Guard, Stop

log = logging.getLogger(__name__)

PATIENCE = 2.0
"""Seconds that a turn waits at most for the labels of what came before it."""


def asks(data: bytes) -> bool:
    """True for a WebSocket message by which a client of the Responses API asks for a turn."""
    if b"response.create" not in data:
        return False
    try:
        message = json.loads(data)
    except ValueError:
        return False
    # Codex warms a session up with `generate: false`, which makes no turn.
    return isinstance(message, dict) and message.get("type") == "response.create" and message.get("generate", True)


class GuardRails:
    """Stands behind the tap, so that a request's time is taken before it waits."""

    def __init__(
        self, guard: Guard, tap: Tap, server: Proxyserver, on_stop: Callable[[Stop], None] = lambda stop: None
    ) -> None:
        self._guard = guard
        self._tap = tap
        self._server = server
        self._on_stop = on_stop
        self._running: set[str] = set()
        """Turns under way, by flow id."""
        self._sessions: dict[str, int] = {}
        """Turns of WebSocket sessions under way, by flow id."""
        self._waiting: set[asyncio.Event] = set()

    def written(self, round_trip: RoundTrip, number: int) -> None:
        """The tap has handed in a round trip."""
        turns = sum(frame.sender == "client" and asks(frame.data) for frame in round_trip.frames)
        self._guard.written(round_trip, number, turns)

    async def request(self, flow: http.HTTPFlow) -> None:
        try:
            await self._request(flow)
        except Exception as exc:  # the traffic must go on
            log.exception("fault in the guard rails")
            if (take := self._tap.takes.get(flow.id)) is not None:
                take.faults.append(f"guard rails: {exc!r}")

    async def _request(self, flow: http.HTTPFlow) -> None:
        if flow.id not in self._tap.takes or not self._guard.is_turn(flow.request.method, flow.request.path):
            return
        if self._guard.stopped is None:
            await self._caught_up()
        take = self._tap.takes.get(flow.id)
        if take is None:
            return  # the client has left meanwhile
        stop = self._stop()
        if stop is None:
            self._running.add(flow.id)
            return
        take.extra[MARK] = stop.as_json()
        body = refusal(flow.request.path, _kind(stop), stop.message)
        flow.response = http.Response.make(STATUS, body, HEADERS)

    def _stop(self) -> Stop | None:
        before = self._guard.stopped
        stop = self._guard.stop(len(self._running) + sum(self._sessions.values()))
        if before is None and stop is not None:
            self._on_stop(stop)
        return stop

    async def _caught_up(self) -> None:
        loop = asyncio.get_running_loop()
        news = asyncio.Event()
        self._guard.on_report = lambda: loop.call_soon_threadsafe(self._news)
        self._waiting.add(news)
        try:
            async with asyncio.timeout(PATIENCE):
                while self._guard.is_behind:
                    news.clear()
                    await news.wait()
        except TimeoutError:
            pass  # turns count by their paths until the labels are there
        finally:
            self._waiting.discard(news)

    def _news(self) -> None:
        for waiting in self._waiting:
            waiting.set()

    # What ends

    def response(self, flow: http.HTTPFlow) -> None:
        if flow.websocket is None:
            self._running.discard(flow.id)

    def error(self, flow: http.HTTPFlow) -> None:
        self._running.discard(flow.id)
        self._sessions.pop(flow.id, None)

    def websocket_end(self, flow: http.HTTPFlow) -> None:
        self._sessions.pop(flow.id, None)

    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """A session shows its turns to the reader at its end only, so these are counted as they pass."""
        take = self._tap.takes.get(flow.id)
        if take is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        if not message.from_client or not asks(message.content):
            return
        stop = self._stop()
        if stop is None:
            self._sessions[flow.id] = self._sessions.get(flow.id, 0) + 1
            return
        take.extra[MARK] = stop.as_json()
        message.drop()
        answer = WebSocketMessage(Opcode.TEXT, False, event(_kind(stop), stop.message))
        self._server.inject_event(WebSocketMessageInjected(flow, answer))


def _kind(stop: Stop) -> str:
    return "turntape_" + stop.limit.replace("-", "_")
