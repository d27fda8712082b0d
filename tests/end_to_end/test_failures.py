"""Failed turns are kept, and the client sees what it would see without the proxy."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from end_to_end.loops import openai_client, rig
from waiting import eventually

from turntape.cassettes import Cassette, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.proxy.scripted import Fault, ScriptedServer

ASKED: dict[str, Any] = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}


def outcome(call: Callable[[], object]) -> object:
    """What a caller gets: the value, or the class of the error."""
    try:
        return call()
    except Exception as exc:
        return type(exc)


def streamed(base: str, **headers: str) -> list[str]:
    with httpx2.Client(trust_env=False, timeout=None) as http:
        client = openai_client(base, http)
        chunks = client.chat.completions.create(**ASKED, stream=True, extra_headers=headers)
        return [chunk.model_dump_json() for chunk in chunks]


@pytest.mark.parametrize(
    "fault",
    ["cut=3", "error_event=2", "bad_arguments", "truncated_arguments", "status=429", "status=529", "status=400",
     "reset", "malformed_sse=1", "empty", "wrong_finish", "slow=20"],
)  # fmt: skip
def test_a_client_sees_each_fault_as_without_the_proxy(fault: str, tape: Path, confdir: Path) -> None:
    header = {"x-scripted-fault": fault}
    with rig(tape, confdir) as up:
        through = outcome(lambda: streamed(up.base, **header))
        alone = outcome(lambda: streamed(up.server.url, **header))

    assert through == alone
    [done] = label_all(Cassette.load(tape))
    assert done.label["turn"] == 1


def only(tape: Path) -> tuple[RoundTrip, dict[str, Any]]:
    [done] = label_all(Cassette.load(tape))
    return done.round_trip, done.label


def test_a_stream_cut_by_the_upstream_is_kept_up_to_the_cut(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir, faults={1: Fault("cut", 3)}) as up:
        outcome(lambda: streamed(up.base))

    trip, label = only(tape)
    assert trip.failure is not None and trip.response is not None
    assert (trip.failure.kind, trip.closed_first, len(trip.response.chunks)) == ("cut", "server", 3)
    assert label["api"]["effective"] == "cut"
    assert [f["id"] for f in label["findings"]] == ["api-stream-cut", "client-no-retry-on-transient"]


def test_an_error_inside_a_stream_is_an_error_even_with_status_200(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir, faults={1: Fault("error_event", 2)}) as up:
        outcome(lambda: streamed(up.base))

    _, label = only(tape)
    assert (label["status"], label["api"]["effective"]) == (200, "error")
    assert [f["id"] for f in label["findings"]] == [
        "api-error-in-200-stream",
        "client-no-retry-on-transient",
        "api-overloaded",
    ]


def test_arguments_that_are_not_json_are_kept_raw(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir, faults={1: Fault("bad_arguments")}) as up:
        streamed(up.base)

    _, label = only(tape)
    broken = label["model"]["tool_calls"][-1]
    assert broken["arguments"] is None and broken["arguments_raw"].endswith(",}")


def test_a_client_that_leaves_in_the_middle_has_closed_first(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir, faults={1: Fault("stall", 3)}) as up:
        with (
            httpx2.Client(trust_env=False, timeout=None) as http,
            http.stream("POST", f"{up.base}/openai/v1/chat/completions", json={**ASKED, "stream": True}) as response,
        ):
            next(response.iter_raw())
        up.recorded.get()

    trip, label = only(tape)
    assert trip.failure is not None
    assert (trip.failure.kind, trip.closed_first) == ("client_gone", "client")
    assert [f["id"] for f in label["findings"]] == ["client-interrupted"]


def test_a_client_that_closes_after_the_last_event_has_a_complete_turn(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up, httpx2.Client(trust_env=False, timeout=None) as http:
        asked = {**ASKED, "stream": True}
        with http.stream("POST", f"{up.base}/openai/v1/chat/completions", json=asked) as response:
            for line in response.iter_lines():
                if line == "data: [DONE]":
                    break

    trip, label = only(tape)
    assert trip.failure is None
    assert label["api"]["effective"] == "tool_calls"


def test_a_refused_upstream_leaves_a_record_and_the_client_a_connection_error(tape: Path, confdir: Path) -> None:
    with (
        rig(tape, confdir) as up,
        httpx2.Client(trust_env=False, timeout=None) as http,
        pytest.raises(httpx2.TransportError),
    ):
        http.post(f"{up.base}/dead/v1/chat/completions", json=ASKED)

    trip, label = only(tape)
    assert trip.failure is not None and trip.response is None
    assert (trip.failure.kind, label["status"], label["api"]["effective"]) == ("refused", None, "error")


def test_a_path_without_an_upstream_is_answered_in_one_sentence(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up, httpx2.Client(trust_env=False, timeout=None) as http:
        answer = http.post(f"{up.base}/nobody/v1/chat/completions", json=ASKED)

    assert answer.status_code == 404
    assert "'/nobody/v1/chat/completions'" in answer.json()["error"]["message"]
    assert len(Cassette.load(tape)) == 0


def test_http2_clients_stream_sixteen_at_once(tape: Path, confdir: Path) -> None:
    import asyncio

    async def ask(up: Any) -> list[tuple[str, bytes]]:
        async with httpx2.AsyncClient(
            proxy=up.base, verify=up.trust(), http2=True, trust_env=False, timeout=None
        ) as http:

            async def one(number: int) -> tuple[str, bytes]:
                asked = {"model": f"m{number}", "stream": True, "messages": [{"role": "user", "content": str(number)}]}
                answer = await http.post("https://api.openai.com/v1/chat/completions", json=asked)
                return answer.http_version, answer.content

            return await asyncio.gather(*(one(number) for number in range(16)))

    with rig(tape, confdir, chunk_delay=0.005) as up:
        answers = asyncio.run(ask(up))

    assert {version for version, _ in answers} == {"HTTP/2"}
    assert all(f'"m{number}"'.encode() in body and b"[DONE]" in body for number, (_, body) in enumerate(answers))
    assert len(Cassette.load(tape)) == 16


def test_large_and_encoded_request_bodies_arrive_and_are_kept(tape: Path, confdir: Path) -> None:
    import gzip

    large = b'{"model":"gpt-5","messages":[{"role":"user","content":"' + b"x" * 20_000_000 + b'"}]}'
    small = b'{"model":"gpt-5","messages":[{"role":"user","content":"small"}]}'
    with rig(tape, confdir) as up, httpx2.Client(trust_env=False, timeout=None) as http:
        url = f"{up.base}/openai/v1/chat/completions"
        http.post(url, content=large, headers={"content-type": "application/json"})
        http.post(url, content=gzip.compress(small, mtime=0), headers={"content-encoding": "gzip"})
        http.post(url, content=iter([small[:10], small[10:]]), headers={"content-type": "application/json"})
        got = [r.body for r in up.server.requests]

    assert got == [large, gzip.compress(small, mtime=0), small]
    trips = list(Cassette.load(tape))
    assert [trip.request.body for trip in trips] == [large, small, small]
    assert [trip.request.encoding for trip in trips] == [None, "gzip", None]


def test_a_run_is_named_by_path_or_by_proxy_user(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up:
        with httpx2.Client(trust_env=False, timeout=None) as http:
            http.post(f"{up.base}/s/by-path/openai/v1/chat/completions", json=ASKED)
        proxy = f"http://by-user:x@127.0.0.1:{up.engine.port}"
        with httpx2.Client(proxy=proxy, verify=up.trust(), trust_env=False, timeout=None) as http:
            http.post("https://api.openai.com/v1/chat/completions", json=ASKED)
        assert not [name for r in up.server.requests for name, _ in r.headers if name.lower().startswith("proxy-")]

    assert [trip.run for trip in Cassette.load(tape)] == ["by-path", "by-user"]


PROXY = """
import sys
from pathlib import Path
from turntape.cassettes import Recorder
from turntape.proxy.engine.engine import Engine, running
with Recorder(sys.argv[1]) as recorder:
    with running(Engine(recorder, upstreams={"*": sys.argv[2]}, confdir=Path(sys.argv[3]))) as engine:
        print(engine.port, flush=True)
        sys.stdin.read()
"""


def test_a_killed_proxy_keeps_all_that_had_finished(tape: Path, confdir: Path) -> None:
    """Twenty parallel streams, ten of which end; then kill -9."""
    with ScriptedServer() as upstream:
        proxy = subprocess.Popen(
            [sys.executable, "-c", PROXY, str(tape), upstream.url, str(confdir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert proxy.stdout is not None and proxy.stdin is not None
        base = f"http://127.0.0.1:{int(proxy.stdout.readline())}"
        finished = threading.Semaphore(0)

        def ask(number: int) -> None:
            fault = {"x-scripted-fault": "stall=3"} if number % 2 else {}
            asked = {"model": f"m{number}", "stream": True, "messages": [{"role": "user", "content": "go"}]}
            with httpx2.Client(trust_env=False, timeout=None) as http, contextlib.suppress(httpx2.TransportError):
                http.post(f"{base}/openai/v1/chat/completions", json=asked, headers=fault)
                finished.release()

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            assert finished.acquire()
        # The recorder writes what has finished in batches.
        eventually(lambda: tape.read_bytes().count(b'\n{"n":') == 10)
        os.kill(proxy.pid, signal.SIGKILL)
        proxy.wait()
        proxy.stdin.close()
        proxy.stdout.close()
        for thread in threads:
            thread.join()

    cassette = Cassette.load(tape)
    done = label_all(cassette)
    assert {one.reading.request.model for one in done} == {f"m{number}" for number in range(0, 20, 2)}
    assert {str(one.label["api"]["effective"]) for one in done} == {"tool_calls"}  # type: ignore[index]
