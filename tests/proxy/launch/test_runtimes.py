"""Which language a command is written in."""

from pathlib import Path

import pytest

from turntape.proxy.launch.runtimes import identify, of_executable


@pytest.mark.parametrize(
    ("command", "runtime", "launcher"),
    [
        (["python3.12", "agent.py"], "Python", ("python3.12",)),
        (["/opt/venv/bin/python", "-m", "agent"], "Python", ("/opt/venv/bin/python",)),
        (["uv", "run", "python", "agent.py"], "Python", ("uv", "run", "python")),
        (["uv", "run", "pytest"], "Python", ("uv", "run", "python")),
        (["env", "A=1", "node", "agent.js"], "Node", ("env", "A=1", "node")),
        (["npx", "tsx", "agent.ts"], "Node", ("node",)),
        (["java", "-jar", "agent.jar"], "Java", ("java",)),
        (["mvn", "exec:java"], "Java", ("java",)),
        (["rake"], "Ruby", ("ruby",)),
        (["bundle", "exec", "agent"], "Ruby", ("ruby",)),
        (["docker", "run", "agent"], "elsewhere", ("docker",)),
        (["curl", "https://api.openai.com"], "curl", ("curl",)),
    ],
)
def test_by_the_name(command: list[str], runtime: str, launcher: tuple[str, ...]) -> None:
    found = identify(command, {"PATH": ""})

    assert (found.runtime.name, found.launcher) == (runtime, launcher)


@pytest.mark.parametrize(
    ("content", "runtime", "launcher"),
    [
        (b"#!/usr/bin/env python3\n", "Python", ("python3",)),
        (b"#!/srv/.venv/bin/python3.12\n", "Python", ("/srv/.venv/bin/python3.12",)),
        (b"#!/usr/bin/env -S node --no-warnings\n", "Node", ("node",)),
        (b"#!/usr/bin/perl\n", "unknown", ()),
        (b"\x7fELF.....\xff Go buildinf:....", "Go", ()),
        (b"\x7fELF.....library/std /rustc/abc....", "Rust", ()),
        (b"\x7fELF.../rustc/abc...---- Bun! ----\n", "Bun", ()),
        (b"\x7fELF", "unknown", ()),
        (b"", "unknown", ()),
    ],
)
def test_by_the_first_line_or_bytes(content: bytes, runtime: str, launcher: tuple[str, ...], tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_bytes(content)
    program.chmod(0o755)

    found = identify(["agent"], {"PATH": str(tmp_path)})

    assert (found.runtime.name, found.launcher) == (runtime, launcher)
    assert of_executable(str(program)).name == runtime


@pytest.mark.parametrize(
    ("name", "runtime"),
    [("a.py", "Python"), ("a.js", "Node"), ("a.mjs", "Node"), ("a.ts", "Node"), ("a.sh", "unknown")],
)
def test_a_file_that_is_not_on_the_path_is_known_by_its_ending(name: str, runtime: str) -> None:
    assert identify([f"./{name}"], {"PATH": ""}).runtime.name == runtime


@pytest.mark.parametrize(
    ("command", "cleared"),
    [
        (["env", "-i", "PATH=/bin", "python"], True),
        (["env", "--ignore-environment", "-u", "A", "node"], True),
        (["env", "-", "agent"], True),
        (["env", "-u", "A", "B=-i", "python"], False),
        (["time", "-p", "python"], False),
    ],
)
def test_a_command_that_drops_the_environment_is_known(command: list[str], cleared: bool) -> None:
    assert identify(command, {"PATH": ""}).cleared is cleared


def test_a_program_that_is_gone_is_of_an_unknown_kind(tmp_path: Path) -> None:
    assert of_executable(str(tmp_path / "agent")).name == "unknown"
