"""Requests as clients may send them: other encodings, trailers, images, signatures, IPv6, sockets, many at once."""

import asyncio
import base64
import json
import select
import socket
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

import httpx2
import pytest
from end_to_end.loops import Rig, rig

from turntape.cassettes import Cassette, Recorder
from turntape.inspector.run.labels import label_all
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.scripted import SALES_EMAILS, ScriptedServer

ASKED = {"model": "gpt-5", "messages": [{"role": "user", "content": "go"}]}
JSON = {"content-type": "application/json"}


@pytest.mark.parametrize("chunked", [False, True], ids=["sized", "chunked"])
@pytest.mark.parametrize("encoding", ["gzip", "zstd", "br"])
def test_a_compressed_request_arrives_as_it_was_sent_and_is_kept_plain(
    encoding: str, chunked: bool, tape: Path, confdir: Path
) -> None:
    import gzip

    import brotli
    import zstandard

    plain = json.dumps({**ASKED, "metadata": {"note": "x" * 5000}}).encode()
    compress = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "br": brotli.compress}
    sent = compress[encoding](plain)
    content: Any = iter([sent[:100], sent[100:]]) if chunked else sent
    with rig(tape, confdir) as up, httpx2.Client(trust_env=False, timeout=None) as http:
        headers = {**JSON, "content-encoding": encoding}
        http.post(f"{up.base}/openai/v1/chat/completions", content=content, headers=headers)
        [got] = up.server.requests

    assert got.body == sent
    [trip] = Cassette.load(tape)
    assert (trip.request.body, trip.request.encoding) == (plain, encoding)


@pytest.mark.parametrize("bound", [1 << 20, 1000], ids=["held", "passed on as it comes"])
def test_an_http2_request_without_a_length_reaches_an_http1_api_as_one_request(
    bound: int, tape: Path, confdir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HTTP/2 needs no length. Over HTTP/1.1, a body without one would be read as the next request."""
    monkeypatch.setattr("turntape.proxy.capture.pending.MOST_OF_A_BODY", bound)
    hidden = b"POST /v1/hidden HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n"
    sent = [hidden, json.dumps({**ASKED, "metadata": {"note": "x" * 5000}}).encode()]
    with (
        rig(tape, confdir) as up,
        httpx2.Client(proxy=up.base, verify=up.trust(), http2=True, trust_env=False, timeout=None) as http,
    ):
        for _ in range(2):
            answer = http.post("https://api.openai.com/v1/chat/completions", content=iter(sent), headers=JSON)
            assert answer.http_version == "HTTP/2"
        got = list(up.server.requests)

    assert [(one.path, one.body) for one in got] == [("/v1/chat/completions", b"".join(sent))] * 2


def test_http2_without_tls_is_spoken_on_the_base_url_by_a_client_that_begins_with_it(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up, httpx2.Client(http1=False, http2=True, trust_env=False, timeout=None) as http:
        answers = [http.post(f"{up.base}/openai/v1/chat/completions", json=ASKED) for _ in range(2)]
        elsewhere = http.post(f"{up.base}/openai/v1/chat/completions", json=ASKED, headers={"host": "a.example"})
        got = list(up.server.requests)

    assert [(one.status_code, one.http_version) for one in (*answers, elsewhere)] == [
        (200, "HTTP/2"),
        (200, "HTTP/2"),
        (403, "HTTP/2"),
    ]
    assert [json.loads(one.body) for one in got] == [ASKED] * 2
    assert [trip.request.http_version for trip in Cassette.load(tape)] == ["HTTP/2.0"] * 2


@pytest.mark.parametrize("version", ["1.1", "2"])
def test_the_beginning_of_a_request_may_come_byte_by_byte(version: str, tape: Path, confdir: Path) -> None:
    """Both may begin with a P. An empty SETTINGS frame is the first thing that a server of HTTP/2 says or answers."""
    sent = {
        "1.1": b"POST /openai/v1/models HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        "2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]),
    }[version]
    with rig(tape, confdir) as up, socket.create_connection(("127.0.0.1", int(up.base.rpartition(":")[2]))) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in sent:
            client.sendall(bytes([byte]))
        client.settimeout(60)
        said = client.recv(9)

    assert said[3] == 4 if version == "2" else said == b"HTTP/1.1 "


TRAILED = b"%x\r\n%s\r\n0\r\nx-checksum: 42\r\n\r\n"


@contextmanager
def answering(answers: list[bytes]) -> Generator[tuple[str, list[bytes]]]:
    """An API that says `answers` on one connection; its URL, and what it got."""
    got: list[bytes] = []

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            for answer in answers:
                data = b""
                while not data.endswith(b"\r\n\r\n") or b"chunked" in data and b"\r\n0\r\n" not in data:
                    piece = connection.recv(65536)
                    if not piece:
                        return
                    data += piece
                got.append(data)
                connection.sendall(answer)
            connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", got


def test_trailers_are_passed_on_both_ways(tape: Path, confdir: Path) -> None:
    asked, answer = json.dumps(ASKED).encode(), b'{"object":"list","data":[]}'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTrailer: x-checksum\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    with answering([head + TRAILED % (len(answer), answer)] * 2) as (url, got), Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"*": url}, confdir=confdir)
        with running(engine), socket.create_connection(("127.0.0.1", engine.port)) as raw:
            # Twice: what follows on a connection is not mixed up.
            for _ in range(2):
                line = f"POST /openai/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{engine.port}\r\n"
                line += "Content-Type: application/json\r\nTrailer: x-checksum\r\nTransfer-Encoding: chunked\r\n\r\n"
                raw.sendall(line.encode() + TRAILED % (len(asked), asked))
                said = b""
                while b"\r\n0\r\n" not in said or not said.endswith(b"\r\n\r\n"):
                    said += raw.recv(65536)
                assert said.endswith(b"\r\n0\r\nx-checksum: 42\r\n\r\n")

    assert [data.endswith(TRAILED % (len(asked), asked)) for data in got] == [True, True]
    for trip in Cassette.load(tape):
        assert trip.request.body == asked
        assert trip.failure is None and trip.response is not None and trip.response.body == answer


@contextmanager
def echoing() -> Generator[int]:
    """An API that answers each chunk of a request with the same chunk, at once; its port."""

    def serve(listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as file:
                while file.readline().strip():
                    pass
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                while line := file.readline():
                    connection.sendall(line + file.readline())
                    if line == b"0\r\n":
                        break

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1]


@pytest.mark.parametrize("target", ["/echo/v1/chat/completions", "{api}/v1/chat/completions", "{api}/other"])
def test_an_api_may_answer_a_request_before_its_end(target: str, tape: Path, confdir: Path) -> None:
    """As APIs do that take sound and return sound at the same time. Traffic that is not recorded passes too."""
    sent = [b'{"first":', b" 1}"]
    with echoing() as port, Recorder(tape) as recorder:
        api = f"http://127.0.0.1:{port}"
        engine = Engine(recorder, upstreams={"echo": api}, confdir=confdir)
        with running(engine), socket.create_connection(("127.0.0.1", engine.port)) as raw, raw.makefile("rb") as file:
            to = target.format(api=api)
            host = f"127.0.0.1:{engine.port if to.startswith('/') else port}"
            raw.sendall(f"POST {to} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            for number, piece in enumerate((*sent, b"")):
                raw.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
                while not number and file.readline().strip():
                    pass
                assert file.readline() + file.readline() == b"%x\r\n%s\r\n" % (len(piece), piece)

    kept = [
        (trip.request.body, trip.request.complete, trip.response and trip.response.body) for trip in Cassette.load(tape)
    ]
    assert kept == ([] if target.endswith("other") else [(b"".join(sent), True, b"".join(sent))])


ANSWERED = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
REFUSED = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@contextmanager
def uploaded(*answers: bytes) -> Generator[tuple[int, Queue[bytes]]]:
    """An API that shows what it reads as it comes; it answers the head, and then what ends with `!`."""
    got: Queue[bytes] = Queue()

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        left = list(answers)
        with connection:
            while data := connection.recv(65536):
                got.put(data)
                if left and (len(left) == len(answers) or data.endswith(b"!")):
                    connection.sendall(left.pop(0))

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        yield listener.getsockname()[1], got


def line_of(target: str, engine: Engine, port: int) -> str:
    """The first two lines of a request to an API on this port."""
    to = target.format(api=f"http://127.0.0.1:{port}")
    return f"POST {to} HTTP/1.1\r\nHost: 127.0.0.1:{engine.port if to.startswith('/') else port}\r\n"


@pytest.mark.parametrize("target", ["/api/v1/chat/completions", "{api}/v1/chat/completions", "{api}/other"])
def test_an_upload_with_a_length_reaches_the_api_before_its_end(target: str, tape: Path, confdir: Path) -> None:
    with uploaded(b"", ANSWERED) as (port, got), Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"api": f"http://127.0.0.1:{port}"}, confdir=confdir)
        with running(engine), socket.create_connection(("127.0.0.1", engine.port)) as raw, raw.makefile("rb") as file:
            raw.sendall(f"{line_of(target, engine, port)}Content-Length: 13\r\n\r\nfirst ".encode())
            arrived = b""
            while not arrived.endswith(b"first "):
                arrived += got.get()
            raw.sendall(b"second!")
            assert file.readline() == b"HTTP/1.1 200 OK\r\n"

    trips = list(Cassette.load(tape))
    assert [trip.request.body for trip in trips] == ([] if target.endswith("other") else [b"first second!"])


@pytest.mark.parametrize("target", ["/api/v1/chat/completions", "{api}/v1/chat/completions"])
@pytest.mark.parametrize("refused", [False, True])
def test_a_client_that_asks_whether_to_send_is_answered_by_the_api(
    refused: bool, target: str, tape: Path, confdir: Path
) -> None:
    """`Expect: 100-continue` (RFC 9110, 10.1.1): an API may refuse before it has the body."""
    answers = [REFUSED] if refused else [b"HTTP/1.1 100 Continue\r\n\r\n", ANSWERED]
    with uploaded(*answers) as (port, got), Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"api": f"http://127.0.0.1:{port}"}, confdir=confdir)
        with running(engine), socket.create_connection(("127.0.0.1", engine.port)) as raw, raw.makefile("rb") as file:
            head = f"{line_of(target, engine, port)}Content-Length: 4\r\nExpect: 100-continue\r\n\r\n"
            raw.sendall(head.encode())
            first = file.readline()
            if not refused:
                assert file.readline() == b"\r\n"
                raw.sendall(b"{} !")
                assert file.readline() == b"HTTP/1.1 200 OK\r\n"
            asked = got.get()

    assert first == (REFUSED if refused else b"HTTP/1.1 100 Continue\r\n").splitlines(keepends=True)[0]
    assert b"Expect: 100-continue\r\n" in asked and asked.endswith(b"\r\n\r\n")
    [trip] = Cassette.load(tape)
    assert trip.response is not None and trip.response.status == (413 if refused else 200)
    assert (trip.request.body, trip.request.complete) == ((b"", False) if refused else (b"{} !", True))
    assert trip.extra.get("interim", []) == ([] if refused else [100])


@pytest.mark.parametrize("target", ["/api/v1/caf\u00e9?q=\u00e9", "{api}/v1/chat/completions?q=\u00e9"])
def test_a_url_with_raw_utf_8_is_passed_on_as_it_came(target: str, tape: Path, confdir: Path) -> None:
    with uploaded(ANSWERED) as (port, got), Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"api": f"http://127.0.0.1:{port}"}, confdir=confdir)
        with running(engine), socket.create_connection(("127.0.0.1", engine.port)) as raw, raw.makefile("rb") as file:
            raw.sendall(f"{line_of(target, engine, port)}Content-Length: 1\r\n\r\n!".encode())
            assert file.readline() == b"HTTP/1.1 200 OK\r\n"

    path = "/v1" + target.partition("/v1")[2]
    assert got.get().startswith(f"POST {path} HTTP/1.1\r\n".encode())
    [trip] = Cassette.load(tape)
    assert trip.request.url.endswith(path)


@pytest.mark.parametrize("route", ["base_url", "forward"])
def test_an_image_of_20_mb_arrives_whole_and_is_kept(route: str, tape: Path, confdir: Path) -> None:
    import random

    image = base64.b64encode(random.Random(7).randbytes(15_000_000)).decode()
    content = [
        {"type": "text", "text": "what is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{image}"}},
    ]
    body = json.dumps({"model": "gpt-5", "messages": [{"role": "user", "content": content}]}).encode()
    with rig(tape, confdir) as up, client_of(up, route) as http:
        assert http.post(f"{place_of(up, route)}/v1/chat/completions", content=body, headers=JSON).status_code == 200
        [got] = up.server.requests
        assert got.body == body

    [trip] = Cassette.load(tape)
    assert trip.request.body == body


def client_of(up: Rig, route: str) -> httpx2.Client:
    return up.forward() if route == "forward" else httpx2.Client(trust_env=False, timeout=None)


def place_of(up: Rig, route: str) -> str:
    return "https://api.openai.com" if route == "forward" else f"{up.base}/openai"


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")
def test_the_proxy_and_the_api_may_both_be_ipv6(tape: Path, confdir: Path) -> None:
    with ScriptedServer(host="::1") as server, Recorder(tape) as recorder:
        upstream = f"http://[::1]:{server.port}"
        engine = Engine(recorder, host="::1", upstreams={"openai": upstream}, confdir=confdir)
        with running(engine):
            us = f"http://[::1]:{engine.port}"
            with httpx2.Client(trust_env=False, timeout=None) as http:
                assert http.post(f"{us}/openai/v1/chat/completions", json=ASKED).status_code == 200
            # A model on this machine, by the forward route; httpx2 forgets the brackets.
            with socket.create_connection(("::1", engine.port)) as raw:
                body = json.dumps(ASKED).encode()
                head = f"POST {upstream}/v1/chat/completions HTTP/1.1\r\nHost: [::1]:{server.port}\r\n"
                raw.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                assert b"200 OK" in raw.makefile("rb").readline()

    assert [trip.request.url for trip in Cassette.load(tape)] == [f"{upstream}/v1/chat/completions"] * 2
    assert [trip.route for trip in Cassette.load(tape)] == ["base_url", "forward"]


def test_parallel_agents_have_separate_threads(tape: Path, confdir: Path) -> None:
    """Eight agents with the same prompt at the same time, named by path or by proxy user."""

    def live(up: Rig, number: int) -> None:
        name = f"agent-{number}"
        if number % 2:
            proxy = f"http://{name}:x@127.0.0.1:{up.engine.port}"
            http, base = (
                httpx2.Client(proxy=proxy, verify=up.trust(), trust_env=False, timeout=None),
                "https://api.openai.com",
            )
        else:
            http, base = httpx2.Client(trust_env=False, timeout=None), f"{up.base}/s/{name}/openai"
        messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
        with http:
            for _ in SALES_EMAILS:
                asked = {"model": "gpt-5", "messages": messages}
                said = http.post(f"{base}/v1/chat/completions", json=asked).json()["choices"][0]["message"]
                messages.append(said)
                messages += [
                    {"role": "tool", "tool_call_id": call["id"], "content": "done"}
                    for call in said.get("tool_calls") or []
                ]

    with rig(tape, confdir) as up:
        agents = [threading.Thread(target=live, args=(up, number)) for number in range(8)]
        for agent in agents:
            agent.start()
        for agent in agents:
            agent.join()

    runs: dict[str, list[Any]] = {}
    for done in label_all(Cassette.load(tape)):
        runs.setdefault(str(done.label["run"]), []).append(done.label)
    assert sorted(runs) == [f"agent-{number}" for number in range(8)]
    for labels in runs.values():
        assert [label["turn"] for label in labels] == [1, 2, 3, 4]
        assert len({label["thread"] for label in labels}) == 1
        assert [label["client"]["outcome"] for label in labels] == ["dispatched"] * 3 + ["ended"]


def test_a_signed_request_is_not_touched(tape: Path, confdir: Path) -> None:
    """What SigV4 signs reaches AWS as it was signed: path, host, dates, body."""
    signed = {
        "authorization": "AWS4-HMAC-SHA256 Credential=AKIASCRIPTED/20261121/us-east-1/bedrock/aws4_request, "
        "SignedHeaders=content-type;host;x-amz-date, Signature=" + "0" * 64,
        "x-amz-date": "20261121T080000Z",
        "x-amz-security-token": "scripted",
        "content-type": "application/json",
    }
    host, path = "bedrock-runtime.us-east-1.amazonaws.com", "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse"
    body = b'{"messages": [{"role": "user", "content": [{"text": "go"}]}]}'
    with rig(tape, confdir) as up, up.forward() as http:
        assert http.post(f"https://{host}{path}", content=body, headers=signed).status_code == 200
        [got] = up.server.requests

    headers = {name.lower(): value for name, value in got.headers}
    assert (got.path, got.body, headers["host"]) == (path, body, host)
    assert {name: headers[name] for name in signed} == signed
    assert b"scripted" not in tape.read_bytes().replace(b"scripted00", b"").partition(b'"response"')[0]


@pytest.mark.parametrize("route", ["base_url", "forward"])
def test_responses_over_a_websocket_are_turns(route: str, tape: Path, confdir: Path) -> None:
    """One socket, a response that only warms the cache, then four turns that carry what is new.

    Not with the client of threads: two threads use one TLS connection there, and about one handshake in 200
    hangs, also at a server without a recorder (websockets 17 with Python 3.13.0, 2026-11-23).
    """
    from websockets.asyncio.client import connect

    async def talk(place: str, **options: Any) -> None:
        async with connect(place, max_size=None, **options) as wire:

            async def ask(**fields: Any) -> dict[str, Any]:
                await wire.send(json.dumps({"type": "response.create", "model": "gpt-5", **fields}))
                while (event := json.loads(await wire.recv()))["type"] != "response.completed":
                    pass
                return event["response"]

            response = await ask(input=[], generate=False)
            given: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
            for _ in SALES_EMAILS:
                response = await ask(input=given, previous_response_id=response["id"])
                calls = [item for item in response["output"] if item["type"] == "function_call"]
                given = [
                    {"type": "function_call_output", "call_id": call["call_id"], "output": "done"} for call in calls
                ]

    with rig(tape, confdir) as up:
        place = f"{place_of(up, route)}/v1/responses".replace("http", "ws", 1)
        options: dict[str, Any] = {"proxy": up.base, "ssl": up.trust()} if route == "forward" else {"proxy": None}
        asyncio.run(talk(place, **options))

    done: list[Any] = [one.label for one in label_all(Cassette.load(tape)) if one.turn]
    assert len(list(Cassette.load(tape))) == 1
    assert [[call["name"] for call in label["model"]["tool_calls"]] for label in done] == [
        [call.name for call in step.calls] for step in SALES_EMAILS
    ]
    assert [label["client"]["outcome"] for label in done] == ["dispatched"] * 3 + ["ended"]
    assert len({label["thread"] for label in done}) == 1


def test_tls_1_2_clients_are_served(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up:
        trust = up.trust()
        trust.maximum_version = ssl.TLSVersion.TLSv1_2
        with httpx2.Client(proxy=up.base, verify=trust, trust_env=False, timeout=None) as http:
            assert http.post("https://api.openai.com/v1/chat/completions", json=ASKED).status_code == 200

    assert len(Cassette.load(tape)) == 1


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_tls_client_is_known_however_its_first_bytes_are_cut(size: int, tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up, socket.create_connection(("127.0.0.1", up.engine.port)) as raw:
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        raw.sendall(b"CONNECT api.openai.com:443 HTTP/1.1\r\nHost: api.openai.com:443\r\n\r\n")
        assert b" 200 " in raw.recv(65536)
        received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = up.trust().wrap_bio(received, sent, server_hostname="api.openai.com")
        with pytest.raises(ssl.SSLWantReadError):
            session.do_handshake()
        hello = sent.read()
        raw.sendall(hello[:size])
        has_data(raw, 0.2)  # it is read alone
        raw.sendall(hello[size:])

        assert raw.recv(1) == b"\x16"  # a handshake


@pytest.mark.parametrize("route", ["base URL", "forward proxy"])
def test_a_flood_of_requests_that_are_sent_ahead_does_not_keep_a_client_waiting(
    route: str, tape: Path, confdir: Path
) -> None:
    """Counted by what the flood was answered before: without turns, it would be all of it."""
    clients, each = 40, 50
    with rig(tape, confdir) as up, httpx2.Client(trust_env=False, timeout=None) as http:
        place = up.engine.host, up.engine.port
        target = "/nowhere" if route == "base URL" else f"{up.base}/nowhere"
        asked = f"GET {target} HTTP/1.1\r\nHost: {place[0]}:{place[1]}\r\n\r\n".encode() * each
        http.post(f"{up.base}/openai/v1/chat/completions", json=ASKED).raise_for_status()
        flood = [socket.create_connection(place) for _ in range(clients)]
        for client in flood:
            client.sendall(asked)

        http.post(f"{up.base}/openai/v1/chat/completions", json=ASKED).raise_for_status()

        got = [client.recv(1 << 20, socket.MSG_DONTWAIT) if has_data(client) else b"" for client in flood]
        before = sum(answers.count(b"HTTP/1.1 ") for answers in got)
        for number, client in enumerate(flood):
            while got[number].count(b"HTTP/1.1 ") < each:
                got[number] += client.recv(1 << 20)
            client.close()

    assert before < clients * each / 2


def has_data(client: socket.socket, seconds: float = 0) -> bool:
    return bool(select.select([client], [], [], seconds)[0])


@pytest.mark.parametrize("field", ["", "Host: \r\n"], ids=["none", "empty"])
def test_a_request_without_a_host_is_sent_to_the_host_of_its_url_on_the_forward_route(
    field: str, tape: Path, confdir: Path
) -> None:
    """And it arrives as it came: the server decides whether it needs the field."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with answering([answer]) as (url, got), Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={}, intercept=("127.0.0.1",), confdir=confdir)
        with running(engine), socket.create_connection(("127.0.0.1", engine.port)) as raw:
            raw.sendall(f"GET {url}/v1/models HTTP/1.1\r\n{field}x-a: b\r\n\r\n".encode())
            seen = b""
            while len(seen) < len(answer):
                seen += raw.recv(65536)

    assert seen == answer
    assert got == [f"GET /v1/models HTTP/1.1\r\n{field}x-a: b\r\n\r\n".encode()]
    [trip] = Cassette.load(tape)
    assert (trip.request.url, trip.route, trip.failure) == (f"{url}/v1/models", "forward", None)


@pytest.mark.parametrize("target", ["/openai", "forward"])
@pytest.mark.parametrize("rest", ["/v1/models HTTP/2.0", "/v1/models HTTP/0.9", "/v1/models\0/x HTTP/1.1"])
def test_a_first_line_of_another_version_or_with_a_nul_gets_400_on_both_routes(
    target: str, rest: str, tape: Path, confdir: Path
) -> None:
    with rig(tape, confdir) as up, socket.create_connection((up.engine.host, up.engine.port)) as raw:
        place = "http://api.openai.com" if target == "forward" else target
        raw.sendall(f"GET {place}{rest}\r\nHost: 127.0.0.1\r\n\r\n".encode())
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
        assert not up.server.requests

    assert answer.startswith(b"HTTP/1.1 400 ") and b"the first line of the request cannot be read" in answer
    assert not list(Cassette.load(tape))


@pytest.mark.parametrize("target", ["/openai", "forward"])
def test_a_request_of_http_1_0_needs_no_host_and_one_of_http_1_1_does(target: str, tape: Path, confdir: Path) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with answering([answer]) as (url, got), Recorder(tape) as recorder:
        engine = Engine(recorder, upstreams={"openai": url}, intercept=("127.0.0.1",), confdir=confdir)
        place = url if target == "forward" else target
        with running(engine):
            seen: list[bytes] = []
            for version in ("1.1", "1.0") if target != "forward" else ("1.0",):
                with socket.create_connection(("127.0.0.1", engine.port)) as raw:
                    raw.sendall(f"GET {place}/v1/models HTTP/{version}\r\n\r\n".encode())
                    seen.append(b"".join(iter(lambda raw=raw: raw.recv(65536), b"")))

    if target != "forward":
        assert seen.pop(0).startswith(b"HTTP/1.1 400 ")
    assert seen[0].endswith(b"\r\n\r\n{}")
    *_, trip = Cassette.load(tape)
    assert trip.request.url == f"{url}/v1/models" and trip.response is not None and trip.response.body == b"{}"


@pytest.mark.parametrize("field", [b"", b"Host:\r\n"])
def test_a_request_without_a_host_is_refused_and_its_record_names_the_client(
    field: bytes, tape: Path, confdir: Path
) -> None:
    with rig(tape, confdir) as up, socket.create_connection((up.engine.host, up.engine.port)) as raw:
        raw.sendall(b"GET /openai/v1/models HTTP/1.1\r\n" + field + b"\r\n")
        answer = b"".join(iter(lambda: raw.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 400 ") and b"RFC 9112, 3.2" in answer
    [trip] = Cassette.load(tape)
    assert trip.response is None and trip.closed_first == "client"
    assert trip.failure is not None and trip.failure.kind == "protocol" and "Host field" in trip.failure.message


def test_a_request_that_names_what_is_not_a_host_is_refused_as_a_visitor(tape: Path, confdir: Path) -> None:
    with rig(tape, confdir) as up, socket.create_connection((up.engine.host, up.engine.port)) as raw:
        raw.sendall(b"GET /openai/v1/models HTTP/1.1\r\nHost: a b\r\n\r\n")
        answer = b"".join(iter(lambda: raw.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 400 ") and b"RFC 9112, 3.2" in answer
    assert not list(Cassette.load(tape))
