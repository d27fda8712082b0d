"""The tap keeps what passed, alters none of it, and says why a round trip has no whole answer."""

import gzip
import time
from collections.abc import Sequence

import pytest
from mitmproxy import flow as base
from mitmproxy import http
from mitmproxy.test import tflow

from turntape.cassettes import Chunk, RoundTrip
from turntape.proxy.engine.recorder_addon import Take, Tap, unreached

URL = "https://api.openai.com/v1/chat/completions"
END = b"data: [DONE]\n\n"


def begun(tap: Tap, body: bytes = b'{"a":1}', encoding: str | None = None) -> http.HTTPFlow:
    """A flow whose request is in."""
    flow = tflow.tflow(req=http.Request.make("POST", URL, body, {"X-A": "1"}))
    if encoding:
        flow.request.headers["content-encoding"] = encoding
    tap.begin(flow, Take(URL, 1000.0, time.monotonic_ns(), "run", "base_url", "openai"))
    tap.request(flow)
    return flow


def answering(tap: Tap, flow: http.HTTPFlow, pieces: Sequence[bytes], **headers: str) -> list[bytes]:
    """The head of an answer and these pieces; what passed on to the client."""
    flow.response = http.Response.make(200, b"", {"content-type": "text/event-stream", **headers})
    tap.responseheaders(flow)
    stream = flow.response.stream
    assert callable(stream)
    passed = [stream(piece) for piece in pieces]
    assert all(isinstance(piece, bytes) for piece in passed)
    return [piece for piece in passed if isinstance(piece, bytes)]


def failing(tap: Tap, flow: http.HTTPFlow, message: str) -> None:
    flow.error = base.Error(message)
    tap.error(flow)


def test_each_chunk_passes_as_it_came_and_is_kept_with_its_time() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = begun(tap)
    pieces = [b"data: 1\n\n", b"data: 2", b"\n\n", END]

    passed = answering(tap, flow, [*pieces, b""])
    assert kept == []
    tap.response(flow)

    assert passed == [*pieces, b""]
    (trip,) = kept
    assert trip.response is not None
    assert trip.response.body == b"".join(pieces)
    assert [chunk.size for chunk in trip.response.chunks] == [len(piece) for piece in pieces]
    times = [trip.request_at, trip.first_byte_at, *(c.at for c in trip.response.chunks), trip.ended_at]
    assert None not in times and times == sorted(t for t in times if t is not None)
    assert (trip.run, trip.route, trip.upstream, trip.started_at) == ("run", "base_url", "openai", 1000.0)
    assert (trip.failure, trip.closed_first, trip.faults) == (None, None, ())
    assert ("X-A", "1") in trip.request.headers and trip.request.complete


def test_a_flow_is_handed_over_once() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = begun(tap)
    answering(tap, flow, [END])

    tap.response(flow)
    failing(tap, flow, "connection closed")
    tap.abandon()

    assert len(kept) == 1


def test_a_flow_that_was_not_begun_is_left_alone() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = tflow.tflow(resp=True)

    tap.request(flow)
    tap.responseheaders(flow)
    tap.response(flow)
    failing(tap, flow, "timed out")

    assert kept == [] and flow.response is not None and flow.response.stream is False


def test_encoded_chunks_pass_encoded_and_are_kept_decoded() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    body = gzip.compress(b"data: one\n\n" * 50, mtime=0)
    pieces = [body[:5], body[5:20], body[20:]]
    flow = begun(tap, gzip.compress(b'{"a":1}', mtime=0), "gzip")

    passed = answering(tap, flow, pieces, **{"content-encoding": "GZIP"})
    tap.response(flow)

    assert passed == pieces
    (trip,) = kept
    assert trip.response is not None
    assert (trip.response.body, trip.response.encoding) == (b"data: one\n\n" * 50, "gzip")
    assert sum(chunk.size for chunk in trip.response.chunks) == len(trip.response.body)
    assert (trip.request.body, trip.request.encoding) == (b'{"a":1}', "gzip")


def test_what_does_not_decode_is_kept_as_it_came_with_the_fault() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    body = gzip.compress(b"x" * 999, mtime=0)
    pieces = [body[:10], b"\x00 no gzip \xff", b"any more"]
    flow = begun(tap)

    passed = answering(tap, flow, pieces, **{"content-encoding": "gzip"})
    tap.response(flow)

    assert passed == pieces
    (trip,) = kept
    assert trip.response is not None
    assert (trip.response.body, trip.response.encoding) == (b"".join(pieces), None)
    assert [chunk.size for chunk in trip.response.chunks] == [len(piece) for piece in pieces]
    assert "does not decode as gzip" in trip.faults[0]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("[Errno -2] Name or service not known", "dns"),
        ("[Errno 8] nodename nor servname provided, or not known", "dns"),
        ("[Errno 111] Connect call failed ('127.0.0.1', 9)", "refused"),
        ("Multiple exceptions: [Errno 111] Connect call failed", "refused"),
        ("[Errno 113] No route to host", "refused"),
        ("Certificate verify failed: self-signed certificate", "tls"),
        ("The remote server does not speak TLS.", "tls"),
        ("connection timed out", "timeout"),
        ("server closed connection", None),
    ],
)
def test_why_the_upstream_was_not_reached(message: str, kind: str | None) -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = begun(tap)

    failing(tap, flow, message)

    assert unreached(message) == kind
    (trip,) = kept
    assert trip.failure is not None and trip.response is None
    # An upstream that was reached and closed has cut the answer.
    assert (trip.failure.kind, trip.failure.message) == (kind or "cut", message)
    assert trip.closed_first == (None if kind else "server")
    assert not flow.killable  # the client's connection is closed, as it would have been


def test_a_stream_that_the_server_cut_keeps_what_came() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = begun(tap)
    answering(tap, flow, [b"data: 1\n\n", b"data: "])

    failing(tap, flow, "peer closed connection without sending complete message body")

    (trip,) = kept
    assert trip.response is not None and trip.failure is not None
    assert (trip.response.body, trip.failure.kind, trip.closed_first) == (b"data: 1\n\ndata: ", "cut", "server")


@pytest.mark.parametrize(("pieces", "kind"), [([b"data: 1\n\n"], "client_gone"), ([b"data: 1\n\n", END], None)])
def test_a_client_that_hangs_up_after_the_end_has_a_whole_answer(pieces: list[bytes], kind: str | None) -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = begun(tap)
    answering(tap, flow, pieces)

    failing(tap, flow, "Client disconnected.")

    (trip,) = kept
    assert (trip.failure.kind if trip.failure else None, trip.closed_first) == (kind, "client")


def test_what_still_runs_at_the_end_is_kept_as_it_stands() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    running, waiting = begun(tap), begun(tap)
    answering(tap, running, [b"data: 1\n\n"])

    tap.abandon()

    assert [(trip.response and trip.response.body, trip.failure and trip.failure.kind) for trip in kept] == [
        (b"data: 1\n\n", "internal"),
        (None, "internal"),
    ]
    assert tap.takes == {} and waiting.id != running.id


def test_a_fault_of_ours_is_stored_and_the_hook_returns(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = begun(tap)

    def fail(*_: object) -> None:
        raise RuntimeError("ours")

    with monkeypatch.context() as patch:
        patch.setattr("turntape.proxy.engine.recorder_addon.decoder", fail)
        flow.response = http.Response.make(200, b"", {"content-type": "application/json"})
        tap.responseheaders(flow)
    tap.response(flow)

    (trip,) = kept
    assert trip.faults == ("responseheaders: RuntimeError('ours')",)


def test_a_writer_that_fails_never_reaches_the_traffic() -> None:
    def fail(_: RoundTrip) -> None:
        raise OSError("the disk is gone")

    tap = Tap(fail)
    flow = begun(tap)
    answering(tap, flow, [END])

    tap.response(flow)

    assert tap.takes == {}


def test_websocket_messages_are_kept_by_sender() -> None:
    kept: list[RoundTrip] = []
    tap = Tap(kept.append)
    flow = tflow.twebsocketflow()
    flow.request.url = URL
    tap.begin(flow, Take(URL, 0.0, time.monotonic_ns(), None, "forward", "openai"))
    assert flow.websocket is not None
    messages = list(flow.websocket.messages)
    tap.responseheaders(flow)
    for number in range(1, len(messages) + 1):
        flow.websocket.messages = messages[:number]
        tap.websocket_message(flow)
    tap.response(flow)
    assert kept == []
    flow.websocket.closed_by_client = True

    tap.websocket_end(flow)

    (trip,) = kept
    assert [(f.sender, f.data, f.text) for f in trip.frames] == [
        ("client" if m.from_client else "server", m.content, m.is_text) for m in messages
    ]
    assert (trip.closed_first, trip.failure) == ("client", None)
    assert trip.response is not None and trip.response.chunks == tuple[Chunk]()
