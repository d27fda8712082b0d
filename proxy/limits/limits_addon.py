"""The addon that ends a run at its limits: turntape answers further turns itself and marks them in the cassette.

A limit is decided before the next request of the run is sent. So a turn waits until all turns before it that have
ended are recorded and labelled, however long the labels take. This is the only place where turntape holds a request,
and it exists only when a limit was given.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import functools
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from mitmproxy import http
from mitmproxy.addons.proxyserver import Proxyserver
from mitmproxy.proxy.layers.websocket import WebSocketMessageInjected
from mitmproxy.websocket import WebSocketMessage
from wsproto.frame_protocol import Opcode

from turntape.cassettes.apis.lookup import answers_a_turn, asks_for_a_turn
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.stream_end import ended

from ..capture.error_answers import HEADERS, STATUS, event, refusal
from ..capture.recorder_addon import RecorderAddon, asked
from .limit_checker import LimitChecker
from .limits import MARK, LimitReached
from .progress import PATIENCE

log = logging.getLogger(__name__)


async def next_word(words: asyncio.Event) -> None:
    """Wait for the next word of the labeller process. Raises TimeoutError when it is silent for too long."""
    async with asyncio.timeout(PATIENCE):
        await words.wait()


@dataclass(slots=True)
class SessionCount:
    """Counts the turns of a WebSocket session as its messages pass."""

    asked: int = 0
    """Messages with which the client asked for an answer."""
    answered: int = 0
    """Answers of the server. Some need no such message: speech can begin an answer too."""

    @property
    def turns(self) -> int:
        return max(self.asked, self.answered)


class LimitsAddon:
    """Runs after the recorder addon, so that a request's time is taken before it waits."""

    def __init__(
        self,
        checker: LimitChecker,
        recorder: RecorderAddon,
        server: Proxyserver,
        on_reached: Callable[[LimitReached], None] = lambda reached: None,
    ) -> None:
        self._checker = checker
        self._recorder = recorder
        self._server = server
        self._on_reached = on_reached
        self._running: set[str] = set()
        """Turns that are running, by flow id."""
        self._sessions: dict[str, SessionCount] = {}
        """The turns of WebSocket sessions that are open, by flow id."""
        self._waiting: set[asyncio.Event] = set()

    def written(self, round_trip: RoundTrip, number: int) -> None:
        """The recorder addon has handed over a round trip."""
        count = SessionCount()
        for frame in round_trip.frames:
            if frame.sender == "client":
                count.asked += asks_for_a_turn(frame.data)
            else:
                count.answered += answers_a_turn(frame.data)
        self._checker.written(round_trip, number, count.turns)

    def close(self) -> None:
        """The proxy stops: nothing waits any more."""
        self._checker.labels_ended("turntape was stopped")
        self._running.clear()
        self._wake()

    # Requests

    async def request(self, flow: http.HTTPFlow) -> None:
        try:
            await self._request(flow)
        except Exception as exc:  # the traffic must continue
            log.exception("fault in the limits")
            if (pending := self._recorder.pending.get(flow.id)) is not None:
                pending.faults.append(f"limits: {exc!r}")

    async def _request(self, flow: http.HTTPFlow) -> None:
        if flow.id not in self._recorder.pending:
            return
        method, headers, body = asked(flow)
        if not self._checker.is_turn(method, flow.request.path, headers, body):
            return
        if self._checker.reached is None:
            await self._earlier_turns()
        pending = self._recorder.pending.get(flow.id)
        if pending is None:
            return  # the client has left in the meantime
        self._warn_if_labels_are_missing()
        reached = self._check()
        if reached is None:
            self._running.add(flow.id)
            return
        pending.extra[MARK] = reached.as_json()
        body = refusal(flow.request.path, _error_type(reached), reached.message)
        flow.response = http.Response.make(STATUS, body, HEADERS)

    def _check(self) -> LimitReached | None:
        before = self._checker.reached
        reached = self._checker.check(len(self._running) + sum(count.turns for count in self._sessions.values()))
        if before is None and reached is not None:
            self._on_reached(reached)
        return reached

    # Waiting for earlier turns

    async def _earlier_turns(self) -> None:
        """Wait until every turn that has ended is recorded and labelled."""
        self._checker.on_news = functools.partial(_in_loop, asyncio.get_running_loop(), self._wake)
        whole = {name for name in self._running if self._is_whole(name)}
        await self._until(lambda: whole.isdisjoint(self._running))
        count = self._checker.recorded
        if not await self._until(lambda: self._checker.is_labelled(count)):
            self._checker.labels_ended(f"the labeller process was silent for {PATIENCE:.0f} s")

    def _is_whole(self, name: str) -> bool:
        """True when the client has the complete answer of a turn, although its round trip has not ended yet.

        Clients stop reading at `data: [DONE]`. Their next request can arrive before the connection ends.
        """
        pending = self._recorder.pending.get(name)
        return pending is not None and not pending.held and ended(pending.body.so_far)

    async def _until(self, is_met: Callable[[], bool]) -> bool:
        """Wait until the condition is met; False when the labeller process is silent for too long."""
        words = asyncio.Event()
        self._waiting.add(words)
        try:
            while not is_met():
                words.clear()
                await next_word(words)
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(words)
        return True

    def _wake(self) -> None:
        for words in self._waiting:
            words.set()

    def _warn_if_labels_are_missing(self) -> None:
        """Report once that a turn is decided without labels that its limits need."""
        reason = self._checker.labels_missing
        if reason is None or not self._checker.limits.need_labels or self._checker.decided_without_labels:
            return
        self._checker.decided_without_labels = True
        log.warning(
            "turntape: --max-cost and --stop-on no longer count new turns: labels are missing, because %s", reason
        )

    # Turns that end

    def response(self, flow: http.HTTPFlow) -> None:
        if flow.websocket is None:
            self._ended(flow)

    def error(self, flow: http.HTTPFlow) -> None:
        self._sessions.pop(flow.id, None)
        self._ended(flow)

    def websocket_end(self, flow: http.HTTPFlow) -> None:
        self._sessions.pop(flow.id, None)

    def _ended(self, flow: http.HTTPFlow) -> None:
        self._running.discard(flow.id)
        self._wake()

    # WebSocket sessions

    def websocket_message(self, flow: http.HTTPFlow) -> None:
        """Count the turns of a session as they pass: the session is labelled only when it ends."""
        pending = self._recorder.pending.get(flow.id)
        if pending is None or flow.websocket is None:
            return
        message = flow.websocket.messages[-1]
        count = self._sessions.setdefault(flow.id, SessionCount())
        if not message.from_client:
            count.answered += answers_a_turn(message.content)
            return
        if not asks_for_a_turn(message.content):
            return
        reached = self._check()
        if reached is None:
            count.asked += 1
            return
        pending.extra[MARK] = reached.as_json()
        message.drop()
        answer = WebSocketMessage(Opcode.TEXT, False, event(_error_type(reached), reached.message))
        self._server.inject_event(WebSocketMessageInjected(flow, answer))


def _error_type(reached: LimitReached) -> str:
    return "turntape_" + reached.limit.replace("-", "_")


def _in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Call a function in the proxy's loop, from any thread; a loop that has ended needs no call."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call)
