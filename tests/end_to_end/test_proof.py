"""The same run with us and without: every client, byte for byte at the API and chunk by chunk at the client."""

import asyncio
import json
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import httpx2
import pytest
import requests
from end_to_end import test_other_clients as others
from end_to_end.corporate import certificate
from end_to_end.loops import LOOPS

from turntape.cassettes import Recorder
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.prove.comparison import HOST, PREFIX, Difference, differences
from turntape.proxy.prove.report import Proof
from turntape.proxy.prove.wire import Exchange
from turntape.proxy.prove.witness import Witnesses
from turntape.proxy.scripted import Fault, ScriptedServer

ASKED: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
VOLATILE = {"field x-amz-date", "field authorization", "field amz-sdk-invocation-id"}
"""What botocore signs for each request: it depends on the time and the host."""

type Client = Callable[[str, bool], object]


def sdk(protocol: str) -> Client:
    loop, client_of = LOOPS[protocol]

    def run(base: str, streamed: bool) -> object:
        with httpx2.Client(trust_env=False, timeout=None) as http:
            return loop(client_of(base, http), streamed)

    return run


def by_httpx(base: str, streamed: bool) -> object:
    with httpx.Client(trust_env=False, timeout=None) as http:
        return http.post(f"{base}/openai/v1/chat/completions", json={**ASKED, "stream": streamed}).text


def by_requests(base: str, streamed: bool) -> object:
    with requests.Session() as session:
        session.trust_env = False
        return session.post(f"{base}/openai/v1/chat/completions", json={**ASKED, "stream": streamed}).text


def by_requests_chunked(base: str, streamed: bool) -> object:
    """A request body in chunks."""
    pieces = iter([b'{"model":"gpt-5",', b'"stream":true,' if streamed else b"", b'"messages":[]}'])
    with requests.Session() as session:
        session.trust_env = False
        return session.post(f"{base}/openai/v1/chat/completions", data=filter(None, pieces)).text


def by_aiohttp(base: str, streamed: bool) -> object:
    async def post() -> str:
        url = f"{base}/openai/v1/chat/completions"
        async with aiohttp.ClientSession() as session, session.post(url, json={**ASKED, "stream": streamed}) as answer:
            return await answer.text()

    return asyncio.run(post())


CLIENTS: dict[str, Client] = {
    **{f"{name} SDK": sdk(name) for name in LOOPS},
    **others.CLIENTS,
    "httpx": by_httpx,
    "requests": by_requests,
    "requests in chunks": by_requests_chunked,
    "aiohttp": by_aiohttp,
}


@contextmanager
def relayed(port: int, confdir: Path) -> Generator[tuple[str, Witnesses]]:
    """A witness before a server, and nobody else."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    witnesses = Witnesses(opens=lambda host: False, authority=confdir)
    try:
        own = asyncio.run_coroutine_threadsafe(witnesses.behind("http", "127.0.0.1", port), loop).result(20)
        yield f"http://127.0.0.1:{own}", witnesses
    finally:
        asyncio.run_coroutine_threadsafe(witnesses.stop(), loop).result(20)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def proven(
    tape: Path, confdir: Path, run: Callable[[str], object], **server: Any
) -> tuple[object, Proof, Sequence[Exchange]]:
    """What the client returned, the proof, and what the witness behind us saw."""
    with ScriptedServer(**server) as upstream, Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"*": upstream.url}, confdir=confdir, prove=True)
        with running(engine):
            got = run(f"http://127.0.0.1:{engine.port}")
    proof = engine.proof()
    return got, proof, [one.behind for one in proof.compared if one.behind is not None]


def alone(confdir: Path, run: Callable[[str], object], **server: Any) -> tuple[object, Sequence[Exchange]]:
    with ScriptedServer(**server) as upstream:
        with relayed(upstream.port, confdir) as (base, witnesses):
            got = run(base)
        return got, witnesses.behind_us.exchanges()


def between(direct: Exchange, before: Exchange, behind: Exchange) -> list[Difference]:
    """The run without us beside the run with us: its request at the API, and its answer at the client."""
    request = Exchange(direct.request, before.response, 0, "")
    answer = Exchange(behind.request, direct.response, 1, "")
    return list(differences(request, answer))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_and_the_api_see_the_same_with_the_proxy_and_without(
    client: str, streamed: bool, tape: Path, confdir: Path
) -> None:
    def run(base: str) -> object:
        return CLIENTS[client](base, streamed)

    got, proof, behind = proven(tape, confdir, run)
    same, direct = alone(confdir, run)

    assert proof.holds, proof.unexplained
    assert not proof.answered and not proof.missed
    assert {d.why for one in proof.compared for d in one.differences if "chunks" not in d.what} == {PREFIX, HOST}
    assert got == same
    assert len(direct) == len(behind) > 0
    for one, compared in zip(direct, proof.compared, strict=True):
        assert compared.behind is not None
        found = between(one, compared.before, compared.behind)
        volatile = VOLATILE if client == "bedrock-converse" else set[str]()
        assert [d for d in found if d.why is None and d.what not in volatile] == []
        chunked = {"request chunks"} if client == "requests in chunks" else set[str]()
        assert {f"{d.side} {d.what}" for d in found if d.why} <= {
            "request request line",
            "request field host",
        } | chunked


@pytest.mark.parametrize("fault", ["gzip", "br", "zstd", "status=529", "cut=3", "empty"])
def test_faults_reach_the_client_as_they_are(fault: str, tape: Path, confdir: Path) -> None:
    from turntape.proxy.scripted.faults import parse

    made = parse(fault)
    assert isinstance(made, Fault)

    def run(base: str) -> object:
        with httpx2.Client(trust_env=False, timeout=None) as http:
            pieces: list[bytes] = []
            url = f"{base}/openai/v1/chat/completions"
            with http.stream("POST", url, json={**ASKED, "stream": True}) as answer:
                try:
                    pieces.extend(answer.iter_raw())
                except httpx2.TransportError as exc:
                    return b"".join(pieces), type(exc)
                return b"".join(pieces), answer.status_code

    got, proof, _ = proven(tape, confdir, run, faults={1: made})
    same, _ = alone(confdir, run, faults={1: made})

    assert proof.holds, proof.unexplained
    assert got == same


def test_an_api_behind_tls_has_a_witness_too(tape: Path, confdir: Path, tmp_path: Path) -> None:
    own = certificate(tmp_path / "own.pem", "localhost")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own)
    with ScriptedServer(tls=context) as upstream, Recorder(tape) as recorder:
        engine = Engine(
            recorder,
            upstreams={"openai": f"https://localhost:{upstream.port}"},
            confdir=confdir,
            trusted_ca=own,
            prove=True,
        )
        with running(engine), httpx2.Client(trust_env=False, timeout=None) as http:
            url = f"http://127.0.0.1:{engine.port}/openai/v1/chat/completions"
            assert http.post(url, json={**ASKED, "stream": True}).text.endswith("[DONE]\n\n")

    assert engine.proof().holds
    assert len(engine.proof().compared[0].before.response.chunks) > 5  # type: ignore[union-attr]


FORWARD = """
import asyncio, os, sys
import aiohttp, httpx, requests, openai, anthropic
from google import genai
url, asked = "https://api.openai.com/v1/chat/completions", {"model": "gpt-5", "messages": [], "stream": True}
assert httpx.post(url, json=asked, timeout=None).status_code == 200
assert requests.post(url, json=asked).status_code == 200
async def by_aiohttp():
    async with aiohttp.ClientSession(trust_env=True) as session, session.post(url, json=asked) as answer:
        assert (await answer.text()).endswith("[DONE]\\n\\n")
asyncio.run(by_aiohttp())
client = openai.OpenAI(api_key="none", base_url="https://api.openai.com/v1")
for _ in client.chat.completions.create(**{**asked, "messages": [{"role": "user", "content": "go"}]}): pass
client = anthropic.Anthropic(api_key="none", base_url="https://api.anthropic.com")
client.messages.create(model="claude-sonnet-4-5", max_tokens=9, messages=[{"role": "user", "content": "go"}])
client = genai.Client(api_key="none")
client.models.generate_content(model="gemini-3-pro", contents="go")
"""


def prove(tmp_path: Path, code: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "turntape.proxy.cli", "run", "--out", "run.jsonl", "--prove", *options]
    environ = {"PATH": os.environ["PATH"], "TURNTAPE_HOME": str(tmp_path / "home")}
    return subprocess.run(
        [*command, "--", sys.executable, "-c", code],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_forward_route_forces_nothing(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        done = prove(tmp_path, FORWARD, "--route", "forward", "--upstream", f"*={server.url}")

    assert done.returncode == 0, done.stderr
    assert "proven for 6 requests" in done.stderr
    assert "forced" not in done.stderr
    assert "DIFFERS" not in done.stderr


def test_a_websocket_passes_and_its_opening_is_compared(tape: Path, confdir: Path) -> None:
    from websockets.sync.client import connect
    from websockets.sync.server import ServerConnection, serve

    def echo(connection: ServerConnection) -> None:
        for message in connection:
            connection.send(message)

    with serve(echo, "127.0.0.1", 0) as server, Recorder(tape) as recorder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.socket.getsockname()[1]}"
        engine = Engine(recorder, upstreams={"*": url}, confdir=confdir, prove=True)
        with (
            running(engine),
            connect(f"ws://127.0.0.1:{engine.port}/openai/v1/realtime", proxy=None) as client,
        ):
            client.send("hello")
            assert client.recv() == "hello"
        server.shutdown()

    proof = engine.proof()
    assert proof.holds, proof.unexplained
    [one] = proof.compared
    assert one.before.response is not None and one.before.response.status == 101


def test_a_run_without_requests_proves_nothing_and_says_so(tmp_path: Path) -> None:
    done = prove(tmp_path, "pass")

    assert done.returncode == 1
    assert "nothing to prove" in done.stderr


def test_what_is_passed_on_and_not_recorded_is_compared_too(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        done = prove(tmp_path, f"import httpx; httpx.get('{server.url}/v1/models', timeout=None)")

    assert done.returncode == 0, done.stderr
    assert "proven for 1 request:" in done.stderr
    assert "a proxy gets the whole URL" in " ".join(done.stderr.split())


def test_the_exit_code_of_the_command_takes_precedence(tmp_path: Path) -> None:
    assert prove(tmp_path, "raise SystemExit(7)").returncode == 7


def test_what_a_limit_refused_is_listed_as_not_passed_on(tmp_path: Path) -> None:
    code = (
        "import httpx, os\n"
        "for _ in range(2):\n"
        f"    httpx.post(os.environ['OPENAI_BASE_URL'] + '/chat/completions', json={json.dumps(ASKED)}, timeout=None)"
    )
    with ScriptedServer() as server:
        done = prove(tmp_path, code, "--max-turns", "1", "--upstream", f"*={server.url}")

    assert done.returncode == 0, done.stderr
    assert "proven for 1 request:" in done.stderr
    assert "not passed on, so not compared: POST /openai/v1/chat/completions" in " ".join(done.stderr.split())
