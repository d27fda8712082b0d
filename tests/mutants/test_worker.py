"""What runs against a mutated module leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import eventually

pytestmark = pytest.mark.skipif(
    not Path("/proc/thread-self/children").exists(), reason="the system does not list the children of a process"
)

STARTS = """
import subprocess, sys
from mutants import worker

def run():
    \"\"\"As a test whose mistake keeps it from ending a process that it has started.\"\"\"
    child = subprocess.Popen([sys.executable, "-c", CHILD], start_new_session=True, stdout=subprocess.PIPE)
    return {"pids": [child.pid, int(child.stdout.readline())]}

CHILD = '''
import subprocess, time
grandchild = subprocess.Popen(["sleep", "600"], start_new_session=True)
print(grandchild.pid, flush=True)
time.sleep(600)
'''
worker.prepare()
print(*worker.forked(run, 60)["pids"])
"""

WAITS = """
import os, time
from pathlib import Path
from mutants import worker

def run():
    Path("begun").write_text(str(os.getpid()))
    time.sleep(600)

worker.prepare()
worker.forked(run, 600)
"""


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def python(code: str, folder: Path) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)


def test_processes_that_tests_leave_are_ended(tmp_path: Path) -> None:
    output, _ = python(STARTS, tmp_path).communicate(timeout=60)

    pids = [int(pid) for pid in output.split()]
    assert len(pids) == 2
    assert not any(map(is_running, pids))


def test_a_worker_that_is_ended_ends_its_run(tmp_path: Path) -> None:
    worker = python(WAITS, tmp_path)
    begun = tmp_path / "begun"
    eventually(lambda: begun.exists() and bool(begun.read_text()))
    child = int(begun.read_text())

    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)

    assert not is_running(child)
