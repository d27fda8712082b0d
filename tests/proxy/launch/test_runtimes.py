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
