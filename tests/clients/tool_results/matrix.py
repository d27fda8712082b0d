"""One client with a tool server: run without us, then recorded with its server wrapped, and what the two runs show."""

import contextlib
import os
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from turntape.cassettes import Cassette
from turntape.inspector.run.labels import LabelledRoundTrip, label_all
from turntape.inspector.tools.tool_run import ToolRun
from turntape.proxy.scripted import ScriptedServer
from turntape.proxy.scripted.server import Received
from turntape.proxy.scripted.story import Call, Step, Story

from ..catalogue import KEYS
from ..environments import Runtime
from ..matrix import QUIET, run_turntape
from ..python.kinds_mcp import ADDED, KINDS
from ..script import is_same_tool, script_of
from .catalogue import Configured, ToolClient, Transport, kinds
from .http_server import HttpServer

KEPT = 400
"""So many characters of what the model saw are kept for the page."""


@dataclass(slots=True)
class Seen:
    """One kind of result: what the client made of it."""

    kind: str
    called: bool = False
    joined: str | None = None
    seen_as: str | None = None
    lost: list[str] = field(default_factory=list[str])
    text: str = ""
    """What the model saw, shortened, without paths of this machine."""
    characters: int | None = None
    """The length of what it saw."""
    data: bool = False
    """Whether it saw the data of media as text."""
    error_mark: bool | None = None
    aborted: str | None = None
    """The error with which the run ended."""


@dataclass(slots=True)
class ToolCell:
    """One client."""

    client: str
    version: str
    day: str = ""
    """When it was run."""
    transport: Transport = "stdio"
    seen: list[Seen] = field(default_factory=list[Seen])
    new_tool_offered: bool | None = None
    """Whether the tool that appeared during the run was offered in the next request."""
    problems: list[str] = field(default_factory=list[str])
    skipped: str | None = None


def run_client(client: ToolClient, runtime: Runtime, authority: Path, transport: Transport = "stdio") -> ToolCell:
    """All kinds of results; a client that gives up after one is started again for the rest."""
    cell = ToolCell(client.name, runtime.version, f"{datetime.now(UTC):%Y-%m-%d}", transport)
    waiting = list(KINDS)
    while waiting:
        done = _run(client, runtime, authority, waiting, cell)
        if not done:
            cell.problems.append(f"no call of {waiting[0]} is on the tape")
            break
        waiting = waiting[done:]
    return cell


def _run(client: ToolClient, runtime: Runtime, authority: Path, wanted: list[str], cell: ToolCell) -> int:
    """Try these kinds; returns how many of them are done."""
    story = (*(Step(calls=(Call(kind, {"topic": "colour"}),)) for kind in wanted), Step("done"))
    plain = _bodies(client, runtime, authority, story, cell.transport, wrap=False)
    wrapped = _bodies(client, runtime, authority, story, cell.transport, wrap=True)
    if plain.said is None or wrapped.said is None:
        cell.problems.append("the client had not ended in time")
        return 0
    if difference := first_difference(plain.bodies, wrapped.bodies):
        cell.problems.append(f"the requests to the LLM differ with the wrapper: {difference}")
    rows = wrapped.rows
    runs = [run for row in rows for run in row.tool_runs]
    counted = 0
    for kind in wanted:
        run = next((one for one in runs if one.name == kind), None)
        if run is None:
            break
        counted += 1
        cell.seen.append(seen_of(kind, run))
    if wrapped.said.returncode and counted:
        cell.seen[-1].aborted = last_error(wrapped.said.stderr)
    elif counted < len(wanted):
        cell.problems.append(f"no call of {wanted[counted]} is on the tape: {last_error(wrapped.said.stderr)}")
    if wanted[:counted] and wanted[counted - 1] == "show_new_tool":
        cell.new_tool_offered = any(is_same_tool(name, ADDED) for row in rows for name in _offered(row))
    return counted if counted == len(wanted) or wrapped.said.returncode else 0


@dataclass(frozen=True, slots=True)
class _Done:
    said: subprocess.CompletedProcess[str] | None
    bodies: list[bytes]
    rows: list[LabelledRoundTrip]


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """A new folder, with a name that clients use in other names as it is."""
    folder = Path(tempfile.gettempdir()) / f"turntape-tools-{secrets.token_hex(4)}"
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _bodies(
    client: ToolClient, runtime: Runtime, authority: Path, story: Story, transport: Transport, *, wrap: bool
) -> _Done:
    """Run the client once."""
    with run_folder() as folder, HttpServer() as remote:
        configured = kinds(remote.url if transport == "http" else None)
        home, tape = folder / "home", folder / "tape.cassette.jsonl"
        home.mkdir()
        client.configure(home, configured)
        options = ["--quiet", "--out", str(tape), *([] if wrap else ["--no-wrap"])]
        with ScriptedServer(script_of(story)) as server:
            options += ["--upstream", f"*={server.url}"]
            said = run_turntape(
                options, command_of(client, runtime, configured), environ_of(client, folder, authority, configured)
            )
            bodies = [normal(request.body, folder) for request in server.requests if _for_model(request)]
        rows = list(label_all(Cassette.load(tape))) if tape.exists() else []
    return _Done(said, bodies, rows)


def _for_model(request: Received) -> bool:
    """False for what clients send about a run, such as traces."""
    return request.method == "POST" and not request.path.endswith(("/traces/ingest", "/count_tokens"))


def command_of(client: ToolClient, runtime: Runtime, server: Configured) -> list[str]:
    """How the client is started."""
    if not client.program:
        return list(runtime.command)
    assert runtime.folder is not None
    program, *arguments = (word.replace("{server}", server.name) for word in client.program)
    return [str(runtime.folder / "node_modules" / ".bin" / program), *arguments]


def environ_of(client: ToolClient, folder: Path, authority: Path, server: Configured) -> dict[str, str]:
    """A bare environment, with `home` in the folder as its home and working directory."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    home = str(folder / "home")
    own = {"HOME": home, "PWD": home, "TMPDIR": str(folder), "TURNTAPE_HOME": str(authority)}
    return {**kept, **own, **QUIET, **KEYS, **server.variables, **client.environ}


_ERROR = re.compile(r"(?:\w+\.)*\w*(?:Error|Exception)\b")
_VOLATILE = (
    (rb"turntape-tools-\w+", b"FOLDER"),
    (rb"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", b"UUID"),
    (rb"\b[0-9a-f]{32,64}\b", b"HEX"),
    (rb"Wall time: [\d.]+ seconds", b"TIME"),
    (rb"\b17\d{8}(?:\d{3})?\b", b"TIME"),
    (rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*Z?", b"TIME"),
    (rb"(?<=-TIME-)\w+(?=\.)", b"RANDOM"),
    (rb"\b(ses|tool|msg|prt)_[0-9A-Za-z]{16,}", b"ID"),
    (rb"(?<=mcp_kinds_show_long_text_)\w+", b"RANDOM"),
    (rb"<skill>.*?</skill>", b""),  # in the order of a folder
)
"""What differs between any two runs of the clients."""


def normal(body: bytes, folder: Path) -> bytes:
    """A request without what differs between any two runs, its keys in order."""
    with contextlib.suppress(orjson.JSONDecodeError):
        body = orjson.dumps(orjson.loads(body), option=orjson.OPT_SORT_KEYS)
    body = body.replace(str(folder).encode(), b"FOLDER")
    for pattern, word in _VOLATILE:
        body = re.sub(pattern, word, body)
    return body


def first_difference(plain: list[bytes], wrapped: list[bytes]) -> str | None:
    """Where the requests of two runs differ first; clients send some requests in any order."""
    if len(plain) != len(wrapped):
        return f"{len(plain)} requests without it, {len(wrapped)} with it"
    for number, (one, other) in enumerate(zip(sorted(plain, key=len), sorted(wrapped, key=len), strict=True)):
        if one != other:
            at = len(os.path.commonprefix([one, other]))
            return f"request {number}: {one[max(0, at - 40) : at + 60]!r} and {other[max(0, at - 40) : at + 60]!r}"
    return None


def seen_of(kind: str, run: ToolRun) -> Seen:
    """What a tool run says of its kind."""
    text = " ".join((run.seen_text or "").split())
    for pattern, word in _PRIVATE:
        text = pattern.sub(word, text)
    short = text if len(text) <= KEPT else f"{text[: KEPT // 2]} […] {text[-KEPT // 2 :]}"
    size = None if run.seen_text is None else len(run.seen_text)
    return Seen(
        kind,
        called=True,
        joined=run.joined,
        seen_as=run.seen_as,
        lost=list(run.lost),
        text=short,
        characters=size,
        data=any(data in text for data in data_of(run.result)),
        error_mark=run.seen_error,
    )


def data_of(result: object) -> list[str]:
    """The starts of the base64 texts in a result."""
    if isinstance(result, dict):
        own = [str(result[key])[:60] for key in ("data", "blob") if isinstance(result.get(key), str)]
        return own + [data for value in result.values() for data in data_of(value)]
    return [data for value in result for data in data_of(value)] if isinstance(result, list) else []


_PRIVATE = (
    (re.compile(r"/\S*turntape-tools-\S*?(?=[\s\]\"'.]*(?:\s|\]|\"|'|$))"), "…"),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "…"),
    (re.compile(r"Wall time: [\d.]+"), "Wall time: …"),
    (re.compile(r"<system-reminder>.*?</system-reminder>"), "<system-reminder>…</system-reminder>"),
)
"""What a page must not show, because it differs in each run."""


def last_error(text: str) -> str:
    """The last error that an output names, shortened; without one, its last line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if _ERROR.match(line)]
    return [*lines, "no message", *named][-1 if named or not lines else -2][:200]


def _offered(row: LabelledRoundTrip) -> list[str]:
    tools = row.label.get("tools_offered")
    return [str(name) for name in tools] if isinstance(tools, list) else []


def as_json(cell: ToolCell) -> bytes:
    """The cell as it is remembered."""
    return orjson.dumps(cell, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def from_json(data: bytes) -> ToolCell:
    """A remembered cell."""
    value: dict[str, Any] = orjson.loads(data)
    seen = [Seen(**one) for one in value["seen"]]
    return ToolCell(**{**value, "seen": seen})
