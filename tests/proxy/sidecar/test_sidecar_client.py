"""The labeller process may fail in any way: the recording continues, and the failure is reported once."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conversations import chat, said, user

from turntape.cassettes import Recorder
from turntape.proxy.limits.limit_checker import LimitChecker
from turntape.proxy.limits.limits import Limits
from turntape.proxy.sidecar.sidecar_client import SidecarClient

type Labels = list[tuple[int, bytes]]


def started(
    path: Path, code: str | None = None, *, checker: LimitChecker | None = None, patience: float | None = None
) -> tuple[SidecarClient, Labels]:
    """The client of the real labeller process, or of a Python program in its place; and the labels it got."""
    labels: Labels = []
    program = {} if code is None else {"command": (sys.executable, "-c", code)}
    waits: dict[str, Any] = {} if patience is None else {"patience": patience}
    client = SidecarClient(
        path,
        lambda index, label: labels.append((index, label)),
        console=False,
        colour=False,
        checker=checker,
        **program,
        **waits,
    )
    return client, labels


def test_a_file_that_cannot_be_read_is_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    path.write_text("no cassette\n")

    client, labels = started(path)

    assert client.close(0) is None
    assert client.problem
    assert client.problem.startswith("labels are missing: the labeller process failed (FormatError: ")
    assert labels == []


def test_a_process_that_is_killed_is_not_waited_for(tmp_path: Path) -> None:
    client, _ = started(tmp_path / "none.jsonl")
    client.kill()

    assert client.close(5) is None
    assert client.problem == "labels are missing: the labeller process failed (exit code -9)"


ANSWERS = """
print('0 {"turn": 1}')
print('progress {"read": 1, "turns": 1, "cost": "1", "unpriced": 0, "findings": {}, "paths": []}')
print('12 {"turn": 2}', flush=True)
count = input()
print('summary {"count": %s}' % count)
"""


def test_labels_go_to_the_file_and_the_summary_to_the_caller(tmp_path: Path) -> None:
    client, labels = started(tmp_path / "t.jsonl", ANSWERS)

    assert client.close(7) == {"count": 7}
    assert client.problem is None
    assert labels == [(0, b'{"turn": 1}'), (12, b'{"turn": 2}')]


def test_progress_and_signs_of_life_go_to_the_limits(tmp_path: Path) -> None:
    checker = LimitChecker(Limits(max_turns=9))
    news = list[str | None]()
    checker.on_news = lambda: news.append(checker.labels_missing)

    client, _ = started(tmp_path / "t.jsonl", ANSWERS + "print('alive {}', flush=True)\n", checker=checker)
    client.close(0)

    assert checker.is_labelled(1)
    assert news == [None, None, "the labeller process has ended"]


@pytest.mark.parametrize("options", [[], ["--progress"]], ids=["without limits", "with limits"])
def test_a_run_with_limits_asks_for_progress(options: list[str], tmp_path: Path) -> None:
    checker = LimitChecker(Limits(max_turns=9)) if options else None
    code = "import sys, json; input(); print('summary', json.dumps({'arguments': sys.argv[1:]}))"

    client, _ = started(tmp_path / "t.jsonl", code, checker=checker)

    arguments = [str(tmp_path / "t.jsonl"), f"--parent={os.getpid()}", *options]
    assert client.close(0) == {"arguments": arguments}


def test_a_process_that_says_nothing_is_ended(tmp_path: Path) -> None:
    client, _ = started(tmp_path / "t.jsonl", "import time\nwhile True: time.sleep(9)", patience=0)

    assert client.close(1) is None
    assert client.problem == "labels are missing: the labeller process was silent for 0 s"


SLOW = """
import time
print('4 {"turn": 5}', flush=True)
input()
time.sleep(1.2)
print('summary {}')
"""


def test_while_labels_take_long_it_says_how_far_they_are(tmp_path: Path) -> None:
    client, _ = started(tmp_path / "none.jsonl", SLOW)
    seen: list[tuple[int, int]] = []

    assert client.close(9, lambda done, count: seen.append((done, count))) == {}
    assert set(seen) == {(5, 9)}
    assert client.problem is None


STUCK = """
import sys, threading
from turntape.inspector.run.labels import Labeller
from turntape.proxy.sidecar.labeller_process import main
def stuck(self, trip):
    sys.stderr.write("labels begin\\n")
    sys.stderr.flush()
    threading.Event().wait()
Labeller.follow = stuck
sys.exit(main(sys.argv[1:]))
"""
KILLED = f"""
import os, sys, time
from pathlib import Path
from turntape.proxy.sidecar.sidecar_client import SidecarClient
command = (sys.executable, "-c", {STUCK!r})
SidecarClient(Path(sys.argv[1]), print, console=True, colour=False, command=command)
sys.stdin.readline()
os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process keeps the number of its parent there")
def test_a_process_that_is_stuck_ends_when_the_proxy_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(chat([user("go")], said("done")))
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as proxy:
        assert proxy.stderr
        begun = proxy.stderr.readline()
        proxy.communicate("\n")  # the labeller has the same stderr, which ends with the last process that has it

    assert (begun, proxy.returncode) == ("labels begin\n", -9)
