"""Recordings of real clients with a tool server; tapes are kept in `.clients/faults` and used again."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.clients.catalogue import KEYS
from tests.clients.environments import CACHE, built
from tests.clients.matrix import QUIET, run_turntape
from tests.clients.script import is_same_tool, script_of
from tests.clients.tool_results.catalogue import TOOL_CLIENTS, ToolClient, kinds
from tests.clients.tool_results.matrix import command_of
from turntape.cassettes import Cassette
from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.wire.parse import read
from turntape.proxy.scripted import ScriptedServer
from turntape.proxy.scripted.story import Call, Step, Story

from ..recorded.loops import Loop, Recording, healthy_loops
from .wire import FIRST, Exchange, ToolLoop

KEPT = CACHE / "faults"
ASKED = {"topic": "colour"}
STORY: Story = (
    Step(calls=(Call("show_two_texts", ASKED), Call("show_text_resource", ASKED))),
    Step(calls=(Call("show_resource_link", ASKED),)),
    Step(calls=(Call("show_text_resource", {"topic": "sound"}),)),
    Step("done"),
)
"""Results that every client shows, two of them in one turn."""
SHORT: Story = (*STORY[:1], *STORY[2:])
"""For clients that end at a link to a resource."""
_NO_LINKS = frozenset({"LangChain", "opencode", "Copilot CLI"})


class ClientRecording:
    """A run of a real client with its tool server."""

    def __init__(self, client: ToolClient, trips: Sequence[RoundTrip]) -> None:
        self.name = self.protocol = client.name
        wire = [trip for trip in trips if trip.tool_wire is not None]
        rows = [(reading.protocol, trip) for trip in trips if (reading := read(trip)).is_generation]
        loops = [Recording(client.name, shape.protocol, client.name, shape, tuple(loop))
                 for shape, loop in healthy_loops((_API.get(api, api), trip) for api, trip in rows)]  # fmt: skip
        if not loops:
            raise RuntimeError(f"{client.name} recorded no healthy loop")
        self._loop = max(loops, key=lambda one: len(one.trips))
        self._wire = wire
        self.trips: tuple[RoundTrip, ...] = ()
        """Nothing, as in `ToolRecording`."""

    def loop(self) -> ToolLoop:
        made = self._loop.loop()
        return ToolLoop(self.name, made, list(_exchanges(made, self._wire)))


_API = {"mistral-chat": "mistral"}


def _exchanges(loop: Loop, wire: Sequence[RoundTrip]) -> Iterator[Exchange]:
    """The messages of the tape, each after the turn that it follows; equal tools are called in order."""
    begun = [turn.round_trip.started_at for turn in loop.turns]
    open_calls = [
        (place, number, call)
        for place, turn in enumerate(loop.turns)
        for number, call in enumerate(loop.shape.answered(turn.answer))
    ]
    for trip in wire:
        assert trip.tool_wire is not None
        sent: Any = json.loads(trip.request.body)
        place = max((n for n, at in enumerate(begun) if at < trip.started_at), default=FIRST)
        number = 0
        if sent.get("method") == "tools/call":
            said = sent["params"]
            found = next(
                one for one in open_calls if is_same_tool(one[2].name.get(), said["name"])
                and (one[2].known or {}).get("topic") == (said.get("arguments") or {}).get("topic")
            )  # fmt: skip
            open_calls.remove(found)
            place, number = found[0], found[1]
        yield Exchange(
            place,
            sent,
            None if trip.response is None else json.loads(trip.response.body),
            trip.tool_wire.sender == "server",
            gap=0.5,
            number=number,
            session=trip.tool_wire.session,
            server=trip.tool_wire.server,
        )


def recordings(names: Sequence[str] = (), *, again: bool = False) -> Iterator[ClientRecording | str]:
    """The runs of these clients, or of all; a sentence for one that cannot be had or did not do its task."""
    for client in TOOL_CLIENTS:
        if names and client.name not in names:
            continue
        try:
            yield ClientRecording(client, tape_of(client, again=again))
        except Exception as exc:
            yield f"{client.name}: left out, {type(exc).__name__}: {exc}"


def tape_of(client: ToolClient, *, again: bool = False) -> list[RoundTrip]:
    """The round trips of a healthy run. Raises `Unavailable` without an environment."""
    path = KEPT / f"tools_{client.name}.cassette.jsonl".replace(" ", "_")
    if again or not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        (CACHE / "authority").mkdir(parents=True, exist_ok=True)
        _record(client, path)
    return list(Cassette.load(path))


def _record(client: ToolClient, path: Path) -> None:
    runtime = built(client.script, client.packages)
    story = SHORT if client.name in _NO_LINKS else STORY
    with tempfile.TemporaryDirectory(prefix="turntape-tools-") as name:
        folder = Path(name)
        home, tape = folder / "home", folder / "tape.cassette.jsonl"
        home.mkdir()
        client.configure(home, kinds())
        kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
        own = {"HOME": str(home), "PWD": str(home), "TMPDIR": name, "TURNTAPE_HOME": str(CACHE / "authority")}
        environ = {**kept, **own, **QUIET, **KEYS, **kinds().variables, **client.environ}
        with ScriptedServer(script_of(story)) as server:
            options = ["--quiet", "--out", str(tape), "--upstream", f"*={server.url}"]
            run_turntape(options, command_of(client, runtime, kinds()), environ)
        if not tape.exists():
            raise RuntimeError(f"{client.name} recorded nothing")
        shutil.move(tape, path)
