"""Which hosts a recording must see, and the order in which it ends."""

from collections.abc import Callable
from pathlib import Path
from typing import cast

from factories import round_trip

from turntape.cassettes import Recorder
from turntape.cassettes.redaction.redactor import patient_redactor
from turntape.cassettes.redaction.search_process import LEAST
from turntape.proxy.launch.recording import labelled, llm_hosts
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
