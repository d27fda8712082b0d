"""One long thread, of 250 turns and up: what twice the turns take of processor time in `show --json`.

Each request sends the whole history, so the bytes of a thread grow with the square of its turns. What is read and
judged must not: each doubling takes at most `BAR` times as long. Every measurement is a separate process.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TURNS = (250, 500, 1000, 2000)
BAR = 2.5


def record(path: Path, turns: int) -> None:
    """Write a thread whose turns each bring about 600 bytes."""
    from _runs import coding_run

    from turntape.cassettes import Recorder

    with Recorder(path, durable=False) as recorder:
        for trip in coding_run(turns, result_bytes=300, system_bytes=9_000):
            recorder.write(trip)
            # As in life, the next turn comes after this one is on the disk.
            while recorder._queue:
                time.sleep(0.002)


def show(path: Path) -> None:
    """Label the thread, and report the processor's time for it."""
    from turntape.cassettes import Cassette
    from turntape.inspector.views.json.show_json import show_json

    lines = sum(1 for _ in show_json(Cassette.load(path)))
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({"lines": lines, "seconds": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}))


def child(*arguments: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout or "{}")


def main() -> int:
    missed, before = 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for turns in TURNS:
            path = Path(folder) / f"{turns}.cassette.jsonl"
            child("record", str(path), str(turns))
            measured = child("show", str(path))
            seconds = measured["seconds"]
            said = f"{turns:>6,} turns: {seconds:6.2f} s of the processor's time, {measured['peak']:.0f} MB resident"
            if before:
                missed += seconds / before > BAR
                said += f"; {seconds / before:.2f} x (bar {BAR:g})  {'ok' if seconds / before <= BAR else 'MISSED'}"
            print(said, flush=True)
            before = seconds
    return missed


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", path, turns]:
            record(Path(path), int(turns))
        case ["show", path]:
            show(Path(path))
        case _:
            sys.exit(1 if main() else 0)
