"""What the summary says of a whole session, in separate pytest sessions."""

import pytest
from plugin_project import write

pytest_plugins = ("pytester",)

WORD = "\n@pytest.mark.turntape(profile='sequence')\ndef test_{name}(): ask(os.environ.get('WORD', 'a'))\n"


@pytest.mark.parametrize(
    ("names", "options", "line"),
    [
        ("a", (), "test_it.py::test_a: 1 request differs from the recording: "
                  "the profile sequence ignores what requests contain"),
        ("abc", (), "3 tests: 3 requests differ from the recording: the profile sequence ignores what requests contain "
                    "(test_it.py::test_a, test_it.py::test_b, test_it.py::test_c)"),
        ("abcdefg", ("-n", "2"), "7 tests: 7 requests differ from the recording: the profile sequence ignores what "
                                 "requests contain (test_it.py::test_a, test_it.py::test_b, test_it.py::test_c, "
                                 "test_it.py::test_d, test_it.py::test_e, 2 more)"),
    ],
)  # fmt: skip
def test_requests_that_a_profile_ignores_are_reported_once(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, names: str, options: tuple[str, ...], line: str
) -> None:
    write(project, "".join(WORD.format(name=name) for name in names))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=len(names))
    same = project.runpytest(*options)
    same.assert_outcomes(passed=len(names))
    monkeypatch.setenv("WORD", "another")

    result = project.runpytest(*options)

    result.assert_outcomes(passed=len(names))
    assert [one for one in result.outlines if "the profile" in one] == [line]
    assert "the profile" not in same.stdout.str()
