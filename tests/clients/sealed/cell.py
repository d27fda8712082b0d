"""One client with one server over one transport: recorded once, then replayed from other folders with nothing else."""

import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import orjson

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import LabelledRoundTrip, label_all
from turntape.proxy.scripted import ScriptedServer

from ..environments import Runtime
from ..matrix import run_turntape
from ..script import script_of
from ..tool_results.catalogue import Configured, ToolClient, Transport
from ..tool_results.matrix import command_of, environ_of, last_error, run_folder
from . import closed
from .servers import Programs, SealedServer


@dataclass(slots=True)
class SealedCell:
    """One recording and its replays."""

    client: str
    version: str
    server: str
    transport: Transport
    day: str = ""
    tried: int = 0
    equal: int = 0
    """Replays with every turn and every call, without a miss and with equal output."""
    problems: list[str] = field(default_factory=list[str])
    """What was wrong, each once."""

    @property
    def is_sealed(self) -> bool:
        return self.tried > 0 and self.equal == self.tried


@dataclass(frozen=True, slots=True)
class Places:
    """The folders in which the client is recorded and replayed."""

    recorded: str = "laptop-anna"
    replayed: str = "ci"


PLACES = Places()
PATIENCE = 600
"""Seconds that a run may take. A slow machine does not count as a difference, a client that hangs does."""
SPACES = "My Project/\u00e4 b"
"""A folder with spaces and other letters in its path."""
_JOB = "/job-0001"


def with_spaces(side: Literal["recorded", "replayed"]) -> Places:
    """The folders when one of them is `SPACES`.

    As in `PLACES`, both paths have the same length: what is printed may be cut off at a column.
    """
    if side == "recorded":
        return Places(SPACES, "c" * (len(SPACES) - len(_JOB)))
    return Places("l" * (len(SPACES) + len(_JOB)), SPACES)


@dataclass(frozen=True, slots=True)
class _Done:
    said: subprocess.CompletedProcess[str] | None
    rows: list[LabelledRoundTrip]
    home: Path


def run_cell(
    client: ToolClient,
    runtime: Runtime,
    server: SealedServer,
    transport: Transport,
    authority: Path,
    count: int,
    *,
    jobs: int = 1,
    keep: Path | None = None,
    places: Places = PLACES,
) -> SealedCell:
    """Record once and replay `count` times, `jobs` at once.

    With `keep`, the tapes and the output of what failed are left there.
    """
    cell = SealedCell(client.name, runtime.version, server.name, transport, f"{datetime.now(UTC):%Y-%m-%d}")
    with run_folder() as folder, ThreadPoolExecutor(jobs) as pool:
        tape = folder / "tape.cassette.jsonl"
        recorded, configured = _record(client, runtime, server, transport, authority, folder / places.recorded, tape)
        _kept(keep, "recorded", tape, recorded)
        if problem := _not_recorded(recorded, server):
            cell.problems.append(problem)
            return cell
        shutil.rmtree(recorded.home.parent, ignore_errors=True)

        def replay(number: int) -> str | None:
            again = folder / f"replay-{number}.cassette.jsonl"
            home = folder / f"{places.replayed}{_JOB[:-4]}{number:04}"
            done = _replay(client, runtime, server, configured, authority, (recorded.home, home), (tape, again))
            problem = difference(recorded, done)
            if problem is not None:
                _kept(keep, f"replay-{number}", again, done)
            shutil.rmtree(done.home.parent, ignore_errors=True)
            return problem

        problems = list(pool.map(replay, range(1, count + 1)))
    cell.tried, cell.equal = count, problems.count(None)
    cell.problems = list(dict.fromkeys(one for one in problems if one is not None))
    return cell


def _record(
    client: ToolClient,
    runtime: Runtime,
    server: SealedServer,
    transport: Transport,
    authority: Path,
    place: Path,
    tape: Path,
) -> tuple[_Done, Configured]:
    home = _home(place, server)
    programs = Programs(server, tape.parent)
    try:
        with (
            programs.serving(home, transport) as configured,
            ScriptedServer(script_of(server.story(home), server.name)) as llm,
        ):
            client.configure(home, configured)
            options = ["--out", str(tape), "--upstream", f"*={llm.url}"]
            environ = environ_of(client, home.parent, authority, configured)
            said = run_turntape(options, command_of(client, runtime, configured), environ, patience=PATIENCE)
    finally:
        programs.remove()
    return _Done(said, _rows(tape), home), configured


def _replay(
    client: ToolClient,
    runtime: Runtime,
    server: SealedServer,
    recorded: Configured,
    authority: Path,
    homes: tuple[Path, Path],
    tapes: tuple[Path, Path],
) -> _Done:
    """The client with a new home, while only the cassette is left of the recording."""
    before, home = homes[0], _home(homes[1], server)
    command = tuple(word.replace(str(before), str(home)) for word in recorded.command)
    configured = Configured(recorded.name, command, recorded.url)
    client.configure(home, configured)
    tape, again = tapes
    environ = closed.variables(environ_of(client, home.parent, authority, configured))
    options = ["--out", str(again), "--replay", str(tape)]
    said = run_turntape(options, command_of(client, runtime, configured), environ, closed.words(), PATIENCE)
    return _Done(said, _rows(again), home)


def _home(folder: Path, server: SealedServer) -> Path:
    home = folder / "home"
    home.mkdir(parents=True)
    server.prepare(home)
    return home


def _rows(tape: Path) -> list[LabelledRoundTrip]:
    return list(label_all(Cassette.load(tape))) if tape.exists() else []


def _turns(done: _Done) -> list[LabelledRoundTrip]:
    return [row for row in done.rows if row.turn is not None]


def _calls(done: _Done, *homes: Path) -> list[str]:
    """Each tool run with its result, as text, with one name for the homes."""
    runs = {(run.session, run.index): run for row in done.rows for run in row.tool_runs}
    lines = [
        orjson.dumps([run.name, run.arguments, run.result or run.error], option=orjson.OPT_SORT_KEYS).decode()
        for run in sorted(runs.values(), key=lambda run: run.index)
    ]
    return sorted(_without(line, done.home, *homes) for line in lines)


def _without(text: str, *homes: Path) -> str:
    """A path that was cut off within the home keeps what is left of it."""
    for home in homes:
        text = text.replace(str(home), "HOME").replace(str(home.parent), "FOLDER")
    return text


def _not_recorded(done: _Done, server: SealedServer) -> str | None:
    if done.said is None:
        return "recording: the client had not ended in time"
    if done.said.returncode:
        return f"recording: exit code {done.said.returncode}: {last_error(done.said.stderr)}"
    wanted = sum(len(step.calls) for step in server.story(done.home))
    made = len(_calls(done))
    return None if made == wanted else f"recording: {made} of {wanted} calls were made"


_ODD = re.compile(
    r"^\s*(?:turntape: )?(changed|extra|missed|not called|not requested|tolerated|no recorded)\b.*$", re.M
)


def difference(recorded: _Done, replayed: _Done) -> str | None:
    """What is not equal in a replay; None when everything is."""
    if recorded.said is None or replayed.said is None:
        return "the client had not ended in time"
    if found := _ODD.search(replayed.said.stderr):
        return _short(found.group().strip(), replayed)
    if replayed.said.returncode != recorded.said.returncode:
        return _short(f"exit code {replayed.said.returncode}: {last_error(replayed.said.stderr)}", replayed)
    for what, before, after in (
        ("turns", len(_turns(recorded)), len(_turns(replayed))),
        ("calls", len(_calls(recorded)), len(_calls(replayed))),
    ):
        if before != after:
            return f"{after} of {before} {what}"
    if failed := [row for row in _turns(replayed) if row.label["status"] not in (200, 101)]:
        return f"turn {failed[0].turn} was answered with status {failed[0].label['status']}"
    # A server over HTTP runs elsewhere: its own paths stay what they were.
    if _calls(recorded) != _calls(replayed, recorded.home):
        return "a result is not equal"
    outputs = [_printed(done.said.stdout, done.home) for done in (recorded, replayed) if done.said]
    # Some clients print the results of one turn in the order in which they came.
    if sorted(outputs[0].split()) == sorted(outputs[1].split()):
        return None
    return _short(f"other output: {outputs[1]!r}, not {outputs[0]!r}", replayed)


_PASSING = (
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
    (re.compile(r"(?m)^(Duration +)[\dhms. ]+$"), r"\1TIME"),
)
"""What clients print that differs between any two runs."""


def _printed(text: str, home: Path) -> str:
    text = _without(text, home)
    for pattern, word in _PASSING:
        text = pattern.sub(word, text)
    return text


def _short(text: str, done: _Done) -> str:
    return text.replace(str(done.home), "HOME")[:600]


def _kept(keep: Path | None, name: str, tape: Path, done: _Done) -> None:
    if keep is None:
        return
    keep.mkdir(parents=True, exist_ok=True)
    if tape.exists():
        shutil.copy(tape, keep / f"{name}.cassette.jsonl")
    if done.said is not None:
        (keep / f"{name}.txt").write_text(f"{done.said.stdout}\n--- stderr\n{done.said.stderr}")
