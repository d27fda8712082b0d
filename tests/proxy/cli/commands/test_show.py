"""`turntape show` as a process: pipes, exit codes."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conversations import HELLO, chat, loop, said, user

from turntape.cassettes.tape.model import Request, Response, RoundTrip
from turntape.cassettes.tape.recorder import Recorder

SHOW = [sys.executable, "-m", "turntape.proxy.cli", "show"]


@pytest.fixture
def cassette(tmp_path: Path) -> str:
    path = tmp_path / "t.cassette.jsonl"
    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "Hi"}]}
    answer = {
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi. " * 500}, "finish_reason": "stop"}]
    }
    with Recorder(path) as recorder:
        for _ in range(100):
            request = Request("POST", "https://api.openai.com/v1/chat/completions", content=json.dumps(body).encode())
            response = Response(
                200, headers=(("content-type", "application/json"),), content=json.dumps(answer).encode()
            )
            recorder.write(RoundTrip(request, response, 1_795_000_000.0))
    return str(path)


def test_json_is_one_object_a_round_trip(cassette: str) -> None:
    done = subprocess.run([*SHOW, cassette, "--json"], capture_output=True, check=True)

    assert [json.loads(line)["index"] for line in done.stdout.splitlines()] == list(range(100))


def test_a_reader_that_has_enough_ends_it_silently(cassette: str) -> None:
    """`turntape show F --json | head -1`"""
    with subprocess.Popen([*SHOW, cassette, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()

    assert process.returncode == 0
    assert said == b""


def test_hints_are_shown_when_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "h.cassette.jsonl"
    with Recorder(path) as recorder:
        recorder.write(chat([HELLO], said("I'm sorry, but I can't help with that.")))

    def shown(*options: str) -> str:
        return subprocess.run([*SHOW, str(path), *options], capture_output=True, check=True).stdout.decode()

    assert "model-refused-in-text" not in shown() + shown("--json")
    assert "model-refused-in-text" in shown("--hints")
    assert "model-refused-in-text" in shown("--hints", "--json")
    assert "model-refused-in-text" in shown("--hints", "--turn", "1")


@pytest.fixture
def threads(tmp_path: Path) -> str:
    """Two threads in one cassette."""
    path = tmp_path / "threads.cassette.jsonl"
    with Recorder(path) as recorder:
        for trip in [*loop(), chat([user("else")], said("yes"), index=2, at=1_780_000_900.0)]:
            recorder.write(trip)
    return str(path)


def show(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SHOW, *argv], capture_output=True, text=True, check=False)


def test_a_thread_is_shown_alone_in_every_form(threads: str) -> None:
    assert [line for line in show(threads, "--thread", "t2").stdout.splitlines() if line.startswith("Turn")] == [
        "Turn 1  gpt-5-2025-08-07  openai-chat  250 ms  #2"
    ]
    assert [json.loads(line)["thread"] for line in show(threads, "--thread", "t1", "--json").stdout.splitlines()] == [
        "t1",
        "t1",
    ]
    assert "1 turn · 100 tokens in" in show(threads, "--thread", "t2", "--cost").stdout
    assert "no findings" in show(threads, "--findings").stdout
    assert show(threads, "--thread", "t2", "--turn", "1").stdout.startswith("Turn 1 of t2")


@pytest.mark.parametrize("more", [[], ["--cost"], ["--findings"], ["--json"], ["--turn", "1"]])
def test_a_thread_that_is_not_there_is_one_line(threads: str, more: list[str]) -> None:
    done = show(threads, "--thread", "t7", *more)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"turntape: {threads!r} has no thread 't7'; it has t1, t2\n"
