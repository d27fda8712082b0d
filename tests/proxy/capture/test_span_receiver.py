"""OTLP on our own port: which paths are ours, what is answered, and what a collector gets."""

import pytest
from mitmproxy import http
from mitmproxy.test import tflow

from turntape.cassettes import RoundTrip
from turntape.proxy.capture.recorder_addon import RecorderAddon
from turntape.proxy.capture.routing import Router
from turntape.proxy.capture.span_paths import run_in, signal_in
from turntape.proxy.capture.span_receiver import SpanReceiver

PORT = 8484


def sent(path: str, kind: str = "application/x-protobuf", **upstreams: str) -> tuple[http.HTTPFlow, RecorderAddon]:
    """A request to our port, after its head and then the whole of it have arrived."""
    written: list[RoundTrip] = []
    recorder = RecorderAddon(written.append)
    router = Router(recorder, upstreams=upstreams, intercept=(), upstream_proxy=None, clock=lambda: 1000.0)
    router.port = PORT
    flow = tflow.tflow(req=http.Request.make("POST", f"http://127.0.0.1:{PORT}{path}", b"x", {"content-type": kind}))
    router.requestheaders(flow)
    SpanReceiver().request(flow)
    return flow, recorder


@pytest.mark.parametrize(
    ("path", "signal", "run"),
    [
        ("/otlp/v1/traces", "traces", None),
        ("/s/nightly%201/otlp/v1/traces", "traces", "nightly 1"),
        ("/otlp/api/public/otel/v1/traces?x=1", "traces", None),
        ("/otlp/v1/metrics", "metrics", None),
        ("/otlp/v1/logs", "logs", None),
        ("/otlp/v1/traces/x", None, None),
        ("/openai/v1/traces", None, None),
        ("/v1/traces", None, None),
    ],
)
def test_paths_of_otlp(path: str, signal: str | None, run: str | None) -> None:
    assert (signal_in(path), run_in(path)) == (signal, run)


@pytest.mark.parametrize(("kind", "body"), [("application/x-protobuf", b""), ("application/json", b"{}")])
def test_traces_are_recorded_and_answered_in_the_form_of_the_request(kind: str, body: bytes) -> None:
    flow, recorder = sent("/s/r1/otlp/v1/traces", kind)
    assert flow.response is not None
    assert (flow.response.status_code, flow.response.content) == (200, body)
    assert flow.response.headers["content-type"] == kind
    pending = recorder.pending[flow.id]
    assert (pending.url, pending.run) == (f"http://127.0.0.1:{PORT}/otlp/v1/traces", "r1")


@pytest.mark.parametrize("signal", ["metrics", "logs"])
def test_other_signals_are_answered_and_not_recorded(signal: str) -> None:
    flow, recorder = sent(f"/otlp/v1/{signal}")
    assert flow.response is not None and flow.response.status_code == 200
    assert not recorder.pending


@pytest.mark.parametrize(("signal", "recorded"), [("traces", True), ("metrics", False)])
def test_a_collector_of_the_user_gets_everything(signal: str, recorded: bool) -> None:
    flow, recorder = sent(f"/otlp/v1/{signal}", otlp="http://collector.example:4318/base")
    assert flow.response is None
    assert flow.request.url == f"http://collector.example:4318/base/v1/{signal}"
    assert (flow.id in recorder.pending) == recorded


def test_other_requests_are_not_answered() -> None:
    flow, recorder = sent("/openai/v1/chat/completions")
    assert flow.response is None and flow.id in recorder.pending
