"""`record --workers`: requests in a second with one process and with two, side by side.

Both recorders run at the same time before one upstream and take turns, with 32 connections each. On a machine with two
cores the client and the upstream take a part of them, so two workers cannot be twice as fast. Bar: at least 1.2x.
"""

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import override

from _processes import started

ROUNDS, ANSWERS, CONNECTIONS = 8, 320, 32
BAR = 1.2
BODY = b'{"model":"gpt-5","messages":[{"role":"user","content":"%s"}]}' % (b"the history that agents resend " * 160)
MESSAGE = b'{"role":"assistant","content":"ok"}'
ANSWER = b'{"id":"1","choices":[{"index":0,"finish_reason":"stop","message":%s}]}' % MESSAGE
WHOLE = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)


class Api(asyncio.Protocol):
    """Answers each request at once."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._data = b""

    @override
    def data_received(self, data: bytes) -> None:
        self._data += data
        while (end := self._data.find(b"\r\n\r\n")) >= 0:
            size = int(self._data[:end].lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            if len(self._data) < end + 4 + size:
                return
            self._data = self._data[end + 4 + size :]
            assert isinstance(self._transport, asyncio.Transport)
            self._transport.write(WHOLE)


class Client(asyncio.Protocol):
    """Asks, reads the answer, and asks again."""

    def __init__(self, port: int) -> None:
        head = b"POST /openai/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:%d\r\ncontent-type: application/json\r\n"
        self._request = (head + b"content-length: %d\r\n\r\n") % (port, len(BODY)) + BODY
        self._data = b""
        self.answers = 0

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self._request)

    @override
    def data_received(self, data: bytes) -> None:
        self._data += data
        if self._data.endswith(ANSWER):
            self._data = b""
            self.answers += 1
            self._transport.write(self._request)

    def close(self) -> None:
        self._transport.close()


async def rate(port: int) -> float:
    """Answers in a second."""
    loop = asyncio.get_running_loop()
    clients: list[Client] = []
    for _ in range(CONNECTIONS):
        _, client = await loop.create_connection(lambda: Client(port), "127.0.0.1", port)
        clients.append(client)
    begun = time.perf_counter()
    while (answers := sum(client.answers for client in clients)) < ANSWERS:  # noqa: ASYNC110 - none of them knows
        await asyncio.sleep(0.01)
    spent = time.perf_counter() - begun
    for client in clients:
        client.close()
    return answers / spent


async def upstream() -> None:
    server = await asyncio.get_running_loop().create_server(Api, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def recorder(folder: str, workers: int, api: int, children: list[subprocess.Popen[str]]) -> int:
    command = [sys.executable, "-m", "turntape.proxy.cli", "record", f"--workers={workers}", "--port=0", "--quiet"]
    command += [f"--output={folder}/{workers}.cassette.jsonl", f"--upstream=openai=http://127.0.0.1:{api}/v1"]
    home = {**os.environ, "TURNTAPE_HOME": folder}
    child = started(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=home)
    children.append(child)
    assert child.stdout is not None
    return int(next(line for line in child.stdout if " port " in line).rpartition("port ")[2].partition(".")[0])


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    children: list[subprocess.Popen[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            api = started([sys.executable, __file__, "--upstream"], stdout=subprocess.PIPE)
            children.append(api)
            assert api.stdout is not None
            port = int(api.stdout.readline())
            ports = {workers: recorder(folder, workers, port, children) for workers in (1, 2)}
            rates: dict[int, list[float]] = {1: [], 2: []}
            for number in range(ROUNDS + 1):  # the first one warms up
                for workers in random.sample(list(ports), 2):
                    rates[workers].append(asyncio.run(rate(ports[workers])))
                one, two = (rates[workers][-1] for workers in (1, 2))
                print(f"{'':>8}round {number} of {ROUNDS}: {one:.0f} and {two:.0f} requests a second", flush=True)
        finally:
            for child in reversed(children):
                child.kill()  # the labels of what was recorded are not waited for
                child.wait()
                if child.stdout is not None:
                    child.stdout.close()
        sizes = [(Path(folder) / f"{workers}.cassette.jsonl").stat().st_size for workers in (1, 2)]
    ratio = statistics.median(two / one for one, two in zip(rates[1][1:], rates[2][1:], strict=True))
    missed = ratio < BAR
    one, two = (statistics.median(rates[workers][1:]) for workers in (1, 2))
    print(f"2 workers: {ratio:.2f}x the rate of 1, with {CONNECTIONS} connections (bar {BAR:g})  "
          f"{'MISSED' if missed else 'ok'}")  # fmt: skip
    print(f"{'':>8}requests a second: {one:.0f} and {two:.0f} on {os.cpu_count()} cores; MB recorded: "
          f"{sizes[0] / 1e6:.0f} and {sizes[1] / 1e6:.0f}")  # fmt: skip
    return int(missed)


if __name__ == "__main__":
    if sys.argv[1:] == ["--upstream"]:
        asyncio.run(upstream())
    else:
        sys.exit(main())
