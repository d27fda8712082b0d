"""What the summary says of a whole session, in separate pytest sessions."""

import os
import shlex
from collections.abc import Sequence

import pytest
from plugin_project import write

from turntape.cassettes import Cassette
from turntape.proxy.scripted.server import ScriptedServer

pytest_plugins = ("pytester",)

WORD = "\n@pytest.mark.turntape(profile='sequence')\ndef test_{name}(): post(os.environ.get('WORD', 'a'))\n"


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
def test_a(word): post(word)
"""


def many(ids: Sequence[str]) -> str:
    return MANY.format(words=", ".join(f"'word {place}'" for place in range(len(ids))), ids=", ".join(map(repr, ids)))


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_renamed_parameters_get_one_block_of_commands(project: pytest.Pytester, options: tuple[str, ...]) -> None:
    write(project, many("abc"))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=3)
    write(project, many("xyz"))

    result = project.runpytest(*options)

    result.assert_outcomes(failed=3)
    place = result.outlines.index(
        "3 tests have no cassette, and cassettes of tests that are gone hold their requests; "
        "if the tests were renamed or moved:"
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
    same = "\n@pytest.mark.turntape\n@pytest.mark.parametrize('one', {ids})\ndef test_a(one): post('the same')\n"
    write(project, same.format(ids=["a"]))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=1)
    write(project, same.format(ids=["a", "b"]))

    for options in (["-k", "b"], ["test_it.py::test_a[b]"], []):
        result = project.runpytest(*options)
        result.stdout.no_fnmatch_line("*mv *")
        assert result.parseoutcomes()["failed"] == 1

    write(project, same.format(ids=["b"]))
    project.runpytest().stdout.fnmatch_lines(["*mv *test_a-a.cassette.jsonl *test_a-b.cassette.jsonl"])


LISTED = "".join(
    f"\n@pytest.mark.turntape\ndef test_{name}(): post(os.environ.get('WORD', 'a') + ' {name}')\n" for name in "cab"
)


def test_a_change_is_described_the_same_in_whatever_order_the_tests_ran(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbered = "\n@pytest.mark.turntape\n@pytest.mark.parametrize('n', [{}])\ndef test_n(n): post(os.environ['WORD'])\n"
    monkeypatch.setenv("WORD", "a")
    write(project, LISTED + numbered.format("10, 9"))
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=5)
    monkeypatch.setenv("WORD", "another")
    names = ["test_c", "test_a", "test_b", "test_n[9]", "test_n[10]"]

    for order in (names, names[::-1]):
        result = project.runpytest(*(f"test_it.py::{name}" for name in order))

        result.assert_outcomes(failed=5)
        place = result.outlines.index("5 tests fail for one change:")
        assert result.outlines[place + 1 : place + 10] == [
            "  /messages/0/content",
            "    - a c",
            "    + another c",
            "  in:",
            *(f"    test_it.py::{name}" for name in names),
        ]


FLAKY = """
from pathlib import Path

def word(name):
    # What the first runs of a test send differs from what was recorded.
    tried = Path(f"{name}.tried")
    tried.write_text((tried.read_text() if tried.exists() else "") + "x")
    return f"run {len(tried.read_text())}" if len(tried.read_text()) <= int(os.environ.get("BAD", 0)) else "a"
"""


@pytest.fixture
def repeating(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project in which pytest-rerunfailures repeats each test that fails once."""
    pytest.importorskip("pytest_rerunfailures", reason="pytest-rerunfailures is not installed")
    monkeypatch.setenv("PYTEST_ADDOPTS", f"{os.environ['PYTEST_ADDOPTS']} -p rerunfailures --reruns=1")
    return project


def recorded(project: pytest.Pytester, text: str) -> pytest.Pytester:
    write(project, FLAKY + text)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)
    for file in project.path.glob("*.tried"):
        file.unlink()
    return project


MARKED = """
@pytest.mark.turntape
@pytest.mark.parametrize("name", ["a", "b"])
def test_flaky(name):
    post(word(name))
"""
OPENED = """
from turntape.cassettes import vcr

@pytest.mark.parametrize("name", ["a", "b"])
def test_flaky(name):
    with vcr.use_cassette(f"{name}.yaml", match_on=["method", "body"]): post(word(name))
"""


@pytest.mark.parametrize(("text", "options"), [(MARKED, ()), (MARKED, ("-n", "2")), (OPENED, ())])
def test_a_test_that_passes_when_it_is_repeated_has_not_failed(
    repeating: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, text: str, options: tuple[str, ...]
) -> None:
    recorded(repeating, text)
    monkeypatch.setenv("BAD", "1")

    result = repeating.runpytest(*options, "--turntape-check")

    assert result.parseoutcomes() == {"passed": 2, "rerun": 2}
    assert result.ret == 0
    result.stdout.no_fnmatch_line("*fail for one change*")
    result.stdout.fnmatch_lines(["every cassette is used, whole and without secrets"])


def test_a_test_that_fails_while_it_is_recorded_is_recorded_again_when_it_is_repeated(
    repeating: pytest.Pytester, server: ScriptedServer
) -> None:
    fails = "\n    assert Path(f'{name}.tried').read_text() == 'xx'\n"
    write(repeating, FLAKY + MARKED.rstrip() + fails)

    result = repeating.runpytest("--turntape-mode=once")

    assert result.parseoutcomes() == {"passed": 2, "rerun": 2}
    assert len(server.requests) == 4
    result.stdout.no_fnmatch_line("*its test failed when*")


def test_a_test_that_fails_each_time_is_described_by_its_last_run(
    repeating: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(repeating, MARKED)
    monkeypatch.setenv("BAD", "2")

    result = repeating.runpytest("--turntape-check")

    assert result.parseoutcomes() == {"failed": 2, "rerun": 2}
    place = result.outlines.index("2 tests fail for one change:")
    assert result.outlines[place + 1 : place + 4] == ["  /messages/0/content", "    - a", "    + run 2"]
    assert sum("stale: " in line for line in result.outlines) == 2


def test_requests_of_a_test_that_is_repeated_are_counted_once(
    repeating: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = "\n    assert len(Path(f'{name}.tried').read_text()) > int(os.environ.get('FAIL', 0))\n"
    recorded(repeating, MARKED.replace("turntape\n", "turntape(profile='sequence')\n").rstrip() + fails)
    monkeypatch.setenv("BAD", "2")
    monkeypatch.setenv("FAIL", "1")

    result = repeating.runpytest()

    assert result.parseoutcomes() == {"passed": 2, "rerun": 2}
    result.stdout.fnmatch_lines(["2 tests: 2 requests differ from the recording: *"])


REPEAT = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--count", type=int, default=1)

@pytest.fixture
def __pytest_repeat_step_number(request):
    return request.param

@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc):
    count = metafunc.config.option.count
    if count > 1:
        metafunc.fixturenames.append("__pytest_repeat_step_number")
        ids = [f"{number + 1}-{count}" for number in range(count)]
        metafunc.parametrize("__pytest_repeat_step_number", range(count), indirect=True, ids=ids)
"""
"""What pytest-repeat does."""


@pytest.mark.parametrize("options", [(), ("-n", "2")])
def test_repetitions_play_one_cassette_and_the_commands_name_the_test(
    project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    project.makeconftest(REPEAT)
    write(project, "\n@pytest.mark.turntape\ndef test_a(): post(os.environ.get('WORD', 'a'))\n")
    project.runpytest("--count=2", "--turntape-mode=once").assert_outcomes(passed=2)
    assert [file.name for file in project.path.rglob("*.cassette.jsonl")] == ["test_a.cassette.jsonl"]
    project.runpytest("--count=6", "--turntape-check", *options).assert_outcomes(passed=6)
    monkeypatch.setenv("WORD", "another")

    result = project.runpytest("--count=6", *options)

    result.assert_outcomes(failed=6)
    assert "6 tests fail for one change:" in result.outlines
    said = {line.split("pytest ", 1)[1] for line in result.outlines if "--turntape-mode=restamp" in line}
    assert {shlex.split(one)[-2] for one in said} == {"test_it.py::test_a"}


@pytest.mark.parametrize("mode", ["once", "all"])
def test_repetitions_in_several_workers_record_one_after_the_other(
    project: pytest.Pytester, server: ScriptedServer, mode: str
) -> None:
    project.makeconftest(REPEAT)
    write(project, "\nimport time\n@pytest.mark.turntape\ndef test_a(): post('a'); time.sleep(0.5); post('b')\n")

    result = project.runpytest("--count=4", "-n", "2", f"--turntape-mode={mode}")

    result.assert_outcomes(passed=4)
    result.stdout.no_fnmatch_line("*left over*")
    assert len(server.requests) == (2 if mode == "once" else 8)
    (path,) = project.path.rglob("*.cassette.jsonl")
    assert len(Cassette.load(path)) == 2


@pytest.mark.parametrize(("count", "lines", "options"), [(20, 20, ()), (21, 2, ("-n", "2"))])
def test_what_many_tests_recorded_is_one_line_beside_those_that_failed(
    project: pytest.Pytester, count: int, lines: int, options: tuple[str, ...]
) -> None:
    names = many([str(place) for place in range(count)])
    write(project, names.replace("post(word)", "post(word); assert word != 'word 3'"))

    result = project.runpytest("--turntape-mode=once", *options)

    result.assert_outcomes(passed=count - 1, failed=1)
    said = [line for line in result.outlines if "recorded 1 round trip to " in line or line.startswith("recorded ")]
    assert len(said) == lines
    [failed] = [line for line in said if "although" in line]
    assert failed.startswith("test_it.py::test_a[3]: recorded 1 round trip to ")
    if lines == 2:
        assert said[1].startswith("recorded 21 round trips of 21 tests to 21 cassettes below ")
