"""What `turntape mcp` costs between a client and an MCP server: its start, a message, a long line.

The server is a Python program that echoes lines. It is measured alone and behind the wrapper, in a random order, round
by round. Bars: the wrapper starts in less than 100 ms over a bare Python, and adds less than 1 ms to a round trip
(median), also while its own recorder writes a cassette.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

START_BAR = 0.100
MESSAGE_BAR = 0.001
LONG_BAR = 2.0
"""How many times as long a line of 20 MB may take: it is copied twice more, and recorded."""
BARE = "python -c pass"
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
ECHO = (
    sys.executable,
    "-c",
    "import sys\nfor line in sys.stdin.buffer:\n sys.stdout.buffer.write(line)\n sys.stdout.buffer.flush()",
)
CAT = ("cat",)
MESSAGE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}\n'
LONG = b'{"jsonrpc":"2.0","id":1,"result":"' + b"x" * 20_000_000 + b'"}\n'


def wrapped(server: Sequence[str], folder: Path) -> list[str]:
    return [str(Path(sys.executable).with_name("turntape")), "mcp", "-o", str(folder), "--", *server]


class Server:
    """A running server; `asked` is the time until the answer to one line."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT
        )
        assert self.process.stdin and self.process.stdout
        self.stdin: IO[bytes] = self.process.stdin
        self.stdout: IO[bytes] = self.process.stdout

    def asked(self, line: bytes) -> float:
        begun = time.perf_counter()
        self.stdin.write(line)
        self.stdin.flush()
        if len(self.stdout.readline()) != len(line):
            raise SystemExit("bench: the server did not send the line back")
        return time.perf_counter() - begun

    def end(self) -> None:
        self.stdin.close()
        self.stdout.close()
        self.process.wait()


def first_answer(command: Sequence[str]) -> float:
    """The time from the start of a server to its first answer."""
    begun = time.perf_counter()
    server = Server(command)
    server.asked(MESSAGE)
    spent = time.perf_counter() - begun
    server.end()
    return spent


def bare() -> float:
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True, env=ENVIRONMENT)
    return time.perf_counter() - begun


def starts(folder: Path, rounds: int) -> bool:
    """Prints what the wrapper adds to the first answer of a server that starts at once."""
    measured = {
        BARE: bare,
        "cat": lambda: first_answer(CAT),
        "wrapped cat": lambda: first_answer(wrapped(CAT, folder)),
        "python": lambda: first_answer(ECHO),
        "wrapped python": lambda: first_answer(wrapped(ECHO, folder)),
    }
    times: dict[str, list[float]] = {name: [] for name in measured}
    for number in range(rounds + 1):
        for name in random.sample(list(measured), len(measured)):
            spent = measured[name]()
            if number:  # the first round writes bytecode
                times[name].append(spent)
    added = statistics.median(
        ours - alone - python
        for ours, alone, python in zip(times["wrapped cat"], times["cat"], times[BARE], strict=True)
    )
    ratio = statistics.median(times["wrapped python"]) / statistics.median(times["python"])
    print(f"start: {added * 1e3:.0f} ms over `{BARE}` (bar {START_BAR * 1e3:.0f})  {said(added < START_BAR)}")
    print(f"  first answer of a Python server: {ratio:.2f}x of the server alone")
    return added < START_BAR


def messages(folder: Path, count: int) -> bool:
    """Prints what the wrapper adds to a message and its answer."""
    servers = {"alone": Server(CAT), "wrapped": Server(wrapped(CAT, folder))}
    times: dict[str, list[float]] = {name: [] for name in servers}
    for server in servers.values():
        for _ in range(20):
            server.asked(MESSAGE)
    for _ in range(count):
        for name in random.sample(list(servers), len(servers)):
            times[name].append(servers[name].asked(MESSAGE))
    for server in servers.values():
        server.end()
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    added = medians["wrapped"] - medians["alone"]
    worst = statistics.quantiles(times["wrapped"], n=100)[98]
    print(
        f"message and answer: {medians['wrapped'] / medians['alone']:.1f}x of the server alone, "
        f"{added * 1e3:.3f} ms more (bar {MESSAGE_BAR * 1e3:g})  {said(added < MESSAGE_BAR)}"
    )
    print(f"  99 of 100 within {worst * 1e3:.2f} ms")
    return added < MESSAGE_BAR


def long_lines(folder: Path, rounds: int) -> bool:
    """Prints the time of a line of 20 MB."""
    times: dict[str, list[float]] = {"alone": [], "wrapped": []}
    for _ in range(rounds):
        for name, command in (("alone", ECHO), ("wrapped", wrapped(ECHO, folder))):
            server = Server(command)
            server.asked(MESSAGE)
            times[name].append(server.asked(LONG))
            server.end()
    ratio = statistics.median(times["wrapped"]) / statistics.median(times["alone"])
    print(
        f"a line of 20 MB there and back: {ratio:.1f}x of the server alone (bar {LONG_BAR:g})  {said(ratio < LONG_BAR)}"
    )
    return ratio < LONG_BAR


def said(held: bool) -> str:
    return "ok" if held else "MISSED"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--messages", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        held = [starts(folder, options.rounds), messages(folder, options.messages), long_lines(folder, 3)]
        time.sleep(1)  # recorders may still be writing
    return held.count(False)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
