import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from turntape.proxy.cli import main
from turntape.proxy.cli.commands import demo
from turntape.proxy.cli.commands.demo import PACE, next_steps
from turntape.proxy.scripted import ScriptedServer

KEYS = {
    "attempt",
    "edge",
    "index", "run", "thread", "turn", "protocol", "provider", "method", "url", "status", "streamed", "started_at",
    "first_byte_ms", "duration_ms", "request_model", "response_model", "tools_offered", "model", "api", "client",
    "kind", "tool_runs", "usage", "cost_usd", "cost_source", "unpriced_fees", "ledger", "findings",
}  # fmt: skip


def test_the_demo_records_the_story_and_shows_it(tmp_path: Path) -> None:
    environment = {**os.environ, "TURNTAPE_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "turntape.proxy.cli"]

    ran = subprocess.run(
        [*command, "demo", "--fast"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )

    assert ran.returncode == 0, ran.stderr
    assert "send_email(" in ran.stdout and "turntape run -- python agent.py" in ran.stdout
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
    assert [command.split()[1] for command in commands] == ["view", "show", *(["check"] if faulty else []), "run"]


def test_the_scripted_llm_streams_at_the_pace_of_a_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the pauses that it asks for; no time passes. Proxies of other tests may run in other threads."""
    asked: list[float] = []
    sleep, here = asyncio.sleep, threading.get_ident()

    async def noted(seconds: float) -> None:
        is_ours = threading.get_ident() == here
        if is_ours:
            asked.append(seconds)
        await sleep(0 if is_ours else seconds)

    async def flow() -> int:
        async with ScriptedServer(pace=PACE) as server, httpx.AsyncClient(trust_env=False) as client:
            monkeypatch.setattr("turntape.proxy.scripted.server.asyncio.sleep", noted)
            body = {
                "model": "gpt-5", "stream": True, "stream_options": {"include_usage": True},
                "messages": [{"role": "user", "content": "go"}],
            }  # fmt: skip
            answer = await client.post(f"{server.url}/v1/chat/completions", json=body)
        [usage] = [event["usage"] for event in events(answer.text) if event.get("usage")]
        return usage["completion_tokens"]

    tokens = asyncio.run(flow())

    assert sum(asked) == pytest.approx(tokens / PACE, rel=0.01)


def events(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
    return [orjson.loads(line) for line in lines]


@pytest.mark.parametrize(("typed", "wanted"), [("", True), ("y", True), (" YES ", True), ("n", False), ("what", False)])
def test_the_viewer_is_offered(typed: str, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: typed)

    assert demo._wants_view() is wanted


def test_an_end_of_input_is_a_no(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def ends(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr("builtins.input", ends)

    assert not demo._wants_view()


def test_ctrl_c_is_for_the_demo_once_the_agent_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def recorded(*_: object, **__: object) -> int:
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
        return 7

    monkeypatch.setattr(demo, "_record", recorded)

    assert main(["demo", "-o", str(tmp_path / "demo.cassette.jsonl")]) == 7
    assert not {signal.SIGINT, signal.SIGTERM} & signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_ctrl_c_ends_the_agent_without_a_traceback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        agent = subprocess.Popen(
            [sys.executable, "-m", "turntape.proxy.scripted.agent"],
            env={**os.environ, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "", "NO_PROXY": "*"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        connection, _ = listener.accept()
        with connection:
            assert connection.recv(1)  # the request is on its way: now the agent waits for its answer
            agent.send_signal(signal.SIGINT)
            _, said = agent.communicate(timeout=60)

    assert (agent.returncode, said) == (-signal.SIGINT, b"")
