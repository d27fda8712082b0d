"""A replay server that is a process of its own ends with the run that needs it."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from conversations import chat, said, user
from waiting import eventually

from turntape.cassettes import Recorder
from turntape.proxy.launch.replay_server import replay_server

RUN = """
import os, sys
from turntape.proxy.launch.replay_server import replay_server
with replay_server(sys.argv[1:]) as server:
    print(server.url, flush=True)
    os.kill(os.getpid(), 9)
"""

WITH_BLOCKED_SIGNALS = """
import sys, urllib.error, urllib.request
from turntape.proxy.launch.replay_server import replay_server
from turntape.proxy.signals import block
block()
with replay_server(sys.argv[1:]) as server:
    try:
        urllib.request.urlopen(server.url + "/openai/v1/chat/completions", b"{}")
    except urllib.error.HTTPError:
        pass
print(server.missed)
"""


def recorded(path: Path) -> str:
    with Recorder(path) as recorder:
        recorder.write(chat([user("go")], said("done")))
    return str(path)


def listens(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.split("/")[2].rpartition(":")[2]))) == 0


def test_it_listens_until_the_run_is_over(tmp_path: Path) -> None:
    with replay_server([recorded(tmp_path / "t.cassette.jsonl")]) as server:
        assert listens(server.url)

    assert not listens(server.url)


@pytest.mark.skipif(sys.platform == "win32", reason="a process keeps the number of its parent there")
def test_it_ends_when_the_run_is_killed(tmp_path: Path) -> None:
    path = recorded(tmp_path / "t.cassette.jsonl")

    killed = subprocess.run(
        [sys.executable, "-c", RUN, path], stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(tmp_path)}
    )

    assert killed.returncode == -9
    eventually(lambda: not listens(killed.stdout))


def test_a_signal_ends_it_also_where_the_run_blocks_signals(tmp_path: Path) -> None:
    """One that has to be killed does not say what was missed."""
    path = recorded(tmp_path / "t.cassette.jsonl")

    done = subprocess.run([sys.executable, "-c", WITH_BLOCKED_SIGNALS, path], capture_output=True, text=True)

    assert done.stdout == "True\n", done.stderr
