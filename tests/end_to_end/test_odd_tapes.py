"""Tapes that are odd: the same number twice, bodies 400 levels deep."""

import subprocess
import sys
from pathlib import Path

import pytest

from turntape.cassettes.tape.format import header_line, round_trip_line
from turntape.cassettes.tape.model import Request, Response, RoundTrip

KIND = (("content-type", "application/json"),)
DEEP = b'{"model":"m","messages":[{"role":"user","content":"x"}],"x":' + b"[" * 400 + b"]" * 400 + b"}"
ANSWER = (
    b'{"id":"a","object":"chat.completion","model":"m","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}'
)


@pytest.mark.parametrize("command", [["report", "-o", "r.html"], ["show"], ["check"]], ids=lambda one: one[0])
def test_a_number_that_comes_twice_and_a_deep_body(command: list[str], tmp_path: Path) -> None:
    url = "https://api.openai.com/v1/chat/completions"
    trip = RoundTrip(Request("POST", url, KIND, DEEP), Response(200, "OK", KIND, ANSWER), 1000.0)
    tape = tmp_path / "a.cassette.jsonl"
    tape.write_bytes(header_line("t", 1.0, "00") + round_trip_line(0, trip, DEEP, None) * 2)

    name, *options = command
    done = subprocess.run(
        [sys.executable, "-m", "turntape.proxy.cli", name, str(tape), *options],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
