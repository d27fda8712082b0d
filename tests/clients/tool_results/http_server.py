"""The tool server of `kinds_mcp` over streamable HTTP (2025-11-25), on a loopback port."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from ..python.kinds_mcp import Server

SESSION = "kinds-session-1"


class HttpServer:
    """`with HttpServer() as server:` answers at `server.url`."""

    def __init__(self) -> None:
        kinds = Server()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                answers = kinds.answers(json.loads(body))
                if not answers:
                    self._send(202, "application/json", b"")
                elif len(answers) == 1:
                    self._send(200, "application/json", _encoded(answers[0][1]))
                else:
                    self._stream(answers)

            def _send(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.send_header("mcp-session-id", SESSION)
                self.end_headers()
                self.wfile.write(body)

            def _stream(self, answers: list[tuple[float, dict[str, Any]]]) -> None:
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("connection", "close")
                self.end_headers()
                for seconds, message in answers:
                    time.sleep(seconds)
                    self.wfile.write(b"event: message\ndata: " + _encoded(message) + b"\n\n")
                    self.wfile.flush()
                self.close_connection = True

            def do_GET(self) -> None:
                self._send(405, "text/plain", b"")

            def do_DELETE(self) -> None:
                self._send(200, "text/plain", b"")

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is logged."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/mcp"

    def __enter__(self) -> "HttpServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _encoded(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode()
