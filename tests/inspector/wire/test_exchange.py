"""A round trip as protocols look at it."""

from typing import Any

import pytest
from sockets import LIVE, REALTIME, SOCKET, handshake

from turntape.cassettes.tape.model import Failure, Frame, RoundTrip
from turntape.inspector.wire.exchange import Exchange
from turntape.inspector.wire.parse import read

REFUSED = Failure("refused", "connection refused")


@pytest.mark.parametrize(
    ("one", "failed"),
    [
        (handshake(), True),
        (handshake(status=400), True),
        (handshake(status=503), True),
        (handshake(status=None, failure=REFUSED), True),
        (handshake("wss://api.openai.com/v1/responses", headers=()), True),
        (handshake("ws://127.0.0.1/v1/responses", headers=()), True),
        (handshake(status=101), False),
        (handshake(status=200), False),
        (handshake(status=399), False),
        (handshake(method="POST"), False),
        (handshake(headers=()), False),
        (handshake(headers=(("upgrade", "h2c"),)), False),
        (handshake(frames=(Frame("client", 1, b"{}", True),)), False),
    ],
)
def test_a_handshake_fails_when_no_session_comes_of_it(one: RoundTrip, failed: bool) -> None:
    assert Exchange(one).failed_handshake is failed


@pytest.mark.parametrize(
    ("url", "protocol", "model"),
    [(SOCKET, "openai-responses", None), (REALTIME, "openai-realtime", "gpt-realtime"), (LIVE, "gemini-live", None)],
)
@pytest.mark.parametrize("status", [401, 403, 426, 429, 503])
def test_a_handshake_that_was_refused_is_a_turn_that_failed(
    url: str, protocol: str, model: str | None, status: int
) -> None:
    reading = read(handshake(url, status))

    assert (reading.protocol, reading.kind, reading.request.model) == (protocol, "generation", model)
    assert reading.finish is not None and reading.finish.effective == "error"
    assert reading.error is not None and (reading.error.status, reading.error.message) == (status, "no")


@pytest.mark.parametrize("url", [SOCKET, REALTIME, LIVE])
def test_a_handshake_without_an_answer_is_a_turn_that_failed(url: str) -> None:
    reading = read(handshake(url, None, failure=REFUSED))

    assert reading.is_generation and reading.error is not None and reading.error.type == "refused"


@pytest.mark.parametrize("url", [SOCKET, REALTIME, LIVE])
@pytest.mark.parametrize("fields", [{"status": 101}, {"headers": ()}], ids=["a session", "a plain GET"])
def test_a_session_and_a_plain_request_for_its_address_are_not_turns(url: str, fields: dict[str, Any]) -> None:
    assert not read(handshake(url, **fields)).is_generation
