"""The exit code of a recorded command."""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from turntape.cassettes.recording.recorder import Recorder
from turntape.proxy.capture.unrecorded import UnrecordedTraffic
from turntape.proxy.exit_codes import NOT_RECORDED
from turntape.proxy.gateway.gateway import GatewaySettings
from turntape.proxy.gateway.shipper import ShipTo
from turntape.proxy.launch import recorded_run
from turntape.proxy.launch.recorded_run import end_lines, run
from turntape.proxy.launch.recording import Outcome, Recording
from turntape.proxy.launch.recording_settings import Settings
from turntape.proxy.sidecar.run_totals import RunTotals
from turntape.proxy.sidecar.sidecar_client import SidecarClient

LOST = "cannot write to the cassette: No space left on device"


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    # Signals are for a process of our own, not for the test runner.
    monkeypatch.setattr("turntape.proxy.launch.supervise.listen", lambda _handle: None)
    return Settings(path=tmp_path / "t.cassette.jsonl")


@pytest.fixture
def losing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorder that the disk refuses."""
    close = Recorder.close

    def full(self: Recorder) -> None:
        self._loss.problem = LOST
        close(self)

    monkeypatch.setattr(Recorder, "close", full)


def command(code: int) -> list[str]:
    return [sys.executable, "-c", f"raise SystemExit({code})"]


@pytest.mark.anyio
@pytest.mark.parametrize("code", [0, 7])
async def test_the_exit_code_is_the_commands(code: int, settings: Settings) -> None:
    assert await run(settings, command(code), quiet=True) == code


@pytest.mark.anyio
@pytest.mark.usefixtures("losing")
@pytest.mark.parametrize(("code", "expected"), [(0, NOT_RECORDED), (7, 7)])
async def test_lost_traffic_is_4_where_the_command_ended_well(
    code: int, expected: int, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run(settings, command(code), quiet=True) == expected
    assert capsys.readouterr().err == f"turntape: {LOST}\n"


@pytest.mark.anyio
@pytest.mark.parametrize("quiet", [True, False])
async def test_how_far_the_labels_are_is_not_said_when_it_is_quiet(
    quiet: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    close = SidecarClient.close

    def slow(self: SidecarClient, count: int, progress: Callable[[int, int], None]) -> dict[str, object] | None:
        progress(1, 9)
        return close(self, count, progress)

    monkeypatch.setattr(SidecarClient, "close", slow)

    await run(settings, command(0), quiet=quiet)

    assert ("1 of 9 round trips" in capsys.readouterr().err) is not quiet


@pytest.mark.parametrize(
    ("round_trips", "lost", "said"),
    [(0, True, "3 round trips passed, and none is in"), (2, True, "no findings"), (0, False, "no findings")],
)
def test_a_recording_of_nothing_has_no_summary(
    round_trips: int, lost: bool, said: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Recording, "seen", UnrecordedTraffic())
    monkeypatch.setattr(Recording, "gateway", SimpleNamespace(remarks=tuple), raising=False)
    totals = {**RunTotals().as_json(), "round_trips": round_trips}

    assert said in "\n".join(end_lines(Recording(settings), Outcome(3, totals, (), lost), ["x"]))


@pytest.mark.anyio
async def test_a_mistake_of_ours_at_the_end_leaves_the_exit_code(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recorded_run, "end_lines", lambda *_: 1 / 0)

    assert await run(settings, command(7), quiet=False) == 7
    assert "internal error at the end, ZeroDivisionError" in capsys.readouterr().err


@pytest.mark.anyio
@pytest.mark.parametrize("code", [0, 7])
async def test_a_store_that_cannot_be_used_leaves_the_exit_code_and_the_file(
    code: int, settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "store").write_text("a file, not a folder")
    to = ShipTo(str(tmp_path / "store"), tmp_path / "spool")
    settings = replace(settings, gateway=GatewaySettings(ship=to), upstreams={"*": "http://127.0.0.1:9"})
    program = f"""
import os, urllib.request
try:
    urllib.request.urlopen(os.environ["OPENAI_BASE_URL"] + "/models")
except OSError:
    raise SystemExit({code})
"""

    assert await run(settings, [sys.executable, "-c", program], quiet=True) == code

    lines = capsys.readouterr().err.splitlines()
    said = [line for line in lines if " of 1 round trips" not in line]  # said on a busy machine
    assert len(said) == 1
    assert said[0].startswith(f"turntape: 1 file could not be shipped to {tmp_path / 'store'} and waits in ")
    assert settings.path.exists()
    assert list((tmp_path / "spool").rglob("*.jsonl"))
