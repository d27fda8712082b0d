"""What may differ, from the project's settings and the command line together."""

from pathlib import Path
from typing import Any

import pytest

from turntape.cassettes import TurntapeError
from turntape.cassettes.matching.settings import matching_of

TOML = """
[replay]
profile = "ordered"
ignore = ["/metadata/run"]
ignore_text = ["build-[0-9]+"]
rules = {system = "warn", tools = "fail"}
"""


def test_settings_and_the_command_line_add_up(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(TOML)

    found = matching_of(None, {"tools": "ignore"}, ["/name"], ["id-."], settings=tmp_path / "t.toml")

    assert found.profile == "ordered"
    assert dict(found.rules) == {"system": "warn", "tools": "ignore"}
    assert (found.ignore, found.ignore_text) == (("/metadata/run", "/name"), ("build-[0-9]+", "id-."))


def test_the_settings_of_pyproject_count_and_the_command_line_takes_precedence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(TOML.replace("[replay]", "[tool.turntape.replay]"))
    monkeypatch.chdir(tmp_path)

    assert matching_of().profile == "ordered"
    assert matching_of("strict").profile == "strict"


@pytest.mark.parametrize(
    ("toml", "sentence"),
    [
        ('[replay]\nprofil = "strict"', "unknown key 'profil'"),
        ('[replay]\nignore = ["a"]', "'a' is not a JSON pointer"),
        ('[replay]\nignore_text = ["("]', "not a regular expression"),
    ],
)
def test_a_value_that_cannot_be_used_is_an_error(toml: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(toml)

    with pytest.raises(TurntapeError, match=sentence):
        matching_of(settings=tmp_path / "t.toml")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"profile": "loose"}, "'loose' is not a matching profile; write one of strict, ordered, sequence"),
        ({"rules": {"system": "maybe"}}, "'system' is 'maybe'; write one of fail, warn, ignore"),
        ({"ignore": ["a"]}, "'a' is not a JSON pointer"),
        ({"ignore_text": ["("]}, "not a regular expression"),
    ],
)
def test_an_argument_that_cannot_be_used_is_an_error(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(TurntapeError, match=sentence):
        matching_of(**given)
