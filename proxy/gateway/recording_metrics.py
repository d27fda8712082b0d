"""The metrics of one recording: what the proxy counts, and what the labeller process found."""

import time
from collections.abc import Mapping
from importlib.metadata import version

from turntape.cassettes.frozen import frozen

from ..sidecar.run_totals import SEVERITIES, TOKENS, as_mapping
from .metrics import Metric, by, one, text


@frozen
class Counted:
    """What the proxy counts itself."""

    ready: bool
    started_at: float
    """Seconds since the epoch."""
    recorded: int
    lost: int
    """Round trips that are missing from the files."""
    running: int
    streams: int
    """Of the running ones, those whose answer comes as a stream."""
    waiting_bytes: int
    """What is not yet on the disk."""
    segments: int = 1
    segment_bytes: int = 0
    shipped: Mapping[str, int] | None = None
    """What happened to closed files; None without `--ship`."""


def page(counted: Counted, labels: Mapping[str, object]) -> bytes:
    """The page of metrics. `labels` are the sums of the labeller process."""
    return text(metrics(counted, labels))


def metrics(counted: Counted, labels: Mapping[str, object]) -> list[Metric]:
    """All metrics, in their order on the page."""
    spans = as_mapping(labels.get("spans"))
    found = [
        by("turntape_build_info", "gauge", "The version.", "version", {version("turntape"): 1}),
        one("turntape_ready", "gauge", "1 while new clients may come, 0 while draining.", int(counted.ready)),
        one("turntape_start_time_seconds", "gauge", "When the recording began.", counted.started_at),
        one("turntape_uptime_seconds", "gauge", "How long it runs.", max(0.0, time.time() - counted.started_at)),
        one("turntape_round_trips_total", "counter", "Round trips that were recorded.", counted.recorded),
        one("turntape_lost_total", "counter", "Round trips that are missing from the recording.", counted.lost),
        one("turntape_running", "gauge", "Round trips that are running.", counted.running),
        one("turntape_streams", "gauge", "Streams that are running.", counted.streams),
        one("turntape_waiting_bytes", "gauge", "Bytes that are not yet on the disk.", counted.waiting_bytes),
        one("turntape_segments_total", "counter", "Files that were begun.", counted.segments),
        one("turntape_segment_bytes", "gauge", "The size of the current file.", counted.segment_bytes),
        one("turntape_labelled_total", "counter", "Round trips that were labelled.", labels.get("round_trips")),
        one("turntape_turns_total", "counter", "Turns.", labels.get("turns")),
        one("turntape_failed_total", "counter", "Round trips that the API failed.", labels.get("failed")),
        one("turntape_tool_calls_total", "counter", "Tool calls of models.", labels.get("tool_calls")),
        one("turntape_tool_runs_total", "counter", "Tool runs that are on the tape.", labels.get("tool_runs")),
        by(
            "turntape_tokens_total",
            "counter",
            "Tokens as the APIs count them; input has the cached ones, output the reasoning.",
            "kind",
            {name: labels.get(name) for name in TOKENS},
        ),
        one("turntape_cost_usd_total", "counter", "What the requests with a known price cost.", labels.get("cost_usd")),
        one("turntape_unpriced_total", "counter", "Requests without a known price.", labels.get("unpriced")),
        by(
            "turntape_findings",
            "gauge",
            "Findings; one may disappear when a later turn explains it.",
            "severity",
            {name: labels.get(f"findings.{name}") for name in SEVERITIES},
        ),
    ]
    if spans:
        found.append(
            by(
                "turntape_spans_total",
                "counter",
                "OpenTelemetry spans by what happened to them.",
                "state",
                {name: spans.get(name) for name in ("sent", "dropped", "refused")},
            )
        )
        found.append(one("turntape_spans_waiting", "gauge", "Spans that wait for the collector.", spans.get("waiting")))
    if counted.shipped is not None:
        states = {name: counted.shipped.get(name, 0) for name in ("shipped", "failed", "dropped")}
        found.append(by("turntape_shipped_files_total", "counter", "Files by what happened to them.", "state", states))
        waiting = counted.shipped
        found.append(one("turntape_spool_files", "gauge", "Files in the spool.", waiting.get("files")))
        found.append(one("turntape_spool_bytes", "gauge", "Their size.", waiting.get("bytes")))
        found.append(one("turntape_spool_age_seconds", "gauge", "How long the oldest waits.", waiting.get("age")))
    return found
