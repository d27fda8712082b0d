"""The environment that makes a child process send its OpenTelemetry spans through the proxy (`--spans`).

The variables are those of https://opentelemetry.io/docs/specs/otel/protocol/exporter/ (read 2026-11-22). A collector
that the user's environment names still gets everything.
"""

from collections.abc import Mapping

from ..capture.span_paths import UPSTREAM
from ..capture.upstream_proxy import is_ours
from .environment import base_url, origin

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_PROTOCOL = "OTEL_EXPORTER_OTLP_PROTOCOL"
_FOR_TRACES = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"


def span_variables(environ: Mapping[str, str], port: int, token: str | None = None) -> dict[str, str]:
    """The changes to `environ`. The exporter of traces is turned on, and uses OTLP over HTTP."""
    root = f"{base_url(port, token=token)}/{UPSTREAM}"
    variables = {"OTEL_TRACES_EXPORTER": "otlp", _PROTOCOL: "http/protobuf"}
    for name in (_ENDPOINT, _FOR_TRACES):
        value = _named(environ, name, port)
        if value:
            variables[name] = root + origin(value)[1]
    return {_ENDPOINT: root} | variables


def collector(environ: Mapping[str, str], port: int) -> dict[str, str]:
    """The upstream that the user's own collector is; empty when the environment names none."""
    value = _named(environ, _FOR_TRACES, port) or _named(environ, _ENDPOINT, port)
    return {UPSTREAM: origin(value)[0]} if value else {}


def _named(environ: Mapping[str, str], name: str, port: int) -> str:
    value = environ.get(name, "").strip()
    return "" if is_ours(value, port) else value
