"""`pytest --turntape-ship` in a separate session."""

from pathlib import Path

import pyarrow.dataset
import pytest
from shipped_tapes import LOOP, rows, tape

from turntape.inspector.pytest_plugin.suite_shipping import labels_of

pytest_plugins = ["pytester"]

KEPT = pyarrow.dataset
"""`pytester` removes from `sys.modules` what a test imports. DuckDB refuses the data sets of a second pyarrow."""

TESTS = """
import httpx, pytest
from conversations import loop

@pytest.mark.turntape(path="a.cassette.jsonl")
@pytest.mark.parametrize("right", [True, False])
def test_agent(right, request):
    with httpx.Client() as client:
        for trip in loop():
            client.post(trip.request.url, content=trip.request.body)
    assert right

def test_without_a_cassette():
    pass
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("TURNTAPE_FLEET_KEY", "test")
    monkeypatch.setenv("TURNTAPE_HOME", str(pytester.path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "JENKINS_URL"):
        monkeypatch.delenv(name, raising=False)
    tape(pytester.path / "a.cassette.jsonl")
    pytester.makepyfile(test_suite=TESTS)
    return pytester


def run(project: pytest.Pytester, to: str, *options: str) -> pytest.RunResult:
    plugins = ("-p", "turntape.cassettes.pytest_plugin", "-p", "turntape.inspector.pytest_plugin")
    return project.runpytest_subprocess("--turntape-ship", to, *plugins, *options)


def test_cassettes_are_shipped_with_test_and_verdict(project: pytest.Pytester) -> None:
    done = run(project, "store")

    done.stdout.fnmatch_lines(["*turntape: shipped*", "1 cassette to store; 0 there already"])
    found = rows(str(project.path / "store"))
    assert len(found) == LOOP
    assert {row["verdict"] for row in found} == {"fail"}
    assert {row["task"] for row in found} == {"test_suite.py::test_agent[True]"}


def test_workers_leave_the_shipping_to_the_session(project: pytest.Pytester) -> None:
    done = run(project, "store", "-k", "True", "-n", "1", "-p", "xdist")

    done.stdout.fnmatch_lines(["1 cassette to store; 0 there already"])
    assert {row["verdict"] for row in rows(str(project.path / "store"))} == {"pass"}


def test_a_store_that_fails_does_not_fail_the_tests(project: pytest.Pytester) -> None:
    done = run(project, "test_suite.py", "-k", "True")

    assert done.ret == 0
    done.stdout.fnmatch_lines(["nothing: 'test_suite.py' is a file*", "the cassettes wait in the spool*"])


def test_what_no_store_can_be_is_refused_before_the_tests(project: pytest.Pytester) -> None:
    done = run(project, "ftp://x", "-k", "True")

    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["ERROR: --turntape-ship: 'ftp://x' is not a store; give s3://BUCKET/PREFIX*"])


def test_one_failure_decides_about_a_cassette_of_several_tests() -> None:
    used = [("a", "one", "pass"), ("a", "two", "fail"), ("a", "three", "pass"), ("b", "four", "pass")]

    assert labels_of(used) == {
        Path("a"): {"task": "one", "verdict": "fail"},
        Path("b"): {"task": "four", "verdict": "pass"},
    }
