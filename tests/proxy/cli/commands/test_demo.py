import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from turntape.proxy.cli.commands.demo import next_steps

KEYS = {
    "attempt",
    "edge",
    "index", "run", "thread", "turn", "protocol", "provider", "method", "url", "status", "streamed", "started_at",
    "first_byte_ms", "duration_ms", "request_model", "response_model", "tools_offered", "model", "api", "client",
    "kind", "tool_runs", "usage", "cost_usd", "cost_source", "findings",
}  # fmt: skip


def test_the_demo_records_the_story_and_shows_it(tmp_path: Path) -> None:
    environment = {**os.environ, "TURNTAPE_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "turntape.proxy.cli"]

    demo = subprocess.run([*command, "demo"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)

    assert demo.returncode == 0, demo.stderr
    assert "send_email(" in demo.stdout and "turntape run -- python agent.py" in demo.stdout
    [tape] = tmp_path.glob("demo-*.cassette.jsonl")
    shown = subprocess.run([*command, "show", str(tape), "--json"], env=environment, capture_output=True, check=True)
    labels = [orjson.loads(line) for line in shown.stdout.splitlines()]
    assert [set(label) for label in labels] == [KEYS] * 4
    assert [len(label["model"]["tool_calls"]) for label in labels] == [3, 2, 1, 0]
    assert [label["client"]["outcome"] for label in labels] == ["dispatched"] * 3 + ["ended"]


@pytest.mark.parametrize("faulty", [False, True])
@pytest.mark.parametrize("path", ["a", "demo-20261122-023901.cassette.jsonl"])
def test_the_next_steps_are_padded_to_one_width(path: str, faulty: bool) -> None:
    commands = [command for command, _ in next_steps(path, faulty=faulty)]

    assert len(set(map(len, commands))) == 1
    assert [command.split()[1] for command in commands] == ["show", *(["check"] if faulty else []), "run"]
