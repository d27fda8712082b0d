"""Every line of an MCP client that waits for an answer gets one, also one that cannot be read."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from mcp.types import JSONRPCError, jsonrpc_message_adapter

from turntape.proxy.mcp_server.unreadable import refusal

CASES: dict[str, tuple[str, tuple[object, int] | None]] = {
    "half of a character": (r'{"jsonrpc":"2.0","id":7,"method":"a","params":{"b":"\ud800"}}', (7, -32700)),
    "half of a character in the id": (r'{"jsonrpc":"2.0","id":"\ud800","method":"a"}', (None, -32700)),
    "not JSON": ("hello", (None, -32700)),
    "cut": ('{"jsonrpc":"2.0","id":7,"method"', (None, -32700)),
    "deep": ("[" * 100_000, (None, -32700)),
    "a list": ("[1]", (None, -32600)),
    "no method": ('{"jsonrpc":"2.0","id":"x"}', ("x", -32600)),
    "an odd method": ('{"jsonrpc":"2.0","id":1,"method":5}', (1, -32600)),
    "an answer that is broken": ('{"jsonrpc":"2.0","id":1,"result":5,"error":6}', None),
    "a broken result alone": ('{"jsonrpc":"2.0","id":1,"result":5}', None),
    "a broken error alone": ('{"jsonrpc":"2.0","id":1,"error":6}', None),
    "a method beside a result": ('{"jsonrpc":"2.0","id":1,"method":5,"result":5}', (1, -32600)),
    "a number for true": ('{"jsonrpc":"2.0","id":true}', (None, -32600)),
    "a blank line": (" \n", None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_cannot_be_read_is_answered_unless_nobody_waits(name: str) -> None:
    line, expected = CASES[name]
    with pytest.raises(ValueError, match="validation error") as raised:
        jsonrpc_message_adapter.validate_json(line, by_name=False)

    answer = refusal(raised.value)

    if expected is None:
        assert answer is None
    else:
        assert answer is not None and isinstance(answer.message, JSONRPCError)
        assert (answer.message.id, answer.message.error.code) == expected
        json.loads(answer.message.model_dump_json())


def test_another_fault_is_not_answered() -> None:
    assert refusal(OSError("closed")) is None


def test_the_server_answers_such_a_line_and_the_next_one(tmp_path: Path) -> None:
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": start}),
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        CASES["half of a character"][0],
        json.dumps({"jsonrpc": "2.0", "id": 8, "method": "ping"}),
    ]

    with subprocess.Popen(
        [sys.executable, "-m", "turntape.proxy.cli", "mcp-server", str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write("\n".join(lines) + "\n")
        server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(3)]
        server.stdin.close()

    assert server.returncode == 0
    assert {answer["id"] for answer in answers} == {0, 7, 8}
    assert [answer["error"]["code"] for answer in answers if "error" in answer] == [-32700]
