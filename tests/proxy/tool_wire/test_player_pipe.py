"""A wrapped server that is played: its program is not started and need not exist."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from turntape.cassettes import Cassette, Request, Response, RoundTrip
from turntape.cassettes.replay.tools.player import ToolPlayer
from turntape.cassettes.server.tool_link import tool_link
from turntape.cassettes.tape.model import ToolServer, ToolWire
from turntape.proxy.tool_wire.player_pipe import Frames
from turntape.proxy.tool_wire.wrapped import Wrapped

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}
LINE = orjson.dumps(CALL) + b"\n"
RECORDED = RoundTrip(
    Request("STDIO", "stdio://files", content=orjson.dumps(CALL)),
    Response(0, content=orjson.dumps({"jsonrpc": "2.0", "id": 1, "result": "yes"})),
    100.0,
    tool_wire=ToolWire("s", "files", "client", 0, 1),
)


def wrapper(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[bytes]:
    words = [sys.executable, "-m", "turntape.proxy.cli", "mcp", *options, "-o", str(tmp_path / "again.cassette.jsonl")]
    return subprocess.run([*words, "--", "/missing/files-server"], input=LINE, capture_output=True, timeout=60)


def test_the_recording_answers_and_is_recorded_again(tmp_path: Path) -> None:
    path = str(tmp_path / "tools")
    with tool_link(ToolPlayer([RECORDED]), path):
        done = wrapper(tmp_path, "--play", path)

    assert (done.returncode, done.stderr) == (0, b"")
    assert orjson.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": "yes"}
    (trip,) = Cassette.load(tmp_path / "again.cassette.jsonl")
    assert trip.tool_wire is not None and trip.tool_wire.server == "files"
    assert trip.response is not None and trip.response.body == done.stdout.strip()


@pytest.mark.parametrize(("how", "code"), [({"exit": 3}, 3), ({"signal": "SIGTERM"}, -15), ({"signal": "SIGKILL"}, -9)])
def test_it_ends_as_the_recorded_server_did(tmp_path: Path, how: dict[str, Any], code: int) -> None:
    path = str(tmp_path / "tools")
    server = ToolServer("s", "files", started_at=99.0, ended_at=101.0, stderr=((0, b"warning\n"),), **how)
    with tool_link(ToolPlayer([RECORDED], servers=[server]), path):
        done = wrapper(tmp_path, "--play", path)

    assert (done.returncode, done.stderr) == (code, b"warning\n")


def test_frames_may_come_in_any_pieces(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    frames = Frames()
    data = b"o\0\0\0\3one" + b"e\0\0\0\2er" + b"o\0\0\1\0" + b"x" * 256 + b"x\0\0\0\2{}"

    for at in range(len(data)):
        frames.feed(data[at : at + 1])
    frames.feed(data)

    assert capfdbinary.readouterr() == ((b"one" + b"x" * 256) * 2, b"erer")
    assert frames.end == b"{}{}"


def test_without_a_player_the_wrapper_says_so(tmp_path: Path) -> None:
    done = wrapper(tmp_path, "--play", str(tmp_path / "nobody"))

    assert done.returncode == 1
    assert b"nobody cannot be reached" in done.stderr


@pytest.mark.parametrize(
    ("settings", "played"),
    [
        ({}, False),
        ({"play": "/s"}, True),
        ({"play": "/s", "live": "files"}, False),
        ({"play": "/s", "live": "web,files"}, False),
        ({"play": "/s", "live": "web"}, True),
        ({"play": "/s", "live": "web", "name": "web"}, False),
    ],
)
def test_a_server_is_played_unless_it_is_live(settings: dict[str, str], played: bool) -> None:
    wrapped = Wrapped(["npx", "files-server"], **settings)

    assert (wrapped.words != ["npx", "files-server"]) is played
    if played:
        assert list(wrapped.words)[-2:] == ["/s", "files"]
