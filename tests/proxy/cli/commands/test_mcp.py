"""`turntape mcp` as a client starts it, also below `turntape run`."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from turntape.cassettes import Cassette

pytestmark = pytest.mark.skipif(os.name != "posix", reason="`turntape run` needs POSIX")
CLIENT = """
import json, os, signal, subprocess, sys
wrapper = [sys.executable, "-m", "turntape.proxy.cli", "mcp", *sys.argv[2:]]
server = [sys.executable, "-c", '''
import json, sys
print("ready", file=sys.stderr)
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") != "hang":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": {"content": []}}), flush=True)
''']
child = subprocess.Popen([*wrapper, "--", *server], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def ask(**message):
    child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\\n")
    child.stdin.flush()
ask(id=0, method="tools/call", params={"name": "add", "arguments": {"a": 1}})
print(child.stdout.readline().decode(), end="")
if sys.argv[1] == "kill":
    ask(id=1, method="ping", params={})
    child.stdout.readline()
    ask(id=2, method="hang")
    child.kill()
else:
    child.stdin.close()
sys.exit(child.wait() % 256)
"""


def turntape(tmp_path: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "turntape.proxy.cli", *arguments],
        cwd=tmp_path,
        env=os.environ | {"TURNTAPE_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def recorded(tmp_path: Path, *arguments: str) -> tuple["subprocess.CompletedProcess[str]", Cassette]:
    """What `turntape run` printed, and its tape, for a client whose wrapper gets `arguments`."""
    done = turntape(tmp_path, "run", "-o", "t.cassette.jsonl", "--", sys.executable, "-c", CLIENT, *arguments)
    return done, Cassette.load(tmp_path / "t.cassette.jsonl")


def test_a_wrapper_below_a_run_finds_its_recorder_in_the_environment(tmp_path: Path) -> None:
    done, cassette = recorded(tmp_path, "end", "--name", "calc")

    (call,) = cassette
    (server,) = cassette.tool_servers.values()
    assert (done.returncode, json.loads(done.stdout)["id"]) == (0, 0)
    assert json.loads(call.request.body)["params"]["arguments"] == {"a": 1}
    assert (server.server, server.exit, server.closed_first) == ("calc", 0, "client")
    assert b"".join(data for _, data in server.stderr) == b"ready\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "t.cassette.jsonl"]
    assert "0 turns · 0 tool calls · 1 tool run\n" in done.stderr
    assert "no LLM API was called through the proxy" in done.stderr


def test_a_wrapper_that_is_killed_leaves_what_was_open_as_cut(tmp_path: Path) -> None:
    done, cassette = recorded(tmp_path, "kill")

    failures = {json.loads(trip.request.body)["id"]: trip.failure and trip.failure.kind for trip in cassette}
    assert done.returncode == -signal.SIGKILL % 256
    assert failures[0] is None
    # What was passed on in the last moment may be missing.
    assert {failures.get(1), failures.get(2)} <= {None, "cut"}
    assert [(one.exit, one.signal) for one in cassette.tool_servers.values()] == [(None, None)]


def test_the_link_in_the_arguments_counts_more_than_the_environment(tmp_path: Path) -> None:
    done, cassette = recorded(tmp_path, "end", "--link", "unix:/nowhere/link")

    assert list(cassette) == []
    assert "no recorder at unix:/nowhere/link" in done.stderr


def test_without_a_server_it_says_what_to_write(tmp_path: Path) -> None:
    done = turntape(tmp_path, "mcp", "--name", "x")

    assert done.returncode == 2
    assert "no server to start; write it after `--`: turntape mcp -- npx -y some-server" in done.stderr


def test_the_help_does_not_need_a_server(tmp_path: Path) -> None:
    assert "--link ADDRESS" in turntape(tmp_path, "mcp", "--help", "--", "x").stdout
