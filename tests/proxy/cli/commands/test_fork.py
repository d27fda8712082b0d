"""`turntape fork`, whole: the demo's agent as the command, on both routes, and `run --replay` of what came of it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import label_all
from turntape.proxy.scripted import ScriptedServer

AGENT = (sys.executable, "-m", "turntape.proxy.scripted.agent")

type Turntape = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def turntape(home: Path, tmp_path: Path) -> Turntape:
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith(("_proxy", "_base_url", "_ca_bundle"))}
    environ = kept | {"TURNTAPE_HOME": str(home), "OPENAI_API_KEY": "sk-none", "NO_COLOR": "1"}

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "turntape.proxy.cli", *argv],
            cwd=tmp_path,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture
def recorded(turntape: Turntape, upstream: ScriptedServer, tmp_path: Path) -> Path:
    done = turntape("run", "--quiet", "--out", "run.cassette.jsonl", "--upstream", f"*={upstream.url}", "--", *AGENT)
    assert done.returncode == 0, done.stderr
    upstream.requests.clear()
    return tmp_path / "run.cassette.jsonl"


@pytest.mark.parametrize("route", ["base_url", "forward"])
def test_a_fork_is_live_from_its_turn_and_its_cassette_replays_on_both_routes(
    route: str, turntape: Turntape, recorded: Path, upstream: ScriptedServer, tmp_path: Path
) -> None:
    edit = 'arguments.2={"company":"Pied Piper","tone":"playful"}'
    forked = turntape(
        "fork", recorded.name, "--at", "3", "--edit", edit, "--out", "fork.cassette.jsonl", "--route", route,
        "--upstream", f"*={upstream.url}", "--", *AGENT,
    )  # fmt: skip

    assert forked.returncode == 0, forked.stderr
    assert "generate_email → draft 5: a playful email to Pied Piper" in forked.stdout
    assert "turns 1 to 2 from the tape (2 round trips), the last answer edited" in forked.stderr
    assert "live from turn 3 (2 round trips)" in forked.stderr
    assert len(upstream.requests) == 2
    labels = [done.label for done in label_all(Cassette.load(tmp_path / "fork.cassette.jsonl"))]
    assert [(label["turn"], label["findings"]) for label in labels] == [(n, []) for n in range(1, 5)]

    for again in ("base_url", "forward"):
        replayed = turntape("run", "--replay", "fork.cassette.jsonl", "--route", again, "--", *AGENT)
        assert (replayed.returncode, replayed.stdout) == (0, forked.stdout), replayed.stderr
    assert len(upstream.requests) == 2


def test_a_run_that_strays_or_ends_early_is_reported(
    turntape: Turntape, recorded: Path, upstream: ScriptedServer, tmp_path: Path
) -> None:
    where = ("--upstream", f"*={upstream.url}")
    tampered = "import turntape.proxy.scripted.agent as a; a.TASK = 'Do nothing.'; a.main()"
    strayed = turntape("fork", recorded.name, "--at", "2", *where, "--", sys.executable, "-c", tampered)
    ended = turntape("fork", recorded.name, "--at", "4", "--quiet", *where, "--", sys.executable, "-c", "")

    assert strayed.returncode == 1
    assert "turntape: before the fork no recorded round trip answers POST /chat/completions" in strayed.stderr
    assert "/messages/1/content" in strayed.stderr
    assert ended.stderr == ("turntape: the run did not reach turn 4: 3 of 3 turns before it were not requested\n")
    assert upstream.requests == []
    assert [path.name for path in tmp_path.glob("*.jsonl")] == [recorded.name]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--at", "6"], "has 4 turns, so --at must be from 1 to 5, not 6"),
        (["--at", "0"], "'0' is not a turn number; turns are numbered from 1"),
        (["--at", "2", "--thread", "t7"], "has no thread 't7'; it has t1"),
        (["--at", "1", "--edit", "text=x"], "there is no turn before turn 1 whose answer could be edited"),
        (["--at", "2", "--edit", "words=x"], "'words=x' is not WHAT=VALUE"),
        (["--at", "2", "--edit", "arguments.9={}"], "which has 3 tool calls; give a number from 1 to 3"),
        (["--at", "2", "--edit-file", "nothing.json"], "cannot use 'nothing.json': No such file or directory"),
        (["--at", "2", "--out", "run.cassette.jsonl"], "run.cassette.jsonl"),
    ],
)
def test_what_cannot_be_forked_is_one_line_and_starts_nothing(
    arguments: list[str], said: str, turntape: Turntape, recorded: Path, tmp_path: Path
) -> None:
    before = recorded.read_bytes()
    done = turntape("fork", recorded.name, *arguments, "--", sys.executable, "-c", "print('started')")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert said in done.stderr
    assert recorded.read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.jsonl")] == [recorded.name]
