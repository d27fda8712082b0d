"""The sealed run with a client and a server of our own, and its page."""

import json
import sys
from pathlib import Path

import pytest

from clients.environments import HERE, Runtime
from clients.sealed import closed
from clients.sealed.cell import SealedCell, run_cell
from clients.sealed.page import PAGE, measured, page, remember
from clients.sealed.servers import SERVERS, SealedServer
from clients.test_tool_results import CLIENT
from clients.tool_results.catalogue import TOOL_CLIENTS, TRANSPORTS, Configured, ToolClient
from turntape.proxy.scripted.story import Call, Step, Story

KINDS = HERE / "python" / "kinds_mcp.py"


class OwnServer(SealedServer):
    """The server with all kinds of results, from this environment."""

    def runtime(self) -> Runtime:
        return Runtime((sys.executable,), "1", KINDS.parent)


def _story(home: Path) -> Story:
    return (
        Step(calls=(Call("show_both", {"topic": str(home / "files")}), Call("show_two_texts", {"topic": "a"}))),
        Step("done"),
    )


OWN = OwnServer(
    "kinds",
    (),
    "x.py",
    lambda programs, _home: (sys.executable, str(programs / "kinds_mcp.py")),
    lambda _programs, _home, _port: (),
    _story,
)


def configured(home: Path, server: Configured) -> None:
    (home / ".claude.json").write_text(json.dumps({"mcpServers": {server.name: server.started}}))


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    return tmp_path / "authority"


def runtime_of(tmp_path: Path, code: str) -> Runtime:
    program = tmp_path / "claude"
    program.write_text(code.replace("{{", "{").replace("}}", "}").replace("{python}", sys.executable))
    program.chmod(0o755)
    return Runtime((str(program), "-p", "go"), "1")


def test_a_recording_is_replayed_without_its_server(tmp_path: Path, authority: Path) -> None:
    runtime = runtime_of(tmp_path, CLIENT)

    cell = run_cell(ToolClient("own", (), configure=configured), runtime, OWN, "stdio", authority, 2, jobs=2)

    assert cell.problems == []
    assert (cell.equal, cell.tried, cell.is_sealed) == (2, 2, True)


def test_a_client_that_does_something_else_is_found(tmp_path: Path, authority: Path) -> None:
    moved = CLIENT.replace('"content": "go"', '"content": os.getcwd()[-6:-5] + str(os.stat(".").st_ino)')
    runtime = runtime_of(tmp_path, moved)

    cell = run_cell(ToolClient("own", (), configure=configured), runtime, OWN, "stdio", authority, 1)

    assert (cell.equal, cell.tried) == (0, 1)
    assert cell.problems[0].startswith("changed: no recorded round trip answers POST /messages")


def test_the_network_is_closed() -> None:
    import subprocess

    reach = "import socket; socket.create_connection(('192.0.2.1', 80), 3)"
    done = subprocess.run([*closed.words(), sys.executable, "-c", reach], capture_output=True, text=True, check=False)

    if not closed.words():
        assert closed.variables({})["HTTPS_PROXY"] == "http://127.0.0.1:9"
        assert closed.how() == closed.PROXIES
        return
    assert "unreachable" in done.stderr
    assert closed.how() == closed.NAMESPACE


def test_every_server_has_a_story_and_a_command(tmp_path: Path) -> None:
    for server in SERVERS:
        assert sum(len(step.calls) for step in server.story(tmp_path)) >= 7
        assert server.command(tmp_path / "own", tmp_path)
        assert "7" in " ".join(server.over_http(tmp_path / "own", tmp_path, 7)) or server.name == "everything"


def test_the_page_says_what_was_not_equal() -> None:
    cells = [
        SealedCell("Codex", "1", "shop", "stdio", "2026-01-01", 20, 20),
        SealedCell("Codex", "1", "shop", "http", "2026-01-01", 20, 19, ["turn 3 was answered with status 400"]),
        SealedCell("Codex", "1", "filesystem", "http", "2026-01-01", problems=["recording: 1 of 2 calls were made"]),
    ]
    lines = page(cells).splitlines()

    assert "| Codex | not run | not run | not run | not recorded | 20 of 20 | **19 of 20** |" in lines
    assert "- Codex, `shop`, HTTP: turn 3 was answered with status 400" in lines
    assert "- Codex, `filesystem`, HTTP: recording: 1 of 2 calls were made" in lines
    assert "## What was not equal" not in page(cells[:1])
    assert {client.name for client in TOOL_CLIENTS} >= {"Codex"}
    assert TRANSPORTS == ("stdio", "http")


def test_the_page_is_made_of_what_was_measured() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(measured())


def test_a_run_with_fewer_replays_does_not_replace_one_with_more(tmp_path: Path) -> None:
    file = tmp_path / "measured.json"
    many = SealedCell("Codex", "1", "shop", "stdio", "2026-01-01", 20, 20)
    few = SealedCell("Codex", "1", "shop", "stdio", "2026-01-02", 3, 3)
    worse = SealedCell("Codex", "1", "shop", "stdio", "2026-01-02", 3, 2, ["a result is not equal"])
    newer = SealedCell("Codex", "2", "shop", "stdio", "2026-01-02", 3, 3)
    first = SealedCell("Claude Code", "1", "shop", "http", "2026-01-01", 3, 3)

    assert remember([many, few], file) == [many] == measured(file)
    assert remember([first], file) == [first, many] == measured(file)
    assert remember([worse], file) == [first, worse]
    assert remember([many, newer], file) == [first, newer]
