"""What the upstream sees, and what the client gets, is the same with the proxy and without."""

from pathlib import Path

import httpx2
import pytest
from end_to_end.loops import LOOPS, Witness, rig

from turntape.proxy.scripted import Fault, Received, ScriptedServer

HOP_BY_HOP = {"host", "connection", "proxy-connection"}


def seen(requests: list[Received], *, without: set[str]) -> list[object]:
    return [(r.method, r.path, [(k, v) for k, v in r.headers if k.lower() not in without], r.body) for r in requests]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("protocol", LOOPS)
def test_the_upstream_sees_the_same_on_the_base_url_route(
    protocol: str, streamed: bool, tape: Path, confdir: Path
) -> None:
    loop, client_of = LOOPS[protocol]
    prefix = {"anthropic-messages": "/anthropic"}.get(protocol, "/openai")
    with rig(tape, confdir) as up, httpx2.Client(trust_env=False, timeout=None) as http:
        loop(client_of(up.base, http), streamed)
        through = seen(up.server.requests, without=HOP_BY_HOP)
    with ScriptedServer() as direct, httpx2.Client(trust_env=False, timeout=None) as http:
        loop(client_of(direct.url, http), streamed)
        # Without the proxy nobody removes the prefix of the route.
        alone = [Received(r.method, r.path.removeprefix(prefix), r.headers, r.body) for r in direct.requests]

    assert through == seen(alone, without=HOP_BY_HOP)


def test_the_upstream_sees_the_clients_own_host_on_the_forward_route(tape: Path, confdir: Path) -> None:
    body = b'{"model":"gpt-5","messages":[{"role":"user","content":"go"}]}'
    headers = {"content-type": "application/json", "X-Odd-Case": "kept", "authorization": "Bearer k"}
    with rig(tape, confdir) as up, up.forward() as http:
        http.post("https://api.openai.com/v1/chat/completions", content=body, headers=headers)
        [through] = up.server.requests
    with ScriptedServer() as direct, httpx2.Client(trust_env=False, timeout=None) as http:
        http.post(f"{direct.url}/v1/chat/completions", content=body, headers={**headers, "host": "api.openai.com"})
        [alone] = direct.requests

    assert (through.method, through.path, through.body) == (alone.method, alone.path, alone.body)
    assert sorted((k.lower(), v) for k, v in through.headers) == sorted((k.lower(), v) for k, v in alone.headers)
    assert ("X-Odd-Case", "kept") in through.headers


@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", None])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_the_client_gets_the_same_bytes(encoding: str | None, streamed: bool, tape: Path, confdir: Path) -> None:
    """Raw bytes, chunk by chunk, under any content-encoding; the record holds them decoded."""
    from turntape.cassettes import Cassette

    faults = {1: Fault(encoding)} if encoding else None  # type: ignore[arg-type]
    asked = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}], "stream": streamed}

    def raw(base: str) -> tuple[list[bytes], object]:
        with (
            httpx2.Client(trust_env=False, timeout=None) as http,
            http.stream("POST", f"{base}/v1/chat/completions", json=asked) as r,
        ):
            return list(r.iter_raw()), sorted(r.headers.items())

    with rig(tape, confdir, faults=faults, chunk_delay=0.002) as up:
        through = raw(f"{up.base}/openai")
        alone = raw(up.server.url)

    assert b"".join(through[0]) == b"".join(alone[0])
    assert through[1] == alone[1]
    [trip] = Cassette.load(tape)
    assert trip.response is not None
    assert trip.response.encoding == encoding
    assert b"generate_email" in trip.response.body
    assert Witness
