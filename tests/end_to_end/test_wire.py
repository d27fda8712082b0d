"""What the wire can bring beside requests that go well: tunnels, failed connections, WebSockets, odd requests."""

import socket
import ssl
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

sys.path.append(str(Path(__file__).parents[2]))  # bench is not installed

from end_to_end.loops import rig

from bench.soak.certificate import certificate
from turntape.cassettes import Cassette, Recorder
from turntape.proxy.capture.authority import PRIVATE, make_authority
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import ScriptedServer

ASKED = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}


@pytest.fixture(scope="module")
def own_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for localhost that no system trusts, with its key, in one file."""
    return certificate(tmp_path_factory.mktemp("tls"))


@contextmanager
def tls_server(certificate: Path) -> Generator[ScriptedServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ScriptedServer(tls=context) as server:
        yield server


def test_another_host_is_tunnelled_unchanged(tape: Path, confdir: Path, own_certificate: Path) -> None:
    """The client trusts only the server's own certificate, so nobody can have decrypted the traffic."""
    with tls_server(own_certificate) as server, rig(tape, confdir) as up:
        trust = ssl.create_default_context(cafile=str(own_certificate))
        with httpx2.Client(proxy=up.base, verify=trust, trust_env=False, timeout=None) as http:
            answer = http.get(f"https://localhost:{server.port}/v1/models")
        assert up.engine.unrecorded.tunnelled["localhost"] == 1

    assert answer.status_code == 200
    assert len(Cassette.load(tape)) == 0


def test_a_host_can_be_opened_on_request(tape: Path, tmp_path: Path) -> None:
    confdir = tmp_path / "authority"
    confdir.mkdir()
    make_authority(confdir, PRIVATE)  # the one of all tests is limited to known APIs
    with ScriptedServer() as server, Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"*": server.url}, intercept=("llm.corp.example",), confdir=confdir)
        with running(engine):
            trust = ssl.create_default_context(cafile=str(confdir / "mitmproxy-ca-cert.pem"))
            proxy = f"http://127.0.0.1:{engine.port}"
            with httpx2.Client(proxy=proxy, verify=trust, trust_env=False, timeout=None) as http:
                http.post("https://llm.corp.example/gateway/v1/chat/completions", json=ASKED)

    [trip] = Cassette.load(tape)
    assert trip.request.url == "https://llm.corp.example/gateway/v1/chat/completions"


def test_an_upstream_whose_certificate_is_not_trusted_leaves_a_record(
    tape: Path, confdir: Path, own_certificate: Path
) -> None:
    with tls_server(own_certificate) as server, Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"openai": f"https://localhost:{server.port}"}, confdir=confdir)
        with (
            running(engine),
            httpx2.Client(trust_env=False, timeout=None) as http,
            pytest.raises(httpx2.TransportError),
        ):
            http.post(f"http://127.0.0.1:{engine.port}/openai/v1/chat/completions", json=ASKED)

    [trip] = Cassette.load(tape)
    assert trip.failure is not None and trip.response is None
    assert trip.failure.kind == "tls"


@pytest.mark.parametrize("form", ["origin", "absolute", "tunnel"])
def test_a_request_that_leads_back_to_the_proxy_is_answered_once(
    tape: Path, confdir: Path, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that resolves to this machine once made the proxy call itself without end."""
    resolve = socket.getaddrinfo

    def to_ourselves(host: Any, *rest: Any, **options: Any) -> Any:
        return resolve("127.0.0.1" if host == "pc.example" else host, *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", to_ourselves)
    with Recorder(tape) as recorder, running(Engine(recorder, confdir=confdir)) as engine:
        place = f"pc.example:{engine.port}"
        target = f"http://{place}/v1/chat/completions" if form == "absolute" else "/v1/chat/completions"
        request = f"POST {target} HTTP/1.1\r\nHost: {place}\r\nContent-Length: 2\r\n\r\n{{}}"
        with socket.create_connection(("127.0.0.1", engine.port)) as client, client.makefile("rb") as answers:
            if form == "tunnel":
                client.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
                assert b" 200 " in answers.readline()
                assert answers.readline() == b"\r\n"
            client.sendall(request.encode())
            status = answers.readline()

    # A request that is made for this port and names another host may come from a web page whose name leads here. A
    # tunnel is passed on unread, so only its end sees the request.
    assert (b" 403 " if form == "origin" else b" 508 ") in status
    assert [trip.response and trip.response.status for trip in Cassette.load(tape)] == (
        [508] if form == "absolute" else []
    )


def test_a_name_that_does_not_resolve_leaves_a_record(tape: Path, confdir: Path) -> None:
    with Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"openai": "http://nowhere.invalid"}, confdir=confdir)
        with (
            running(engine),
            httpx2.Client(trust_env=False, timeout=None) as http,
            pytest.raises(httpx2.TransportError),
        ):
            http.post(f"http://127.0.0.1:{engine.port}/openai/v1/chat/completions", json=ASKED)

    [trip] = Cassette.load(tape)
    assert trip.failure is not None
    assert trip.failure.kind == "dns"


def test_a_loopback_model_is_recorded_on_the_forward_route(tape: Path, confdir: Path) -> None:
    with (
        ScriptedServer() as local,
        Recorder(tape) as recorder,
        running(Engine(recorder, confdir=confdir)) as engine,
        httpx2.Client(proxy=f"http://127.0.0.1:{engine.port}", trust_env=False, timeout=None) as http,
    ):
        http.post(f"{local.url}/api/chat", json={**ASKED, "stream": False})
        http.get(f"{local.url}/health")
        assert engine.unrecorded.passed["127.0.0.1"] == 1

    [trip] = Cassette.load(tape)
    assert trip.request.url.endswith("/api/chat")


def test_an_upstream_for_all_replaces_local_models_too(tape: Path, confdir: Path) -> None:
    """As in a replay: the model that the client asks for (nobody listens there) must not be called."""
    with rig(tape, confdir) as up, up.forward() as http:
        answer = http.post("http://127.0.0.1:9/api/chat", json={**ASKED, "stream": False})
        [got] = up.server.requests

    assert answer.status_code == 200
    assert {name.lower(): value for name, value in got.headers}["host"] == "127.0.0.1:9"
    [trip] = Cassette.load(tape)
    assert trip.request.url == "http://127.0.0.1:9/api/chat"
    assert trip.route == "forward"


def test_a_websocket_is_recorded_frame_by_frame(tape: Path, confdir: Path) -> None:
    from websockets.sync.client import connect
    from websockets.sync.server import ServerConnection, serve

    def echo(connection: ServerConnection) -> None:
        for message in connection:
            connection.send(message)

    with serve(echo, "127.0.0.1", 0) as server, Recorder(tape) as recorder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        with (
            running(Engine(recorder, upstreams={"openai": f"http://127.0.0.1:{port}"}, confdir=confdir)) as engine,
            connect(f"ws://127.0.0.1:{engine.port}/openai/v1/realtime", proxy=None) as client,
        ):
            client.send("hello")
            assert client.recv() == "hello"
            client.send(b"\x00\xff")
            assert client.recv() == b"\x00\xff"
        server.shutdown()

    [trip] = Cassette.load(tape)
    assert [(f.sender, f.data, f.text) for f in trip.frames] == [
        ("client", b"hello", True),
        ("server", b"hello", True),
        ("client", b"\x00\xff", False),
        ("server", b"\x00\xff", False),
    ]
    assert trip.response is not None and trip.response.status == 101


def test_expect_100_continue_is_answered(tape: Path, confdir: Path) -> None:
    body = b'{"model":"gpt-5","messages":[{"role":"user","content":"go"}]}'
    with rig(tape, confdir) as up, socket.create_connection(("127.0.0.1", up.engine.port)) as raw:
        head = f"POST /openai/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{up.engine.port}\r\n"
        head += f"Expect: 100-continue\r\nContent-Length: {len(body)}"
        raw.sendall(f"{head}\r\n\r\n".encode())
        answer = raw.makefile("rb")
        assert answer.readline().startswith(b"HTTP/1.1 100")
        assert answer.readline() == b"\r\n"
        raw.sendall(body)
        assert b"200 OK" in answer.readline()
        [got] = up.server.requests

    assert got.body == body


def test_stopping_the_proxy_records_what_still_runs(tape: Path, confdir: Path) -> None:
    outcome: list[Any] = []
    with ScriptedServer() as server, Recorder(tape) as recorder:
        with running(Engine(recorder, upstreams={"*": server.url}, confdir=confdir)) as engine:
            reading = threading.Event()

            def client() -> None:
                with httpx2.Client(trust_env=False, timeout=None) as http:
                    url = f"http://127.0.0.1:{engine.port}/openai/v1/chat/completions"
                    headers = {"x-scripted-fault": "stall=2"}
                    with http.stream("POST", url, json={**ASKED, "stream": True}, headers=headers) as response:
                        try:
                            for piece in response.iter_raw():
                                outcome.append(piece)
                                reading.set()
                        except httpx2.TransportError as exc:
                            outcome.append(type(exc))

            thread = threading.Thread(target=client)
            thread.start()
            assert reading.wait()
        thread.join()

    [trip] = Cassette.load(tape)
    assert trip.failure is not None and trip.failure.kind == "internal"
    assert trip.response is not None and trip.response.body
