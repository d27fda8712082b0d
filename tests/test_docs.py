"""The pages of docs/ are true: their commands print what they quote, their links lead somewhere, their paths exist."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from turntape.proxy.cli import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
_DOLLARS = re.compile(r"\$\d+\.\d+")


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Each command of a page's consoles, with the lines that the page quotes of its output."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.strip() and line != "…":
                found[-1][1].append(line)
    return found


def unprinted(lines: list[str], output: str) -> Iterator[str]:
    """The lines that do not appear in the output, in this order; amounts of dollars do not count."""
    printed = iter(_DOLLARS.sub("$", output).splitlines())
    return (line for line in lines if _DOLLARS.sub("$", line) not in printed)


@pytest.mark.parametrize("page", ["layers.md", "tutorial.md"])
def test_every_command_of_a_page_prints_what_the_page_quotes(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A demo runs in its own process, since it ends with its proxy; the others in this one, which has all imports."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    quoted = 0
    for command, lines in commands((DOCS / page).read_text("utf-8")):
        name, *arguments = command.split()
        assert name == "turntape"
        if arguments[0] == "demo":
            run = [sys.executable, "-m", "turntape.proxy.cli", *arguments, "--fast"]
            code = subprocess.run(run, timeout=120).returncode
        else:
            code = main(arguments)
        output, errors = capfd.readouterr()
        assert code in (0, 1), errors
        assert not list(unprinted(lines, output)), command
        quoted += len(lines)
    assert quoted > 20


def test_a_line_that_is_not_printed_is_found() -> None:
    assert list(unprinted(["b $0.02", "a"], "a\nb $0.01\n")) == ["a"]


def test_the_layers_page_has_an_example_for_each_layer() -> None:
    run = " ".join(command for command, _ in commands((DOCS / "layers.md").read_text("utf-8")))

    assert all(f"--fault {layer}" in run for layer in ("model", "api", "client"))


def broken_links(page: Path, text: str) -> list[str]:
    """Relative links of a page that lead to no file."""
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text)
    return [link for link in links if not (page.parent / link).exists()]


def missing_paths(text: str) -> list[str]:
    """Paths of our packages that a page names in backticks or in a drawing, and that do not exist."""
    named = re.findall(r"(?<![\w/.-])((?:cassettes|inspector|proxy|bench)/[\w/]*(?:\.py)?)(?![\w*])", text)
    return [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert not broken_links(page, page.read_text("utf-8"))


@pytest.mark.parametrize("name", ["architecture.md", "extending.md", "CONTRIBUTING.md"])
def test_every_path_that_a_page_names_exists(name: str) -> None:
    page = next(page for page in PAGES if page.name == name)

    assert not missing_paths(page.read_text("utf-8"))


def test_a_broken_link_and_a_missing_path_are_found() -> None:
    assert broken_links(DOCS / "index.md", "[a](nowhere.md) [b](index.md) [c](https://x.example)") == ["nowhere.md"]
    assert missing_paths("`cassettes/tape/reader.py` and `cassettes/deck.py`") == ["cassettes/deck.py"]


def test_every_page_is_in_the_navigation_of_the_site_once() -> None:
    listed = re.findall(r"(?:- |: )([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)

    assert sorted(listed) == sorted(page.name for page in DOCS.glob("*.md"))
