"""One process of a framework, recorded; tapes are kept in `.clients/faults` and used again."""

import shutil
import tempfile
from pathlib import Path

from tests.clients.environments import CACHE, built
from tests.clients.matrix import environ_of, run_turntape
from tests.clients.script import script_of
from turntape.cassettes import Cassette
from turntape.cassettes.tape.model import RoundTrip
from turntape.proxy.scripted import ScriptedServer

from .catalogue import Framework, Served

KEPT = CACHE / "faults"


def tape_of(framework: Framework, served: Served | None, *, again: bool = False) -> list[RoundTrip]:
    """The round trips of a run: with a fault of the server, or healthy. Raises `Unavailable` without an environment."""
    path = KEPT / f"{framework.name} {served.name if served else 'healthy'}.cassette.jsonl".replace(" ", "_")
    if again or not path.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        _record(framework, served, path)
    return list(Cassette.load(path))


def _record(framework: Framework, served: Served | None, path: Path) -> None:
    client = framework.client
    runtime = built(client.script, client.packages)
    with tempfile.TemporaryDirectory(prefix="turntape-faults-") as name:
        folder = Path(name)
        tape = folder / "tape.cassette.jsonl"
        command = [*runtime.command, *framework.variant.words.split()]
        environ = environ_of(client, folder, runtime, CACHE / "authority")
        story = served.story if served is not None and served.story is not None else client.story
        faults = {served.turn: served.fault} if served is not None else {}
        with ScriptedServer(script_of(story), faults=faults) as server:
            options = ["--quiet", "--out", str(tape), "--route", "base_url", "--upstream", f"*={server.url}"]
            run_turntape(options, command, environ)
        if not tape.exists():
            raise RuntimeError(f"{framework.name} recorded nothing")
        shutil.move(tape, path)
