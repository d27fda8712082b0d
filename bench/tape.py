"""The tape under a 300-turn coding agent: size, memory while recording, and the time to read it.

Bars: at most 2.5 MB as .jsonl and 0.3 MB as .jsonl.zst, under 120 MB resident while recording, `show --json` in under
1.5 s.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BARS = {"jsonl": 2.5, "jsonl.zst": 0.3}


def record(path: Path) -> None:
    """Write the run in a separate process, and report its time and memory."""
    from _runs import coding_run

    from turntape.cassettes import Recorder

    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    total = count = 0
    spent = 0.0
    with Recorder(path) as recorder:
        for trip in coding_run():
            total, count = total + len(trip.request.body), count + 1
            begun = time.perf_counter()
            recorder.write(trip)
            spent += time.perf_counter() - begun
            # As in life, the next turn comes after this one is on the disk.
            while recorder.waiting:
                time.sleep(0.002)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"total": total, "count": count, "base": base, "peak": peak, "write_us": spent / count * 1e6}))


def show(path: Path) -> None:
    from turntape.cassettes import Cassette
    from turntape.inspector.views.json.show_json import show_json

    begun = time.perf_counter()
    lines = sum(1 for _ in show_json(Cassette.load(path)))
    print(json.dumps({"seconds": time.perf_counter() - begun, "lines": lines}))


def child(*arguments: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    missed = 0

    def line(what: str, value: float, bar: float, unit: str) -> None:
        nonlocal missed
        missed += value > bar
        print(f"{what:<44} {value:8.2f} {unit:<3} (bar {bar:g})  {'ok' if value <= bar else 'MISSED'}")

    with tempfile.TemporaryDirectory() as folder:
        for suffix, bar in BARS.items():
            path = Path(folder) / f"run.cassette.{suffix}"
            measured = child("record", str(path))
            size = path.stat().st_size / 1e6
            if suffix == "jsonl":
                print(f"{measured['count']:.0f} turns, {measured['total'] / 1e6:.1f} MB of request bodies")
            line(f".{suffix}: size", size, bar, "MB")
            smaller = measured["total"] / 1e6 / size
            print(f"{'':<4}{smaller:.0f}x smaller; write() took its caller {measured['write_us']:.1f} us")
            line(f".{suffix}: resident while recording", measured["peak"], 120, "MB")
            line(f".{suffix}: show --json", child("show", str(path))["seconds"], 1.5, "s")
    return missed


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", path]:
            record(Path(path))
        case ["show", path]:
            show(Path(path))
        case _:
            sys.exit(1 if main() else 0)
