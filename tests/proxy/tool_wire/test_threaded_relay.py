"""The wrapper as it works on Windows, tried here."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turntape.cassettes import Cassette
from turntape.cassettes.tape.lock import being_written

START = """
import os, sys
from turntape.proxy.tool_wire.threaded_relay import run
from turntape.proxy.tool_wire.wrapper import parsed
sys.exit(run(parsed(sys.argv[1:])))
"""


def done(*arguments: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [sys.executable, "-c", START, *arguments], input=given, capture_output=True, timeout=60, check=False
    )


def test_bytes_the_ends_of_streams_and_the_exit_code_pass(tmp_path: Path) -> None:
    code = "import sys; data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data[::-1]); sys.stderr.write('hm')"
    given = os.urandom(300_000)

    result = done("--link", "unix:/nowhere", "--", sys.executable, "-c", f"{code}; sys.exit(7)", given=given)

    assert (result.returncode, result.stdout) == (7, given[::-1])
    assert result.stderr.startswith(b"turntape: no recorder at unix:/nowhere")
    assert result.stderr.endswith(b"hm")


@pytest.mark.skipif(os.name != "posix", reason="the recorder of its own needs POSIX")
def test_it_is_recorded_in_the_order_of_request_and_answer(tmp_path: Path) -> None:
    path = tmp_path / "t.cassette.jsonl"
    asked = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'

    answer = """import sys; sys.stdin.readline(); print('{"jsonrpc":"2.0","id":1,"result":{}}')"""
    assert done("-o", str(path), "--", sys.executable, "-c", answer, given=asked).returncode == 0

    while being_written(path):
        pass
    (trip,) = Cassette.load(path)
    assert trip.request.body == asked.strip()
    assert trip.response and trip.response.body == b'{"jsonrpc":"2.0","id":1,"result":{}}'


def test_a_server_that_cannot_be_started() -> None:
    missing = done("--link", "unix:/nowhere", "--", "no-such-server")

    assert missing.returncode == 127
    assert b"the server 'no-such-server' cannot be started" in missing.stderr
