"""The servers that a recording offers to wrappers without a run."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest
from waiting import eventually

from turntape.cassettes import Recorder, Request, Response, RoundTrip
from turntape.cassettes.errors import CassetteError
from turntape.cassettes.tape.model import ToolServer, ToolWire
from turntape.proxy.tool_wire.own_process import start_of
from turntape.proxy.tool_wire.player_process import main, servers_of

CALL = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}})


def tape(path: Path, *servers: str) -> str:
    with Recorder(path) as recorder:
        recorder.write(RoundTrip(Request("POST", "https://api.openai.com/v1/responses", content=b"{}"), None, 1.0))
        for server in servers:
            recorder.tool_server(ToolServer(server, server, cwd=f"/home/ana/{server}", started_at=1.0))
            said = Response(0, content=orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": server}))
            wire = ToolWire(server, server, "client", 0, 1)
            recorder.write(RoundTrip(Request("STDIO", f"stdio://{server}", content=CALL), said, 2.0, tool_wire=wire))
    return str(path)


def said(path: str, server: str) -> list[object]:
    connection = servers_of(path).connect(server)
    connection.receive(CALL, 0.0)
    return [orjson.loads(line)["result"] for line in connection.due(0.0)]


def test_the_only_server_answers_under_any_name(tmp_path: Path) -> None:
    path = tape(tmp_path / "a.cassette.jsonl", "one")

    assert said(path, "one") == said(path, "npx") == ["one"]


def test_one_of_several_is_chosen_by_its_name(tmp_path: Path) -> None:
    path = tape(tmp_path / "a.cassette.jsonl", "one", "two")

    assert said(path, "two") == ["two"]
    assert "was not called in the recording" in str(said(path, "three"))


def test_a_slow_start_is_not_repeated(tmp_path: Path) -> None:
    path = tmp_path / "slow.cassette.jsonl"
    asked = orjson.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize"})
    with Recorder(path) as recorder:
        said = Response(0, content=orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": "slow"}))
        wire = ToolWire("s", "one", "client", 0, 1)
        request = Request("STDIO", "stdio://one", content=asked)
        recorder.write(RoundTrip(request, said, 2.0, ended_at=9_000_000, tool_wire=wire))

    connection = servers_of(str(path)).connect("one")
    connection.receive(asked, 0.0)

    assert [orjson.loads(line)["result"] for line in connection.due(0.0)] == ["slow"]


def test_a_recording_without_a_tool_server_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tape(tmp_path / "a.cassette.jsonl")

    with pytest.raises(CassetteError, match="has no tool server"):
        servers_of(path)
    assert main([path, str(tmp_path / "socket"), "1"]) == 1
    assert "has no tool server (MCP)" in capsys.readouterr().out


QUICK = """
import sys
from turntape.proxy.tool_wire import player_process
player_process._AFTER = player_process._LOOK = 0.05
sys.exit(player_process.main(sys.argv[1:]))
"""


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="when a process was started is read in /proc")
def test_it_ends_with_its_client_also_when_nobody_asks_how_that_ended(tmp_path: Path) -> None:
    """A container whose first process waits for no child keeps the number of the client."""
    path = tape(tmp_path / "a.cassette.jsonl", "one")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as client:
        began = start_of(client.pid)
        with subprocess.Popen(
            [sys.executable, "-c", QUICK, path, str(tmp_path / "s"), str(client.pid)], stdout=subprocess.PIPE
        ) as player:
            assert player.stdout
            problem = player.stdout.read()  # ends when it listens
            served = player.poll() is None
            assert client.stdin
            client.stdin.close()
            eventually(lambda: not start_of(client.pid))
            code = player.wait()

            os.kill(client.pid, 0)  # it has its number still

    assert (problem, served, code) == (b"", True, 0)
    assert began
