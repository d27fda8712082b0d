"""Worker processes that end on their own, with a program in their place that does only that."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import eventually

from turntape.cassettes import Recorder
from turntape.proxy.gateway.segments import Segments
from turntape.proxy.workers import workers
from turntape.proxy.workers.listeners import listeners
from turntape.proxy.workers.worker_settings import WorkerSettings
from turntape.proxy.workers.workers import Workers, pause_after

READY_THEN = """
import pickle, sys
from multiprocessing.connection import Connection
from turntape.proxy.workers.messages import Failed, Ready
settings = pickle.load(sys.stdin.buffer)
channel = Connection(settings.channel)
channel.send(Ready())
"""
LOSE_ONE_THRICE = "[channel.send(Failed('no room', 1)) for _ in range(3)]\nchannel.recv()"
END = "sys.exit(3)"


async def _said_by(folder: Path, until: str) -> tuple[list[str], Segments]:
    said: list[str] = []
    with Recorder(folder / "t.cassette.jsonl") as recorder:
        segments = Segments(recorder)
        settings = WorkerSettings("127.0.0.1", 0, "00", upstreams={}, intercept=(), confdir=folder)
        opened = listeners("127.0.0.1", 0, 1)
        started = Workers(segments, settings, opened, on_round_trip=lambda *_: None, pages=None, say=said.append)
        await started.start()
        await asyncio.to_thread(eventually, lambda: any(until in sentence for sentence in said))
        await started.stop()
    return said, segments


def said_by(program: str, folder: Path, until: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], Segments]:
    """What is said of one worker with this program, which is stopped when `until` was said."""
    monkeypatch.setattr(workers, "_COMMAND", (sys.executable, "-c", READY_THEN + program))
    return asyncio.run(_said_by(folder, until))


def test_no_worker_is_started_again_after_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said, _ = said_by(END, tmp_path, "another one is started", monkeypatch)

    assert len(said) == 1 and "has ended with exit code 3" in said[0]


def test_a_round_trip_that_a_worker_could_not_hand_over_is_lost_and_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, segments = said_by(LOSE_ONE_THRICE, tmp_path, "no room", monkeypatch)

    assert said == ["a round trip of worker 1 could not be recorded: no room"]
    assert segments.lost == 3


def test_a_worker_that_cannot_live_is_started_again_less_and_less_often() -> None:
    pauses = [0.0]
    for _ in range(9):
        pauses.append(pause_after(0.1, pauses[-1]))

    assert pauses[1:] == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert pause_after(3600, 60) == 0


def test_a_signal_ends_a_worker_although_the_recording_process_blocks_it() -> None:
    program = """
import os, signal, subprocess
from turntape.proxy.signals import block
from turntape.proxy.workers.workers import _COMMAND
block()
process = subprocess.Popen(_COMMAND, stdin=subprocess.PIPE)
process.terminate()
print(process.wait())
"""

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)

    assert done.stdout == f"{-signal.SIGTERM}\n", done.stderr
