"""What the summary says of a whole session, in separate pytest sessions."""

import shlex

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


MANY = """
@pytest.mark.turntape
@pytest.mark.parametrize('word', [{words}], ids=[{ids}])
def test_a(word): ask(word)
"""


def many(ids: str) -> str:
    return MANY.format(words=", ".join(f"'word {place}'" for place in range(len(ids))), ids=", ".join(map(repr, ids)))


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_renamed_parameters_get_one_block_of_commands(project: pytest.Pytester, options: tuple[str, ...]) -> None:
    write(project, many("abc"))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=3)
    write(project, many("xyz"))

    result = project.runpytest(*options)

    result.assert_outcomes(failed=3)
    place = result.outlines.index(
        "3 tests have no cassette, and cassettes of tests that are gone hold their requests; if the tests were renamed:"
    )
    block = result.outlines[place + 1 : place + 4]
    assert sorted(block) == [
        f"  mv {shlex.join(f'cassettes/test_it/test_a-{name}.cassette.jsonl' for name in pair)}"
        for pair in zip("abc", "xyz", strict=True)
    ]

    for command in block:
        before, after = shlex.split(command)[1:]
        (project.path / before).rename(project.path / after)
    project.runpytest().assert_outcomes(passed=3)


def test_one_renamed_test_has_its_command_at_the_failure_only(project: pytest.Pytester) -> None:
    write(project, many("ab"))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)
    write(project, many("ax"))

    result = project.runpytest()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.no_fnmatch_line("*tests have no cassette*")


def test_the_cassette_of_a_parameter_that_is_only_deselected_is_not_for_another(project: pytest.Pytester) -> None:
    same = "\n@pytest.mark.turntape\n@pytest.mark.parametrize('one', {ids})\ndef test_a(one): ask('the same')\n"
    write(project, same.format(ids=["a"]))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    write(project, same.format(ids=["a", "b"]))

    for options in (["-k", "b"], ["test_it.py::test_a[b]"], []):
        result = project.runpytest(*options)
        result.stdout.no_fnmatch_line("*mv *")
        assert result.parseoutcomes()["failed"] == 1

    write(project, same.format(ids=["b"]))
    project.runpytest().stdout.fnmatch_lines(["*mv *test_a-a.cassette.jsonl *test_a-b.cassette.jsonl"])
