"""A request is held only as long and as far as somebody needs it."""

# mitmproxy's layers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportPrivateUsage=false

import time

import pytest
from mitmproxy import options
from mitmproxy.proxy.context import Context
from mitmproxy.proxy.layers.http import HTTPMode
from mitmproxy.proxy.layers.http._events import RequestData
from mitmproxy.test import tflow

from turntape.cassettes.tape.bounds import Memory
from turntape.proxy.capture.pending import BEGINNING, NEEDS_WHOLE, ROOM, PendingRoundTrip
from turntape.proxy.layers.exchange import Exchange
from turntape.proxy.layers.wire_events import RequestGoesOn

PIECE = b"a" * 1000


def held(answered: bool, pending: PendingRoundTrip | None) -> int:
    """How much is held of a body of ten pieces."""
    exchange = Exchange(Context(tflow.tclient_conn(), options.Options()), 1)
    exchange.mode = HTTPMode.regular
    exchange.flow = tflow.tflow(resp=answered)
    if pending is not None:
        exchange.flow.metadata[ROOM] = pending.has_room
    for _ in range(10):
        assert list(exchange.state_consume_request_body(RequestData(1, PIECE))) == []
    return len(exchange.request_body_buf)


def recorded(most: int) -> PendingRoundTrip:
    return PendingRoundTrip("http://a/", 0.0, time.monotonic_ns(), None, "base_url", None, memory=Memory(most))


@pytest.mark.parametrize(
    ("answered", "pending", "kept", "faults"),
    [
        (True, None, 0, 0),
        (True, recorded(4000), 4000, 1),
        (True, recorded(10_000), 10_000, 0),
        (False, None, 10_000, 0),
    ],
    ids=["not recorded", "recorded without room", "recorded", "sent on"],
)
def test_of_a_request_that_we_answer_only_what_is_recorded_is_held(
    answered: bool, pending: PendingRoundTrip | None, kept: int, faults: int
) -> None:
    assert held(answered, pending) == kept
    assert pending is None or len(pending.faults) == faults


@pytest.mark.parametrize(
    ("answered", "needs_whole", "passes"),
    [(False, False, True), (True, False, False), (False, True, False)],
    ids=["sent on", "answered by us", "decided when it is whole"],
)
def test_a_request_without_an_end_is_passed_on_unless_it_is_needed_whole(
    answered: bool, needs_whole: bool, passes: bool
) -> None:
    exchange = Exchange(Context(tflow.tclient_conn(), options.Options()), 1)
    exchange.mode = HTTPMode.regular
    exchange.flow = tflow.tflow(resp=answered)
    exchange.flow.metadata[NEEDS_WHOLE] = needs_whole
    exchange.client_state = exchange.state_consume_request_body
    list(exchange.state_consume_request_body(RequestData(1, PIECE)))

    assert any(exchange.handle_event(RequestGoesOn(1))) is passes


def test_what_is_passed_on_as_it_comes_is_kept_as_far_as_there_is_room() -> None:
    exchange = Exchange(Context(tflow.tclient_conn(), options.Options()), 1)
    exchange.flow = tflow.tflow()
    pending = recorded(2500)
    exchange.flow.metadata |= {ROOM: pending.has_room, BEGINNING: bytearray()}

    assert [exchange._kept(PIECE) for _ in range(4)] == [PIECE] * 4

    assert exchange.flow.metadata[BEGINNING] == PIECE * 2
    assert len(pending.faults) == 1
