"""The proxy as a whole, from start to stop."""

import asyncio
import socket
import sys
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import override

import httpx2
import pytest
from mitmproxy.proxy import server as mitmproxy_server
from waiting import eventually

from turntape.cassettes import RoundTrip
from turntape.proxy.capture.certificates import ensure_authority
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import Fault, ScriptedServer
from turntape.proxy.scripted.story import Step

BODY = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}


@dataclass
class Sink:
    """A recorder that remembers."""

    trips: list[RoundTrip] = field(default_factory=list[RoundTrip])

    def write(self, round_trip: RoundTrip) -> int:
        self.trips.append(round_trip)
        return len(self.trips) - 1


def ask(engine: Engine, upstream: str = "openai", **body: object) -> httpx2.Response:
    with httpx2.Client(trust_env=False, timeout=None) as client:
        return client.post(f"http://127.0.0.1:{engine.port}/{upstream}/v1/chat/completions", json=BODY | body)


def test_each_round_trip_is_written_and_reported_with_its_number(tmp_path: Path) -> None:
    sink, reported = Sink(), list[tuple[RoundTrip, int]]()
    with ScriptedServer() as server:
        engine = Engine(
            sink,
            upstreams={"*": server.url},
            confdir=tmp_path / "conf",
            on_round_trip=lambda trip, number: reported.append((trip, number)),
        )
        with running(engine):
            answers = [ask(engine).json(), ask(engine, stream=False).json()]

    assert [a["object"] for a in answers] == ["chat.completion"] * 2
    assert reported == list(zip(sink.trips, (0, 1), strict=True))


@pytest.mark.parametrize("streamed", [False, True])
def test_turntape_does_not_end_half_an_hour_of_silence(
    streamed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some answers take that long to begin, and some connections are idle that long between turns."""
    real = mitmproxy_server.TimeoutWatchdog.__init__

    def hurried(watchdog: mitmproxy_server.TimeoutWatchdog, timeout: float, callback: object) -> None:
        real(watchdog, timeout / 6000, callback)  # type: ignore[arg-type]  # ten minutes are a tenth of a second

    monkeypatch.setattr(mitmproxy_server.TimeoutWatchdog, "__init__", hurried)
    sink = Sink()
    slow = {"chunk_delay": 0.3} if streamed else {"faults": {1: Fault("slow", 300)}}
    server = ScriptedServer((Step(text="At last."),), **slow)  # type: ignore[arg-type]
    with server, running(Engine(sink, upstreams={"*": server.url}, confdir=tmp_path / "conf")) as engine:
        answer = ask(engine, stream=streamed)

    assert "At last." in answer.text or "data: [DONE]" in answer.text
    assert sink.trips[0].failure is None


def test_a_port_that_is_taken_is_an_os_error(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        engine = Engine(Sink(), port=taken.getsockname()[1], confdir=tmp_path)

        with pytest.raises(OSError, match="cannot listen on 127.0.0.1"), running(engine):
            pass


def test_a_stop_on_a_machine_that_is_too_busy_is_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def started_and_stopped() -> None:
        engine = Engine(Sink(), confdir=tmp_path)
        await engine.start()
        monkeypatch.setattr("turntape.proxy.engine.engine._STOP", 0.0)
        await engine.stop()

    asyncio.run(started_and_stopped())


def test_the_port_is_free_again_after_the_stop(tmp_path: Path) -> None:
    with running(Engine(Sink(), confdir=tmp_path)) as engine:
        port = engine.port
    again = Engine(Sink(), port=port, confdir=tmp_path)

    with running(again):
        assert again.port == port


@pytest.mark.parametrize("is_named", [True, False])
def test_the_folder_of_the_authority_is_ours_alone(
    is_named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds the key that clients trust."""
    folder = tmp_path / "made" / "conf"
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "unused" if is_named else folder))
    with running(Engine(Sink(), confdir=folder if is_named else None)):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_a_stop_before_any_start_does_nothing(tmp_path: Path) -> None:
    asyncio.run(Engine(Sink(), confdir=tmp_path).stop())


def test_what_runs_when_the_proxy_stops_is_recorded_with_what_had_arrived(tmp_path: Path) -> None:
    sink, got = Sink(), threading.Event()
    pieces: list[bytes] = []

    def stream(port: int) -> None:
        url = f"http://127.0.0.1:{port}/openai/v1/chat/completions"
        with (
            httpx2.Client(trust_env=False, timeout=None) as client,
            pytest.raises(httpx2.TransportError),
            client.stream("POST", url, json=BODY | {"stream": True}) as response,
        ):
            for piece in response.iter_raw():
                pieces.append(piece)
                if b"".join(pieces).count(b"\n\n") >= 3:
                    got.set()

    with ScriptedServer(faults={1: Fault("stall", 3)}) as server:
        engine = Engine(sink, upstreams={"*": server.url}, confdir=tmp_path)
        with running(engine):
            client = threading.Thread(target=stream, args=(engine.port,))
            client.start()
            assert got.wait()
        client.join()

    assert not client.is_alive()
    (trip,) = sink.trips
    assert trip.response is not None and trip.failure is not None
    assert trip.response.body == b"".join(pieces)
    assert (trip.failure.kind, trip.failure.message) == (
        "internal",
        "turntape was stopped before the answer was complete",
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs a server that lets a connection wait")
def test_a_request_whose_connection_is_not_open_yet_when_the_proxy_stops_gets_no_answer(tmp_path: Path) -> None:
    """The record has none either."""
    sink, seen = Sink(), list[object]()

    def post(port: int) -> None:
        with httpx2.Client(trust_env=False, timeout=None) as client:
            try:
                seen.append(client.post(f"http://127.0.0.1:{port}/openai/v1/chat/completions", json=BODY))
            except httpx2.TransportError as exc:
                seen.append(type(exc))

    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for one in (first, second):  # the server takes no more after these
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        url = f"http://127.0.0.1:{full.getsockname()[1]}"
        engine = Engine(sink, upstreams={"*": url}, confdir=tmp_path)
        with running(engine):
            client = threading.Thread(target=post, args=(engine.port,))
            client.start()
            eventually(lambda: engine.pending)
        client.join()

    (trip,) = sink.trips
    assert seen == [httpx2.RemoteProtocolError]
    assert trip.response is None and trip.failure is not None and trip.failure.kind == "internal"


TOGETHER = 12


class TogetherHandler(BaseHTTPRequestHandler):
    """Answers no request until all requests are there."""

    protocol_version = "HTTP/1.1"
    there = threading.Barrier(TOGETHER)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"] or 0))
        self.there.wait()
        self._answer()

    def _answer(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    @override
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_a_client_on_http_2_gets_more_than_five_answers_at_once(tmp_path: Path) -> None:
    """mitmproxy opens no more than five connections upstream for a client, and each of these needs one."""
    sink = Sink()
    ensure_authority(tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), TogetherHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        engine = Engine(sink, upstreams={"*": f"http://127.0.0.1:{server.server_port}"}, confdir=tmp_path)
        with running(engine):
            statuses = asyncio.run(_at_once(engine.port, tmp_path / "mitmproxy-ca-cert.pem", TOGETHER))
        server.shutdown()

    assert statuses == [("HTTP/2", 200)] * TOGETHER
    assert len(sink.trips) == TOGETHER + 1


async def _at_once(port: int, authority: Path, count: int) -> list[tuple[str, int]]:
    import ssl

    trust = ssl.create_default_context(cafile=str(authority))
    async with httpx2.AsyncClient(
        proxy=f"http://127.0.0.1:{port}", verify=trust, http2=True, trust_env=False, timeout=None
    ) as client:
        url = "https://api.openai.com/v1/chat/completions"
        await client.get("https://api.openai.com/v1/models")  # otherwise each would open its own connection
        answers = await asyncio.gather(*(client.post(url, json=BODY | {"user": str(n)}) for n in range(count)))
    return [(answer.http_version, answer.status_code) for answer in answers]
