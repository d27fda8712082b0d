"""docs/protocols.md says what the registry holds."""

from pathlib import Path

import pytest

from turntape.inspector.wire.protocols_page import main, page, render
from turntape.inspector.wire.registry import built_in


def test_the_page_in_the_repository_is_up_to_date() -> None:
    if not page().is_file():
        pytest.skip("not a checkout: there is no docs folder beside the package")
    assert page().read_text(encoding="utf-8") == render()


def test_every_protocol_has_a_section_and_a_unique_name() -> None:
    names = [protocol.name for protocol in built_in()]
    assert len(set(names)) == len(names)
    assert all(f"## {name}\n" in render() for name in names)


def test_check_says_when_the_page_is_out_of_date(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "protocols.md"
    assert main(["--check", "--output", str(target)]) == 1
    assert "out of date" in capsys.readouterr().err
    assert main(["--output", str(target)]) == 0
    assert main(["--check", "--output", str(target)]) == 0
