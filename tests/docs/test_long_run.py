"""A run of 300 turns: what its screens and `turntape price` say of its dearest result and its largest cache miss."""

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from viewing import press, screen, settle, viewing

from turntape.cassettes import Recorder
from turntape.cassettes.tape.model import Chunk, Request, Response, RoundTrip
from turntape.proxy.cli import main

TURNS, LARGE, CLOCK = 300, 120, 200
RULES = "Follow the rules of this repository. " * 300
TOOL = {
    "name": "bash",
    "description": "Run a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
}
WRITES = {"cache_control": {"type": "ephemeral"}}


def tokens(value: object) -> int:
    return len(json.dumps(value)) // 4


def trips() -> Iterator[RoundTrip]:
    """Each turn runs a command. One prints a build log; later the time of day in the system prompt changes once."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Fix the tests."}]}]
    kept = 0
    for turn in range(TURNS):
        clock = f"The time is 2026-05-01 {12 if turn < CLOCK else 13}:00:00."
        system = [{"type": "text", "text": f"{clock}\n{RULES}", **WRITES}]
        body = {"model": "claude-sonnet-4-5", "max_tokens": 800, "system": system, "tools": [TOOL]}
        last = messages[-1]["content"][-1]
        whole = tokens([TOOL, f"{clock}\n{RULES}", messages])
        read = 0 if turn == CLOCK else kept
        sent = json.dumps({**body, "messages": [*messages[:-1], {**messages[-1], "content": [{**last, **WRITES}]}]})
        kept = whole
        command = "cat build.log" if turn == LARGE else f"pytest -q tests/test_{turn:03}.py"
        call = {"type": "tool_use", "id": f"toolu_{turn:04}", "name": "bash", "input": {"command": command}}
        answer = {
            "id": f"msg_{turn:04}",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5",
            "content": [call],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 3,
                "cache_read_input_tokens": read,
                "cache_creation_input_tokens": whole - read,
                "output_tokens": tokens(call),
            },
        }
        data = json.dumps(answer).encode()
        yield RoundTrip(
            Request("POST", "https://api.anthropic.com/v1/messages", (), sent.encode()),
            Response(200, "OK", (("content-type", "application/json"),), data, (Chunk(len(data), 900_000),)),
            1_780_000_000.0 + 20 * turn,
            index=turn,
            request_at=900,
            first_byte_at=800_000,
            ended_at=900_000,
            upstream="anthropic",
            route="base_url",
        )
        text = "line of the build\n" * 4_000 if turn == LARGE else f"{turn} passed in 0.{turn:03}s"
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": text}
        messages += [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]


@pytest.fixture(scope="module")
def tape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("long") / "long.cassette.jsonl"
    with Recorder(path, durable=False) as recorder:
        for trip in trips():
            recorder.write(trip)
    return path


def shown(tape: Path, *keys: str) -> str:
    """The screen of 80 by 24 after these keys."""

    async def flow() -> str:
        async with viewing(tape, size=(80, 24)) as (app, pilot):
            app.run_.price()
            await press(pilot, *keys)
            await pilot.pause(0.2)
            await settle(pilot)
            return screen(app)

    return asyncio.run(flow())


def test_the_dearest_tool_result_is_three_keys_away(tape: Path) -> None:
    found = shown(tape, "9", "enter", "enter")
    assert "cat build.log" in found


def test_the_largest_cache_miss_is_three_keys_away_with_its_cause_and_price(tape: Path) -> None:
    found = shown(tape, "9", "enter", "z")
    assert re.search(r"\$0\.\d+ +\d[\d.]*k tokens  turn 201  changed-system", found), found


def test_the_price_without_the_clock_is_in_the_table(tape: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["price", str(tape), "--without-clock"]) == 0
    printed = capsys.readouterr().out
    line = next(line for line in printed.splitlines() if line.startswith("no date, clock"))
    assert re.search(r"\$\d+\.\d+ +-\d+(\.\d+)? %", line), printed
