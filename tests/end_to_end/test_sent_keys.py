"""A key without a form, which the client sends in its header, is nowhere on the disk, on both routes."""

import http.client
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from waiting import PATIENCE

from turntape.cassettes import Cassette, Recorder, ReplayMiss
from turntape.cassettes.replay.player import Player
from turntape.proxy.engine.engine import Engine, running

KEY = "3f0c9a71e5b84d2296ac08f7d1b35e4c"
PIECES = (KEY[:9], KEY[9:20], KEY[20:])
PATH = "/v1/chat/completions"


def event(text: str) -> bytes:
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"


class Talkative(BaseHTTPRequestHandler):
    """Repeats the key of its client in every part of an answer, and spells it over three events."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body = b"".join(map(event, ("the key is ", *PIECES, "."))) + f": {KEY}\n\n".encode() + b"data: [DONE]\n\n"
        self.send_response(200, f"OK {KEY}")
        self.send_header("content-type", "text/event-stream")
        self.send_header("x-seen", KEY)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None: ...


@contextmanager
def talkative() -> Generator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Talkative) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.mark.parametrize("route", ["base_url", "forward"])
@pytest.mark.parametrize("header", [("api-key", KEY), ("Authorization", f"Bearer {KEY}")], ids=["azure", "bearer"])
def test_a_key_that_its_exchange_repeats_is_not_recorded(
    header: tuple[str, str], route: str, tape: Path, confdir: Path
) -> None:
    printed = f"KEYS\n{KEY}\n"
    asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": printed}]})
    headers = {"content-type": "application/json", "user-agent": f"agent/{KEY}", header[0]: header[1]}
    with talkative() as port, Recorder(tape) as recorder:
        upstreams = {"raw": f"http://127.0.0.1:{port}"}
        with running(Engine(recorder, upstreams=upstreams, confdir=confdir)) as engine:
            client = http.client.HTTPConnection("127.0.0.1", engine.port, timeout=PATIENCE)
            target = f"/raw{PATH}" if route == "base_url" else f"http://127.0.0.1:{port}{PATH}"
            client.request("POST", f"{target}?x={KEY}", asked, headers)
            answer = client.getresponse()
            assert KEY.encode() in answer.read()  # what the client sees is never changed
            client.close()

    written = tape.read_text()
    assert not [piece for piece in (KEY, *PIECES) if piece in written]
    [trip] = Cassette.load(tape)
    assert (trip.route, trip.response and trip.response.status) == (route, 200)
    for key in (KEY, "another-key-of-this-client-4711"):
        live = tuple((name, value.replace(KEY, key)) for name, value in headers.items())
        player = Player(Cassette.load(tape))
        assert player.answer("POST", f"{PATH}?x={key}", live, asked.replace(KEY, key).encode()).response is not None
        with pytest.raises(ReplayMiss) as missed:
            player.answer("POST", f"/other{PATH}?x={key}", live, b"{}")
        assert key not in str(missed.value)
