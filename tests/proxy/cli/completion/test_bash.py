"""Completion in a real bash."""

import shutil
import subprocess
from pathlib import Path

import pytest

from turntape.proxy.cli.completion.bash import script
from turntape.proxy.cli.completion.words import commands

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash on this machine")


def completed(folder: Path, *words: str) -> list[str]:
    """What bash offers for the last word. `=` is a separate word, as bash splits it."""
    source = script(commands(["api-pause", "client-loop"]))
    code = f'{source}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _turntape; printf "%s\\n" "${{COMPREPLY[@]}}"'
    shown = subprocess.run(
        ["bash", "--norc", "-uc", code, "bash", "turntape", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stderr == ""
    return sorted(filter(None, shown.stdout.split("\n")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a b.cassette.jsonl").touch()
    (tmp_path / "ab").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["s"], ["scrub", "ship", "show"]),
        (["re"], ["record", "replay", "report"]),
        (["--ver"], ["--version"]),
        (["--debug", "sho"], ["show"]),
        (["show", "--fo"], ["--format"]),
        (["show", "--format", ""], ["json", "text"]),
        (["show", "--format", "="], ["json", "text"]),
        (["show", "--format", "=", "j"], ["json"]),
        (["show", "a"], ["a b.cassette.jsonl", "ab"]),
        (["show", "-o", "a"], ["a b.cassette.jsonl", "ab"]),
        (["show", "--turn", ""], []),
        (["import", "x", "--out-dir", "a"], ["ab"]),
        (["completion", ""], ["bash", "fish", "zsh"]),
        (["completion", "f"], ["fish"]),
        (["explain", "a"], ["api-pause"]),
        (["check", "x", "--only", "c"], ["client-loop"]),
        (["run", "--replay", "x", "--rou"], ["--route"]),
        (["run", "--", "--rou"], []),
        (["run", "--", "python", "a"], ["a b.cassette.jsonl", "ab"]),
        (["record", "a"], []),
        (["nonsense", "a"], []),
    ],
)
def test_the_last_word_is_completed(words: list[str], expected: list[str], folder: Path) -> None:
    assert completed(folder, *words) == expected


def test_after_two_dashes_programs_are_offered(folder: Path) -> None:
    assert "bash" in completed(folder, "run", "--", "bas")
