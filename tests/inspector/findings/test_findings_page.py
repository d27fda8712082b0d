"""docs/findings.md says what the table of rules holds."""

from pathlib import Path

import pytest

from turntape.inspector.findings.findings_page import main, page, render
from turntape.inspector.findings.rules import RULES


def test_the_page_in_the_repository_is_up_to_date() -> None:
    if not page().is_file():
        pytest.skip("not a checkout: there is no docs folder beside the package")
    assert page().read_text(encoding="utf-8").startswith(render())


def test_every_class_has_one_row_with_its_fix() -> None:
    for rule in RULES:
        rows = [line for line in render().splitlines() if line.startswith(f"| `{rule.id}` ")]
        assert len(rows) == 1
        assert rule.fix.replace("|", "\\|") in rows[0]


def test_what_is_written_by_hand_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "findings.md"

    assert main(["--check", "--output", str(target)]) == 1
    assert "out of date" in capsys.readouterr().err
    assert main(["--output", str(target)]) == 0
    assert "## On real traffic" in target.read_text()
    target.write_text(target.read_text().replace("api-pause", "api-paws") + "\nBy hand.\n")
    assert main(["--check", "--output", str(target)]) == 1
    assert main(["--output", str(target)]) == 0
    assert main(["--check", "--output", str(target)]) == 0
    assert target.read_text().endswith("\nBy hand.\n")
    assert "api-paws" not in target.read_text()
