"""A key that a tool server gets, prints or returns over stdio is nowhere on the disk; the traffic is not changed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from turntape.cassettes import Cassette

ANTHROPIC = (
    "sk-ant-api03-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9fG1hJ3kL5mN7pQ9rS1tU3vW5xY7zA9bC1dE3f-aB3dE5fGAA"
)
GITHUB = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
NAMED = "3f0c9a71e5b84d2296ac08f7d1b35e4c"
PASSWORD = "Tr0ub4dor&3xYz9"
SERVER = """
import json, os, sys
key = os.environ["SERVICE_API_KEY"]
print("starting with", key, file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        server = {"name": key, "version": "1"}
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "t", "description": "use " + key, "inputSchema": {"type": "object"}}]}
    elif asked["params"]["name"] == "fail":
        error = {"code": 1, "message": "no " + key}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
        continue
    else:
        text = "argv " + " ".join(sys.argv) + " copied " + json.dumps(asked["params"])
        named = {"api_key": os.environ["NAMED"], "text": "so " + os.environ["NAMED"]}
        result = {"content": [{"type": "text", "text": text}], "structuredContent": named}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def asked(number: int, method: str, **params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def test_a_key_of_a_tool_server_is_not_recorded(tape: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERVICE_API_KEY", ANTHROPIC)
    monkeypatch.setenv("NAMED", NAMED)
    server = tmp_path / "server.py"
    server.write_text(SERVER)
    client = {"name": "c", "version": "1"}
    messages = (
        asked(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client),
        asked(2, "tools/list"),
        asked(3, "tools/call", name="t", arguments={"password": PASSWORD, "text": f"use {GITHUB}"}),
        asked(4, "tools/call", name="fail", arguments={"url": f"https://a.example/?token={NAMED}"}),
    )
    command = [sys.executable, str(server), "--api-key", GITHUB, f"--token={ANTHROPIC}", "--password", PASSWORD]

    done = subprocess.run(
        [sys.executable, "-m", "turntape.proxy.cli", "mcp", "-o", str(tape), "--", *command],
        input="".join(messages),
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=True,
    )

    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said[2]["result"]["structuredContent"]["api_key"] == NAMED and ANTHROPIC in done.stderr
    assert len(Cassette.load(tape)) == len(messages)
    kept = tape.read_text()
    assert [secret for secret in (ANTHROPIC, GITHUB, NAMED, PASSWORD) if secret in kept] == []
