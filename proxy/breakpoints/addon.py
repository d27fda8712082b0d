"""The addon that holds answers. It stands before the tap, so that what is recorded is what the client got."""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from mitmproxy import http
from mitmproxy.connection import ConnectionState

from turntape.cassettes.tape.format import store
from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.wire.json_value import parse_json
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.rewrite import NotEditable, document

from ..engine.error_answers import HEADERS, STATUS, refusal
from ..engine.recorder_addon import Take, Tap, round_trip
from ..limits.limits import MARK as GUARD
from ..limits.limits import makes_a_turn
from .condition import Condition
from .findings import Foresight
from .pending import MARK, PASSED, Decision, Held

log = logging.getLogger(__name__)

_LOOK = 0.3
"""Seconds between two looks whether the client of a held answer is still there."""


class Asker(Protocol):
    """Who decides about held answers; asked about one at a time, on a thread of its own."""

    over: bool

    def ask(self, held: Held, gone: threading.Event) -> Decision: ...


@dataclass(frozen=True, slots=True)
class Breakpoints:
    """What to hold, and whom to ask."""

    conditions: tuple[Condition, ...]
    asker: Asker


class Holder:
    def __init__(self, breakpoints: Breakpoints, tap: Tap) -> None:
        self._asker = breakpoints.asker
        self._by_turn = {c.value for c in breakpoints.conditions if c.kind == "turn"}
        self._tools = tuple(c for c in breakpoints.conditions if c.kind == "tool")
        self._findings = tuple(c for c in breakpoints.conditions if c.kind == "finding")
        self._foresight = Foresight() if self._findings else None
        self._tap = tap
        self._turns = 0
        self._numbers: dict[str, int] = {}
        """Turns that are under way and may be held, by flow id."""
        self._asking = asyncio.Lock()
        self._held: set[threading.Event] = set()
        """What tells the asker that nobody waits any more, for each answer that is held."""

    def written(self, trip: RoundTrip, number: int) -> None:
        """The tap has handed in a round trip."""
        if self._foresight is not None:
            self._foresight.written(trip, number)

    def close(self) -> None:
        """The proxy is being stopped: nobody waits for a decision any more."""
        for gone in self._held:
            gone.set()
        if self._foresight is not None:
            self._foresight.close()

    def request(self, flow: http.HTTPFlow) -> None:
        take = self._tap.takes.get(flow.id)
        if take is None or not makes_a_turn(flow.request.method, flow.request.path):
            return
        self._turns += 1
        by_turn = not self._by_turn.isdisjoint((str(self._turns), "*"))
        if not self._asker.over and (by_turn or self._tools or self._findings):
            self._numbers[flow.id] = self._turns
            take.held = True

    def error(self, flow: http.HTTPFlow) -> None:
        self._numbers.pop(flow.id, None)

    async def response(self, flow: http.HTTPFlow) -> None:
        number = self._numbers.pop(flow.id, None)
        take = self._tap.takes.get(flow.id)
        if number is None or take is None or GUARD in take.extra:
            return
        gone = threading.Event()
        try:
            trip = round_trip(flow, take, None, None)
            on = await self._met(trip, number)
            if on is None:
                return
            since = time.monotonic()
            decision = await self._decision(Held(number, on, trip), flow, gone)
            held_ms = round((time.monotonic() - since) * 1000)
            _carry_out(decision, flow, take, trip, {"on": on, "did": decision.did, "held_ms": held_ms})
            if gone.is_set():
                failure = Failure("client_gone", "the client left while the answer was held at a breakpoint")
                self._tap.finish(flow, "client", failure)
        except Exception as exc:  # the traffic must go on
            log.exception("fault at a breakpoint")
            take.faults.append(f"breakpoint: {exc!r}")

    async def _met(self, trip: RoundTrip, number: int) -> str | None:
        """The first condition that the answer meets, and by what."""
        if not self._by_turn.isdisjoint((str(number), "*")):
            return f"turn={number}"
        if self._tools:
            emission = (await asyncio.to_thread(read, trip)).emission
            names = [call.name for call in emission.calls] if emission else []
            if name := next((name for c in self._tools if (name := c.first(names))), None):
                return f"tool={name}"
        if self._foresight is not None:
            ids = await asyncio.wrap_future(self._foresight.findings(trip))
            if name := next((name for c in self._findings if (name := c.first(ids))), None):
                return f"finding={name}"
        return None

    async def _decision(self, held: Held, flow: http.HTTPFlow, gone: threading.Event) -> Decision:
        async with self._asking:
            if self._asker.over:
                return PASSED
            asked = _on_a_thread(lambda: self._asker.ask(held, gone))
            self._held.add(gone)
            try:
                while not (await asyncio.wait([asked], timeout=_LOOK))[0]:
                    if not flow.client_conn.state & ConnectionState.CAN_READ:
                        gone.set()
                return asked.result()
            finally:
                self._held.discard(gone)


def _on_a_thread[T](call: Callable[[], T]) -> "asyncio.Future[T]":
    """As `asyncio.to_thread`, but a thread that waits for a person does not keep the program from ending."""
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
        except BaseException as exc:  # noqa: BLE001 - handed over to the loop
            fault = exc
        try:
            loop.call_soon_threadsafe(settle, value, fault)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=run, name="turntape breakpoint", daemon=True).start()
    return done


def _carry_out(decision: Decision, flow: http.HTTPFlow, take: Take, trip: RoundTrip, mark: dict[str, object]) -> None:
    assert flow.response is not None
    if decision.did != "passed":
        mark["from_api"] = _from_api(trip)
    if decision.did == "edited":
        headers = flow.response.headers
        headers.pop("content-encoding", None)
        flow.response.trailers = None
        flow.response.content = b"".join(decision.pieces)
        _replace(take, decision.pieces)
    elif decision.did == "refused":
        body = refusal(flow.request.path, "turntape_breakpoint", decision.message)
        flow.response = http.Response.make(STATUS, body, HEADERS)
        mark["message"] = decision.message
        _replace(take, (body,))
    take.extra[MARK] = mark


def _replace(take: Take, pieces: Sequence[bytes]) -> None:
    """What the client gets in place of what the API sent."""
    at = take.now()
    take.pieces, take.times = list(pieces), [at] * len(pieces)
    take.decoder = take.raw = take.encoding = None


def _from_api(trip: RoundTrip) -> dict[str, object]:
    """The API's own answer, as it came; one that is no text as the document that it adds up to."""
    response = trip.response
    assert response is not None
    body: dict[str, object] = store(response.body)
    if "text" not in body:
        with suppress(NotEditable):  # else base64 it is
            body = {"document": parse_json(document(trip))}
    return {"status": response.status, "body": body}
