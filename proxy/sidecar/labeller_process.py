"""The process that reads along: it tails the cassette, labels each round trip, and tells what it made of it.

    python -m turntape.proxy.sidecar.labeller_process FILE [--console] [--colour] [--progress]

Reading, pricing and printing cost more than recording does, so they happen beside the proxy and never in it.
The file is the only input: whatever goes wrong here, the recording is whole. On stdout goes one line a label
(`INDEX JSON`), which the proxy appends to the file without looking inside; for a run with limits `progress JSON`
after each look that found something; and at the end `summary JSON`, or `error JSON`. On stderr go the console's
lines, when asked for. On stdin comes, at the end, how many round trips there are: that many are read, and the
process ends; the end of stdin without a number says that the proxy has died.
"""

import argparse
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from ..launch.child_process import unblock
from ..limits.limits import MARK, Tally
from .summary import Totals

PAUSE = 0.1
"""Seconds between two looks at the file."""
SHORT_PAUSE = 0.02
"""The same when turns wait for what we say."""
LAST_LOOKS = 20
"""Looks without anything new after which the rest of the round trips is not waited for any more."""
IGNORED = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTSTP)
"""Meant for the command in the terminal; we end with the proxy."""


def main(argv: Sequence[str]) -> int:
    for number in IGNORED:
        signal.signal(number, signal.SIG_IGN)
    unblock()
    with suppress(OSError):
        os.nice(10)
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--console", action="store_true")
    parser.add_argument("--colour", action="store_true")
    parser.add_argument("--progress", action="store_true")
    options = parser.parse_args(argv)
    try:
        _read_along(options.file, options.console, options.colour, Tally() if options.progress else None)
    except BrokenPipeError:
        return 1  # the proxy is gone: so are we
    except Exception as exc:  # noqa: BLE001 - told by the proxy in one sentence, and the recording goes on
        _send("error", {"message": f"{type(exc).__name__}: {exc}"})
        sys.stdout.flush()
        return 1
    return 0


def _read_along(file: str, console: bool, colour: bool, tally: Tally | None) -> None:
    # What costs time to import is imported while the command starts.
    from turntape.cassettes.tape.reader import Tail
    from turntape.inspector.run.labels import Labeller

    tail = Tail(file)
    labeller = Labeller()
    totals = Totals()
    told: set[int] = set()
    refused: set[int] = set()
    pause = SHORT_PAUSE if tally else PAUSE

    def tell(labels: Iterable[tuple[int, dict[str, object]]]) -> None:
        for index, label in labels:
            _send(f"{index}", label)
            totals.add(index, label)
            if tally and index not in refused:
                tally.add(index, label)
            if console and index not in told:
                told.add(index)
                _print(label, totals, colour)

    read, expected, looks = 0, None, 0
    while expected is None or (read < expected and looks < LAST_LOOKS):
        # True once the proxy has said how many round trips there are, or is gone.
        if select.select([sys.stdin], [], [], pause)[0] and expected is None:
            expected = int(sys.stdin.readline() or read + 1)
        found = tail.poll()
        for round_trip in found:
            if MARK in round_trip.extra and not round_trip.frames:
                refused.add(round_trip.index)  # it is no turn that was made
            try:
                tell(labeller.add(round_trip))
            except Exception as exc:  # noqa: BLE001 - what cannot be read must not cost the labels of the rest
                totals.fault(f"round trip {round_trip.index} could not be labelled: {type(exc).__name__}: {exc}")
        read += len(found)
        if tally and found:
            _send("progress", tally.report(read))
        sys.stdout.flush()
        if expected is not None:
            looks = 0 if found else looks + 1
            if not found:
                time.sleep(PAUSE)
    tell(labeller.close())
    _send("summary", totals.as_json())
    sys.stdout.flush()


def _send(head: str, value: dict[str, object]) -> None:
    import orjson

    sys.stdout.buffer.write(b"%s %s\n" % (head.encode(), orjson.dumps(value)))


def _print(label: dict[str, object], totals: Totals, colour: bool) -> None:
    from turntape.inspector.views.text.run_text import console_line

    with suppress(OSError):
        sys.stderr.write(console_line(label, totals, colour) + "\n")
        sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
