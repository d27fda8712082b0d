"""Which hosts a recording must see, and the order in which it begins and ends."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from signal import SIGTERM
from typing import Any, cast

import pytest
from factories import round_trip

from turntape.cassettes import Recorder
from turntape.cassettes.redaction.redactor import patient_redactor
from turntape.cassettes.redaction.search_process import LEAST
from turntape.proxy.engine.engine import Engine
from turntape.proxy.exit_codes import SIGNALLED
from turntape.proxy.launch import supervise
from turntape.proxy.launch.child_process import Child, spawn
from turntape.proxy.launch.recording import Recording, labelled, llm_hosts
from turntape.proxy.launch.recording_settings import Settings
from turntape.proxy.launch.said_meanwhile import EndAwaited
from turntape.proxy.sidecar.sidecar_client import SidecarClient


def test_intercepted_hosts_are_as_little_exempt_as_known_ones() -> None:
    hosts = llm_hosts(["gw.corp.example", "*"])

    assert "api.openai.com" in hosts
    assert "gw.corp.example" in hosts
    assert "*" not in hosts


class Asked:
    """Takes the place of the labeller process: how much of the file is there when it hears where the file ends?"""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def close(self, count: int, waiting: Callable[[int, int], object]) -> dict[str, object]:
        return {"count": count, "waiting": self.recorder.waiting}


def test_the_end_of_the_file_is_announced_when_all_of_it_is_written(tmp_path: Path) -> None:
    """The search of a long body takes longer than the labeller process looks for it."""
    with Recorder(tmp_path / "a.jsonl", redactor=patient_redactor()) as recorder:
        recorder.write(round_trip(b"{}", b"x " * LEAST))

        totals = labelled(recorder, cast(SidecarClient, Asked(recorder)), EndAwaited())

    assert totals == {"count": 1, "waiting": 0}


async def _asked_early(path: Path) -> bytes:
    recording = Recording(Settings(path))
    await recording.open()
    reader, writer = await asyncio.open_connection("127.0.0.1", recording.port)
    writer.write(b"GET /-/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
    await writer.drain()
    await recording.serve()
    answer = await reader.readline()
    writer.close()
    await recording.finish(quiet=True)
    return answer


def test_a_request_that_comes_before_the_proxy_is_loaded_is_answered(tmp_path: Path) -> None:
    assert asyncio.run(_asked_early(tmp_path / "a.jsonl")).startswith(b"HTTP/1.1 ")


OPEN = """
import asyncio, sys
from pathlib import Path
from turntape.proxy.launch.supervise import Recording
from turntape.proxy.launch.recording_settings import Settings
asyncio.run(Recording(Settings(Path(sys.argv[1]), private_authority=True)).open())
print([name for name in sys.modules if name.partition(".")[0] in {"mitmproxy", "h2", "aioquic"}])
"""


def test_a_command_does_not_wait_until_the_proxy_is_loaded(tmp_path: Path) -> None:
    loaded = subprocess.run([sys.executable, "-c", OPEN, str(tmp_path / "a.jsonl")], capture_output=True, check=True)

    assert loaded.stdout.strip() == b"[]"


def test_a_command_is_ended_when_the_proxy_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(_: Engine) -> None:
        raise RuntimeError("no proxy today")

    monkeypatch.setattr(Engine, "start", start)
    children: list[Child] = []

    def kept(*arguments: Any, **options: Any) -> Child:
        children.append(spawn(*arguments, **options))
        return children[0]

    monkeypatch.setattr(supervise, "spawn", kept)
    command = [sys.executable, "-c", "import time; time.sleep(600)"]

    with pytest.raises(RuntimeError, match="no proxy today"):
        asyncio.run(supervise.supervised(Recording(Settings(tmp_path / "a.jsonl")), command))

    assert children[0].wait() == SIGNALLED + SIGTERM
