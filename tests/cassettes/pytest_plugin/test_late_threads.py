"""Threads that outlive their test: the test whose cassette they come into names them."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from plugin_project import project, server, taken_away, write

from turntape.cassettes.pytest_plugin.late_threads import LateThreads
from turntape.proxy.scripted.server import ScriptedServer

__all__ = ["project", "server"]

pytest_plugins = ("pytester",)


class _OwnThread(threading.Thread):
    def __init__(self, work: Callable[[], None]) -> None:
        super().__init__(name="poll")
        self._work = work

    def run(self) -> None:
        self._work()


@pytest.mark.parametrize(
    "thread_of",
    [
        lambda work: threading.Thread(target=work, name="poll"),
        lambda work: threading.Thread(target=partial(partial(work)), name="poll"),
        lambda work: threading.Timer(0, work),
        _OwnThread,
    ],
    ids=["function", "partial", "timer", "subclass"],
)
def test_a_thread_that_runs_code_of_the_user_belongs_to_its_test(
    thread_of: Callable[[Callable[[], None]], threading.Thread],
) -> None:
    late, go_on, said = LateThreads(), threading.Event(), list[str | None]()

    def work() -> None:
        go_on.wait(60)
        said.extend(late.here(test) for test in ("test_a", "test_b"))

    late.begins()
    thread = thread_of(work)
    thread.start()
    late.ended("test_a")
    late.begins()
    late.ended("test_b")
    go_on.set()
    thread.join()

    assert said == [None, f"the thread {thread.name!r}, which test_a started and which still runs,"]


def test_threads_that_serve_many_tests_belong_to_none() -> None:
    late, go_on, said = LateThreads(), threading.Event(), list[str | None]()

    def work() -> None:
        go_on.wait(60)
        said.append(late.here("test_b"))

    before = threading.Thread(target=work)
    before.start()
    with ThreadPoolExecutor(1) as pool:
        late.begins()
        pool.submit(work)
        late.ended("test_a")
        go_on.set()
    before.join()

    assert said == [None, None]
    assert late.here("test_b") is None


TWO = """
import threading

def poll(go_on):
    go_on.wait(60)
    try:
        post("late")
    finally:
        DONE.set()

GO_ON, DONE = threading.Event(), threading.Event()

@pytest.mark.turntape
def test_a():
    post("a")
    threading.Thread(target=poll, args=(GO_ON,), name="poll").start()

@pytest.mark.turntape
def test_b():
    post("b")
    GO_ON.set()
    assert DONE.wait(60)
"""


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_test_whose_cassette_it_comes_into_names_the_thread(
    project: pytest.Pytester, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project, TWO)

    recorded = project.runpytest("--turntape-mode=once")

    recorded.assert_outcomes(passed=2)
    name = "'poll', which test_it.py::test_a started and which still runs,"
    recorded.stdout.fnmatch_lines([f"*test_b*: the thread {name} called the API, and its turns are in this cassette*"])
    recorded.stdout.no_fnmatch_line("*test_a.cassette.jsonl: the thread*")

    taken_away(server, monkeypatch)
    write(project, TWO.replace('"late"', '"later"'))
    played = project.runpytest("-W", "ignore")

    played.assert_outcomes(passed=1, failed=1)
    played.stdout.fnmatch_lines([f"*the thread {name} sent a request that was not recorded*"])


def test_a_test_that_waits_for_its_thread_hears_nothing(project: pytest.Pytester) -> None:
    write(project, TWO.replace(".start()", ".start(); GO_ON.set(); assert DONE.wait(60)"))

    recorded = project.runpytest("--turntape-mode=once")

    recorded.assert_outcomes(passed=2)
    recorded.stdout.no_fnmatch_line("*which still runs*")
