"""What may differ, as the project's settings and the command line say it together."""

from pathlib import Path

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


def test_the_settings_of_pyproject_count_and_the_command_line_has_the_last_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(TOML.replace("[replay]", "[tool.turntape.replay]"))
    monkeypatch.chdir(tmp_path)

    assert matching_of().profile == "ordered"
    assert matching_of("strict").profile == "strict"


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ('[replay]\nprofil = "strict"', "'profil'; it may have profile, ignore, ignore_text, rules"),
        ("[replay]\nprofile = []", "no matching profile"),
        ("[replay]\nignore = 3", "write a list of strings"),
        ('[replay]\nignore = ["a"]', "'a' is no JSON pointer"),
        ('[replay]\nignore_text = ["("]', "no regular expression"),
        ('[replay]\nrules = "warn"', "write a table"),
        ('[replay]\nrules = {system = "maybe"}', "write one of fail, warn, ignore"),
        ("replay = 1", "write a table"),
    ],
)
def test_what_makes_no_sense_is_told(toml: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(toml)

    with pytest.raises(TurntapeError, match=said):
        matching_of(settings=tmp_path / "t.toml")
