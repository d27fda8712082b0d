"""The viewer on large runs: time to its first screen beyond an empty Textual app, time to move a turn, memory.

Bars (docs of the design, section 6): a first screen under 0.5 s after Textual is up, moving a turn under 50 ms, at
most 300 MB resident; on the 300-turn run (118 MB of request bodies) and on a cassette of 5,000 turns. Every
measurement is a process of its own in a real pseudo-terminal of 120 by 40.
"""

import fcntl
import json
import os
import pty
import resource
import select
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

MOVES = 80
SIZE = (40, 120)


def record(path: Path, runs: int) -> float:
    """The 300-turn run, or with several runs 5,000 turns of a hundred agents. Gives the MB of request bodies."""
    from _runs import coding_run

    from turntape.cassettes import Recorder

    total = index = 0
    with Recorder(path, durable=False) as recorder:
        for number in range(runs):
            trips = coding_run() if runs == 1 else coding_run(5000 // runs, 600, 6000, seed=number)
            for trip in trips:
                run = f"run-{number}" if runs > 1 else None
                recorder.write(replace(trip, index=index, run=run, started_at=trip.started_at + 300 * number))
                total, index = total + len(trip.request.body), index + 1
                while recorder._queue:  # pyright: ignore[reportPrivateUsage]
                    time.sleep(0.0005)
    return total / 1e6


def empty(report: Path) -> None:
    """An app with nothing in it."""
    from textual.app import App

    class Empty(App[None]):
        def on_mount(self) -> None:
            self.call_after_refresh(self.done)

        def done(self) -> None:
            report.write_text(json.dumps({"first": time.time()}))
            self.exit()

    Empty().run()


def view(path: Path, report: Path) -> None:
    """The viewer: when its first turn was on the screen, when the file was read, what moving takes."""
    from turntape.inspector.run import Run
    from turntape.inspector.tui.app import Viewer

    told: dict[str, Any] = {"moves": [], "loading": []}

    class Timed(Viewer):
        since = 0.0
        waiting = ""

        def on_viewer_made(self, message: Viewer.Made) -> None:
            super().on_viewer_made(message)
            self.call_after_refresh(self.painted)

        def painted(self) -> None:
            now = time.time()
            told.setdefault("first", now)
            if self.waiting and self._page.page.name == "turn":
                told[self.waiting].append((now - self.since) * 1000)
                self.waiting = ""

        def on_viewer_ended(self, message: Viewer.Ended) -> None:
            super().on_viewer_ended(message)
            told["read"] = time.time()
            self.run_worker(self.walk())

        async def walk(self) -> None:
            import asyncio

            count = len(self.run_.rows.all)
            steps = [1] * (MOVES // 2) + [count // 7, -1] * (MOVES // 4)
            for by in steps:
                place = ((self.place or 0) + by) % count
                self.since, self.waiting = time.time(), "moves"
                self.select(place)
                while self.waiting:
                    await asyncio.sleep(0.001)
            told["rows"] = count
            told["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            report.write_text(json.dumps(told))
            self.exit()

    Timed(Run(path, priced=False)).run()


def child(*arguments: str) -> dict[str, Any]:
    """Runs this file in a terminal of its own; the report, with the time at which the process was started."""
    with tempfile.NamedTemporaryFile() as report:
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *SIZE, 0, 0))
        begun = time.time()
        process = subprocess.Popen(
            [sys.executable, __file__, *arguments, report.name],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            start_new_session=True,
        )
        os.close(slave)
        shown = b""
        while process.poll() is None:
            if select.select([master], [], [], 0.05)[0]:
                try:
                    shown = (shown + os.read(master, 1 << 16))[-4000:]
                except OSError:
                    break
        process.wait()
        os.close(master)
        text = Path(report.name).read_text()
        if not text:
            raise SystemExit(f"bench: the viewer ended without a report: {shown[-1500:].decode('utf-8', 'replace')}")
        return {**json.loads(text), "begun": begun}


def main() -> int:
    missed = 0

    def line(what: str, value: float, bar: float, unit: str) -> None:
        nonlocal missed
        missed += value > bar
        print(f"{what:<52} {value:8.2f} {unit:<3} (bar {bar:g})  {'ok' if value <= bar else 'MISSED'}")

    with tempfile.TemporaryDirectory() as folder:
        child("empty")  # the first start compiles
        base = statistics.median(told["first"] - told["begun"] for told in (child("empty") for _ in range(5)))
        print(f"an empty Textual app is up after {base:.2f} s")
        for runs in (1, 100):
            path = Path(folder) / f"{runs}.cassette.jsonl"
            size = record(path, runs)
            reports = [child("view", str(path)) for _ in range(3)]
            rows = reports[0]["rows"]
            print(f"{rows:,} turns, {size:.0f} MB of request bodies")
            first = statistics.median(told["first"] - told["begun"] for told in reports)
            moves = sorted(move for told in reports for move in told["moves"])
            line("  first screen, beyond the empty app", first - base, 0.5, "s")
            line("  moving a turn, median", statistics.median(moves), 50, "ms")
            line("  moving a turn, 95 of 100", moves[int(len(moves) * 0.95)], 50, "ms")
            line("  resident at its most", max(told["peak"] for told in reports), 300, "MB")
            read = statistics.median(told["read"] - told["begun"] for told in reports)
            print(f"    all of it was read {read - base:.1f} s after that, moving about meanwhile")
    return missed


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["empty", report]:
            empty(Path(report))
        case ["view", path, report]:
            view(Path(path), Path(report))
        case _:
            sys.exit(1 if main() else 0)
