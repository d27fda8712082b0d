"""`turntape mcp --replay F -- SERVER`: a recording in place of a server, for any client and without a run."""

import os
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from turntape.cassettes import Cassette, Recorder, Request, Response, RoundTrip
from turntape.cassettes.tape.lock import being_written
from turntape.cassettes.tape.model import ToolServer, ToolWire
from turntape.proxy.tool_wire.own_player import player_of, private_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the POSIX side of the wrapper")


def asked(number: object, **arguments: object) -> bytes:
    params = {"name": "read", "arguments": arguments}
    return orjson.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


def called(number: int, answer: str, **arguments: object) -> RoundTrip:
    said = orjson.dumps({"jsonrpc": "2.0", "id": number, "result": answer})
    wire = ToolWire("s", "files", "client", 2 * number, 2 * number + 1)
    request = Request("STDIO", "stdio://files", content=asked(number, **arguments))
    return RoundTrip(request, Response(0, content=said), 100.0 + number, route="stdio", tool_wire=wire)


@pytest.fixture
def tape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording of one server; the sockets of its players are below the test's folder where that is short enough."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    path = tmp_path / "files.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.tool_server(ToolServer("s", "files", cwd="/home/ana/proj", started_at=100.0))
        recorder.write(called(1, "first of /home/ana/proj", n=1))
        recorder.write(called(2, "second", n=1))
        recorder.write(called(3, "other", n=2))
    return path


def played(tape: Path, sent: bytes, *options: str, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    words = [sys.executable, "-m", "turntape.proxy.cli", "mcp", "--replay", str(tape), *options]
    return subprocess.run(
        [*words, "--", "/missing/server"], input=sent + b"\n", capture_output=True, timeout=100, cwd=cwd, check=False
    )


def results(done: subprocess.CompletedProcess[bytes]) -> list[object]:
    return [orjson.loads(line)["result"] for line in done.stdout.splitlines()]


def test_the_recording_answers_in_place_of_the_server(tape: Path, tmp_path: Path) -> None:
    here = tmp_path / "elsewhere" / "job"
    here.mkdir(parents=True)

    done = played(tape, asked("a", n=2) + b"\n" + asked("b", n=1), cwd=here)

    assert (done.returncode, done.stderr) == (0, b"")
    assert results(done) == ["other", f"first of {here}"]
    assert sorted(path.name for path in here.iterdir()) == []


def test_the_processes_of_one_client_share_what_was_played(tape: Path) -> None:
    done = [played(tape, asked(number, n=1)) for number in range(3)]

    assert [results(one)[0] for one in done[:2]] == [f"first of {Path.cwd()}", "second"]
    assert "the nearest is #2, where /n was 2 and is 1" in str(results(done[2]))


def test_another_client_begins_again(tape: Path) -> None:
    words = [sys.executable, "-m", "turntape.proxy.cli", "mcp", "--replay", str(tape), "--", "x"]
    code = f"import subprocess; subprocess.run({words})"
    both = [
        subprocess.run([sys.executable, "-c", code], input=asked(1, n=1) + b"\n", capture_output=True, check=True)
        for _ in range(2)
    ]

    assert len({one.stdout for one in both}) == 1


def test_it_is_recorded_again_with_an_output(tape: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.cassette.jsonl"

    done = played(tape, asked(7, n=2), "-o", str(again), "--name", "mine")

    assert (done.returncode, done.stderr) == (0, b"")
    while not again.exists() or being_written(again):
        time.sleep(0.01)
    (trip,) = Cassette.load(again)
    assert trip.response is not None and orjson.loads(trip.response.body) == {
        "jsonrpc": "2.0",
        "id": 7,
        "result": "other",
    }
    assert trip.tool_wire is not None and trip.tool_wire.server == "mine"


@pytest.mark.parametrize("content", [None, "", '{"turntape":"1.0"}\n'])
def test_what_cannot_be_played_is_said(tmp_path: Path, content: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    tape = tmp_path / "none.cassette.jsonl"
    if content is not None:
        tape.write_text(content)

    done = played(tape, b"")

    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.startswith(b"turntape: ")
    assert (b"No such file" in done.stderr) is (content is None)


def test_the_folder_of_the_sockets_is_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("turntape.proxy.tool_wire.own_player._LONGEST", 1000)

    folder = Path(private_folder(str(tmp_path)))

    assert (folder.parent, folder.stat().st_mode & 0o777) == (tmp_path, 0o700)
    assert private_folder(str(tmp_path)) == str(folder)
    folder.chmod(0o750)
    with pytest.raises(OSError, match="can be opened by others"):
        private_folder(str(tmp_path))
    assert private_folder("/x" * 500).startswith("/tmp/turntape-")


def test_a_system_without_these_sockets_is_named_with_another_way(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "name", "nt")
    with pytest.raises(OSError, match="^`turntape mcp --replay` needs Linux or macOS; on this system start `turntape"):
        player_of(str(tape))
