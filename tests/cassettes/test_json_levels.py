"""Bodies with as many levels as the parser reads."""

import subprocess
import sys
from pathlib import Path

import pytest
from conversations import HELLO, chat, result, said

from turntape.cassettes import json_levels
from turntape.cassettes.json_levels import follow_all_levels
from turntape.cassettes.recording.recorder import Recorder

LEVELS = 1020


def test_every_reading_command_follows_a_call_with_very_many_levels(tmp_path: Path) -> None:
    called = said(None, ("call_1", "look_up", '{"a":' * LEVELS + "1" + "}" * LEVELS))
    path = tmp_path / "a.cassette.jsonl"
    recorder = Recorder(path)
    recorder.write(chat([HELLO], called))
    recorder.write(chat([HELLO, called, result("call_1", "[" * LEVELS + "]" * LEVELS)], said("done"), index=1))
    recorder.close()

    for arguments in (["diff", str(path), str(path)], ["show", "--json", str(path)]):
        done = subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", *arguments], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), arguments


def test_a_higher_limit_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[int] = []
    monkeypatch.setattr(sys, "getrecursionlimit", lambda: 50_000)
    monkeypatch.setattr(sys, "setrecursionlimit", limits.append)
    follow_all_levels()

    assert limits == [50_000]


def test_every_process_of_ours_that_reads_bodies_follows_them() -> None:
    proxy = Path(json_levels.__file__).parent.parent / "proxy"
    begun = {one.name: one.read_text(encoding="utf-8") for one in proxy.rglob("*_process.py")}
    mains = {name: text for name, text in begun.items() if '__name__ == "__main__"' in text}

    assert mains.keys() >= {"labeller_process.py", "ship_process.py", "worker_process.py"}
    assert [name for name, text in mains.items() if "    follow_all_levels()\n" not in text] == []
