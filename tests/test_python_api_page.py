"""docs/python-api.md: it has every documented name, is up to date, and its examples print what they say."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from public_names import PUBLIC

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "python-api.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXPECTED = re.compile(r"^ *print\(.*\)  # (.*)$", re.MULTILINE)
DESCRIBED = (
    "Cassette",
    "RoundTrip",
    "Recorder",
    "RecordingTransport",
    "ReplayTransport",
    "AsyncReplayTransport",
    "CassetteTransport",
    "Session",
    "Matching",
    "Player",
    "Fault",
    "read",
    "Run",
    "Engine",
    "running",
)


def test_the_page_is_as_the_docstrings_say() -> None:
    check = subprocess.run([sys.executable, DOCS / "python_api.py", "--check"], capture_output=True, check=False)

    assert check.returncode == 0, "run `make docs`"


def test_the_check_fails_on_another_page(tmp_path: Path) -> None:
    shutil.copy(DOCS / "python_api.py", tmp_path)
    (tmp_path / "python-api.md").write_text(PAGE.read_text("utf-8") + "more\n", "utf-8")

    check = subprocess.run([sys.executable, tmp_path / "python_api.py", "--check"], capture_output=True, check=False)

    assert check.returncode == 1


@pytest.mark.parametrize("name", DESCRIBED)
def test_each_name_has_a_section_with_an_import(name: str) -> None:
    section = re.search(rf"^## {name}\b.*?(?=^## |\Z)", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)

    assert section and re.search(rf"^`from turntape[.\w]* import {name}`$", section[0], re.MULTILINE)
    assert "```python" in section[0] or name == "running"  # its example is that of Engine


@pytest.mark.parametrize("package", PUBLIC)
def test_the_page_lists_the_public_names(package: str) -> None:
    names = ", ".join(f"`{name}`" for name in importlib.import_module(package).__all__)

    assert f"`{package}`: {names}.\n" in PAGE.read_text("utf-8")


def test_the_examples_print_what_they_say(tmp_path: Path) -> None:
    shutil.copy(DOCS / "example.cassette.jsonl", tmp_path)
    code = "\n".join(BLOCK.findall(PAGE.read_text("utf-8")))
    # In a loop, `# 529, then 200` are two lines.
    expected = [line for said in EXPECTED.findall(code) for line in said.split(", then ")]

    # In CI, where nothing is recorded unless asked for, mode "once" would replay a file that is not there.
    environ = {name: value for name, value in os.environ.items() if name not in ("CI", "TURNTAPE_MODE")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True, check=False
    )

    assert done.stderr == ""
    assert done.stdout.splitlines() == expected
