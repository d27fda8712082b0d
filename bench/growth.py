"""One long thread: what twice the turns take of processor time and memory, by command.

Each request sends the whole history, so the bytes of a thread grow with the square of its turns. What is read and
judged must not: each doubling takes at most `BAR` times as long, and as much memory. There are a
plain thread, one with cut answers, one that forks, and one whose first message holds a clock. The tape of the last one
has the whole history in each line, so it is shorter. Every measurement is a separate process.

`python bench/growth.py` takes the names of kinds and of commands, and numbers of turns, to measure only these.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

KINDS: dict[str, tuple[dict[str, Any], tuple[int, ...]]] = {
    "plain": ({}, (500, 1000, 2000)),
    "cut": ({"cut": 4}, (500, 1000, 2000)),
    "forked": ({"forks": 50}, (500, 1000, 2000)),
    "front": ({"clock": True}, (250, 500, 1000)),
}
BAR = 2.3
SETTLED = 100
"""MB. Below this a peak is that of the program itself, and its growth says nothing."""


def record(path: Path, kind: str, turns: int) -> None:
    """Write a thread whose turns each bring about 600 bytes."""
    from _runs import coding_run

    from turntape.cassettes import Recorder

    with Recorder(path, durable=False) as recorder:
        for trip in coding_run(turns, result_bytes=300, system_bytes=9_000, **KINDS[kind][0]):
            recorder.write(trip)
            # As in life, the next turn comes after this one is on the disk.
            while recorder.waiting:
                time.sleep(0.002)


def _label(path: str) -> None:
    """What the process beside `record` does."""
    from turntape.cassettes.tape.reader import Tail
    from turntape.inspector.run.labels import Labeller

    tail = Tail(path, keep_labels=False, longest=1 << 20)
    labeller = Labeller(again=tail.round_trip)
    for trip in tail.news():
        labeller.add(trip)
    labeller.close()


def _view(path: str) -> None:
    """The rows and the first turn's page, which the first screen shows."""
    from turntape.inspector.run.run_index import Run

    run = Run.load(path)
    run.detail(0)


def _command(*arguments: str) -> Callable[[str], None]:
    def call(path: str) -> None:
        from turntape.proxy.cli import main

        sys.argv = ["turntape", arguments[0], path, *arguments[1:]]
        with (
            contextlib.suppress(SystemExit),
            Path(os.devnull).open("w") as nowhere,
            contextlib.redirect_stdout(nowhere),
        ):
            main()

    return call


COMMANDS: dict[str, Callable[[str], None]] = {
    "record's labels": _label,
    "show": _command("show"),
    "show --json": _command("show", "--json"),
    "check": _command("check"),
    "report": _command("report", "-o", os.devnull),
    "view, first screen": _view,
    "price": _command("price"),
}


def child(*arguments: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"growth: {' '.join(arguments)} failed: {done.stderr.strip()[-400:]}")
    return json.loads((done.stdout or "{}").splitlines()[-1] if done.stdout else "{}")


def measure(kind: str, commands: list[str], sizes: list[int], folder: Path) -> int:
    """The table of one kind of thread; returns how many bars it misses."""
    missed = 0
    for turns in sizes:
        child("record", str(folder / f"{turns}.cassette.jsonl"), kind, str(turns))
    for command in commands:
        cells: list[str] = []
        before: dict[str, float] = {}
        for turns in sizes:
            now = child("measure", command, str(folder / f"{turns}.cassette.jsonl"))
            cell = f"{now['seconds']:6.2f} s {now['peak']:4.0f} MB"
            if before:
                ratios = (now["seconds"] / before["seconds"], max(now["peak"], SETTLED) / max(before["peak"], SETTLED))
                over = max(ratios) > BAR
                missed += over
                cell += f" ({ratios[0]:.2f} x, {ratios[1]:.2f} x){' MISSED' if over else ''}"
            cells.append(cell)
            before = now
        print(f"{kind:7} {command:19} {' → '.join(cells)}", flush=True)
    for turns in sizes:
        (folder / f"{turns}.cassette.jsonl").unlink()
    return missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "only", nargs="*", metavar="ONLY", help=f"{', '.join(KINDS)}, {', '.join(COMMANDS)}, or a number of turns"
    )
    arguments: list[str] = parser.parse_args().only
    if unknown := [one for one in arguments if one not in KINDS and one not in COMMANDS and not one.isdecimal()]:
        parser.error(f"{unknown[0]!r} is not a kind, a command or a number of turns")
    kinds = [one for one in arguments if one in KINDS] or list(KINDS)
    commands = [one for one in arguments if one in COMMANDS] or list(COMMANDS)
    print(f"processor time and memory of one thread, with each doubling of its turns (bar {BAR:g} x)")
    numbers = [int(one) for one in arguments if one.isdecimal()]
    missed = 0
    for kind in kinds:
        sizes = numbers or list(KINDS[kind][1])
        print(f"{kind}: {' → '.join(f'{turns:,}' for turns in sizes)} turns")
        with tempfile.TemporaryDirectory() as folder:
            missed += measure(kind, commands, sizes, Path(folder))
    print(f"{missed} doublings missed the bar")
    return int(missed > 0)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["record", path, kind, turns]:
            record(Path(path), kind, int(turns))
        case ["measure", command, path]:
            COMMANDS[command](path)
            used = resource.getrusage(resource.RUSAGE_SELF)
            print(json.dumps({"seconds": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}))
        case _:
            sys.exit(main())
