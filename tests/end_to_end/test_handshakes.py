"""A WebSocket handshake that the API refuses, from the wire to every view."""

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from turntape.cassettes import Cassette, Recorder
from turntape.inspector.run.labels import label_all
from turntape.proxy.cli import main
from turntape.proxy.engine.engine import Engine, running
from turntape.proxy.limits.limit_checker import LimitChecker
from turntape.proxy.limits.limits import Limits

REALTIME = "/openai/v1/realtime?model=gpt-realtime"
LIVE = "/gemini/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"


class Refuses(BaseHTTPRequestHandler):
    """Answers every request with 426."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = json.dumps({"error": {"message": "use HTTP", "type": "upgrade_required"}}).encode()
        self.send_response(426)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr."""


@pytest.mark.parametrize(
    ("target", "protocol"),
    [("/openai/v1/responses", "openai-responses"), (REALTIME, "openai-realtime"), (LIVE, "gemini-live")],
)
def test_a_refused_handshake_is_a_failed_turn_in_every_view(
    target: str, protocol: str, tape: Path, confdir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "run.html"
    checker = LimitChecker(Limits(max_turns=1))
    checker.labels_ended("the test makes none")
    server = HTTPServer(("127.0.0.1", 0), Refuses)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    upstreams = {"*": f"http://127.0.0.1:{server.server_port}"}
    with (
        Recorder(tape) as recorder,
        running(Engine(recorder, upstreams=upstreams, confdir=confdir, limits=checker)) as engine,
    ):
        url = f"ws://127.0.0.1:{engine.port}{target}"
        for _ in range(2):  # limits do not count a handshake as a turn
            with pytest.raises(InvalidStatus) as refused, connect(url, proxy=None):
                pass
            assert refused.value.response.status_code == 426
    server.shutdown()
    server.server_close()

    first, second = label_all(Cassette.load(tape))
    assert (first.label["protocol"], first.label["turn"], first.label["attempt"]) == (protocol, 1, 1)
    assert (second.label["turn"], second.label["attempt"]) == (1, 2)
    assert checker.reached is None

    assert main(["show", str(tape)]) == 0
    assert "426 use HTTP (in the WebSocket handshake)" in " ".join(capsys.readouterr().out.split())
    assert main(["check", str(tape)]) == 1
    assert "request-rejected" in capsys.readouterr().out
    assert main(["report", str(tape), "-o", str(page)]) == 0
    assert "426 use HTTP (in the WebSocket handshake)" in page.read_text(encoding="utf-8")
