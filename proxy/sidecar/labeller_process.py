"""The labeller process: follows the cassette while it is written and labels each round trip.

    python -m turntape.proxy.sidecar.labeller_process FILE [--console] [--colour] [--progress] [--otlp URL]
        [--parent PID]

Reading, pricing, printing and sending spans cost more than recording, so they run in a process beside the proxy. The
file is the only input: whatever fails here, the recording is complete. It ends when nobody reads its labels any more,
and at once when the process PID, which has started it, is gone.

On stdout, one line each:
- `INDEX JSON`: a label. The proxy appends it to the file without parsing it.
- `progress JSON`: with `--progress`, a `ProgressReport` after each group of labels.
- `alive {}`: a sign of life, every second.
- `counts JSON`: the sums so far, for the proxy's metrics, when they have changed.
- `carry JSON`, then `carried JSON`: what the next segment carries, one line of a cassette each, and the end of them.
- `segment {}`: the file is labelled; labels from here on are of the next segment.
- `summary JSON`: the totals, at the end; or `error JSON` instead.

On stderr, with `--console`, one line for each round trip. On stdin, the orders of `orders.py`.
"""

import argparse
import os
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from turntape.cassettes.json_levels import follow_all_levels
from turntape.cassettes.orphan import end_with
from turntape.cassettes.processes import lower_priority
from turntape.inspector.analysis.known_prices import keeping_prices

from ..limits.limits import MARK
from ..limits.progress import ProgressCounter
from ..signals import existing, unblock
from .heartbeat import Heartbeat
from .orders import Order, Orders
from .output import discard, flush, send, send_json
from .run_totals import RunTotals, as_list, as_mapping

if TYPE_CHECKING:
    from turntape.cassettes.tape.model import RoundTrip
    from turntape.inspector.run.labelled import LabelledRoundTrip

    from .segment import Segment
    from .span_export import SpanExport

PAUSE = 0.1
"""Seconds between two reads of the file."""
SHORT_PAUSE = 0.02
"""The same for a run with limits: turns wait for our labels."""
COUNTS_EVERY = 0.5
"""Seconds between two reports of the sums."""
IGNORED = existing("SIGINT", "SIGQUIT", "SIGHUP", "SIGTSTP")
"""Signals from the terminal are for the command; this process ends with the proxy."""


def main(argv: Sequence[str]) -> int:
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    unblock()
    follow_all_levels()
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--console", action="store_true")
    parser.add_argument("--colour", action="store_true")
    parser.add_argument("--progress", action="store_true")
    parser.add_argument("--otlp")
    parser.add_argument("--otlp-content", action="store_true")
    parser.add_argument("--flush", type=float, default=5.0)
    parser.add_argument("--parent", type=int)
    options = parser.parse_args(argv)
    if options.parent is not None:
        end_with(options.parent)
    if not options.progress:  # turns wait for the labels of a run with limits
        lower_priority()
    heartbeat = Heartbeat(lambda: send("alive", {}, now=True))
    heartbeat.start()
    try:
        spans = _span_export(options) if options.otlp else None
        with keeping_prices():
            LabelLoop(options.console, options.colour, options.progress, heartbeat, spans).run(options.file)
    except BrokenPipeError:
        discard()
        return 1  # the proxy has ended, so this process ends too
    except Exception as exc:  # noqa: BLE001 - the proxy reports it in one sentence, and the recording continues
        with suppress(BrokenPipeError):
            send("error", {"message": f"{type(exc).__name__}: {exc}"}, now=True)
        return 1
    return 0


def _span_export(options: argparse.Namespace) -> "SpanExport":
    from .span_export import SpanExport

    return SpanExport(options.otlp, os.environ, content=options.otlp_content, flush=options.flush)


class LabelLoop:
    """Labels what is added to a cassette, and to the segments after it, until the recording is over."""

    def __init__(
        self, console: bool, colour: bool, progress: bool, heartbeat: Heartbeat, spans: "SpanExport | None" = None
    ) -> None:
        self._console = console
        self._colour = colour
        self._counter = ProgressCounter() if progress else None
        self._heartbeat = heartbeat
        self._spans = spans
        self._orders = Orders()
        self._totals = RunTotals()
        self._printed: set[int] = set()
        self._printed_runs: set[tuple[object, ...]] = set()
        self._answered_by_us: set[int] = set()
        """Round trips that turntape answered at a limit: they are not turns of the run."""
        self._counts: dict[str, object] = {}
        self._counted_at = 0.0

    def run(self, file: str) -> None:
        # Imported here: it takes time, and the signs of life have begun.
        from .segment import Segment

        segment = Segment(file)
        while True:
            self._follow(segment)
            self._labels(segment, segment.finish())
            if self._spans:
                self._spans.finish(segment.open_threads)
            if segment.following is None:
                break
            send("segment", {}, now=True)
            self._totals.next_segment()
            for known in (self._printed, self._printed_runs, self._answered_by_us):
                known.clear()
            segment = Segment(segment.following, segment.recording)
        sent = self._spans.close() if self._spans else None
        send("summary", {**self._totals.as_json(), "spans": sent}, now=True)

    def _follow(self, segment: "Segment") -> None:
        """Label a file until it is over."""
        pause = SHORT_PAUSE if self._counter else PAUSE
        while not segment.over:
            for order in self._orders.take(0 if segment.expected is not None else pause):
                self._obey(order, segment)
            found = False
            for trip in segment.poll():
                found = True
                self._label(segment, trip)
            if self._counter and found:
                send("progress", self._counter.report(segment.read))
            if segment.carry_at is not None and segment.read >= segment.carry_at and not segment.carry_sent:
                for line in segment.carry():
                    send_json("carry", line)
                send("carried", {"threads": segment.labeller.threads})
            self._report()
            flush()
            if segment.expected is not None and not found and not segment.over:
                time.sleep(PAUSE)

    def _obey(self, order: Order, segment: "Segment") -> None:
        match order.kind:
            case "carry":
                segment.carry_at = order.count
            case "next":
                segment.expected, segment.following = order.count, order.path
            case "end":
                segment.expected = order.count
            case "died":
                segment.expected = segment.read + 1

    def _label(self, segment: "Segment", trip: "RoundTrip") -> None:
        if MARK in trip.extra and not trip.frames:
            self._answered_by_us.add(trip.index)
        try:
            self._labels(segment, segment.labeller.follow(trip))
        except BrokenPipeError:
            raise  # nobody reads the labels any more: the rest needs none
        except Exception as exc:  # noqa: BLE001 - one unreadable round trip must not cost the labels of the rest
            reason = f"{type(exc).__name__}: {exc}"
            self._totals.fault(f"round trip {trip.index} could not be labelled: {reason}")
        self._heartbeat.progress()

    def _labels(self, segment: "Segment", labels: "Iterable[tuple[int, LabelledRoundTrip]]") -> None:
        for index, one in labels:
            label = one.label
            send(f"{index}", label)
            self._totals.add(index, label)
            if self._spans and (recording := segment.recording):
                self._spans.add(recording, one)
            if self._counter and index not in self._answered_by_us:
                self._counter.add(index, label)
            if self._console and index not in self._printed and label.get("kind") != "tools":
                self._printed.add(index)
                self._print(label)
            if self._console:
                self._print_tool_runs(label)

    def _report(self) -> None:
        """Send the sums to the proxy, when they have changed."""
        if time.monotonic() - self._counted_at < COUNTS_EVERY or not self._totals.numbers:
            return
        self._counted_at = time.monotonic()
        cost = self._totals.cost
        counts: dict[str, object] = {**self._totals.numbers, "cost_usd": None if cost is None else float(cost)}
        if self._spans:
            counts["spans"] = self._spans.counts()
        if counts != self._counts:
            self._counts = counts
            send("counts", counts)

    def _print(self, label: dict[str, object]) -> None:
        from turntape.inspector.views.text.console_text import console_line

        with suppress(OSError):
            sys.stderr.write(console_line(label, self._totals.cost_of(label.get("run")), self._colour) + "\n")
            sys.stderr.flush()

    def _print_tool_runs(self, label: dict[str, object]) -> None:
        """One line for each tool run, once: it is in the label of its own message, and later in that of its turn."""
        for run in map(as_mapping, as_list(label.get("tool_runs"))):
            key = (run.get("source"), run.get("index"), run.get("name"), run.get("duration_ms"))
            if key not in self._printed_runs:
                self._printed_runs.add(key)
                from turntape.inspector.views.text.tool_text import console_tool_line

                with suppress(OSError):
                    sys.stderr.write(console_tool_line(run, self._colour) + "\n")
                    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
