"""How long it takes to start: the command, the replay server, and the import into somebody's tests.

Each is measured beside a bare `python -c pass` and beside something that is known, in a random order, round by
round; what is compared is the time that each adds to the bare interpreter. Bars: `turntape --help` adds at most 60 ms,
`show` of a small tape 0.2 s, and `run` 0.4 s until its command starts. The bars of the ratios are wide: they show when
something heavy is imported by mistake.
"""

import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from _processes import started

BIN = Path(sys.executable).parent
BARS = {"turntape --help": 0.060, "turntape show of a small tape": 0.2, "turntape run, until the command starts": 0.4}
"""Seconds that each may add to the bare interpreter."""
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
ROUND_TRIPS = 20
BARE = "python -c pass"

SERVER = """
import asyncio, sys
import uvicorn
async def app(scope, receive, send): ...
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_config=None, lifespan="off")
"""


@dataclass(frozen=True, slots=True)
class Comparison:
    ours: str
    other: str
    bar: float
    """How much of the other's added time ours may take."""


COMPARISONS = (
    Comparison("turntape --help", "mitmdump --version", 0.25),
    Comparison("turntape --help", "python -c 'import httpx'", 1.0),
    Comparison("import turntape.cassettes", "python -c 'import openai'", 0.1),
    Comparison("its Recorder and ReplayTransport", "python -c 'import openai'", 0.5),
    Comparison("turntape replay, listening", "mitmdump --server-replay, listening", 0.75),
    Comparison("turntape replay, listening", "uvicorn with an empty app, listening", 2.0),
)


def ended(*command: str) -> Callable[[], float]:
    """The time until a command has ended."""

    def run() -> float:
        begun = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        return time.perf_counter() - begun

    return run


def reached(folder: Path) -> float:
    """The time until `turntape run` starts its command, which says when that was."""
    said_at, tape = folder / "started", folder / "started.cassette.jsonl"
    tape.unlink(missing_ok=True)
    say = f"date +%s.%N > {said_at}"
    begun = time.time()
    subprocess.run(
        [str(BIN / "turntape"), "run", "--quiet", "--out", str(tape), "--", "sh", "-c", say],
        check=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
    )
    return float(said_at.read_text()) - begun


def listening(command: Callable[[int], Sequence[str]]) -> Callable[[], float]:
    """The time until a server takes connections; it is ended then."""

    def run() -> float:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        begun = time.perf_counter()
        child = started(command(port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        try:
            while child.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        return time.perf_counter() - begun
                time.sleep(0.002)
            raise SystemExit(f"bench: {' '.join(command(port))} ended before it took connections")
        finally:
            child.kill()
            child.wait()

    return run


def recordings(folder: Path) -> tuple[str, str]:
    """The same small recording as a cassette and as mitmproxy's flows."""
    from mitmproxy import http, io
    from mitmproxy.test import tflow

    from turntape.cassettes import Recorder, Request, Response, RoundTrip

    url, kind = "https://api.openai.com/v1/chat/completions", (("content-type", "application/json"),)
    cassette, flows = folder / "run.cassette.jsonl", folder / "flows"
    with Recorder(cassette) as recorder, flows.open("wb") as file:
        writer = io.FlowWriter(file)
        for number in range(ROUND_TRIPS):
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"{number} " * 999}]}).encode()
            recorder.write(RoundTrip(Request("POST", url, kind, body), Response(200, "OK", kind, b"{}"), 0.0))
            flow = tflow.tflow(resp=True)
            flow.request = http.Request.make("POST", url, body, dict(kind))
            writer.add(flow)
    return str(cassette), str(flows)


def subjects(folder: Path) -> dict[str, Callable[[], float]]:
    cassette, flows = recordings(folder)
    python, turntape, mitmdump = sys.executable, str(BIN / "turntape"), str(BIN / "mitmdump")
    confdir = f"confdir={folder}"
    return {
        BARE: ended(python, "-c", "pass"),
        "turntape --help": ended(turntape, "--help"),
        "turntape show of a small tape": ended(turntape, "show", cassette),
        "turntape run, until the command starts": lambda: reached(folder),
        "mitmdump --version": ended(mitmdump, "--version"),
        "python -c 'import httpx'": ended(python, "-c", "import httpx"),
        "import turntape.cassettes": ended(python, "-c", "import turntape.cassettes"),
        "its Recorder and ReplayTransport": ended(
            python, "-c", "from turntape.cassettes import Recorder, ReplayTransport"
        ),
        "python -c 'import openai'": ended(python, "-c", "import openai"),
        "turntape replay, listening": listening(lambda port: [turntape, "replay", cassette, "--port", str(port)]),
        "mitmdump --server-replay, listening": listening(
            lambda port: [mitmdump, "-q", "-S", flows, "-p", str(port), "--set", confdir]
        ),
        "uvicorn with an empty app, listening": listening(lambda port: [python, "-c", SERVER, str(port)]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=12)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        measured = subjects(Path(folder))
        times: dict[str, list[float]] = {name: [] for name in measured}
        for number in range(rounds + 1):
            for name in random.sample(list(measured), len(measured)):
                spent = measured[name]()
                if number:  # the first round writes bytecode and a certificate authority
                    times[name].append(spent)
    added = {
        name: max(0.0, statistics.median(t - bare for t, bare in zip(spent, times[BARE], strict=True)))
        for name, spent in times.items()
    }
    missed = 0
    for name, bar in BARS.items():
        missed += added[name] > bar
        print(f"{name} adds {added[name] * 1e3:.0f} ms to `{BARE}` (bar {bar * 1e3:.0f})  {said(added[name] <= bar)}")
    for one in COMPARISONS:
        ratio = added[one.ours] / added[one.other]
        missed += ratio > one.bar
        print(f"{one.ours}: {ratio:.2f}x of {one.other} (bar {one.bar:g})  {said(ratio <= one.bar)}")
    print(f"{'':>4}ms over `{BARE}` ({statistics.median(times[BARE]) * 1e3:.0f}): " + ", ".join(
        f"{name} {spent * 1e3:.0f}" for name, spent in added.items() if name != BARE))  # fmt: skip
    return missed


def said(held: bool) -> str:
    return "ok" if held else "MISSED"


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
