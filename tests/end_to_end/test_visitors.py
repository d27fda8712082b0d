"""Who may use the ports: requests that lead back to the proxy, pages of other places, and other users."""

import base64
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from waiting import eventually

from turntape.cassettes import Cassette, Recorder
from turntape.cassettes.replay.player import Player
from turntape.cassettes.routes.admission import Admission
from turntape.cassettes.server.server import serve
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import ScriptedServer

BODY = json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}).encode()
TOKEN = "turntape-" + "0f" * 20
RIGHT = "Basic " + base64.b64encode(f"turntape:{TOKEN}".encode()).decode()
OWN_NAMES = ("127.0.0.1", "localhost", "LOCALHOST", "127.1", "2130706433", "0x7f.1", "0.0.0.0", "[::1]", "a.localhost")


def ask(port: int, target: str, host: str, method: str = "POST", **fields: str) -> tuple[int, bytes]:
    """One request, with its target and its Host as given; the status of the answer, and all of it."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(head(target, host, method, **fields) + BODY)
        return answer(connection)


def head(target: str, host: str, method: str = "POST", **fields: str) -> bytes:
    given = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return (
        f"{method} {target} HTTP/1.1\r\nHost: {host}\r\n{given}Content-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(BODY)}\r\n\r\n"
    ).encode()


def answer(connection: socket.socket) -> tuple[int, bytes]:
    got = b""
    while data := connection.recv(65536):
        got += data
    return int(got.split(b" ", 2)[1]), got


def through_a_tunnel(port: int, place: str, target: str, host: str, **fields: str) -> tuple[int, bytes]:
    """The same request in a tunnel to `place`; the status of a tunnel that is refused."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        login = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
        connection.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n{login}\r\n".encode())
        said = connection.recv(65536)
        if b" 200 " not in said.split(b"\r\n", 1)[0]:
            return int(said.split(b" ", 2)[1]), said
        connection.sendall(head(target, host) + BODY)
        return answer(connection)


@contextmanager
def recorder(tape: Path, confdir: Path, **options: Any) -> Generator[Engine]:
    with (
        ScriptedServer() as server,
        Recorder(tape) as file,
        running(Engine(file, confdir=confdir, upstreams={"openai": server.url}, **options)) as engine,
    ):
        yield engine


@pytest.fixture
def rebound(monkeypatch: pytest.MonkeyPatch) -> str:
    """A name that leads to this machine, as a name server of an attacker says it."""
    real = socket.getaddrinfo

    def answered(host: Any, *more: Any, **options: Any) -> Any:
        return real("127.0.0.1" if host == "evil.example" else host, *more, **options)

    monkeypatch.setattr(socket, "getaddrinfo", answered)
    return "evil.example"


@pytest.mark.parametrize("name", OWN_NAMES)
def test_every_spelling_of_our_address_is_the_base_url(name: str, tape: Path, confdir: Path) -> None:
    with recorder(tape, confdir) as engine:
        place = f"{name}:{engine.port}"
        path = "/openai/v1/chat/completions"
        said = [
            ask(engine.port, path, place),
            ask(engine.port, f"http://{place}{path}", place),
            through_a_tunnel(engine.port, place, path, place),
        ]

    assert [status for status, _ in said] == [200, 200, 200]
    assert [trip.request.url.rpartition(":")[2].partition("/")[2] for trip in Cassette.load(tape)] == [
        "v1/chat/completions"
    ] * 3


@pytest.mark.parametrize("name", OWN_NAMES)
def test_no_spelling_of_our_address_makes_us_call_ourselves(name: str, tape: Path, confdir: Path) -> None:
    """A path without an upstream used to be passed on to the host that it names: us."""
    with recorder(tape, confdir) as engine:
        place = f"{name}:{engine.port}"
        said = [
            ask(engine.port, "/v1/chat/completions", place),
            ask(engine.port, f"http://{place}/v1/chat/completions", place),
            through_a_tunnel(engine.port, place, "/v1/chat/completions", place),
        ]

    assert [status for status, _ in said] == [404, 404, 404]
    assert len(Cassette.load(tape)) == 0


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/openai/v1/chat/completions", "/"])
def test_a_name_that_leads_back_ends_at_the_first_return(rebound: str, path: str, tape: Path, confdir: Path) -> None:
    """The first hop is a request for a proxy, which may name any host. It comes back from a connection of ours."""
    with recorder(tape, confdir) as engine:
        place = f"{rebound}:{engine.port}"
        said = [
            ask(engine.port, f"http://{place}{path}", place),
            through_a_tunnel(engine.port, place, path, place),
        ]

    assert {status for status, _ in said} <= {508, 403}
    assert said[0][0] == 508 and b"turntape_loop" in said[0][1]
    assert len(Cassette.load(tape)) <= 2
    assert [trip.response.status for trip in Cassette.load(tape) if trip.response] in ([], [508], [508, 508])


def test_a_request_that_is_sent_to_us_is_never_passed_on_to_the_host_that_it_names(
    rebound: str, tape: Path, confdir: Path
) -> None:
    with recorder(tape, confdir) as engine, ScriptedServer() as other:
        said = [
            ask(engine.port, "/v1/chat/completions", f"{rebound}:{other.port}"),
            ask(engine.port, "/openai/v1/chat/completions", f"{rebound}:{engine.port}"),
            ask(engine.port, "/v1/chat/completions", "api.openai.com"),
        ]
        refused = engine.unrecorded.refused

    assert [status for status, _ in said] == [403, 403, 403]
    assert all(b"turntape_refused_host" in whole for _, whole in said)
    assert other.requests == []
    assert sum(refused.values()) == 3
    assert len(Cassette.load(tape)) == 0


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"origin": "http://localhost:5173", "sec_fetch_site": "cross-site"}, 200),
        ({"sec_fetch_site": "none"}, 200),
    ],
)
@pytest.mark.parametrize("form", ["direct", "for a proxy", "tunnel"])
def test_only_pages_of_this_machine_may_use_the_recorder(
    form: str, fields: dict[str, str], status: int, tape: Path, confdir: Path
) -> None:
    """An agent's own browser sends through the proxy, and its pages are foreign too."""
    with recorder(tape, confdir) as engine:
        place = f"127.0.0.1:{engine.port}"
        path = "/openai/v1/chat/completions"
        if form == "tunnel":
            with socket.create_connection(("127.0.0.1", engine.port), timeout=20) as connection:
                connection.sendall(f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode())
                connection.recv(65536)
                connection.sendall(head(path, place, **fields) + BODY)
                got, _ = answer(connection)
        else:
            got, _ = ask(engine.port, path if form == "direct" else f"http://{place}{path}", place, **fields)

    assert got == status
    assert len(Cassette.load(tape)) == (status == 200)


def test_with_a_token_both_routes_need_it_and_it_is_not_recorded(tape: Path, confdir: Path) -> None:
    path = "/openai/v1/chat/completions"
    with recorder(tape, confdir, admission=Admission(TOKEN)) as engine, ScriptedServer() as other:
        place, there = f"127.0.0.1:{engine.port}", f"127.0.0.1:{other.port}"
        without = [
            ask(engine.port, path, place),
            ask(engine.port, f"/t/{TOKEN[:-1]}0{path}", place),
            ask(engine.port, f"http://{place}{path}", place),
            ask(engine.port, f"http://{there}/v1/chat/completions", there),
            through_a_tunnel(engine.port, there, "/v1/chat/completions", there),
            ask(engine.port, f"http://{there}/v1/chat/completions", there, proxy_authorization="Basic eDp4"),
        ]
        came = list(other.requests)
        with_it = [
            ask(engine.port, f"/t/{TOKEN}{path}", place),
            ask(engine.port, f"/t/{TOKEN}/s/my-run{path}", "recorder:8484"),
            ask(engine.port, f"http://{place}{path}", place, proxy_authorization=RIGHT),
            ask(engine.port, f"http://{there}/v1/chat/completions", there, proxy_authorization=RIGHT),
            through_a_tunnel(engine.port, there, "/v1/chat/completions", there, proxy_authorization=RIGHT),
            through_a_tunnel(engine.port, place, path, place, proxy_authorization=RIGHT),
        ]

    assert [status for status, _ in without] == [401, 401, 401, 407, 407, 407]
    assert all(b"proxy-authenticate" in whole.lower() for status, whole in without if status == 407)
    assert came == []
    assert [status for status, _ in with_it] == [200] * 6
    trips = list(Cassette.load(tape))
    assert [trip.run for trip in trips] == [None, "my-run", None, None, None, None]
    assert TOKEN not in tape.read_text()
    got = [*other.requests]
    assert not any(name.lower() == "proxy-authorization" for one in got for name, _ in one.headers)


def test_a_run_is_named_by_the_user_beside_the_token(tape: Path, confdir: Path) -> None:
    login = "Basic " + base64.b64encode(f"my-run:{TOKEN}".encode()).decode()
    with recorder(tape, confdir, admission=Admission(TOKEN)) as engine:
        place = f"127.0.0.1:{engine.port}"
        ask(engine.port, f"http://{place}/openai/v1/chat/completions", place, proxy_authorization=login)

    assert [trip.run for trip in Cassette.load(tape)] == ["my-run"]


@contextmanager
def replayed(admission: Admission | None = None) -> Generator[int]:
    found: list[int] = []
    thread = threading.Thread(
        target=serve, args=(Player([]),), kwargs={"ready": found.append, "admission": admission}, daemon=True
    )
    thread.start()
    eventually(lambda: bool(found))
    yield found[0]


@pytest.mark.parametrize(
    ("host", "fields", "status"),
    [
        ("127.0.0.1", {}, 400),
        ("localhost", {"origin": "http://localhost:5173"}, 400),
        ("evil.example", {}, 403),
        ("127.0.0.1", {"origin": "https://evil.example"}, 403),
        ("127.0.0.1", {"sec_fetch_site": "cross-site"}, 403),
    ],
)
def test_the_replay_server_has_the_same_rules(host: str, fields: dict[str, str], status: int) -> None:
    """400 is the answer to a request that was not recorded."""
    with replayed() as port:
        got, whole = ask(port, "/openai/v1/chat/completions", f"{host}:{port}", **fields)

    assert got == status
    assert (b"turntape_refused" in whole) is (status == 403)


def test_the_replay_server_with_a_token() -> None:
    with replayed(Admission(TOKEN)) as port:
        path = "/openai/v1/chat/completions"
        said = [ask(port, path, "a"), ask(port, f"/t/{TOKEN}{path}", "a"), ask(port, path, f"127.0.0.1:{port}")]

    assert [status for status, _ in said] == [403, 400, 401]


ROUTES = """
import base64, os, sys, urllib.request, urllib.error
from urllib.parse import urlsplit

def status(url, **fields):
    request = urllib.request.Request(url, b"{}", {"content-type": "application/json", **fields})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        return opener.open(request).status
    except urllib.error.HTTPError as refused:
        return refused.code

base = os.environ["OPENAI_BASE_URL"]
place = urlsplit(base).netloc
print(status(base + "/chat/completions"), status(f"http://{place}/openai/v1/chat/completions"))
"""


@pytest.mark.parametrize(("port", "expected"), [([], "200 401"), (["--port", "free"], "200 200")])
def test_only_the_command_of_a_run_can_use_its_proxy(port: list[str], expected: str, tape: Path) -> None:
    """An address that the user chose may be in the settings of a client, so it stays as it is."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = str(probe.getsockname()[1])
    given = [free if word == "free" else word for word in port]
    with ScriptedServer() as server:
        command = [sys.executable, "-m", "turntape.proxy.cli", "run", *given, "-o", str(tape)]
        command += ["--upstream", f"openai={server.url}", "--quiet", "--", sys.executable, "-c", ROUTES]
        done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (done.stdout.strip(), done.returncode) == (expected, 0), done.stderr
    assert "turntape-" not in tape.read_text().replace("turntape-replay", "")


SHOW = "import os, pathlib as p; f = p.Path(os.environ['SSL_CERT_FILE']).parent; print(f, *sorted(os.listdir(f)))"


@pytest.mark.parametrize("permanent", [False, True])
def test_a_run_has_a_private_authority_that_ends_with_it(
    permanent: bool, tape: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    command = [sys.executable, "-m", "turntape.proxy.cli", "run", *["--permanent-ca"] * permanent, "-o", str(tape)]
    done = subprocess.run(
        [*command, "--quiet", "--", sys.executable, "-c", SHOW], capture_output=True, text=True, check=False
    )
    folder, *names = done.stdout.split()

    assert "mitmproxy-ca.pem" in names, done.stderr
    assert (Path(folder) == tmp_path / "home") is permanent
    assert Path(folder).exists() is permanent
    assert (tmp_path / "home" / "mitmproxy-ca.pem").exists() is permanent
