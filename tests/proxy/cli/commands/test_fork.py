"""`turntape fork`, whole: the demo's agent as the command, on both routes, and `run --replay` of what came of it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import label_all
from turntape.proxy.cli import main
from turntape.proxy.scripted import ScriptedServer

AGENT = (sys.executable, "-m", "turntape.proxy.scripted.agent")

type Turntape = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def upstream() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="module")
def environ(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.lower().endswith(("_proxy", "_base_url", "_ca_bundle"))}
    home = str(tmp_path_factory.mktemp("home"))
    return kept | {"TURNTAPE_HOME": home, "OPENAI_API_KEY": "sk-none", "NO_COLOR": "1"}


def command(environ: dict[str, str], folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "turntape.proxy.cli", *argv],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def turntape(environ: dict[str, str], tmp_path: Path) -> Turntape:
    return partial(command, environ, tmp_path)


@pytest.fixture(scope="module")
def recording(environ: dict[str, str], upstream: ScriptedServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's run, recorded once for all tests of this module."""
    folder = tmp_path_factory.mktemp("recording")
    where = ("--out", "run.cassette.jsonl", "--upstream", f"*={upstream.url}")
    done = command(environ, folder, "run", "--quiet", *where, "--", *AGENT)
    assert done.returncode == 0, done.stderr
    return folder / "run.cassette.jsonl"


@pytest.fixture
def recorded(recording: Path, upstream: ScriptedServer, tmp_path: Path) -> Path:
    upstream.requests.clear()
    return Path(shutil.copy2(recording, tmp_path))


@pytest.mark.parametrize(("route", "other"), [("base_url", "forward"), ("forward", "base_url")])
def test_a_fork_is_live_from_its_turn_and_its_cassette_replays_on_the_other_route(
    route: str, other: str, turntape: Turntape, recorded: Path, upstream: ScriptedServer, tmp_path: Path
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

    replayed = turntape("run", "--replay", "fork.cassette.jsonl", "--route", other, "--", *AGENT)
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
        (["--at", "6"], "has 4 turns, so recording can begin at turn 1 to 5, not 6"),
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
    arguments: list[str],
    said: str,
    recorded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TURNTAPE_HOME", str(tmp_path / "home"))
    before = recorded.read_bytes()

    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(["fork", recorded.name, *arguments, "--", sys.executable, "-c", "print('started')"]))

    assert ended.value.code == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err
    assert recorded.read_bytes() == before
    assert [path.name for path in tmp_path.glob("*.jsonl")] == [recorded.name]
