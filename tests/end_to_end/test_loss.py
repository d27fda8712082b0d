"""What is lost while a command is recorded is said when it happens, and counted at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_disks import NO_BYTECODE

from turntape.cassettes import Cassette
from turntape.proxy.exit_codes import NOT_RECORDED
from turntape.proxy.scripted import ScriptedServer

AGENT = """
import os, resource, sys, time, urllib.request
tape, change, said = sys.argv[1:]
def ask():
    body = b'{"model":"gpt-5","messages":[{"role":"user","content":"%s"}]}' % os.urandom(3000).hex().encode()
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, body, {"content-type": "application/json"})).read()
def until(done):
    while not done():
        time.sleep(0.02)
for number in range(3):
    ask()
until(lambda: open(tape, "rb").read().count(b'\\n{"n":') == 3)
if change == "removed":
    os.unlink(tape)
if change == "renamed":
    os.rename(tape, tape + ".moved")
if change == "cut":
    os.truncate(tape, 0)
if change == "full":  # of the proxy, which wrote three round trips so far
    resource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (os.path.getsize(tape), -1))
    ask()
until(lambda: b"turntape: " in open(said, "rb").read())
ask()
sys.exit(int(os.environ.get("CODE", "0")))
"""
"""Changes its tape, and ends only after that was said on the console."""


def run(tape: Path, change: str, said: Path, **variables: str) -> tuple[int, str]:
    """The exit code of `turntape run`, and what it wrote to stderr."""
    with ScriptedServer() as upstream, said.open("wb") as stderr:
        done = subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", "run", "-o", tape, "--upstream", f"openai={upstream.url}/v1",
             "--", sys.executable, "-c", AGENT, tape, change, said],
            stderr=stderr, env={**os.environ, **NO_BYTECODE, **variables}, timeout=120, check=False,
        )  # fmt: skip
    return done.returncode, said.read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="the agent lowers the limit of the proxy")
@pytest.mark.parametrize(
    ("change", "why", "lost", "asked"),
    [
        ("removed", "was removed or replaced while it was being written", 4, 4),
        ("renamed", "was renamed while it was being written", 4, 4),
        ("cut", "to 0 bytes while it was being written; 3 round trips are lost", 3, 4),
        ("full", "cannot write to", 2, 5),
    ],
)
def test_loss_is_said_at_once_and_counted_at_the_end(
    change: str, why: str, lost: int, asked: int, tmp_path: Path
) -> None:
    tape = tmp_path / "run.cassette.jsonl"

    code, said = run(tape, change, tmp_path / "said")

    assert code == NOT_RECORDED
    assert said.count(why) == 2  # when it happened, and at the end
    assert (
        said.rstrip().splitlines()[-1].startswith(f"turntape: {lost} of {asked} round trips are not in {str(tape)!r}")
    )
    if tape.exists():
        assert len(list(Cassette.load(tape))) == asked - lost


def test_the_exit_code_of_a_command_that_failed_is_kept(tmp_path: Path) -> None:
    code, said = run(tmp_path / "run.cassette.jsonl", "removed", tmp_path / "said", CODE="7")

    assert code == 7
    assert "4 of 4 round trips are not in" in said
