"""A process of ours ends with the one that started it, whatever it does, and not before."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process keeps the number of its parent there")

CHILD = """
import os, sys, threading, time
from turntape.cassettes import orphan
orphan.LOOK = 0.01
orphan.end_with(int(sys.argv[1]))
print("started", flush=True)
if sys.argv[2] == "hang":
    threading.Event().wait()
time.sleep(0.2)
print("done", flush=True)
"""
PARENT = """
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", sys.argv[1], str(os.getpid()), sys.argv[2]], stdout=subprocess.PIPE)
print(child.stdout.readline().decode(), end="", flush=True)
if sys.argv[2] == "hang":
    os.kill(os.getpid(), 9)
print(child.stdout.readline().decode(), child.wait())
"""


def test_it_ends_when_the_one_that_started_it_is_killed() -> None:
    # The child has the same stderr, which ends with the last process that has it.
    done = subprocess.run([sys.executable, "-c", PARENT, CHILD, "hang"], capture_output=True, text=True)

    assert (done.returncode, done.stdout, done.stderr) == (-9, "started\n", "")


def test_it_continues_while_the_one_that_started_it_runs() -> None:
    done = subprocess.run([sys.executable, "-c", PARENT, CHILD, "work"], capture_output=True, text=True)

    assert done.stdout.split() == ["started", "done", "0"]


def test_one_that_was_started_by_a_process_that_is_gone_by_then_ends() -> None:
    done = subprocess.run([sys.executable, "-c", CHILD, "0", "hang"], capture_output=True, text=True)

    assert done.returncode == 1
