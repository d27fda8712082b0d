"""docs/cli.md is up to date and names everything."""

from pathlib import Path

import pytest

from turntape.proxy.cli.completion.words import all_actions
from turntape.proxy.cli.reference_page import main, page, render, write_or_check
from turntape.proxy.cli.registry import COMMANDS


def test_the_page_is_up_to_date() -> None:
    assert page().read_text(encoding="utf-8") == render(), "run `make docs`"


def test_every_command_and_option_is_on_the_page() -> None:
    text = render()

    assert all(f"\n## {one.name}\n" in text for one in COMMANDS)
    flags = {flag for action in all_actions() for flag in action.option_strings}
    assert [
        flag for flag in flags - {"-h", "--help", "--colour"} if f"`{flag}" not in text and f"{flag} " not in text
    ] == []
    assert "--while" not in text and "--command-output" not in text


def test_a_table_cell_is_one_line_with_escaped_bars() -> None:
    row = next(line for line in render().splitlines() if "--max-input-growth" in line)

    assert "`--max-input-growth 3x\\|200%`" in row
    assert row.replace("\\|", "").count("|") == 3


def test_a_help_text_is_not_read_as_markup() -> None:
    text = render()

    assert "run-&lt;time>.cassette.jsonl" in text and "<time>" not in text
    assert "'\\*=URL' for all APIs" in text


def test_the_check_fails_on_a_page_that_is_missing_or_old(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.md"
    arguments = ["--check", "-o", str(path)]

    assert write_or_check(arguments, "m", "new", path) == 1
    path.write_text("old")
    assert write_or_check(arguments, "m", "new", path) == 1
    assert capsys.readouterr().err.count("is out of date: run python -m m\n") == 2
    assert path.read_text() == "old"
    assert write_or_check(arguments[1:], "m", "new", path) == 0
    assert write_or_check(arguments, "m", "new", path) == 0


def test_it_writes_and_checks_the_page(tmp_path: Path) -> None:
    assert main(["-o", str(tmp_path / "cli.md")]) == 0
    assert main(["--check", "-o", str(tmp_path / "cli.md")]) == 0
    assert (tmp_path / "cli.md").read_text(encoding="utf-8") == render()
