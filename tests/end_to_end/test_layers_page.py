"""docs/layers.md quotes real runs: every command in it is run, and what it quotes is what they print."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "layers.md"
_DOLLARS = re.compile(r"\$\d+\.\d+")


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Each command of the page's consoles, with the lines that are quoted of its output."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip() and line != "…":
                found[-1][1].append(line)
    return found


def test_every_command_prints_what_is_quoted_of_it(tmp_path: Path) -> None:
    if not PAGE.is_file():
        pytest.skip("not a checkout: there is no docs folder")
    environment = {**os.environ, "TURNTAPE_HOME": str(tmp_path / "home"), "COLUMNS": "80"}
    environment.pop("FORCE_COLOR", None)
    quoted = 0
    for command, lines in commands(PAGE.read_text(encoding="utf-8")):
        name, *arguments = command.split()
        assert name == "turntape"
        done = subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode in (0, 1), done.stderr
        printed = iter(_DOLLARS.sub("$", done.stdout).splitlines())
        for line in lines:
            assert _DOLLARS.sub("$", line) in printed, f"{command} does not print, or not in this order: {line!r}"
            quoted += 1
    assert quoted > 30


def test_the_page_has_an_example_a_layer() -> None:
    if not PAGE.is_file():
        pytest.skip("not a checkout: there is no docs folder")
    run = " ".join(command for command, _ in commands(PAGE.read_text(encoding="utf-8")))

    assert all(f"--fault {layer}" in run for layer in ("model", "api", "client"))
