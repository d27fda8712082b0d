"""Gemini CLI: which servers it would start, and how one process gets them wrapped."""

import json
from pathlib import Path

import pytest

from turntape.proxy.tool_wire.client_configs import gemini_cli
from turntape.proxy.tool_wire.client_configs.client import Launch
from turntape.proxy.tool_wire.client_configs.gemini_cli import VARIABLE, GeminiCli
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper

OURS = Wrapper(("ours", "mcp"))


@pytest.fixture
def launch(tmp_path: Path) -> Launch:
    for folder, names in ((tmp_path / ".gemini", "ub"), (tmp_path / "p" / ".gemini", "pb")):
        folder.mkdir(parents=True)
        servers: dict[str, object] = {
            name: {"command": f"{folder.parent.name}-{name}", "trust": True} for name in names
        }
        servers["remote"] = {"httpUrl": "https://a.example/mcp"}
        (folder / "settings.json").write_text("// mine\n" + json.dumps({"mcpServers": servers}))
    (tmp_path / "system.json").write_text('{"mcpServers": {"s": {"command": "run-s"}}, "tools": {"x": 1}}')
    environ = {"HOME": str(tmp_path), VARIABLE: str(tmp_path / "system.json")}
    return Launch(("gemini",), ("-p", "x"), environ, tmp_path / "p")


def test_the_users_the_projects_and_the_systems_files_count(launch: Launch) -> None:
    found = GeminiCli().find(launch)

    assert {server.name: server.words[0] for server in found.servers} == {
        "u": f"{launch.home.name}-u",
        "p": "p-p",
        "b": "p-b",
        "s": "run-s",
    }
    assert found.hosts == ("a.example",)


def test_without_a_folder_of_root_its_process_wraps_the_commands(launch: Launch, tmp_path: Path) -> None:
    """It skips a system settings file of anybody else, and of a folder like /tmp."""
    found = GeminiCli().find(launch)

    after = GeminiCli().wrap(launch, found, OURS, tmp_path)

    assert (after.command, after.environ[VARIABLE]) == (launch.command, launch.environ[VARIABLE])
    known = json.loads(after.environ["TURNTAPE_TOOL_WIRE"])["known"]
    assert {"front": ["ours", "mcp", "--name", "b", "--"], "words": ["p-b"]} in known
    assert len(known) == 4
    assert "node_hook.cjs" in after.environ["NODE_OPTIONS"]


def test_the_systems_file_is_replaced_with_all_that_it_says(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gemini_cli, "_is_trusted", lambda _folder: True)
    (tmp_path / "run").mkdir()

    after = GeminiCli().wrap(launch, GeminiCli().find(launch), OURS, tmp_path / "run")

    path = Path(after.environ[VARIABLE])
    settings = json.loads(path.read_text())
    assert path.parent == tmp_path / "run"
    assert after.command == launch.command
    assert settings["tools"] == {"x": 1}
    assert set(settings["mcpServers"]) == {"u", "p", "b", "s"}
    assert settings["mcpServers"]["b"] == {
        "command": "ours",
        "args": ["mcp", "--name", "b", "--", "p-b"],
        "trust": True,
    }
