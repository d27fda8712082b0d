"""The labeller process: follows the cassette while it is written and labels each round trip.

    python -m turntape.proxy.sidecar.labeller_process FILE [--console] [--colour] [--progress]

Reading, pricing and printing cost more than recording, so they run in a process beside the proxy. The file is the
only input: whatever fails here, the recording is complete.

On stdout, one line each:
- `INDEX JSON`: a label. The proxy appends it to the file without parsing it.
- `progress JSON`: with `--progress`, a `ProgressReport` after each group of labels.
- `alive {}`: a sign of life, every second.
- `summary JSON`: the totals, at the end; or `error JSON` instead.

On stderr, with `--console`, one line for each round trip. On stdin, at the end of the run, the number of round trips
in the file: the process reads that many and ends. When stdin ends without a number, the proxy has died.
"""

import argparse
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ..limits.limits import MARK
from ..limits.progress import ProgressCounter
from ..signals import unblock
from .heartbeat import Heartbeat
from .run_totals import RunTotals, as_list, as_mapping

PAUSE = 0.1
"""Seconds between two reads of the file."""
SHORT_PAUSE = 0.02
"""The same for a run with limits: turns wait for our labels."""
LAST_LOOKS = 20
"""After the end of the run: how many reads without anything new until missing round trips are given up."""
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP)
"""Signals from the terminal are for the command; this process ends with the proxy."""

_output = threading.Lock()
"""Held while a line is written: signs of life come from their own thread."""


def main(argv: Sequence[str]) -> int:
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    unblock()
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--console", action="store_true")
    parser.add_argument("--colour", action="store_true")
    parser.add_argument("--progress", action="store_true")
    options = parser.parse_args(argv)
    if not options.progress:  # turns wait for the labels of a run with limits
        with suppress(OSError):
            os.nice(10)
    heartbeat = Heartbeat(lambda: _send("alive", {}, flush=True))
    heartbeat.start()
    try:
        LabelLoop(options.console, options.colour, options.progress, heartbeat).run(options.file)
    except BrokenPipeError:
        return 1  # the proxy has ended, so this process ends too
    except Exception as exc:  # noqa: BLE001 - the proxy reports it in one sentence, and the recording continues
        _send("error", {"message": f"{type(exc).__name__}: {exc}"}, flush=True)
        return 1
    return 0


class LabelLoop:
    """Labels what is added to a cassette until the run is over."""

    def __init__(self, console: bool, colour: bool, progress: bool, heartbeat: Heartbeat) -> None:
        self._console = console
        self._colour = colour
        self._counter = ProgressCounter() if progress else None
        self._heartbeat = heartbeat
        self._totals = RunTotals()
        self._printed: set[int] = set()
        self._printed_runs: set[tuple[object, ...]] = set()
        self._answered_by_us: set[int] = set()
        """Round trips that turntape answered at a limit: they are not turns of the run."""

    def run(self, file: str) -> None:
        # Imported here: it takes time, and the signs of life have begun.
        from turntape.cassettes.tape.model import RoundTrip
        from turntape.cassettes.tape.reader import Tail
        from turntape.inspector.run.labels import Labeller

        tail, labeller = Tail(file), Labeller()

        def label(round_trip: RoundTrip) -> None:
            if MARK in round_trip.extra and not round_trip.frames:
                self._answered_by_us.add(round_trip.index)
            try:
                self._labels(labeller.add(round_trip))
            except Exception as exc:  # noqa: BLE001 - one unreadable round trip must not cost the labels of the rest
                reason = f"{type(exc).__name__}: {exc}"
                self._totals.fault(f"round trip {round_trip.index} could not be labelled: {reason}")
            self._heartbeat.progress()

        read, expected, idle_looks = 0, None, 0
        while expected is None or (read < expected and idle_looks < LAST_LOOKS):
            if expected is None:
                expected = self._expected(read)
            found = tail.poll()
            for round_trip in found:
                label(round_trip)
                read = round_trip.index + 1
            if self._counter and found:
                _send("progress", self._counter.report(read))
            _flush()
            if expected is not None:
                idle_looks = 0 if found else idle_looks + 1
                if not found:
                    time.sleep(PAUSE)
        self._labels(labeller.close())
        _send("summary", self._totals.as_json(), flush=True)

    def _expected(self, read: int) -> int | None:
        """How many round trips the run has, once the proxy has sent it; one more read when the proxy has ended."""
        pause = SHORT_PAUSE if self._counter else PAUSE
        if select.select([sys.stdin], [], [], pause)[0]:
            return int(sys.stdin.readline() or read + 1)
        return None

    def _labels(self, labels: Iterable[tuple[int, dict[str, object]]]) -> None:
        for index, label in labels:
            _send(f"{index}", label)
            self._totals.add(index, label)
            if self._counter and index not in self._answered_by_us:
                self._counter.add(index, label)
            if self._console and index not in self._printed and label.get("kind") != "tools":
                self._printed.add(index)
                self._print(label)
            if self._console:
                self._print_tool_runs(label)

    def _print(self, label: dict[str, object]) -> None:
        from turntape.inspector.views.text.console_text import console_line

        with suppress(OSError):
            sys.stderr.write(console_line(label, self._totals, self._colour) + "\n")
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


def _send(head: str, value: Mapping[str, object], *, flush: bool = False) -> None:
    import orjson

    line = b"%s %s\n" % (head.encode(), orjson.dumps(value))
    with _output:
        sys.stdout.buffer.write(line)
    if flush:
        _flush()


def _flush() -> None:
    with _output:
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
