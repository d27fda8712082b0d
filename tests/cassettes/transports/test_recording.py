import asyncio
import gzip
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import httpx2
import pytest
from anthropic import Anthropic
from openai import AsyncOpenAI, OpenAI

from turntape.cassettes import (
    AsyncCassetteTransport,
    AsyncRecordingTransport,
    Cassette,
    CassetteError,
    CassetteTransport,
    Recorder,
    RecordingTransport,
    ReplayTransport,
    RoundTrip,
    Session,
)
from turntape.cassettes.replay.new_cassette import unfinished
from turntape.proxy.scripted.faults import parse
from turntape.proxy.scripted.server import ScriptedServer

ASKED: Any = {"model": "gpt-5", "messages": [{"role": "user", "content": "Write to my prospects."}]}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


@pytest.fixture(autouse=True)
def not_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("TURNTAPE_MODE", raising=False)


def recorded(path: Path, use: Callable[[RecordingTransport], object]) -> list[RoundTrip]:
    with Recorder(path) as recorder, RecordingTransport(recorder) as transport:
        use(transport)
    return list(Cassette.load(path))


@contextmanager
def raw_server(answer: bytes) -> Iterator[int]:
    """Sends `answer` to whoever connects, then closes."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with peer:
                peer.recv(65536)
                peer.sendall(answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.parametrize("library", [httpx, httpx2])
@pytest.mark.parametrize("fault", ["", "gzip", "br", "zstd"])
@pytest.mark.parametrize("stream", [False, True])
def test_what_the_client_reads_is_what_the_tape_holds(
    library: Any, fault: str, stream: bool, server: ScriptedServer, tmp_path: Path
) -> None:
    got: list[bytes] = []

    def use(transport: RecordingTransport) -> None:
        with (
            library.Client(transport=transport) as client,
            client.stream(
                "POST",
                f"{server.url}/v1/chat/completions",
                json={**ASKED, "stream": stream},
                headers={"x-scripted-fault": fault, "authorization": "Bearer sk-secretsecretsecretsecret"},
            ) as response,
        ):
            got.extend(response.iter_bytes())

    [trip] = recorded(tmp_path / "a.cassette.jsonl", use)

    assert trip.response is not None and trip.failure is None and trip.closed_first is None
    assert trip.response.body == b"".join(got)
    assert trip.response.encoding == (fault or None)
    assert len(trip.response.chunks) > 3 if stream else trip.response.chunks
    assert json.loads(trip.request.body) == {**ASKED, "stream": stream}
    assert "secretsecret" not in (tmp_path / "a.cassette.jsonl").read_text()


def test_the_first_piece_passes_before_the_stream_has_ended(tmp_path: Path) -> None:
    """The source gives its second piece only when the first has been read through the tee."""
    read = threading.Event()

    class Source(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield b"data: 1\n\n"
            assert read.wait(10)
            yield b"data: 2\n\n"

    live = httpx.MockTransport(lambda request: httpx.Response(200, stream=Source()))
    with Recorder(tmp_path / "a.cassette.jsonl") as recorder:
        transport = RecordingTransport(recorder, live)
        with httpx.Client(transport=transport) as client, client.stream("GET", "http://x/") as response:
            pieces = response.iter_raw()
            assert next(pieces) == b"data: 1\n\n"
            read.set()
            assert next(pieces) == b"data: 2\n\n"

    [trip] = Cassette.load(tmp_path / "a.cassette.jsonl")
    assert trip.response is not None and [chunk.size for chunk in trip.response.chunks] == [9, 9]


@pytest.mark.parametrize(("cut", "faults"), [(1, 1), (0, 0)])
def test_an_answer_that_ends_before_its_encoding_does_is_noted(cut: int, faults: int, tmp_path: Path) -> None:
    packed = gzip.compress(b'{"a":1}')
    source = httpx.ByteStream(packed[: len(packed) - cut])
    live = httpx.MockTransport(lambda _: httpx.Response(200, stream=source, headers={"content-encoding": "gzip"}))

    with (
        Recorder(tmp_path / "a.cassette.jsonl") as recorder,
        httpx.Client(transport=RecordingTransport(recorder, live)) as client,
        client.stream("GET", "http://x/") as response,
    ):
        assert b"".join(response.iter_raw()) == packed[: len(packed) - cut]

    [trip] = Cassette.load(tmp_path / "a.cassette.jsonl")
    assert trip.response is not None and trip.response.body == b'{"a":1}'
    assert len(trip.faults) == faults and all("before its gzip encoding does" in fault for fault in trip.faults)


def test_a_transport_that_answers_from_memory_is_recorded_too(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"a":1}')
    live = httpx2.MockTransport(lambda _: httpx2.Response(200, content=packed, headers={"content-encoding": "gzip"}))

    with (
        Recorder(tmp_path / "a.cassette.jsonl") as recorder,
        httpx2.Client(transport=RecordingTransport(recorder, live)) as client,
    ):
        assert client.get("http://x/").json() == {"a": 1}

    [trip] = Cassette.load(tmp_path / "a.cassette.jsonl")
    assert trip.response is not None and trip.response.body == b'{"a":1}' and trip.response.encoding == "gzip"


def test_failed_and_cut_exchanges_are_kept_and_raised(tmp_path: Path) -> None:
    closed = socket.create_server(("127.0.0.1", 0))
    nobody = closed.getsockname()[1]
    closed.close()
    half = b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf"

    def use(transport: RecordingTransport) -> None:
        client = httpx.Client(transport=transport)
        with pytest.raises(httpx.ConnectError):
            client.post(f"http://127.0.0.1:{nobody}/v1/messages", content=b"{}")
        with raw_server(half) as port, pytest.raises(httpx.RemoteProtocolError):
            client.get(f"http://127.0.0.1:{port}/")
        with raw_server(b"not HTTP\r\n\r\n") as port, pytest.raises(httpx.RemoteProtocolError):
            client.get(f"http://127.0.0.1:{port}/")
        with raw_server(b"hello, no TLS here") as port, pytest.raises(httpx.ConnectError):
            client.get(f"https://127.0.0.1:{port}/")
        with pytest.raises(httpx.ConnectError):
            client.get("http://no-such-host.invalid/")

    trips = recorded(tmp_path / "a.cassette.jsonl", use)

    kinds = [trip.failure.kind if trip.failure else None for trip in trips]
    assert kinds == ["refused", "cut", "cut", "tls", "dns"]
    assert trips[0].response is None and trips[0].request.body == b"{}"
    assert trips[1].response is not None and trips[1].response.body == b"half"
    assert trips[1].closed_first == "server"


def test_a_client_that_leaves_a_stream_is_recorded_as_gone(server: ScriptedServer, tmp_path: Path) -> None:
    def use(transport: RecordingTransport) -> None:
        client = OpenAI(api_key="k", base_url=f"{server.url}/v1", http_client=httpx2.Client(transport=transport))
        stalled = client.chat.completions.create(**ASKED, stream=True, extra_headers={"x-scripted-fault": "stall:2"})
        next(iter(stalled))
        stalled.close()
        for _ in client.chat.completions.create(**ASKED, stream=True):
            pass

    left, whole = recorded(tmp_path / "a.cassette.jsonl", use)

    assert left.closed_first == "client" and left.failure is not None and left.failure.kind == "client_gone"
    assert left.response is not None and left.response.body
    # The SDK stops at the last event and closes: nothing was lost.
    assert whole.failure is None and whole.response is not None
    assert whole.response.body.endswith(b"data: [DONE]\n\n")


def test_a_cancelled_task_is_kept_as_left_by_the_client(tmp_path: Path) -> None:
    async def go() -> None:
        async with ScriptedServer(faults={1: parse("stall:2")}) as server:
            with Recorder(tmp_path / "a.cassette.jsonl") as recorder:
                transport = AsyncRecordingTransport(recorder)
                client = AsyncOpenAI(
                    api_key="k", base_url=f"{server.url}/v1", http_client=httpx2.AsyncClient(transport=transport)
                )
                arrived = asyncio.Event()

                async def read() -> None:
                    async for _ in await client.chat.completions.create(**ASKED, stream=True):
                        arrived.set()

                task = asyncio.create_task(read())
                await arrived.wait()
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                await client.close()

    asyncio.run(go())

    [trip] = Cassette.load(tmp_path / "a.cassette.jsonl")
    assert trip.failure is not None and trip.failure.kind == "client_gone"


def test_fifty_tasks_are_recorded_each_with_its_own_answer(tmp_path: Path) -> None:
    async def live(request: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0)
        return httpx2.Response(200, content=b"answer to " + await request.aread())

    async def ask(path: Path, mode: str) -> None:
        transport = AsyncCassetteTransport(path, mode, transport=httpx2.MockTransport(live))
        async with httpx2.AsyncClient(transport=transport) as client:

            async def one(number: int) -> None:
                body = b"%d" % number
                assert (await client.post("http://x/", content=body)).content == b"answer to " + body

            await asyncio.gather(*(one(number) for number in range(50)))

    path = tmp_path / "a.cassette.jsonl"
    asyncio.run(ask(path, "once"))
    asyncio.run(ask(path, "none"))

    assert len(Cassette.load(path)) == 50


def ask(path: Path, mode: str, server: ScriptedServer, *words: str) -> CassetteTransport:
    transport = CassetteTransport(path, mode)
    with Anthropic(
        api_key="k", base_url=server.url, max_retries=0, http_client=httpx2.Client(transport=transport)
    ) as client:
        for word in words:
            client.messages.create(model="claude-x", max_tokens=9, messages=[{"role": "user", "content": word}])
    return transport


def test_once_records_and_then_replays_with_the_upstream_down(server: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.cassette.jsonl"

    ask(path, "once", server, "a", "b")
    assert len(server.requests) == 2
    server.stop()
    ask(path, "once", server, "a", "b")

    assert len(Cassette.load(path)) == 2
    assert not unfinished(path).exists()


def test_new_calls_and_adds_only_what_is_missing(server: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    ask(path, "once", server, "a")
    before = path.read_bytes()

    ask(path, "new", server, "a", "b")
    assert len(server.requests) == 2
    ask(path, "none", server, "a", "b")

    assert len(server.requests) == 2
    assert path.read_bytes().startswith(before)


def test_all_records_again(server: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    ask(path, "all", server, "a", "b")

    ask(path, "all", server, "c")

    assert [json.loads(trip.request.body)["messages"][0]["content"] for trip in Cassette.load(path)] == ["c"]


def test_without_a_cassette_a_replay_says_how_to_record_one(server: ScriptedServer, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="the cassette .* does not exist.*; record one with the mode 'once'"):
        ask(tmp_path / "a.cassette.jsonl", "none", server, "a")

    assert server.requests == []


def test_ci_never_records_by_what_the_code_says(
    server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(Exception, match="the cassette .* does not exist"):
        ask(tmp_path / "a.cassette.jsonl", "all", server, "a")

    assert server.requests == []


def answering(path: Path, mode: str, answer: object, status: int = 200) -> list[str]:
    """What `verify` says of an API that answers a POST with `answer`."""
    live = httpx.MockTransport(lambda request: httpx.Response(status, json=answer))
    transport = CassetteTransport(path, mode, transport=live)
    with httpx.Client(transport=transport) as client:
        client.post("http://x/v1/messages", json={})
    return [change for live_difference in transport.session.live_differences for change in live_difference.changes]


def test_verify_gives_the_recording_and_compares_the_shape_of_the_live_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    answering(path, "once", {"id": "1", "usage": {"in": 1}, "stop": None, "parts": [{"text": "a"}]})

    same = answering(path, "verify", {"id": "2", "usage": {"in": 9}, "stop": "x", "parts": [{"text": "b"}] * 2})
    other = answering(path, "verify", {"id": 2, "usage": {"in": 9, "out": 3}, "stop": None})

    assert same == []
    assert other == [
        "/id of answer was text and is number",
        "/parts of answer is missing",
        "/usage/out of answer is new",
    ]
    assert answering(path, "verify", {}, status=500) == ["the status was 200 and is 500"]
    assert len(Cassette.load(path)) == 1


def test_verify_compares_the_kinds_of_events_of_a_stream(tmp_path: Path) -> None:
    def answering(*events: str) -> list[str]:
        text = "".join(f"event: {name}\ndata: {{}}\n\n" for name in events)
        live = httpx.MockTransport(
            lambda _: httpx.Response(200, text=text, headers={"content-type": "text/event-stream"})
        )
        mode = "verify" if path.exists() else "once"
        transport = CassetteTransport(path, mode, transport=live)
        with httpx.Client(transport=transport) as client:
            client.post("http://x/v1/messages")
        return [change for live_difference in transport.session.live_differences for change in live_difference.changes]

    path = tmp_path / "a.cassette.jsonl"
    answering("start", "delta", "stop")

    assert answering("start", "delta", "delta", "stop") == []
    assert answering("start", "ping") == ["event delta is missing", "event stop is missing", "event ping is new"]


def test_an_interrupted_recording_is_never_taken_for_whole_and_is_reported(
    server: ScriptedServer, tmp_path: Path
) -> None:
    path = tmp_path / "a.cassette.jsonl"
    ask(path, "once", server, "a")
    whole = path.read_bytes()
    session = Session(path, "all")
    with httpx2.Client(transport=CassetteTransport(session)) as client:
        client.get(f"{server.url}/v1/models")
    session.finish(whole=False)

    assert path.read_bytes() == whole
    assert len(Cassette.load(unfinished(path))) == 1
    assert "left over from an interrupted recording" in Session(path).notes[0]

    ask(path, "all", server, "b")
    assert not unfinished(path).exists()


def test_two_recordings_of_one_cassette_never_mix(server: ScriptedServer, tmp_path: Path) -> None:
    path = tmp_path / "a.cassette.jsonl"
    first, second = Session(path, "once"), Session(path, "once")
    for session in (first, second):
        with httpx2.Client(transport=CassetteTransport(session)) as client:
            client.get(f"{server.url}/v1/models")

    with pytest.raises(CassetteError, match="is being recorded by another test or worker"):
        second.finish()
    assert first.finish() == 1
    assert len(Cassette.load(path)) == 1


def test_replaying_a_recorded_failure_raises_it_again(tmp_path: Path) -> None:
    with raw_server(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nhalf") as port:
        url = f"http://127.0.0.1:{port}/"

        def use(transport: RecordingTransport) -> None:
            with pytest.raises(httpx.RemoteProtocolError):
                httpx.Client(transport=transport).get(url)

        recorded(tmp_path / "a.cassette.jsonl", use)

    with pytest.raises(httpx.RemoteProtocolError, match="as recorded"):
        httpx.Client(transport=ReplayTransport(tmp_path / "a.cassette.jsonl")).get(url)


def test_tls_errors_are_seen_behind_the_library_s_own() -> None:
    from turntape.cassettes.transports.recording import failure_of

    error = httpx.ConnectError("handshake")
    error.__cause__ = ssl.SSLError("certificate")

    assert failure_of(httpx, error).kind == "tls"
