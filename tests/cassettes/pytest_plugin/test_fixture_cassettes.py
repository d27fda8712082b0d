"""What a fixture sends that lives longer than a test: its own cassettes, whichever test comes first."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from plugin_project import project, server, taken_away, write

from turntape.cassettes import Cassette
from turntape.proxy.scripted.server import ScriptedServer

__all__ = ["project", "server"]

pytest_plugins = ("pytester",)

AGENT = """
import os, httpx, pytest

def ask(word):
    url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
    body = {"model": "gpt-5", "messages": [{"role": "user", "content": word}]}
    answer = httpx.post(f"{url}/chat/completions", json=body)
    if answer.status_code != 200:
        raise RuntimeError(answer.json()["message"])
    return answer.json()["choices"][0]["message"]["tool_calls"]
"""

CONFTEST = """
import pytest
from agent_code import ask

@pytest.fixture(scope="session")
def answer():
    yield ask("session")
    ask("after the session")
"""

TESTS = """
@pytest.fixture(scope="module")
def of_module(answer):
    return ask("module")

@pytest.fixture(scope="module", params=["gpt-5", {"a": 1}])
def each(request):
    return ask(f"each {request.param}")

def test_unmarked(answer, of_module):
    assert answer and of_module

@pytest.mark.turntape
def test_a(answer, of_module):
    assert ask("a") and answer and of_module

@pytest.mark.turntape
def test_b(of_module, each):
    assert ask("b") and each

@pytest.mark.turntape
class TestOfClass:
    @classmethod
    def setup_class(cls):
        cls.said = ask("setup_class")

    @pytest.fixture(scope="class")
    @classmethod
    def of_class(cls, request):
        request.addfinalizer(lambda: ask("of class, after"))
        return ask("of class")

    def test_c(self, of_class, answer):
        assert of_class and self.said and ask("c")
"""

FILES = [
    "cassettes/conftest/answer.setup.cassette.jsonl",
    "cassettes/conftest/answer.teardown.cassette.jsonl",
    "cassettes/test_it/TestOfClass.of_class.setup.cassette.jsonl",
    "cassettes/test_it/TestOfClass.of_class.teardown.cassette.jsonl",
    "cassettes/test_it/TestOfClass.setup_class.setup.cassette.jsonl",
    "cassettes/test_it/TestOfClass.test_c.cassette.jsonl",
    "cassettes/test_it/each-dict1.setup.cassette.jsonl",
    "cassettes/test_it/each-gpt-5.setup.cassette.jsonl",
    "cassettes/test_it/of_module.setup.cassette.jsonl",
    "cassettes/test_it/test_a.cassette.jsonl",
    "cassettes/test_it/test_b-each1.cassette.jsonl",
    "cassettes/test_it/test_b-gpt-5.cassette.jsonl",
]


@pytest.fixture
def suite(project: pytest.Pytester) -> Iterator[pytest.Pytester]:
    project.makepyfile(agent_code=AGENT)
    project.makeconftest(CONFTEST)
    write(project, TESTS)
    yield project


def files(project: pytest.Pytester) -> list[str]:
    return sorted(str(path.relative_to(project.path)) for path in project.path.rglob("*.cassette.jsonl"))


def test_each_has_its_own_whichever_test_comes_first(
    suite: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = suite.runpytest("--turntape-mode=once")
    recorded.assert_outcomes(passed=5)
    recorded.stdout.fnmatch_lines(["*the fixture answer: recorded 1 round trip to *answer.setup.cassette.jsonl"])
    assert files(suite) == FILES
    assert all(len(Cassette.load(suite.path / name)) == 1 for name in FILES)
    assert taken_away(server, monkeypatch) == len(FILES)

    checked = suite.runpytest("--turntape-check")
    checked.assert_outcomes(passed=5)
    checked.stdout.fnmatch_lines(["every cassette is used, whole and without secrets"])
    for chosen in ("test_unmarked", "test_c or each1"):
        assert suite.runpytest("-k", chosen).parseoutcomes().keys() <= {"passed", "deselected"}
    (suite.path / FILES[5]).rename(suite.path / "cassettes/test_it/gone.setup.cassette.jsonl")
    suite.runpytest("--turntape-check").stdout.fnmatch_lines(["*gone.setup.cassette.jsonl: orphaned: *"])


def test_the_workers_of_xdist_record_a_fixture_once(
    suite: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.runpytest("--turntape-mode=all", "-n2").assert_outcomes(passed=5)
    assert sum(b'"session"' in request.body for request in server.requests) == 1
    taken_away(server, monkeypatch)

    suite.runpytest().assert_outcomes(passed=5)


def test_a_changed_prompt_of_a_fixture_fails_each_of_its_tests_with_its_name(
    suite: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.runpytest("--turntape-mode=once").assert_outcomes(passed=5)
    taken_away(server, monkeypatch)
    conftest = suite.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('yield ask("session")', 'yield ask("meeting")'))

    failed = suite.runpytest("-k", "test_a or test_c")

    failed.assert_outcomes(errors=2, deselected=3)
    failed.stdout.fnmatch_lines(
        [
            "E *in the fixture answer (cassettes/conftest/answer.setup.cassette.jsonl):",
            "E *turn 1, #0 has changed in a user message",
            "*- session",
            "*+ meeting",
        ]
    )
    suite.runpytest("--turntape-mode=restamp").assert_outcomes(passed=5)
    suite.runpytest().assert_outcomes(passed=5)
    conftest.write_text(conftest.read_text().replace('yield ask("meeting")', 'yield "nothing"'))
    suite.runpytest("-k", "test_a").stdout.fnmatch_lines(["*turn 1, #0 was not requested*"])


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_the_tests_of_a_fixture_whose_prompt_has_changed_are_listed_once(
    suite: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    suite.runpytest("--turntape-mode=once").assert_outcomes(passed=5)
    conftest = suite.path / "conftest.py"
    conftest.write_text(conftest.read_text().replace('yield ask("session")', 'yield ask("meeting")'))

    result = suite.runpytest(*workers)

    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(
        ["5 tests fail for one change:", "  /messages/0/content", "    - session", "    + meeting", "  in:"]
    )


def test_a_failure_that_a_fixture_swallows_is_said(
    suite: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.runpytest("--turntape-mode=once").assert_outcomes(passed=5)
    taken_away(server, monkeypatch)
    conftest = suite.path / "conftest.py"
    conftest.write_text(
        "import contextlib\n"
        + conftest.read_text().replace(
            'yield ask("session")', 'with contextlib.suppress(Exception):\n        ask("x")\n    yield 1'
        )
    )
    failed = suite.runpytest("-k", "test_a or test_b")
    failed.assert_outcomes(errors=3, deselected=2)
    failed.stdout.fnmatch_lines(["E *in the fixture answer (*", "E *+ x"])


def test_without_its_cassette_the_test_names_the_fixture(
    suite: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite.runpytest("--turntape-mode=once").assert_outcomes(passed=5)
    taken_away(server, monkeypatch)
    Path(suite.path / FILES[0]).unlink()

    failed = suite.runpytest("-k", "test_a")

    failed.assert_outcomes(errors=1, deselected=4)
    failed.stdout.fnmatch_lines(["E *the fixture answer, which lives longer than a test, sent a request that was not*"])


PACKAGE = """
import pytest
from agent_code import ask

@pytest.fixture(scope="package")
def answer():
    return ask("package")
"""

OF_PACKAGE = """
import pytest
from agent_code import ask

@pytest.mark.turntape
def test_it(answer):
    assert answer and ask("it")
"""


def test_a_fixture_of_a_package_has_one_cassette_for_the_packages_in_it(project: pytest.Pytester) -> None:
    outer = project.mkpydir("outer")
    inner = outer / "inner"
    inner.mkdir()
    (inner / "__init__.py").touch()
    (outer / "conftest.py").write_text(PACKAGE)
    (outer / "test_outer.py").write_text(OF_PACKAGE)
    (inner / "test_inner.py").write_text(OF_PACKAGE)

    project.runpytest("--turntape-mode=once", "outer/inner/test_inner.py").assert_outcomes(passed=1)
    project.runpytest("--turntape-mode=once").assert_outcomes(passed=2)

    assert [path.relative_to(project.path).as_posix() for path in project.path.rglob("answer.*")] == [
        "outer/cassettes/conftest/answer.setup.cassette.jsonl"
    ]
    project.runpytest("outer/test_outer.py").assert_outcomes(passed=1)
    project.runpytest("outer/inner/test_inner.py").assert_outcomes(passed=1)
