"""The replay server beside a bare ASGI app, aimock (npm) and mitmproxy's server replay, in one run.

All run at the same time, each in a separate process, and answer the same 1,000 recorded turns of 30 KB. Each round asks
every server for the same turns over a kept-alive connection, in a random order; the figures are ratios of median
times, and of the processor time that each server took, which other work on the machine changes little. Bar: at least
10x of mitmproxy's server replay. Without npm, or without a network, aimock is left out.
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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from _processes import started

TURNS, ROUNDS = 1000, 20
BAR = 10.0
AIMOCK = "@copilotkit/aimock@1.43.0"
PATH = "/v1/chat/completions"
PIECES = 100
TEXT = "twenty letters here " * PIECES
"""What is answered, and in how many pieces of 20 letters it is streamed."""
FILLER = "the history that agents resend " * 970

type Json = dict[str, Any]


def request_of(number: int, streamed: bool) -> bytes:
    messages = [{"role": "system", "content": FILLER}, {"role": "user", "content": f"turn-{number}-"}]
    return json.dumps({"model": "gpt-5", "messages": messages, "stream": streamed}).encode()


def whole() -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": TEXT}}
    answer = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice]}
    usage = {"prompt_tokens": 7000, "completion_tokens": 300, "total_tokens": 7300}
    return json.dumps({**answer, "usage": usage}).encode()


def events() -> list[bytes]:
    def event(delta: Json, finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5"}
        return b"data: %s\n\n" % json.dumps({**chunk, "choices": [choice]}).encode()

    said = [event({"content": TEXT[start : start + 20]}) for start in range(0, len(TEXT), 20)]
    return [event({"role": "assistant", "content": ""}), *said, event({}, "stop"), b"data: [DONE]\n\n"]


# The servers


def bare() -> None:
    """An ASGI app that reads the request and sends the same bytes, on uvicorn as ours is."""
    import uvicorn

    answer, pieces = whole(), events()
    # Ours has read a large file: from then on malloc keeps the buffer of each read, and maps no pages for it.
    bytes(16 << 20)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        if not body.endswith(b'"stream": true}'):
            headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": answer})
            return
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    # The socket names TCP explicitly; otherwise asyncio keeps Nagle's algorithm, and each answer waits 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app, log_config=None, log_level="critical", access_log=False, lifespan="off",
                            server_header=False, date_header=False)  # fmt: skip
    uvicorn.Server(config).run(sockets=[listener])


def record(path: Path) -> None:
    """The cassette that ours plays: each turn once whole and once streamed."""
    from turntape.cassettes import Chunk, Recorder, Request, Response, RoundTrip

    pieces = events()
    chunks = tuple(Chunk(len(piece), place) for place, piece in enumerate(pieces))
    plain = Response(200, "OK", (("content-type", "application/json"),), whole(), (Chunk(len(whole()), 0),))
    streamed = Response(200, "OK", (("content-type", "text/event-stream"),), b"".join(pieces), chunks)
    kind = (("content-type", "application/json"),)
    with Recorder(path, durable=False) as recorder:
        for number in range(TURNS):
            for response in (plain, streamed):
                body = request_of(number, response is streamed)
                recorder.write(RoundTrip(Request("POST", f"https://api.openai.com{PATH}", kind, body), response, 0.0))


def record_flows(path: Path) -> None:
    """The same for mitmproxy, as flows to the address behind its reverse mode."""
    from mitmproxy import http, io
    from mitmproxy.test import tflow

    with path.open("wb") as file:
        writer = io.FlowWriter(file)
        for number in range(TURNS):
            for streamed in (False, True):
                flow = tflow.tflow()
                flow.request = http.Request.make("POST", f"http://127.0.0.1:9{PATH}", request_of(number, streamed),
                                                 {"content-type": "application/json"})  # fmt: skip
                kind = "text/event-stream" if streamed else "application/json"
                flow.response = http.Response.make(
                    200, b"".join(events()) if streamed else whole(), {"content-type": kind}
                )
                writer.add(flow)


def record_fixtures(path: Path) -> None:
    """The same for aimock, which finds an answer by the last user message."""
    fixtures = [{"match": {"userMessage": f"turn-{number}-"}, "response": {"content": TEXT}} for number in range(TURNS)]
    path.write_text(json.dumps({"fixtures": fixtures}))


class Servers:
    """Starts servers, and ends those that it started."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._children: list[subprocess.Popen[str]] = []
        self._environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def processor_time(self) -> list[float]:
        """Seconds of the processor that each server has taken, in the order in which they were started."""
        ticks = os.sysconf("SC_CLK_TCK")
        stats = [Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split() for child in self._children]
        return [(int(fields[11]) + int(fields[12])) / ticks for fields in stats]

    def _start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        child = started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment)
        self._children.append(child)
        return child

    def bare(self) -> int:
        child = self._start([sys.executable, __file__, "--bare"])
        assert child.stdout is not None
        return int(child.stdout.readline())

    def ours(self) -> int:
        cassette = self.folder / "run.cassette.jsonl"
        record(cassette)
        child = self._start([sys.executable, "-m", "turntape.proxy.cli", "replay", str(cassette), "--port", "0"])
        assert child.stdout is not None
        # `export OPENAI_BASE_URL=http://127.0.0.1:PORT/openai/v1`
        return int(child.stdout.readline().split(":")[2].split("/")[0])

    def mitmproxy(self) -> int:
        flows = self.folder / "flows"
        record_flows(flows)
        port = free_port()
        program = str(Path(sys.executable).parent / "mitmdump")
        self._start([program, "-q", "--mode", "reverse:http://127.0.0.1:9", "-p", str(port), "-S", str(flows),
                     "--set", "connection_strategy=lazy", "--set", "server_replay_extra=kill",
                     "--set", f"confdir={self.folder}/confdir"])  # fmt: skip
        wait_for(port)
        return port

    def aimock(self) -> int | None:
        install = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(self.folder), AIMOCK]
        try:
            subprocess.run(install, check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            return None
        fixtures = self.folder / "fixtures.json"
        record_fixtures(fixtures)
        port = free_port()
        program = self.folder / "node_modules/@copilotkit/aimock/dist/cli.js"
        self._start(["node", str(program), "-p", str(port), "-f", str(fixtures), "-c", "20", "--log-level", "silent"])
        wait_for(port)
        return port

    def stop(self) -> None:
        for child in self._children:
            child.kill()
            child.wait()
            if child.stdout is not None:
                child.stdout.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"bench: no server opened port {port}")


# The client


class Connection:
    """A kept-alive connection that asks, reads the whole answer, and does nothing else."""

    def __init__(self, port: int) -> None:
        self._port, self._host = port, f"127.0.0.1:{port}"
        self._socket = self._opened()
        self.asked = self.reads = 0

    def _opened(self) -> socket.socket:
        opened = socket.create_connection(("127.0.0.1", self._port))
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def reopen(self) -> None:
        """On a busy machine a round takes longer than a server keeps an idle connection."""
        self._socket.close()
        self._socket = self._opened()

    def ask(self, body: bytes) -> float:
        head = f"POST {PATH} HTTP/1.1\r\nhost: {self._host}\r\ncontent-type: application/json\r\n"
        self.asked += 1
        begun = time.perf_counter()
        self._socket.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        data = b""
        while b"\r\n\r\n" not in data:
            data += self._more()
        head, _, answer = data.partition(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
        if b"content-length" in fields:
            size = int(fields[b"content-length"])
            while len(answer) < size:
                answer += self._more()
        else:
            while not answer.endswith(b"0\r\n\r\n"):
                answer += self._more()
        spent = time.perf_counter() - begun
        if b" 200 " not in head.split(b"\r\n")[0] + b" " or b"letters" not in answer:
            raise SystemExit(f"bench: {self._host} did not answer as recorded: {head[:80]!r} {answer[:200]!r}")
        return spent

    def _more(self) -> bytes:
        data = self._socket.recv(1 << 18)
        self.reads += 1
        if not data:
            raise SystemExit(f"bench: {self._host} closed the connection")
        return data


def measured(ports: dict[str, int], streamed: bool) -> dict[str, tuple[float, float]]:
    """The median time of an answer, and in how many reads it came, by server; the first round warms up."""
    connections = {name: Connection(port) for name, port in ports.items()}
    times: dict[str, list[float]] = {name: [] for name in ports}
    share = TURNS // ROUNDS
    for number in range(ROUNDS):
        turns = range(number * share, (number + 1) * share)
        for name in random.sample(list(connections), len(connections)):
            connections[name].reopen()
            spent = [connections[name].ask(request_of(turn, streamed)) for turn in turns]
            times[name] += spent if number else []
    return {name: (statistics.median(times[name]), c.reads / c.asked) for name, c in connections.items()}


def report(answers: dict[str, tuple[float, float]], streamed: bool) -> int:
    """Print the ratios; returns 1 when a bar was missed. mitmproxy sends the events of a stream in one piece."""
    ours, _ = answers["ours"]
    what = f"{len(events())} events, each sent as it was recorded" if streamed else "one body"
    print(f"{TURNS} turns of {len(request_of(1, False)) / 1000:.0f} KB, answered in {what}: rate")
    missed = 0
    for name, (spent, _) in answers.items():
        ratio = spent / ours
        verdict = ""
        if name == "mitmproxy":
            missed = int(ratio < BAR)
            verdict = f"  (bar {BAR:g})  {'MISSED' if missed else 'ok'}"
        if name != "ours":
            print(f"{'':>4}{ratio:6.2f}x of {name}{verdict}")
    print(f"{'':>4}us an answer: " + ", ".join(f"{name} {spent * 1e6:.0f}" for name, (spent, _) in answers.items()))
    if streamed:
        print(f"{'':>4}reads an answer: " + ", ".join(f"{name} {reads:.0f}" for name, (_, reads) in answers.items()))
    return missed


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(Path(folder))
        try:
            ports = {"ours": servers.ours(), "bare ASGI app": servers.bare(), "mitmproxy": servers.mitmproxy()}
            aimock = servers.aimock()
            if aimock is None:
                print(f"{AIMOCK} is not measured: npm could not install it")
            else:
                ports["aimock"] = aimock
            for streamed in (False, True):
                before = servers.processor_time()
                missed += report(measured(ports, streamed), streamed)
                spent = [after - was for after, was in zip(servers.processor_time(), before, strict=True)]
                of = ", ".join(
                    f"{one / spent[0]:.2f}x for {name}" for name, one in zip(ports, spent, strict=True) if one
                )
                print(f"{'':>4}processor time over ours: {of.partition(', ')[2]}")
        finally:
            servers.stop()
    return missed


if __name__ == "__main__":
    if sys.argv[1:] == ["--bare"]:
        bare()
    else:
        sys.exit(1 if main() else 0)
