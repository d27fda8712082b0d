"""Completion in a real fish."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from turntape.proxy.cli.completion.fish import script
from turntape.proxy.cli.completion.words import commands

pytestmark = pytest.mark.skipif(shutil.which("fish") is None, reason="no fish on this machine")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "turntape.fish").write_text(script(commands(["api-pause", "client-loop"])))
    (tmp_path / "ab.cassette.jsonl").touch()
    (tmp_path / "ab").mkdir()
    return tmp_path


def completed(folder: Path, line: str) -> list[str]:
    """What fish offers at the end of `line`."""
    shown = subprocess.run(
        ["fish", "--no-config", "-c", "source turntape.fish; complete -C $argv[1]", line],
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stderr == ""
    return sorted(line.partition("\t")[0] for line in shown.stdout.splitlines())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("turntape re", ["record", "replay", "report"]),
        ("turntape --debug sho", ["show"]),
        ("turntape show --fo", ["--format"]),
        ("turntape show --format ", ["json", "text"]),
        ("turntape show --format=j", ["--format=json"]),
        ("turntape show a", ["ab.cassette.jsonl", "ab/"]),
        ("turntape show -o a", ["ab.cassette.jsonl", "ab/"]),
        ("turntape import x --out-dir a", ["ab/"]),
        ("turntape completion ", ["bash", "fish", "zsh"]),
        ("turntape explain a", ["api-pause"]),
        ("turntape check x --only c", ["client-loop"]),
        ("turntape run --replay x --rou", ["--route"]),
    ],
)
def test_the_last_word_is_completed(line: str, expected: list[str], folder: Path) -> None:
    assert completed(folder, line) == expected


def test_after_two_dashes_the_other_command_is_completed(folder: Path) -> None:
    assert "fish" in completed(folder, "turntape run -- fis")
    assert "--route" not in completed(folder, "turntape run -- --ro")
    assert completed(folder, "turntape run -- cat a") == ["ab.cassette.jsonl", "ab/"]
