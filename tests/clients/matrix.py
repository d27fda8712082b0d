"""One cell of the matrix: a client on a route, recorded, labelled, and replayed with the upstream gone."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from turntape.cassettes import Cassette, RoundTrip
from turntape.inspector.run.labels import LabelledRoundTrip, label_all
from turntape.proxy.scripted import ScriptedServer

from .catalogue import KEYS, Client, Variant
from .environments import Runtime
from .script import is_same_tool, script_of

PATIENCE = 180
"""Seconds that one run of a client may take."""
QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_DISABLE_TRACKING": "true",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "MASTRA_TELEMETRY_DISABLED": "1",
    "NO_COLOR": "1",
    "OTEL_SDK_DISABLED": "true",
    "PYTHONWARNINGS": "ignore",
}
"""What keeps clients from calling their makers."""


@dataclass(frozen=True, slots=True)
class Check:
    """One claim of a cell; `problem` is None when it holds."""

    ran: bool = False
    problem: str | None = None

    @property
    def word(self) -> str:
        return "skipped" if not self.ran else "failed" if self.problem else "ok"


@dataclass(frozen=True, slots=True)
class Cell:
    client: str
    version: str
    variant: str
    route: str
    recorded: Check = Check()
    labelled: Check = Check()
    replayed: Check = Check()
    skipped: str | None = None
    """Why nothing was run."""

    @property
    def problems(self) -> list[str]:
        named = (("recorded", self.recorded), ("labelled", self.labelled), ("replayed", self.replayed))
        return [f"{name}: {check.problem}" for name, check in named if check.problem]


def run_cell(
    client: Client,
    variant: Variant,
    route: str,
    runtime: Runtime,
    authority: Path,
    kept: Path | None = None,
    *,
    replay: bool = True,
) -> Cell:
    """Run the client twice: before the scripted LLM, and before the recording of that, which stays in `kept`.

    Without `replay` it is run once.
    """
    with tempfile.TemporaryDirectory(prefix="turntape-client-") as name:
        folder = Path(name)
        tape, second = kept or folder / "live.cassette.jsonl", folder / "replayed.cassette.jsonl"
        command = [*runtime.command, *variant.words.split()]
        environ = environ_of(client, folder, runtime, authority)
        with ScriptedServer(script_of(client.story)) as server:
            live = run_turntape(
                ["--quiet", "--out", str(tape), "--route", route, "--upstream", f"*={server.url}"], command, environ
            )
            arrived = len(server.requests)
        recorded = Check(True, _not_recorded(tape, live, client, variant, route, arrived))
        labelled = Check(True, _not_labelled(tape, client)) if tape.exists() else Check()
        replayed = Check()
        if replay and recorded.problem is None:
            # What the first run left behind must not change the second.
            shutil.rmtree(folder / "home", ignore_errors=True)
            (folder / "home").mkdir()
            again = run_turntape(
                ["--quiet", "--out", str(second), "--route", route, "--replay", str(tape)], command, environ
            )
            replayed = Check(True, _not_replayed(tape, second, again, client))
    return Cell(client.name, runtime.version, variant.words, route, recorded, labelled, replayed)


def environ_of(client: Client, folder: Path, runtime: Runtime, authority: Path) -> dict[str, str]:
    """A bare environment: nothing of the machine's own settings, and a home that is empty."""
    home = folder / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {
        **kept,
        "HOME": str(home),
        "PWD": str(home),
        "TMPDIR": str(folder),
        "TURNTAPE_HOME": str(authority),
        **QUIET,
        **KEYS,
        **client.environ,
    }


def run_turntape(
    options: list[str],
    command: list[str],
    environ: Mapping[str, str],
    before: Sequence[str] = (),
    patience: float = PATIENCE,
) -> subprocess.CompletedProcess[str] | None:
    """`turntape run` with `options`, behind the words `before`; None when it took more than `patience` seconds."""
    line = [*before, sys.executable, "-m", "turntape.proxy.cli", "run", *options, "--", *command]
    process = subprocess.Popen(
        line,
        env=dict(environ),
        cwd=environ["HOME"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=patience)
    except subprocess.TimeoutExpired:
        import signal

        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None
    return subprocess.CompletedProcess(line, process.returncode, out, err)


def _failure_of(done: subprocess.CompletedProcess[str] | None) -> str | None:
    if done is None:
        return f"the client had not ended after {PATIENCE} s"
    if done.returncode == 0:
        return None
    lines = [line.strip() for line in (done.stderr.strip() or done.stdout.strip()).splitlines() if line.strip()]
    return f"the client ended with exit code {done.returncode}: {' '.join(lines[-3:])[-400:]}"


def main_thread(tape: Path) -> list[LabelledRoundTrip]:
    """The thread that has tools: titles and summaries are separate threads."""
    turns = [done for done in label_all(Cassette.load(tape)) if done.turn is not None]
    threads = {done.label["thread"]: 0 for done in turns}
    for done in turns:
        threads[done.label["thread"]] += bool(done.label["model"]["tool_calls"])  # type: ignore[index]
    if not threads:
        return []
    main = max(threads, key=lambda name: threads[name])
    return [done for done in turns if done.label["thread"] == main]


def _not_recorded(
    tape: Path,
    live: subprocess.CompletedProcess[str] | None,
    client: Client,
    variant: Variant,
    route: str,
    arrived: int,
) -> str | None:
    if problem := _failure_of(live):
        return problem
    trips = list(Cassette.load(tape))
    turns = main_thread(tape)
    if len(turns) != len(client.story):
        return f"{len(turns)} turns of the agent are on the tape, {len(client.story)} were made"
    if len(trips) != arrived:
        return f"{len(trips)} round trips are on the tape, {arrived} came to the API"
    for number, done in enumerate(turns, 1):
        trip, label = done.round_trip, done.label
        if trip.failure:
            return f"turn {number} is kept as {trip.failure.kind}: {trip.failure.message}"
        if trip.route != route:
            return f"turn {number} came by the route {trip.route}"
        if label["protocol"] != variant.protocol:
            return f"turn {number} was read as {label['protocol']}"
        if label["streamed"] != variant.streamed:
            return f"turn {number} was {'streamed' if label['streamed'] else 'not streamed'}"
    return None


def _not_labelled(tape: Path, client: Client) -> str | None:
    turns, story = main_thread(tape), client.story
    outcomes = [*["dispatched"] * (len(story) - 1), "open" if story[-1].calls else "ended"]
    for number, (done, step, outcome) in enumerate(zip(turns, story, outcomes, strict=False), 1):
        label = done.label
        emitted = [(call["name"], call["arguments"]) for call in label["model"]["tool_calls"]]  # type: ignore[index]
        asked = [(call.name, dict(call.arguments)) for call in step.calls]
        if len(emitted) != len(asked) or not all(
            is_same_tool(name, plain) and given == wanted
            for (name, given), (plain, wanted) in zip(emitted, asked, strict=True)
        ):
            return f"turn {number} is said to have called {emitted}"
        finish = label["api"]["effective"]  # type: ignore[index]
        if finish != ("tool_calls" if step.calls else "complete"):
            return f"turn {number} is said to have finished as {finish}"
        said = label["client"]["outcome"]  # type: ignore[index]
        if said != outcome:
            return f"the client is said to have answered turn {number} as {said}"
        if label["turn"] != number:
            return f"turn {number} is counted as {label['turn']}"
        found = {one["id"] for one in label["findings"] if one["severity"] != "info"}  # type: ignore[attr-defined]
        if found - client.findings:
            return f"turn {number} has the findings {', '.join(sorted(found - client.findings))}"
    return None if len(turns) == len(story) else f"{len(turns)} turns are labelled"


def _not_replayed(
    tape: Path, second: Path, again: subprocess.CompletedProcess[str] | None, client: Client
) -> str | None:
    if problem := _failure_of(again):
        return problem
    before = [done.round_trip for done in main_thread(tape)]
    after = [done.round_trip for done in main_thread(second)]
    if len(before) != len(after):
        return f"{len(after)} turns were made in the replay"
    for number, (first, other) in enumerate(zip(before, after, strict=True), 1):
        if not _same_bytes(first, other):
            return f"turn {number} was answered with other bytes than were recorded"
    return _not_labelled(second, client)


def _same_bytes(first: RoundTrip, other: RoundTrip) -> bool:
    """True when both got the same answer; a client that hangs up after the last event may leave some of it unread."""
    if first.response is None or other.response is None:
        return False
    short, long = sorted((first, other), key=lambda trip: len(trip.response.body) if trip.response else 0)
    assert short.response is not None and long.response is not None
    if short.closed_first == "client":
        return long.response.body.startswith(short.response.body)
    return long.response.body == short.response.body
