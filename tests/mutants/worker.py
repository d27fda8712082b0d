"""Runs tests against mutated modules: one process that has the libraries loaded and forks for each mistake.

Started in a scratch copy of the repository. Reads one JSON object a line: `{"path", "tests", "source"}` begins a
module, and each `{"mutated", "lines", "everywhere"}` after it is one mistake. Answers with one line each.
"""

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest

MEMORY = 6 << 30
"""How much address space a run may take; a mistake can make a loop that only collects."""
OPTIONS = (
    *("-x", "-q", "-n0", "--tb=short", "-p", "no:cacheprovider"),
    *("--hypothesis-seed=0", "--inline-snapshot=disable"),
    # The libraries are loaded before pytest begins.
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),
)


class Measured:
    """Which lines of a file each test runs, and how long it takes."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.test = ""
        self.lines: dict[str, set[int]] = {"": set()}
        self.seconds: dict[str, float] = {}
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutants")
        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self._line)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)

    def _line(self, code: Any, line: int) -> object:
        if not code.co_filename.endswith(self.path):
            return sys.monitoring.DISABLE
        self.lines.setdefault(self.test, set()).add(line)
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        self.test = item.nodeid
        before = time.monotonic()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.monotonic() - before
            self.test = ""


class Selected:
    """Runs only these tests, in this order."""

    def __init__(self, order: Collection[str]) -> None:
        self.order = {name: place for place, name in enumerate(order)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.order), key=lambda item: self.order[item.nodeid]
        )


def forked(run: Callable[[], Any], seconds: float) -> Any:
    """What `run` returns in a child process; None when it ends otherwise or takes too long."""
    reading, writing = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until this process can end the child
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(reading)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            quiet = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            answer = json.dumps(run()).encode()
            while answer:
                answer = answer[os.write(writing, answer) :]
            code = 0
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(code)
    os.close(writing)
    answer = bytearray()
    end = time.monotonic() + seconds
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        while True:
            ready, _, _ = select.select([reading], [], [], max(end - time.monotonic(), 0))
            if not ready:
                return None
            piece = os.read(reading, 1 << 20)
            if not piece:
                break
            answer += piece
            if answer.endswith(b"}"):
                with contextlib.suppress(ValueError):
                    return json.loads(answer)
    finally:
        os.close(reading)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        _end_orphans()
    return json.loads(answer) if answer else {}


_BECOME_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER, https://man7.org/linux/man-pages/man2/pr_set_child_subreaper.2const.html, 2026-12-01."""
_CHILDREN = Path("/proc/thread-self/children")


def prepare() -> None:
    """End a run when SIGTERM ends this process, and adopt the processes that a run leaves behind.

    A mistake can keep a test from ending its own.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if _CHILDREN.exists():
        ctypes.CDLL(None).prctl(_BECOME_SUBREAPER, 1, 0, 0, 0)


def _end_orphans() -> None:
    """End the processes that tests have left, and those that these leave."""
    while _CHILDREN.exists() and (children := _CHILDREN.read_text().split()):
        for child in map(int, children):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


class Runs:
    """The runs for one module: once as it is, then with each mistake in it."""

    def __init__(self, path: str, tests: list[str], source: str) -> None:
        self.file = Path(path)
        self.path = path
        self.tests = tests
        self.source = source
        self.failed = ""
        self.lines: dict[str, list[int]] = {}
        self.seconds: dict[str, float] = {}
        self._measure()

    def _measure(self) -> None:
        def run() -> dict[str, Any]:
            sys.dont_write_bytecode = False
            os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
            measured = Measured(self.path)
            code = pytest.main([*self.tests, *OPTIONS], plugins=[measured])
            loaded = [name for name, module in list(sys.modules.items()) if _is_a_library(name, module)]
            lines = {test: sorted(lines) for test, lines in measured.lines.items()}
            return {"code": int(code), "loaded": loaded, "lines": lines, "seconds": measured.seconds}

        answer = forked(run, 900)
        if not answer or answer["code"] != 0:
            output = Path("output.txt").read_text("utf-8", "replace")
            self.failed = f"the tests of {self.path} fail without a mistake in it:\n{output[-3000:]}"
            return
        self.lines, self.seconds = answer["lines"], answer["seconds"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name in answer["loaded"]:
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
        # What is loaded by now stays: no run has to search it for garbage.
        gc.freeze()
        if self._run(list(self.seconds)) != "survived":
            output = Path("output.txt").read_text("utf-8", "replace")
            self.failed = f"the tests of {self.path} fail in a second run:\n{output[-3000:]}"

    def result(self, mutated: str, lines: list[int], everywhere: bool) -> str:
        """`killed`, `timeout` or `survived`."""
        tests = sorted(self.seconds, key=lambda test: self.seconds[test])
        hit = tests if everywhere else [test for test in tests if not set(lines).isdisjoint(self.lines.get(test, ()))]
        self.file.write_text(mutated)
        for cached in self.file.parent.glob(f"__pycache__/{self.file.stem}.*.pyc"):
            cached.unlink()
        try:
            # A line that no test runs here may run in a process that a test starts.
            return self._run(hit or tests)
        finally:
            self.file.write_text(self.source)

    def _run(self, tests: list[str]) -> str:
        files = sorted({test.partition("::")[0] for test in tests}) or self.tests

        def run() -> dict[str, Any]:
            return {"code": int(pytest.main([*files, *OPTIONS], plugins=[Selected(tests)]))}

        answer = forked(run, 20 + 6 * sum(self.seconds[test] for test in tests))
        if answer is None:
            return "timeout"
        return "survived" if answer.get("code") in (0, 5) else "killed"


def _is_a_library(name: str, module: object) -> bool:
    """True for what is neither under test nor a test: it may be loaded once for all runs."""
    file = getattr(module, "__file__", None)
    return bool(file) and "site-packages" in str(file) and not name.startswith("__editable__")


def main() -> None:
    """Answer until the input ends, or SIGTERM comes."""
    prepare()
    sys.path[:] = [entry for entry in sys.path if entry not in ("", str(Path(__file__).parent))]
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    runs: Runs | None = None
    for line in sys.stdin:
        order = json.loads(line)
        if "mutated" in order:
            assert runs is not None
            answer = {"outcome": runs.result(order["mutated"], order["lines"], order["everywhere"])}
        else:
            runs = Runs(order["path"], order["tests"], order["source"])
            answer = {"failed": runs.failed, "tests": len(runs.seconds), "seconds": sum(runs.seconds.values())}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
