"""Recorders whose upstreams lead to each other: the request ends with 508 on each tape; nobody else sees a mark."""

import json
import socket
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from turntape.cassettes import Cassette
from turntape.inspector.run.run_index import Run
from turntape.proxy.capture.hops import HEADER
from turntape.proxy.scripted import ScriptedServer

BODY = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
PROXY = """
import json, sys
from pathlib import Path
from turntape.cassettes import Recorder
from turntape.proxy.capture.upstream_proxy import UpstreamProxy
from turntape.proxy.engine.engine import Engine, running
said = json.loads(sys.argv[1])
behind = UpstreamProxy("http", "127.0.0.1", said["proxy"]) if said["proxy"] else None
with Recorder(said["tape"]) as recorder:
    engine = Engine(
        recorder, port=said["port"], confdir=Path(said["confdir"]), upstreams=said["upstreams"], upstream_proxy=behind
    )
    with running(engine):
        print("ready", flush=True)
        sys.stdin.read()
"""


@contextmanager
def recorder(
    tape: Path, confdir: Path, port: int, upstreams: Mapping[str, str], proxy: int | None = None
) -> Generator[None]:
    said = {"tape": str(tape), "confdir": str(confdir), "port": port, "upstreams": upstreams, "proxy": proxy}
    command = [sys.executable, "-c", PROXY, json.dumps(said)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        assert process.stdout.readline() == "ready\n"
        yield
        process.stdin.close()
        assert process.wait(60) == 0


@pytest.fixture
def ports() -> list[int]:
    """Ports that are free."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    found = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return found


def ended_in_a_circle(answer: httpx.Response) -> bool:
    return answer.status_code == 508 and "another recorder leads back to this one" in answer.text


def test_circles_of_two_and_three_end_and_a_chain_does_not(ports: list[int], tmp_path: Path, confdir: Path) -> None:
    one, two, three = ports
    tapes = [tmp_path / f"{name}.cassette.jsonl" for name in ("one", "two", "three")]
    with ScriptedServer() as api, ExitStack() as stack, httpx.Client(trust_env=False, timeout=60) as client:
        leading = (
            {"a": f"http://localhost:{two}/a", "b": f"http://127.0.0.1:{two}/b", "c": f"http://127.0.0.1:{two}/c"},
            {"a": f"http://127.0.0.1:{one}/a", "b": f"http://127.0.0.1:{three}/b", "c": f"{api.url}/v1"},
            {"b": f"http://127.0.0.1:{one}/b"},
        )
        for tape, port, upstreams in zip(tapes, ports, leading, strict=True):
            stack.enter_context(recorder(tape, confdir, port, upstreams))
        circles = [client.post(f"http://127.0.0.1:{one}/{name}/chat/completions", json=BODY) for name in ("a", "b")]
        headers = {HEADER: "1, x,  2"}  # of anybody
        chain = client.post(f"http://127.0.0.1:{one}/c/chat/completions", json=BODY, headers=headers)

    assert [ended_in_a_circle(answer) for answer in circles] == [True, True]
    assert chain.status_code == 200
    seen = [name.lower() for request in api.requests for name, _ in request.headers]
    assert seen and HEADER not in seen
    trips = [list(Cassette.load(tape)) for tape in tapes]
    assert [[trip.response and trip.response.status for trip in of] for of in trips] == [
        [508, 508, 200], [508, 508, 200], [508],
    ]  # fmt: skip
    assert HEADER not in {name.lower() for of in trips for trip in of for name, _ in trip.request.headers}
    for tape in tapes:
        assert "request-led-back" in {finding.id for row in Run.load(tape).rows.all for finding in row.findings}


def test_a_circle_of_upstream_proxies_ends(ports: list[int], tmp_path: Path, confdir: Path) -> None:
    one, two, _ = ports
    tapes = [tmp_path / f"{name}.cassette.jsonl" for name in ("one", "two")]
    authority = confdir / "mitmproxy-ca-cert.pem"
    with (
        recorder(tapes[0], confdir, one, {}, two),
        recorder(tapes[1], confdir, two, {}, one),
        httpx.Client(trust_env=False, timeout=60, proxy=f"http://127.0.0.1:{one}", verify=str(authority)) as client,
    ):
        plain = client.post("http://api.openai.com/v1/chat/completions", json=BODY)
        with pytest.raises(httpx.RemoteProtocolError):  # without the proxy, the tunnel would break off too
            client.post("https://api.openai.com/v1/chat/completions", json=BODY)

    assert ended_in_a_circle(plain)
    for tape in tapes:
        first = next(iter(Cassette.load(tape)))
        assert first.response is not None and first.response.status == 508
