"""What the proxy adds to a request, beside stock mitmdump and beside itself writing nothing, in one run.

All targets run at the same time, on the base-URL route (plain HTTP), each in a separate process before one upstream.
Each round asks every target in a random order; a figure is the median of the ratios of the rounds, with the two values
between which chance moves it. It misses its bar when all of them are above it.
Bars: against mitmdump at most 0.6x up to 500 KB and with 16 clients at once, 1.0x at 2 MB, and at the slowest of 100
(p99) no later than mitmdump; against writing nothing at most 1.05x.
"""

import argparse
import asyncio
import os
import random
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from _processes import Processes
from _ratios import Ratio

SIZES = {
    "5 KB": (5_000, 20, 0.6),
    "50 KB": (50_000, 15, 0.6),
    "500 KB": (500_000, 6, 0.6),
    "2 MB": (2_000_000, 3, 1.0),
}
"""Request body, requests a round, and the bar against mitmdump."""
NOTHING_BAR, EVENT_BAR = 1.05, 1.05
REST = 0.05
"""Seconds before a target is asked: what the one before still writes must not slow it down."""
AT_ONCE, AT_ONCE_BAR = 16, 0.6
"""Clients that ask at the same time, and the bar of their added time against mitmdump."""
EVENTS, PAUSE = 100, 0.002
BURST, BURST_BAR = 200, 2.0
"""Events without a pause between them, and the bar against mitmdump, which holds the whole answer back."""
BURST_EVENT = b'data: {"id":"1","choices":[{"index":0,"delta":{"content":"word %d"},"finish_reason":null}]}\n\n'

STREAM_SCRIPT = """
def responseheaders(flow):
    if "event-stream" in flow.response.headers.get("content-type", ""):
        flow.response.stream = lambda data: data
"""


async def upstream() -> None:
    """Answers JSON at once, or `EVENTS` events that carry the time at which each was sent."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        message = b'{"role":"assistant","content":"ok"}'
        answer = b'{"id":"1","choices":[{"index":0,"finish_reason":"stop","message":%s}]}' % message
        whole = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer)
        streamed = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                size = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
                await reader.readexactly(size)
                path = head.split(b"\r\n")[0]
                if b"/stream" not in path and b"/burst" not in path:
                    writer.write(whole + answer)
                    continue
                writer.write(streamed)
                if b"/burst" in path:
                    for number in range(BURST):
                        event = BURST_EVENT % number
                        writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                    writer.write(b"0\r\n\r\n")
                    continue
                for _ in range(EVENTS):
                    event = b"data: %d\n\n" % time.monotonic_ns()
                    writer.write(b"%x\r\n%s\r\n" % (len(event), event))
                    await writer.drain()
                    await asyncio.sleep(PAUSE)
                writer.write(b"0\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class _Nothing:
    """A sink that writes nothing."""

    count = 0

    def write(self, round_trip: object) -> int:
        self.count += 1
        return self.count


async def proxy(url: str, confdir: str, tape: str | None) -> None:
    from turntape.cassettes import Recorder
    from turntape.proxy.engine.engine import Engine

    engine = Engine(Recorder(tape) if tape else _Nothing(), upstreams={"openai": url}, confdir=Path(confdir))
    await engine.start()
    print(engine.port, flush=True)
    await asyncio.Event().wait()


class Connection:
    """A kept-alive connection that asks and reads, and does nothing else."""

    def __init__(self, port: int, prefix: str) -> None:
        self.port, self.prefix = port, prefix
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _send(self, path: str, body: bytes) -> None:
        head = f"POST {self.prefix}{path} HTTP/1.1\r\nhost: 127.0.0.1:{self.port}\r\ncontent-type: application/json\r\n"
        self.socket.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)

    def _more(self, most: int) -> bytes:
        """What comes next. Raises ConnectionError at the end, where a loop would never end."""
        piece = self.socket.recv(most)
        if not piece:
            raise ConnectionError("the server closed the connection within its answer")
        return piece

    def ask(self, body: bytes) -> float:
        begun = time.perf_counter()
        self._send("/v1/chat/completions", body)
        data = b""
        while b'"ok"' not in data:
            data += self._more(65536)
        return time.perf_counter() - begun

    def stream(self, body: bytes) -> tuple[float, list[float], int]:
        """Time to the first event, the delay of each, and in how many reads they came."""
        begun = time.monotonic_ns()
        self._send("/v1/stream/chat/completions", body)
        data, delays, reads, first = b"", list[float](), 0, 0.0
        while not data.endswith(b"0\r\n\r\n"):
            piece = self._more(65536)
            now = time.monotonic_ns()
            reads += 1
            data += piece
            for line in piece.split(b"\n"):
                if line.startswith(b"data: "):
                    first = first or (now - begun) / 1e9
                    delays.append((now - int(line[6:])) / 1e9)
        return first, delays, reads

    def burst(self, body: bytes) -> float:
        """Seconds until all events are there."""
        begun = time.perf_counter()
        self._send("/v1/burst/chat/completions", body)
        data = b""
        while not data.endswith(b"0\r\n\r\n"):
            data += self._more(1 << 18)
        assert data.count(b"data: ") == BURST
        return time.perf_counter() - begun


def body_of(size: int, number: int) -> bytes:
    """A body of which the end is new each time, as a history that grows."""
    filler = b"the history that agents resend " * (size // 31)
    return b'{"model":"gpt-5","messages":[{"role":"user","content":"%s"},{"role":"user","content":"%d"}]}' % (
        filler,
        number,
    )


def median_of(samples: list[float]) -> float:
    return statistics.median(samples)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=24)
    rounds = parser.parse_args().rounds
    missed = 0
    with tempfile.TemporaryDirectory() as folder, Processes(__file__) as processes:
        direct = processes.start("--upstream")
        url = f"http://127.0.0.1:{direct}"
        script = Path(folder) / "stream.py"
        script.write_text(STREAM_SCRIPT)
        stock = ["--mode", f"reverse:{url}", "--set", f"confdir={folder}/c"]
        ports = {
            "direct": direct,
            "ours": processes.start("--proxy", url, f"{folder}/a", f"{folder}/run.cassette.jsonl"),
            "nothing": processes.start("--proxy", url, f"{folder}/b"),
            "mitmdump": processes.mitmdump("-s", str(script), *stock),
            "buffered": processes.mitmdump(*stock),
        }
        prefixes = {"ours": "/openai", "nothing": "/openai"}
        connections = {name: Connection(port, prefixes.get(name, "")) for name, port in ports.items()}
        buffered = connections.pop("buffered")
        for label, (size, count, bar) in SIZES.items():
            missed += requests(connections, label, size, count, rounds, bar)
        missed += at_once(ports, prefixes, rounds)
        missed += streams(connections, rounds)
        pids = {"ours": processes.all[1].pid, "buffered": processes.all[-1].pid}
        missed += bursts({**connections, "buffered": buffered}, rounds, pids)
    return missed


def interleaved(connections: dict[str, Connection], rounds: int, once: Callable[[Connection], None]) -> None:
    """Each round asks every target, in a random order; the first round warms up."""
    for _ in range(rounds):
        names = list(connections)
        random.shuffle(names)
        for name in names:
            time.sleep(REST)
            once(connections[name])


def requests(connections: dict[str, Connection], label: str, size: int, count: int, rounds: int, bar: float) -> int:
    medians: dict[Connection, list[float]] = {connection: [] for connection in connections.values()}
    each: dict[Connection, list[float]] = {connection: [] for connection in connections.values()}
    number = 0

    def once(connection: Connection) -> None:
        nonlocal number
        times: list[float] = []
        for _ in range(count):
            number += 1
            body = body_of(size, number)
            times.append(connection.ask(body))
        medians[connection].append(median_of(times))
        each[connection] += times if len(medians[connection]) > 1 else []

    interleaved(connections, rounds + 1, once)
    per_round = {name: medians[connection][1:] for name, connection in connections.items()}

    def added(name: str) -> list[float]:
        return [time - base for time, base in zip(per_round[name], per_round["direct"], strict=True)]

    ours, stock = added("ours"), added("mitmdump")
    against, whole = Ratio.of(ours, stock), Ratio.of(per_round["ours"], per_round["nothing"])
    times = ", ".join(f"{name} {median_of(values) * 1e3:.2f}" for name, values in per_round.items())
    print(f"{label:>6}: {against} of mitmdump's added time (bar {bar:g})  {against.verdict(bar)}")
    print(f"{'':>8}{whole} of our proxy writing nothing (bar {NOTHING_BAR:g})  {whole.verdict(NOTHING_BAR)}")
    print(
        f"{'':>8}ms a request: {times}; added: ours {median_of(ours) * 1e3:.2f}, mitmdump {median_of(stock) * 1e3:.2f}"
    )
    late = {name: slowest(each[connection]) for name, connection in connections.items()}
    tail = late["ours"] / late["mitmdump"]
    print(f"{'':>8}{tail:.2f}x of mitmdump's p99 (bar 1)  {said(tail <= 1)}")
    print(f"{'':>8}ms at p99: {', '.join(f'{name} {value * 1e3:.2f}' for name, value in late.items())}")
    return against.misses(bar) + whole.misses(NOTHING_BAR) + (tail > 1)


def slowest(samples: list[float]) -> float:
    """The 99th percentile: 99 of 100 took at most this long."""
    return statistics.quantiles(samples, n=100, method="inclusive")[98]


def at_once(ports: dict[str, int], prefixes: dict[str, str], rounds: int) -> int:
    """`AT_ONCE` clients with 5 KB each, by threads: the time until all have their answer."""
    crowds = {
        name: [Connection(port, prefixes.get(name, "")) for _ in range(AT_ONCE)]
        for name, port in ports.items()
        if name != "buffered"
    }
    spent: dict[str, list[float]] = {name: [] for name in crowds}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for number in range(rounds * 2 + 1):
            names = list(crowds)
            random.shuffle(names)
            for name in names:
                begun = time.perf_counter()
                body = body_of(5_000, number)
                list(pool.map(lambda one, body=body: one.ask(body), crowds[name]))
                spent[name].append(time.perf_counter() - begun)
    base = median_of(spent["direct"][1:])
    added = {name: [time - base for time in times[1:]] for name, times in spent.items()}
    ratio = Ratio.of(added["ours"], added["mitmdump"])
    print(f"{AT_ONCE} at once, 5 KB: {ratio} of mitmdump's added time (bar {AT_ONCE_BAR:g})  "
          f"{ratio.verdict(AT_ONCE_BAR)}")  # fmt: skip
    print(f"{'':>8}ms until all are answered: direct {base * 1e3:.2f}; added: " + ", ".join(
        f"{name} {median_of(values) * 1e3:.2f}" for name, values in added.items() if name != "direct"))  # fmt: skip
    return int(ratio.misses(AT_ONCE_BAR))


def streams(connections: dict[str, Connection], rounds: int) -> int:
    firsts: dict[Connection, list[float]] = {connection: [] for connection in connections.values()}
    delays: dict[Connection, list[float]] = {connection: [] for connection in connections.values()}
    reads: dict[Connection, list[float]] = {connection: [] for connection in connections.values()}

    def once(connection: Connection) -> None:
        first, late, count = connection.stream(body_of(5_000, 0))
        firsts[connection].append(first)
        delays[connection].append(median_of(late))
        reads[connection].append(count)

    interleaved(connections, rounds + 1, once)
    ours, stock = connections["ours"], connections["mitmdump"]
    first = Ratio.of(firsts[ours][1:], firsts[stock][1:])
    event = Ratio.of(delays[ours][1:], delays[stock][1:])
    print(f"stream: first event {first} of mitmdump's time (bar {EVENT_BAR:g})  {first.verdict(EVENT_BAR)}")
    print(f"{'':>8}each event {event} of its delay (bar {EVENT_BAR:g})  {event.verdict(EVENT_BAR)}")
    late = ", ".join(f"{name} {median_of(delays[c][1:]) * 1e6:.0f}" for name, c in connections.items())
    print(f"{'':>8}us of delay an event: {late}")
    print(f"{'':>8}reads a stream of {EVENTS} events: " + ", ".join(
        f"{name} {median_of(reads[connection]):.0f}" for name, connection in connections.items()))  # fmt: skip
    return first.misses(EVENT_BAR) + event.misses(EVENT_BAR)


def cpu(process: int) -> float:
    """Seconds of CPU that all threads of a process have used; 0 where the system does not say so."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def bursts(connections: dict[str, Connection], rounds: int, processes: dict[str, int]) -> int:
    spent: dict[Connection, list[float]] = {connection: [] for connection in connections.values()}
    used: dict[Connection, float] = dict.fromkeys(connections.values(), 0.0)
    by_connection = {connections[name]: process for name, process in processes.items()}
    each = 5

    def once(connection: Connection) -> None:
        before = cpu(by_connection.get(connection, 0))
        spent[connection] += [connection.burst(body_of(5_000, number)) for number in range(each)]
        if len(spent[connection]) > each:
            used[connection] += cpu(by_connection.get(connection, 0)) - before

    interleaved(connections, rounds + 1, once)
    ours, held = connections["ours"], connections["buffered"]
    ratio = Ratio.of(spent[ours][each:], spent[held][each:])
    print(f"burst of {BURST} events: {ratio} of the time of mitmdump that holds it back (bar {BURST_BAR:g})  "
          f"{ratio.verdict(BURST_BAR)}")  # fmt: skip
    times = ", ".join(f"{name} {median_of(spent[one][each:]) * 1e3:.2f}" for name, one in connections.items())
    events = rounds * each * BURST
    print(f"{'':>8}ms a burst: {times}; us of CPU an event: ours {used[ours] / events * 1e6:.1f}, "
          f"mitmdump that holds it back {used[held] / events * 1e6:.1f}")  # fmt: skip
    return int(ratio.misses(BURST_BAR))


def said(held: bool) -> str:
    return "ok" if held else "MISSED"


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--upstream"]:
            asyncio.run(upstream())
        case ["--proxy", url, confdir, *tape]:
            asyncio.run(proxy(url, confdir, tape[0] if tape else None))
        case _:
            sys.exit(1 if main() else 0)
