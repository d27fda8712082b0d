"""The paths below which we are an endpoint for OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp)."""

import re
from urllib.parse import unquote

UPSTREAM = "otlp"
"""The name of the collector in the route table."""
_PATH = re.compile(r"^(?:/s/(?P<run>[^/]+))?/otlp(?:/[^?]*)?/v1/(?P<signal>traces|metrics|logs)(?:\?.*)?$")


def signal_in(path: str) -> str | None:
    """`traces`, `metrics` or `logs` when the path is one of ours for OTLP."""
    match = _PATH.match(path)
    return match["signal"] if match else None


def run_in(path: str) -> str | None:
    """The run that the path names, if it names one."""
    match = _PATH.match(path)
    return unquote(match["run"]) if match and match["run"] else None
