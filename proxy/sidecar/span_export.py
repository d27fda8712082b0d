"""Spans of what the labeller process labels, on their way to a collector (`--otlp`)."""

from collections.abc import Collection, Mapping

from turntape.inspector.otlp.collector import collector_at
from turntape.inspector.otlp.live_spans import LiveSpans
from turntape.inspector.otlp.sender import Sender
from turntape.inspector.run.labelled import LabelledRoundTrip


class SpanExport:
    """`add` labels; `finish` at the end of a segment, `close` at the end of the recording."""

    def __init__(self, url: str, environ: Mapping[str, str], *, content: bool, flush: float) -> None:
        self._sender = Sender(collector_at(url, environ))
        self._content = content
        self._flush = flush
        self._spans: LiveSpans | None = None

    def add(self, recording: str, one: LabelledRoundTrip) -> None:
        """Send the spans that a label completes; `recording` is the id of the first segment's recording."""
        if self._spans is None:
            self._spans = LiveSpans(recording, content=self._content)
        self._sender.put(self._spans.add(one))

    def finish(self, open_threads: Collection[str]) -> None:
        """Send the spans that the end of a segment completes."""
        if self._spans is not None:
            self._sender.put(self._spans.finish(open_threads))

    def counts(self) -> dict[str, object]:
        """What happened to the spans so far."""
        return self._sender.counts.as_json()

    def close(self) -> dict[str, object]:
        """Send what is left, as long as it may take, and return what happened to all of them."""
        return self._sender.close(self._flush).as_json()
