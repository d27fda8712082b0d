"""Which values stay although they are called passwords: those that the test file shows, and that look like words."""

from pathlib import Path

import pytest

from turntape.cassettes.importers.suite_values import story_values

TESTS = "PASSWORDS = {'mellon': 'Moria', 'Xk29fLq8TzP1mVbW4cRd': 'x'}\ndef test_a(): ask('open with friend')\n"
RECORDING = """
interactions:
- request:
    body: '{"messages": [{"tool_calls": [{"function": {"arguments": "{\\"password\\": \\"%s\\"}"}}]}]}'
"""


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("mellon", ["mellon"]),
        ("friend", []),  # only a part of a text of the file
        ("radiance", []),  # not in the file
        ("Xk29fLq8TzP1mVbW4cRd", []),  # random: a secret under any name
    ],
)
def test_a_value_that_the_test_shows_stays(tmp_path: Path, value: str, kept: list[str]) -> None:
    tests, recording = tmp_path / "test_a.py", tmp_path / "a.yaml"
    tests.write_text(TESTS, encoding="utf-8")
    recording.write_text(RECORDING % value, encoding="utf-8")

    found = story_values({tests: [recording, tmp_path / "gone.yaml"]})

    assert found == ({tests: kept} if kept else {})


def test_a_file_that_is_not_python_shows_nothing(tmp_path: Path) -> None:
    tests, recording = tmp_path / "test_a.yaml", tmp_path / "a.yaml"
    tests.write_text("def: [", encoding="utf-8")
    recording.write_text(RECORDING % "mellon", encoding="utf-8")

    assert story_values({tests: [recording]}) == {}


def test_what_the_settings_replace_does_not_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests, recording = tmp_path / "test_a.py", tmp_path / "a.yaml"
    tests.write_text(TESTS, encoding="utf-8")
    recording.write_text(RECORDING % "mellon", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert story_values({tests: [recording]}) == {tests: ["mellon"]}

    (tmp_path / "turntape.toml").write_text("redact = ['mell.n']\n", encoding="utf-8")

    assert story_values({tests: [recording]}) == {}
