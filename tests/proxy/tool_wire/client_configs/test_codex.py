"""Codex: which servers it would start, and how one process gets them wrapped."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from turntape.proxy.tool_wire.client_configs.client import Launch
from turntape.proxy.tool_wire.client_configs.codex import Codex
from turntape.proxy.tool_wire.client_configs.wrapper import Wrapper

OURS = Wrapper(("ours", "mcp"))
CONFIG = """\
[mcp_servers.a]
command = "run-a"
args = ["1"]
env = { K = "v" }
[mcp_servers.off]
command = "x"
enabled = false
[mcp_servers.remote]
url = "https://a.example/mcp"
"""


@pytest.fixture
def launch(tmp_path: Path) -> Callable[..., Launch]:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(CONFIG)
    (tmp_path / "p" / ".git").mkdir(parents=True)
    (tmp_path / "p" / ".codex").mkdir()
    (tmp_path / "p" / ".codex" / "config.toml").write_text('[mcp_servers.p]\ncommand = "run-p"\n')

    def made(*arguments: str, **environ: str) -> Launch:
        return Launch(("codex",), arguments, {"HOME": str(tmp_path), **environ}, tmp_path / "p")

    return made


def words(launch: Launch) -> dict[str, tuple[str, ...]]:
    return {server.name: server.words for server in Codex().find(launch).servers}


def test_its_own_file_counts(launch: Callable[..., Launch]) -> None:
    found = Codex().find(launch("exec"))

    assert words(launch("exec")) == {"a": ("run-a", "1")}
    assert found.hosts == ("a.example",)


def test_a_projects_file_counts_only_when_the_user_trusts_it(launch: Callable[..., Launch], tmp_path: Path) -> None:
    with (tmp_path / ".codex" / "config.toml").open("a") as file:
        file.write(f'[projects."{tmp_path / "p"}"]\ntrust_level = "trusted"\n')

    assert words(launch()) == {"a": ("run-a", "1"), "p": ("run-p",)}


def test_another_home(launch: Callable[..., Launch], tmp_path: Path) -> None:
    assert words(launch(CODEX_HOME=str(tmp_path / "p" / ".codex"))) == {"p": ("run-p",)}


@pytest.mark.parametrize(
    "override",
    [
        ("-c", 'mcp_servers.a.args=["2"]'),
        ("--config", 'mcp_servers={a={args=["2"]}}'),
        ("-c", "mcp_servers.off.enabled=false", '-c=mcp_servers.a.args=["2"]'),
    ],
)
def test_its_own_overrides_count(launch: Callable[..., Launch], override: tuple[str, ...]) -> None:
    assert words(launch("exec", *override))["a"] == ("run-a", "2")


def test_a_value_that_cannot_be_toml_is_a_string(launch: Callable[..., Launch]) -> None:
    assert words(launch("-c", "mcp_servers.a.command=/bin/x y"))["a"] == ("/bin/x y", "1")


def test_only_the_command_is_replaced(launch: Callable[..., Launch], tmp_path: Path) -> None:
    before = launch("exec", "-c", 'mcp_servers.a.args=["2"]', "-c", "model=x", "--", "-c")

    after = Codex().wrap(before, Codex().find(before), OURS, tmp_path)

    assert after.program == ("codex",)
    first, command, second, args, *rest = after.arguments
    assert (first, second) == ("-c", "-c")
    assert tomllib.loads(command) == {"mcp_servers": {"a": {"command": "ours"}}}
    assert tomllib.loads(args) == {"mcp_servers": {"a": {"args": ["mcp", "--name", "a", "--", "run-a", "2"]}}}
    assert rest == ["exec", "-c", "model=x", "--", "-c"]
    assert after.environ == before.environ


def test_a_file_that_cannot_be_read_is_said(launch: Callable[..., Launch], tmp_path: Path) -> None:
    (tmp_path / ".codex" / "config.toml").write_text("a =")

    found = Codex().find(launch())

    assert found.servers == ()
    assert found.unread[0].startswith(f"{tmp_path / '.codex' / 'config.toml'}: ")


@pytest.mark.parametrize("text", ["a = " + "9" * 5000, "a = " + "[" * 3000])
def test_a_file_that_no_reader_takes_is_reported(launch: Callable[..., Launch], tmp_path: Path, text: str) -> None:
    (tmp_path / ".codex" / "config.toml").write_text(text)

    assert len(Codex().find(launch()).unread) == 1


def test_a_device_in_the_place_of_a_file_is_reported_at_once(launch: Callable[..., Launch], tmp_path: Path) -> None:
    (tmp_path / ".codex" / "config.toml").unlink()
    (tmp_path / ".codex" / "config.toml").symlink_to("/dev/tty")

    (said,) = Codex().find(launch()).unread
    assert "is a pipe or a device" in said
