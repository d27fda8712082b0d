"""Through a company's proxy, with a company's certificates: what is recorded, what is tunnelled, what goes straight."""

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from end_to_end.corporate import CorporateProxy, certificate

from turntape.cassettes import Cassette, Recorder
from turntape.proxy.capture.upstream_proxy import parse
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import ScriptedServer

ASKED = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
LOGIN = "jo@corp:p:ss"
WRITTEN = "jo%40corp:p%3Ass"


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One certificate for every host here, with its key."""
    path = tmp_path_factory.mktemp("company") / "company.pem"
    return certificate(path, "api.openai.com", "files.corp.example", "localhost")


def tls(pem: Path, *, clients: Path | None = None) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients)
    return context


@contextmanager
def proxied(tape: Path, confdir: Path, **options: Any) -> Generator[str]:
    with Recorder(tape) as recorder, running(Engine(recorder, confdir=confdir, **options)) as engine:
        yield f"http://127.0.0.1:{engine.port}"


def forward(base: str, trusted: Path, **options: Any) -> httpx2.Client:
    trust = ssl.create_default_context(cafile=str(trusted))
    return httpx2.Client(proxy=base, verify=trust, trust_env=False, timeout=None, **options)


@pytest.mark.parametrize("route", ["forward", "base_url"])
def test_recorded_traffic_uses_a_tunnel_with_the_login(route: str, tape: Path, confdir: Path, company: Path) -> None:
    with (
        ScriptedServer(tls=tls(company)) as server,
        CorporateProxy({"api.openai.com:443": server.port}, login=LOGIN) as corporate,
        proxied(
            tape, confdir, upstream_proxy=parse(f"http://{WRITTEN}@127.0.0.1:{corporate.port}"), trusted_ca=company
        ) as base,
        forward(base, confdir / "mitmproxy-ca-cert.pem") as through,
        httpx2.Client(trust_env=False, timeout=None) as plain,
    ):
        if route == "forward":
            answer = through.post("https://api.openai.com/v1/chat/completions", json=ASKED)
        else:
            answer = plain.post(f"{base}/openai/v1/chat/completions", json=ASKED)
        [got] = server.requests

    assert answer.status_code == 200
    assert corporate.asked == [("CONNECT", "api.openai.com:443")]
    assert corporate.logins == [CorporateProxy.basic(LOGIN)]
    assert not [name for name, _ in got.headers if name.lower().startswith("proxy-")]
    [trip] = Cassette.load(tape)
    assert trip.request.url == "https://api.openai.com/v1/chat/completions"


def test_an_http2_client_uses_the_proxy_too(tape: Path, confdir: Path, company: Path) -> None:
    with (
        ScriptedServer(tls=tls(company)) as server,
        CorporateProxy({"api.openai.com:443": server.port}) as corporate,
        proxied(tape, confdir, upstream_proxy=parse(f"127.0.0.1:{corporate.port}"), trusted_ca=company) as base,
        forward(base, confdir / "mitmproxy-ca-cert.pem", http2=True, http1=False) as through,
    ):
        answer = through.post("https://api.openai.com/v1/chat/completions", json=ASKED)

    assert (answer.status_code, answer.http_version) == (200, "HTTP/2")
    assert corporate.asked == [("CONNECT", "api.openai.com:443")]


def test_tunnelled_traffic_passes_unchanged(tape: Path, confdir: Path, company: Path) -> None:
    """The client trusts the server's own certificate alone, so nobody can have decrypted the traffic."""
    with (
        ScriptedServer(tls=tls(company)) as server,
        CorporateProxy({"files.corp.example:443": server.port}, login=LOGIN) as corporate,
        proxied(tape, confdir, upstream_proxy=parse(f"http://{WRITTEN}@127.0.0.1:{corporate.port}")) as base,
        forward(base, company) as through,
    ):
        answer = through.get("https://files.corp.example/v1/models")

    assert answer.status_code == 200
    assert corporate.asked == [("CONNECT", "files.corp.example:443")]
    assert corporate.logins == [CorporateProxy.basic(LOGIN)]
    assert len(Cassette.load(tape)) == 0


@pytest.mark.parametrize(
    ("target", "recorded"), [("/v1/chat/completions", 1), ("/health", 0)], ids=["recorded", "passed on"]
)
def test_plain_http_is_requested_in_absolute_form(target: str, recorded: int, tape: Path, confdir: Path) -> None:
    with (
        ScriptedServer() as server,
        CorporateProxy({"llm.corp.example": server.port}, login=LOGIN) as corporate,
        proxied(tape, confdir, upstream_proxy=parse(f"http://{WRITTEN}@127.0.0.1:{corporate.port}")) as base,
        httpx2.Client(proxy=base, trust_env=False, timeout=None) as through,
    ):
        through.post(f"http://llm.corp.example{target}", json=ASKED)
        [got] = server.requests

    assert corporate.asked == [("POST", f"http://llm.corp.example{target}")]
    assert corporate.logins == [CorporateProxy.basic(LOGIN)]
    assert ("host", "llm.corp.example") in [(name.lower(), value) for name, value in got.headers]
    trips = list(Cassette.load(tape))
    assert len(trips) == recorded
    assert not any("proxy-authorization" in dict(trip.request.headers) for trip in trips)


def test_a_websocket_gets_a_tunnel(tape: Path, confdir: Path) -> None:
    from websockets.sync.client import connect
    from websockets.sync.server import ServerConnection, serve

    def echo(connection: ServerConnection) -> None:
        for message in connection:
            connection.send(message)

    with serve(echo, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        with (
            CorporateProxy({"llm.corp.example:80": port}) as corporate,
            proxied(
                tape,
                confdir,
                upstreams={"openai": "http://llm.corp.example"},
                upstream_proxy=parse(f"127.0.0.1:{corporate.port}"),
            ) as base,
            connect(f"ws{base[4:]}/openai/v1/realtime", proxy=None) as client,
        ):
            client.send("hello")
            assert client.recv() == "hello"
        server.shutdown()

    assert corporate.asked == [("CONNECT", "llm.corp.example:80")]
    [trip] = Cassette.load(tape)
    assert len(trip.frames) == 2


def test_a_proxy_that_is_itself_behind_tls(tape: Path, confdir: Path, company: Path) -> None:
    with (
        ScriptedServer(tls=tls(company)) as server,
        CorporateProxy({"api.openai.com:443": server.port}, tls=tls(company)) as corporate,
        proxied(tape, confdir, upstream_proxy=parse(f"https://localhost:{corporate.port}"), trusted_ca=company) as base,
        httpx2.Client(trust_env=False, timeout=None) as plain,
    ):
        answer = plain.post(f"{base}/openai/v1/chat/completions", json=ASKED)

    assert answer.status_code == 200
    assert corporate.asked == [("CONNECT", "api.openai.com:443")]


def test_a_proxy_that_refuses_leaves_a_record_that_names_it(tape: Path, confdir: Path) -> None:
    with (
        CorporateProxy({}, login=LOGIN) as corporate,
        proxied(tape, confdir, upstream_proxy=parse(f"127.0.0.1:{corporate.port}")) as base,
        httpx2.Client(trust_env=False, timeout=None) as plain,
        pytest.raises(httpx2.TransportError),
    ):
        plain.post(f"{base}/openai/v1/chat/completions", json=ASKED)

    [trip] = Cassette.load(tape)
    assert trip.failure is not None
    assert trip.failure.kind == "refused"
    assert "407" in trip.failure.message


def test_what_no_proxy_exempts_and_loopback_are_connected_to_directly(tape: Path, confdir: Path) -> None:
    with (
        ScriptedServer() as server,
        CorporateProxy({}) as corporate,
        proxied(
            tape,
            confdir,
            upstreams={"openai": server.url, "mistral": "http://llm.invalid"},
            upstream_proxy=parse(f"127.0.0.1:{corporate.port}", exempt=(".invalid",)),
        ) as base,
        httpx2.Client(trust_env=False, timeout=None) as plain,
    ):
        answer = plain.post(f"{base}/openai/v1/chat/completions", json=ASKED)
        with pytest.raises(httpx2.TransportError):
            plain.post(f"{base}/mistral/v1/chat/completions", json=ASKED)

    assert answer.status_code == 200
    assert corporate.asked == []


@pytest.mark.parametrize("form", ["file", "folder", "none"])
def test_an_upstream_that_asks_for_a_client_certificate_gets_it(
    form: str, tape: Path, confdir: Path, company: Path, tmp_path: Path
) -> None:
    mine = certificate(tmp_path / "localhost.pem", "jo")
    given = {"file": mine, "folder": tmp_path, "none": None}[form]
    with (
        ScriptedServer(tls=tls(company, clients=mine)) as server,
        proxied(
            tape,
            confdir,
            upstreams={"openai": f"https://localhost:{server.port}"},
            trusted_ca=company,
            client_cert=given,
        ) as base,
        httpx2.Client(trust_env=False, timeout=None) as plain,
    ):
        try:
            status = plain.post(f"{base}/openai/v1/chat/completions", json=ASKED).status_code
        except httpx2.TransportError:
            status = None

    assert status == (None if form == "none" else 200)
    [trip] = Cassette.load(tape)
    assert (trip.failure is None) == (form != "none")


CLIENT = (
    "import httpx, sys\n"
    "for host in ('api.openai.com', 'files.corp.example'):\n"
    "    asked = {'model': 'gpt-5', 'messages': []}\n"
    "    print(httpx.post(f'https://{host}/v1/chat/completions', json=asked, timeout=None).status_code)"
)


def run(tmp_path: Path, *options: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "turntape.proxy.cli", "run", *options]
    environ = {"PATH": os.environ["PATH"], "TURNTAPE_HOME": str(tmp_path / "home"), **more}
    return subprocess.run(
        [*command, "--", sys.executable, "-c", CLIENT],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("by", ["option", "environment"])
@pytest.mark.parametrize("store", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_a_run_in_a_corporate_network(by: str, store: str, company: Path, tmp_path: Path) -> None:
    """Both hosts lie behind the proxy, under the company's authority: one is recorded, the other tunnelled."""
    mine = certificate(tmp_path / "jo.pem", "jo")
    with (
        ScriptedServer(tls=tls(company, clients=mine)) as server,
        ScriptedServer(tls=tls(company)) as files,
        CorporateProxy({"api.openai.com:443": server.port, "files.corp.example:443": files.port}) as corporate,
    ):
        url = f"http://127.0.0.1:{corporate.port}"
        more = {store: str(company if store == "SSL_CERT_FILE" else company.parent)}
        options = ["--upstream-proxy", url] if by == "option" else []
        done = run(
            tmp_path,
            "--out",
            "run.jsonl",
            *options,
            "--client-cert",
            str(mine),
            **more,
            **({} if options else {"HTTPS_PROXY": url}),
        )

    assert done.stdout.split() == ["200", "200"], done.stderr
    assert sorted(corporate.asked) == [("CONNECT", "api.openai.com:443"), ("CONNECT", "files.corp.example:443")]
    [trip] = Cassette.load(tmp_path / "run.jsonl")
    assert trip.request.url == "https://api.openai.com/v1/chat/completions"


@pytest.mark.parametrize(
    "options",
    [("--upstream-proxy", "socks5://proxy:1"), ("--client-cert", "nowhere.pem"), ("--client-cert", "empty")],
    ids=" ".join,
)
def test_what_cannot_be_used_is_one_line_on_stderr(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    done = run(tmp_path, *options)

    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert not list(tmp_path.glob("*.jsonl"))
