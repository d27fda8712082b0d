"""Receives the OpenTelemetry spans of an agent, so that its tools in process are on the tape too.

An exporter of OTLP over HTTP sends `POST /v1/traces`, `/v1/metrics` and `/v1/logs` below its endpoint
(https://opentelemetry.io/docs/specs/otlp/#otlphttp, read 2026-11-22). Below `/otlp` we are that endpoint. Traces are
recorded. When the user has a collector, `otlp` is an upstream and everything is passed on to it; otherwise we answer.
"""

# mitmproxy's headers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

from mitmproxy import http

from .pending import NEEDS_WHOLE

_ACCEPT = "turntape-spans"
"""The key in a flow's metadata of a request that we answer."""


def accept(flow: http.HTTPFlow) -> None:
    """Let the receiver answer this request when it is whole."""
    flow.metadata[_ACCEPT] = flow.metadata[NEEDS_WHOLE] = True


class SpanReceiver:
    """Answers what was accepted, as a collector that took everything: an empty message in the form of the request."""

    def request(self, flow: http.HTTPFlow) -> None:
        if flow.metadata.pop(_ACCEPT, False) and flow.response is None:
            form = flow.request.headers.get("content-type", "application/x-protobuf")
            body = b"{}" if form.startswith("application/json") else b""
            flow.response = http.Response.make(200, body, {"content-type": form})
