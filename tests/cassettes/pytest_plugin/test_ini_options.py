"""Options of pytest's ini file: one that is misspelled or has a wrong value ends the run in one sentence."""

import subprocess
import sys

import pytest
from plugin_project import UNUSED

pytest_plugins = ("pytester",)


@pytest.fixture(autouse=True)
def few_plugins(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    del pytester  # it comes first, because it removes this variable
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(f"-p no:{name}" for name in UNUSED))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("turntape_profle = strict", "the ini file has 'turntape_profle', *did you mean 'turntape_profile'?"),
        ("turntape_partial = banana", "the ini file has turntape_partial with a wrong value: *'banana'*"),
        ("turntape_redact_entropy = banana", "the ini file has turntape_redact_entropy with a wrong value: *"),
        ("turntape_mode = record", "the ini file has turntape_mode = record; write one of none, once, *"),
        ("turntape_profile = sequenc", "the ini file has turntape_profile = sequenc; did you mean 'sequence'?"),
        ("turntape_map_values = nope", "the ini file has turntape_map_values = nope; write true or false"),
        ("turntape_pace = fast", "the ini file: the pace 'fast' is not instant*"),
    ],
)
def test_a_wrong_option_ends_the_run_in_one_sentence(pytester: pytest.Pytester, line: str, said: str) -> None:
    pytester.makeini(f"[pytest]\n{line}\n")
    pytester.makepyfile("def test_a(): pass")

    result = pytester.runpytest()

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: turntape: {said}"])
    assert "Traceback" not in result.stderr.str()


def test_valid_options_and_those_of_other_plugins_are_left_alone(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        "[pytest]\nturntape_profile = sequence\nturntape_mode =\nturntape_map_values = no\nturntape_partial = true\n"
        "turntape_pace = 10\nturntape_trajectories = true\nturntape_rules =\n    system = warn\nunknown_of_others = 1\n"
    )
    pytester.makepyfile("def test_a(): pass")

    pytester.runpytest().assert_outcomes(passed=1)


def test_the_plugin_needs_no_name_that_pytest_7_does_not_have() -> None:
    plugins = "turntape.cassettes.pytest_plugin, turntape.inspector.pytest_plugin"
    asked = f"import pytest; del pytest.FixtureDef; import {plugins}"
    subprocess.run([sys.executable, "-c", asked], check=True)
