"""The addon that holds answers. It runs before the recorder addon, so that what the client gets is recorded."""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from mitmproxy import http
from mitmproxy.connection import ConnectionState

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.format import store
from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.wire.json_value import parse_json
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import NotEditable, document

from ..capture.error_answers import HEADERS, STATUS, refusal
from ..capture.flow_conversion import round_trip
from ..capture.pending import PendingRoundTrip
from ..capture.recorder_addon import RecorderAddon, asked
from ..limits.limits import MARK as LIMIT_MARK
from ..limits.turn_paths import makes_a_turn
from .condition import Condition
from .findings_preview import FindingsPreview
from .held_answer import MARK, PASSED, Decision, HeldAnswer

log = logging.getLogger(__name__)

_LOOK = 0.3
"""Seconds between two checks whether the client of a held answer is still connected."""


class Decider(Protocol):
    """Decides about held answers: one at a time, on its own thread."""

    finished: bool
    """True when no more answers need to be held."""

    def decide(self, held: HeldAnswer, gone: threading.Event) -> Decision:
        """Decide about one answer. `gone` is set when the client disconnects."""
        ...


@frozen
class Breakpoints:
    """What to hold, and who decides."""

    conditions: tuple[Condition, ...]
    decider: Decider


class BreakpointsAddon:
    """Holds the answers that meet a condition until there is a decision about them."""

    def __init__(self, breakpoints: Breakpoints, recorder: RecorderAddon) -> None:
        self._decider = breakpoints.decider
        self._turn_numbers = {c.value for c in breakpoints.conditions if c.kind == "turn"}
        self._tools = tuple(c for c in breakpoints.conditions if c.kind == "tool")
        self._findings = tuple(c for c in breakpoints.conditions if c.kind == "finding")
        self._preview = FindingsPreview() if self._findings else None
        self._recorder = recorder
        self._turns = 0
        self._numbers: dict[str, int] = {}
        """Turns that are running and may be held, by flow id."""
        self._one_at_a_time = asyncio.Lock()
        self._held: set[threading.Event] = set()
        """For each held answer, an event that is set when its client disconnects."""

    def written(self, trip: RoundTrip, number: int) -> None:
        """The recorder addon has handed over a round trip."""
        if self._preview is not None:
            self._preview.written(trip, number)

    def close(self) -> None:
        """The proxy stops, so no client waits any longer."""
        for gone in self._held:
            gone.set()
        if self._preview is not None:
            self._preview.close()

    def request(self, flow: http.HTTPFlow) -> None:
        pending = self._recorder.pending.get(flow.id)
        if pending is None:
            return
        method, headers, body = asked(flow)
        if not makes_a_turn(method, flow.request.path, headers, body):
            return
        self._turns += 1
        may_be_held = self._is_held_by_number(self._turns) or self._tools or self._findings
        if may_be_held and not self._decider.finished:
            self._numbers[flow.id] = self._turns
            pending.held = True

    def error(self, flow: http.HTTPFlow) -> None:
        self._numbers.pop(flow.id, None)

    async def response(self, flow: http.HTTPFlow) -> None:
        number = self._numbers.pop(flow.id, None)
        pending = self._recorder.pending.get(flow.id)
        if number is None or pending is None or LIMIT_MARK in pending.extra:
            return
        gone = threading.Event()
        try:
            trip = round_trip(flow, pending, None, None)
            on = await self._met_condition(trip, number)
            if on is None:
                return
            since = time.monotonic()
            decision = await self._decision(HeldAnswer(number, on, trip), flow, gone)
            held_ms = round((time.monotonic() - since) * 1000)
            _carry_out(decision, flow, pending, trip, {"on": on, "did": decision.did, "held_ms": held_ms})
            if gone.is_set():
                failure = Failure("client_gone", "the client left while the answer was held at a breakpoint")
                self._recorder.finish(flow, "client", failure)
        except Exception as exc:  # the traffic must continue
            log.exception("fault at a breakpoint")
            pending.faults.append(f"breakpoint: {exc!r}")

    def _is_held_by_number(self, number: int) -> bool:
        return not self._turn_numbers.isdisjoint((str(number), "*"))

    async def _met_condition(self, trip: RoundTrip, number: int) -> str | None:
        """The first condition that the answer meets, with the value that met it."""
        if self._is_held_by_number(number):
            return f"turn={number}"
        if self._tools:
            emission = (await asyncio.to_thread(read, trip)).emission
            names = [call.name for call in emission.calls] if emission else []
            if name := next((name for c in self._tools if (name := c.first(names))), None):
                return f"tool={name}"
        if self._preview is not None:
            ids = await asyncio.wrap_future(self._preview.findings(trip))
            if name := next((name for c in self._findings if (name := c.first(ids))), None):
                return f"finding={name}"
        return None

    async def _decision(self, held: HeldAnswer, flow: http.HTTPFlow, gone: threading.Event) -> Decision:
        async with self._one_at_a_time:
            if self._decider.finished:
                return PASSED
            deciding = _on_a_thread(lambda: self._decider.decide(held, gone))
            self._held.add(gone)
            try:
                while not (await asyncio.wait([deciding], timeout=_LOOK))[0]:
                    if not flow.client_conn.state & ConnectionState.CAN_READ:
                        gone.set()
                return deciding.result()
            finally:
                self._held.discard(gone)


def _on_a_thread[T](call: Callable[[], T]) -> "asyncio.Future[T]":
    """Like `asyncio.to_thread`, but the thread does not keep the program alive while it waits for a person."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(value: T | None, fault: BaseException | None) -> None:
        if not done.done():
            if fault is not None:
                done.set_exception(fault)
            else:
                done.set_result(value)  # pyright: ignore[reportArgumentType]

    def run() -> None:
        value: T | None = None
        fault: BaseException | None = None
        try:
            value = call()
        except BaseException as exc:  # noqa: BLE001 - passed on to the loop
            fault = exc
        with suppress(RuntimeError):  # the loop is closed, and nothing waits any more
            loop.call_soon_threadsafe(settle, value, fault)

    threading.Thread(target=run, name="turntape breakpoint", daemon=True).start()
    return done


def _carry_out(
    decision: Decision, flow: http.HTTPFlow, pending: PendingRoundTrip, trip: RoundTrip, mark: dict[str, object]
) -> None:
    assert flow.response is not None
    if decision.did != "passed":
        mark["from_api"] = _from_api(trip)
    if decision.did == "edited":
        flow.response.headers.pop("content-encoding", None)
        flow.response.trailers = None
        flow.response.content = b"".join(decision.pieces)
        pending.replace(decision.pieces)
    elif decision.did == "refused":
        body = refusal(flow.request.path, "turntape_breakpoint", decision.message)
        flow.response = http.Response.make(STATUS, body, HEADERS)
        mark["message"] = decision.message
        pending.replace((body,))
    pending.extra[MARK] = mark


def _from_api(trip: RoundTrip) -> dict[str, object]:
    """The API's own answer. A body that is not text is stored as its document, where it has one."""
    response = trip.response
    assert response is not None
    body: dict[str, object] = store(response.body)
    if "text" not in body:
        with suppress(NotEditable):  # then it stays base64
            body = {"document": parse_json(document(trip))}
    return {"status": response.status, "body": body}
