"""The cases: each runs a recorder in a process, does something bad, and compares the file with what was handed in."""

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from turntape.cassettes import Cassette
from turntape.cassettes.errors import TurntapeError

ROOT = Path(__file__).parents[2]
LATEST = 0.1
"""Seconds before kill -9 of which round trips may be missing."""

CHILD = """
import os, resource, signal, sys, time
from turntape.cassettes import Recorder, Request, Response, RoundTrip
case, path, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if case == "clock":
    real, jumps = time.time, [0]
    def jumping():
        jumps[0] += 1
        return real() + (-1) ** jumps[0] * 40_000_000 * (jumps[0] % 7)
    time.time = jumping
recorder = Recorder(path, clock=time.time)
recorder.on_problem(lambda sentence: None)
body = b""
def until(done):
    while not done():
        time.sleep(0.005)
def write(count, pause=0.0):
    global body
    for _ in range(count):
        body = body[-20_000:] + os.urandom(150).hex().encode()
        trip = RoundTrip(Request("POST", "https://a.local/v1/x", (), body), Response(200, "", (), b"ok"), time.time())
        number = recorder.write(trip)
        os.write(1, b"%d %f\\n" % (number, time.monotonic()))
        time.sleep(pause)
if case == "kill":
    write(100_000, 0.001)
write(20)
until(lambda: not recorder.waiting)
if case == "full":
    sys.dont_write_bytecode = True  # half a module would stay
    size = os.path.getsize(path)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + seed % 1000, resource.RLIM_INFINITY))
    write(20)
    until(lambda: not recorder.waiting)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
if case == "files":
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    held = []
    try:
        while True:
            held.append(os.dup(1))
    except OSError:
        pass
    write(20)
    until(lambda: not recorder.waiting)
    for one in held:
        os.close(one)
if case == "removed":
    os.unlink(path)
if case == "renamed":
    os.rename(path, path + ".moved")
if case == "cut":
    os.truncate(path, os.path.getsize(path) * (seed % 100) // 100)
if case in ("removed", "renamed", "cut"):
    until(lambda: recorder.problem is not None)
write(20)
recorder.close()
os.write(1, b"lost %d %d\\n" % (recorder.lost, recorder.problem is not None))
"""
CASES = ("kill", "full", "files", "removed", "renamed", "cut", "clock")
"""`files`: there are no more descriptors."""


@dataclass
class Row:
    """What happened in all rounds of one case."""

    rounds: int = 0
    handed_in: int = 0
    kept: int = 0
    lost: int = 0
    """Handed in and not in the file."""
    unsaid: int = 0
    """Lost, and not reported by the recorder; for kill -9: missing between others that are kept."""
    late: int = 0
    """Lost by kill -9, and older than the last 100 ms: a busy disk takes longer."""
    unread: int = 0
    """Files that do not open, or that have a damaged line other than a torn last one."""

    def add(self, other: "Row") -> None:
        for name in vars(other):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def once(case: str, path: Path, seed: int) -> Row:
    """One round of a case with a file at `path`."""
    for old in (path, path.with_name(path.name + ".moved")):
        old.unlink(missing_ok=True)
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, case, str(path), str(seed)], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert child.stdout is not None
    handed: dict[int, float] = {}
    lost, said = 0, False
    wait = random.Random(seed).uniform(0.05, 0.6)
    for line in _lines(child, wait if case == "kill" else None):
        first, second, *rest = line.split()
        if first == b"lost":
            lost, said = int(second), bool(int(rest[0]))
        else:
            handed[int(first)] = float(second)
    child.wait()
    child.stdout.close()
    return _compared(case, path, handed, lost, said, max(handed.values(), default=0.0))


def _lines(child: subprocess.Popen[bytes], kill_after: float | None) -> Iterator[bytes]:
    """What the child says; it is killed so many seconds after its first line."""
    assert child.stdout is not None
    file, text, ends = child.stdout.fileno(), b"", None
    while True:
        if ends is not None and time.monotonic() >= ends:
            os.kill(child.pid, signal.SIGKILL)
            ends = None
        if not select.select([file], [], [], 0.01)[0]:
            continue
        data = os.read(file, 1 << 16)
        if not data:
            return
        if kill_after is not None and not text:
            ends, kill_after = time.monotonic() + kill_after, None
        *whole, text = (text + data).split(b"\n")
        yield from whole


def _compared(case: str, path: Path, handed: dict[int, float], lost: int, said: bool, end: float) -> Row:
    file = path.with_name(path.name + ".moved") if case == "renamed" else path
    numbers: set[int] = set()
    unread = 0
    if file.exists():
        try:
            cassette = Cassette.load(file)
            numbers = {trip.index for trip in cassette if trip.ended_at is None or trip.ended_at >= 0}
            unread = int(len(cassette.problems) > (case in ("kill", "cut")))
        except TurntapeError:
            unread = int(bool(handed) and case != "kill")
    missing = set(handed) - numbers
    if case == "kill":
        unsaid = sum(number < max(numbers, default=-1) for number in missing)
    elif case == "renamed":
        unsaid = len(missing) + (lost != len(handed))  # all of them are in the renamed file, and reported
    else:
        unsaid = abs(len(missing) - lost) + (bool(missing) and not said)
    late = sum(handed[number] < end - LATEST for number in missing) if case == "kill" else 0
    return Row(1, len(handed), len(numbers), len(missing), unsaid, late, unread)
