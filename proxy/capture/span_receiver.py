"""Receives the OpenTelemetry spans of an agent, so that its tools in process are on the tape too.

An exporter of OTLP over HTTP sends `POST /v1/traces`, `/v1/metrics` and `/v1/logs` below its endpoint
(https://opentelemetry.io/docs/specs/otlp/#otlphttp, read 2026-11-22). Below `/otlp` we are that endpoint. Traces are
recorded. When the user has a collector, `otlp` is an upstream and everything is passed on to it; otherwise we answer.
"""

# mitmproxy's headers are only partly typed.
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false

import re
from urllib.parse import unquote

from mitmproxy import http

UPSTREAM = "otlp"
"""The name of the collector in the route table."""
_PATH = re.compile(r"^(?:/s/(?P<run>[^/]+))?/otlp(?:/[^?]*)?/v1/(?P<signal>traces|metrics|logs)(?:\?.*)?$")
_ACCEPT = "turntape-spans"
"""The key in a flow's metadata of a request that we answer."""


def signal_in(path: str) -> str | None:
    """`traces`, `metrics` or `logs` when the path is one of ours for OTLP."""
    match = _PATH.match(path)
    return match["signal"] if match else None


def run_in(path: str) -> str | None:
    """The run that the path names, if it names one."""
    match = _PATH.match(path)
    return unquote(match["run"]) if match and match["run"] else None


def accept(flow: http.HTTPFlow) -> None:
    """Let the receiver answer this request when it is whole."""
    flow.metadata[_ACCEPT] = True


class SpanReceiver:
    """Answers what was accepted, as a collector that took everything: an empty message in the form of the request."""

    def request(self, flow: http.HTTPFlow) -> None:
        if flow.metadata.pop(_ACCEPT, False) and flow.response is None:
            form = flow.request.headers.get("content-type", "application/x-protobuf")
            body = b"{}" if form.startswith("application/json") else b""
            flow.response = http.Response.make(200, body, {"content-type": form})
