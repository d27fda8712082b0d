"""A tool server over stdin and stdout with one tool for each kind of result. Standard library only; no state on disk.

Each part of a result has its own words, which show whether it reached the model.
"""

import base64
import json
import struct
import sys
import threading
import zlib
from typing import Any

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LONG_TEXT = "".join(f"line {number:05}: the quick brown fox jumps over them\n" for number in range(6000))
"""288,000 characters."""


def _png() -> str:
    """A red picture of 8 by 8 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + b"\xff\0\0" * 8 for _ in range(8))
    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)), chunk(b"IDAT", zlib.compress(rows))]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join([*parts, chunk(b"IEND", b"")])).decode()


def _wav() -> str:
    """A tenth of a second of silence."""
    data = b"\0" * 800
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1, 8000, 8000, 1, 8, b"data", len(data)
    )
    return base64.b64encode(head + data).decode()


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


RESULTS: dict[str, dict[str, object]] = {
    "show_both": {"content": [text("the text says amber")], "structuredContent": {"colour": "violet"}},
    "show_structure": {"content": [], "structuredContent": {"colour": "violet"}},
    "show_nothing": {"content": []},
    "show_two_texts": {"content": [text("the first text"), text("the second text")]},
    "show_tool_error": {
        "content": [text("the text says it failed")],
        "structuredContent": {"reason": "violet"},
        "isError": True,
    },
    "show_image": {"content": [{"type": "image", "data": _png(), "mimeType": "image/png"}]},
    "show_audio": {"content": [{"type": "audio", "data": _wav(), "mimeType": "audio/wav"}]},
    "show_text_resource": {
        "content": [
            {
                "type": "resource",
                "resource": {"uri": "memo://one", "mimeType": "text/plain", "text": "the memo says amber"},
            }
        ]
    },
    "show_resource_link": {
        "content": [
            {"type": "resource_link", "uri": "memo://linked", "name": "a linked memo", "mimeType": "text/plain"}
        ]
    },
    "show_blob_resource": {
        "content": [
            {
                "type": "resource",
                "resource": {
                    "uri": "memo://blob",
                    "mimeType": "application/octet-stream",
                    "blob": base64.b64encode(bytes(range(64))).decode(),
                },
            }
        ]
    },
    "show_long_text": {"content": [text(LONG_TEXT)]},
    "show_new_tool": {"content": [text("there is a new tool")]},
}
ERROR = {"code": -32000, "message": "the server says amber"}
KINDS = (*list(RESULTS)[:5], "show_protocol_error", *list(RESULTS)[5:])
"""The tools, in the order of a run."""
ADDED = "show_later"
"""Offered after a call of `show_new_tool`."""


WAIT = 1.0
"""Seconds between the notice that there is a new tool and the result: the client may ask for the tools meanwhile."""


def tool(name: str) -> dict[str, object]:
    schema = {"type": "object", "properties": {"topic": {"type": "string"}}, "required": ["topic"]}
    return {"name": name, "description": f"Call it to {name.replace('_', ' ')}.", "inputSchema": schema}


class Server:
    """The state of one connection. `answers` gives the messages for a request, with the seconds before each."""

    def __init__(self) -> None:
        self.tools = [tool(name) for name in KINDS]

    def answers(self, message: dict[str, Any]) -> list[tuple[float, dict[str, Any]]]:
        number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if number is None or method is None:
            return []
        if method == "tools/call":
            return self._called(number, params["name"])
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": v if (v := params.get("protocolVersion")) in VERSIONS else VERSIONS[-1],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "kinds", "version": "1"},
            },
            "tools/list": {"tools": list(self.tools)},
            "ping": {},
        }
        if method in results:
            return [(0, {"id": number, "result": results[method]})]
        return [(0, {"id": number, "error": {"code": -32601, "message": f"no method {method}"}})]

    def _called(self, number: object, name: str) -> list[tuple[float, dict[str, Any]]]:
        if name not in RESULTS:
            return [(0, {"id": number, "error": ERROR})]
        answer = {"id": number, "result": RESULTS[name]}
        if name != "show_new_tool":
            return [(0, answer)]
        if len(self.tools) == len(KINDS):
            self.tools.append(tool(ADDED))
        return [(0, {"method": "notifications/tools/list_changed"}), (WAIT, answer)]


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def main() -> None:
    server = Server()
    for line in sys.stdin:
        for seconds, message in server.answers(json.loads(line)):
            if seconds:
                threading.Timer(seconds, send, [message]).start()
            else:
                send(message)


if __name__ == "__main__":
    main()
