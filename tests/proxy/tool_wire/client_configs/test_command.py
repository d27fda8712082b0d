"""`turntape mcp wrap` and `unwrap`."""

import json
from pathlib import Path

import pytest

from turntape.proxy.cli import main
from turntape.proxy.exit_codes import OK, USAGE

TEXT = '{"mcpServers": {"a": {"command": "npx", "args": ["x"]}, "b": {"command": "y"}}}\n'


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp.json").write_text(TEXT)
    return tmp_path / "mcp.json"


def test_a_file_is_wrapped_and_unwrapped(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "wrap", "mcp.json"]) == OK
    servers = json.loads(file.read_text())["mcpServers"]
    assert servers["a"]["args"][-5:] == ["--name", "a", "--", "npx", "x"]
    assert main(["mcp", "wrap", "mcp.json"]) == OK
    assert main(["mcp", "unwrap", "mcp.json"]) == OK
    assert file.read_text() == TEXT
    assert capsys.readouterr().out.splitlines() == [
        "mcp.json: wrapped a, b; restart the client that reads it",
        "mcp.json: nothing to do, a, b are already wrapped",
        "mcp.json: unwrapped a, b; restart the client that reads it",
    ]


@pytest.mark.parametrize("arguments", [["wrap", "--dry-run", "mcp.json"], ["wrap", "mcp.json", "--dry-run"]])
def test_a_dry_run_prints_the_change(file: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", *arguments]) == OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "mcp.json: would wrap a, b"
    assert f"-{TEXT.strip()}" in lines
    assert file.read_text() == TEXT


def test_one_bad_file_does_not_stop_the_others(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.json").write_text("{")

    assert main(["mcp", "wrap", "bad.json", "no.json", "mcp.json"]) == USAGE
    assert "turntape" in file.read_text()
    assert capsys.readouterr().err.splitlines() == [
        "turntape: 'bad.json' cannot be read as JSON: line 1: the end of the file is not expected here; "
        "it was left as it is",
        "turntape: cannot read 'no.json': No such file or directory",
    ]


def test_a_file_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "wrap"]) == USAGE
    assert capsys.readouterr().err == "turntape mcp: no file to wrap; name the configuration file of a client\n"
