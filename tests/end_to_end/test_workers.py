"""Several processes behind one port: one tape, one set of figures, and one that is killed is started again."""

import os
import re
import signal
import ssl
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import orjson
import pytest
from waiting import eventually

from turntape.cassettes import Cassette, RoundTrip
from turntape.proxy.scripted import ScriptedServer

KEY = "sk-proj-abcDEF123456ghiJKL789012mnoPQR345678stuVWX"
COUNT = 12


def children(process: int) -> dict[int, int]:
    """The workers of a process by their numbers."""
    found: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            command = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == process and b"worker_process" in command:
            found[len(found)] = int(status.parent.name)
    return found


def runs(process: int) -> bool:
    """True until the process has ended, whether or not somebody waits for it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def question(trip: RoundTrip) -> int | None:
    """The number that was asked; None for a request that did not arrive as a whole."""
    if not trip.request.complete or not trip.request.body:
        return None
    return int(orjson.loads(trip.request.body)["messages"][0]["content"].split()[1])


class Gateway:
    """`turntape record --workers 2` and what it writes."""

    def __init__(self, folder: Path, api: str, suffix: str = "jsonl") -> None:
        self.said: list[str] = []
        self.tape = folder / f"t.cassette.{suffix}"
        command = [sys.executable, "-m", "turntape.proxy.cli", "record", "--workers=2", "--port=0", "--quiet"]
        command += [f"--output={self.tape}", f"--upstream=openai={api}/v1"]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=os.environ | {"TURNTAPE_HOME": str(folder / "home")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout and self.process.stderr
        lines = self.process.stdout
        self.port = int(next(line for line in lines if " port " in line).rpartition("port ")[2].partition(".")[0])
        authority = next(line for line in lines if "SSL_CERT_FILE=" in line).partition("=")[2].strip()
        self._trusted = ssl.create_default_context(cafile=authority)
        self._reading = threading.Thread(target=self.said.extend, args=(self.process.stderr,), daemon=True)
        self._reading.start()

    def ask(self, number: int, *, forward: bool = False) -> int:
        """One chat of two messages, on its own connection."""
        body = {"model": "gpt-5", "user": KEY, "messages": [{"role": "user", "content": f"question {number}"}]}
        ours = f"http://127.0.0.1:{self.port}"
        with httpx.Client(proxy=ours if forward else None, trust_env=False, verify=self._trusted, timeout=60) as client:
            base = "https://api.openai.com/v1" if forward else f"{ours}/openai/v1"
            return client.post(f"{base}/chat/completions", json=body).status_code

    def page(self, name: str) -> str:
        return httpx.get(f"http://127.0.0.1:{self.port}/-/{name}", trust_env=False, timeout=60).text

    def metric(self, name: str) -> int:
        found = re.search(rf"^turntape_{name} (\d+)", self.page("metrics"), re.MULTILINE)
        return int(found[1]) if found else -1

    def end(self) -> int:
        self.process.terminate()
        code = self.process.wait(60)
        self._reading.join(60)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()
        return code


@pytest.fixture
def api() -> Generator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the processes in /proc")
def test_several_workers_write_one_tape_and_a_killed_one_is_replaced(tmp_path: Path, api: ScriptedServer) -> None:
    gateway = Gateway(tmp_path, api.url)
    with ThreadPoolExecutor(8) as pool:
        first = list(pool.map(lambda number: gateway.ask(number, forward=number % 3 == 0), range(COUNT)))
    workers = children(gateway.process.pid)
    eventually(lambda: gateway.metric("round_trips_total") == COUNT)
    os.kill(workers[0], signal.SIGKILL)
    eventually(lambda: len({*children(gateway.process.pid).values()} - {workers[0]}) == 2)
    with ThreadPoolExecutor(8) as pool:
        second = list(pool.map(gateway.ask, range(COUNT, 2 * COUNT)))
    ready = gateway.page("ready")
    code = gateway.end()

    said = "".join(gateway.said)
    assert (code, {*first, *second}, len(workers), ready) == (0, {200}, 2, "ready\n"), said
    assert said.count("was ended by SIGKILL; another one is started in its place") == 1
    cassette = Cassette.load(gateway.tape)
    asked = {orjson.loads(trip.request.body)["messages"][0]["content"] for trip in cassette}
    assert asked == {f"question {number}" for number in range(2 * COUNT)}
    assert sorted(trip.index for trip in cassette) == list(range(2 * COUNT)) == sorted(cassette.labels)
    assert {trip.route for trip in cassette} == {"base_url", "forward"}
    assert KEY.encode() not in gateway.tape.read_bytes()
    assert len({trip.request.body.partition(b"REDACTED")[2][:9] for trip in cassette}) == 1  # one salt


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the processes in /proc")
@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.zst"])
def test_what_the_killed_process_had_not_written_is_added_by_the_workers(
    tmp_path: Path, api: ScriptedServer, suffix: str
) -> None:
    gateway = Gateway(tmp_path, api.url, suffix)
    for number in range(3):
        assert gateway.ask(number) == 200
    eventually(lambda: len(Cassette.load(gateway.tape)) == 3)
    workers = children(gateway.process.pid)
    gateway.process.send_signal(signal.SIGSTOP)  # from here on it writes nothing, and clients are still answered
    with ThreadPoolExecutor(4) as pool:
        answered = list(pool.map(lambda number: gateway.ask(number, forward=number % 3 == 0), range(3, COUNT)))
    gateway.process.kill()
    gateway.process.wait(60)
    eventually(lambda: not any(map(runs, workers.values())))
    gateway.end()

    assert {*answered} == {200} and len(workers) == 2
    cassette = Cassette.load(gateway.tape)
    asked = sorted(orjson.loads(trip.request.body)["messages"][0]["content"] for trip in cassette)
    assert asked == sorted(f"question {number}" for number in range(COUNT))
    assert [trip.index for trip in cassette] == list(range(COUNT))
    assert {trip.response.status if trip.response else None for trip in cassette} == {200}
    said = "".join(gateway.said)
    assert KEY not in repr([trip.request.body for trip in cassette])
    added = re.findall(r"has ended unexpectedly; a worker has added its last (\d+) round trip", said)
    assert sum(map(int, added)) == COUNT - 3, said


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the processes in /proc")
def test_a_killed_process_loses_no_answer_under_traffic_and_has_none_twice(tmp_path: Path, api: ScriptedServer) -> None:
    gateway = Gateway(tmp_path, api.url)
    workers = children(gateway.process.pid)
    answered: list[int] = []

    def ask(first: int) -> None:
        for number in range(first, first + 1000):
            try:
                status = gateway.ask(number)
            except httpx.HTTPError:
                return
            assert status == 200
            answered.append(number)

    with ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, 1000 * client) for client in range(4)]
        eventually(lambda: len(answered) >= COUNT)
        gateway.process.kill()
        for each in asking:
            each.result()
    eventually(lambda: not any(map(runs, workers.values())))
    gateway.end()

    cassette = Cassette.load(gateway.tape)
    kept = [number for trip in cassette if (number := question(trip)) is not None]
    assert sorted(kept) == sorted({*kept}), "".join(gateway.said)
    assert {*answered} - {*kept} == set(), "".join(gateway.said)
    assert {*answered} & {question(trip) for trip in cassette if trip.failure is not None} == set()
