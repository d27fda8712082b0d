"""A cassette with a tool server, for tests of the views: results that the model saw whole, in part, and not at all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tool_stories import Story, text

from turntape.cassettes.recording.recorder import Recorder
from turntape.cassettes.tape.model import RoundTrip, ToolServer

LINES = "\n".join(f"{number}: {word}" for number, word in enumerate(["one", "two", "three", "four", "five", "six"], 1))
CUT = LINES.replace("5: five\n6: six", "… cut")
STRUCTURED: dict[str, Any] = {"hits": 2, "names": ["tape", "reel"]}
TOOLS: list[dict[str, Any]] = [
    {"name": name, "description": f"{name.title()} it.", "inputSchema": {"type": "object", "properties": {key: {}}}}
    for name, key in (("read", "path"), ("search", "q"), ("write", "path"), ("stop", "why"))
]


def story() -> Story:
    """Three turns: two calls, of which one result is cut and one keeps only its structured content; a failed call that
    the model did not see as an error; a run that no call explains."""
    told = Story(tools=TOOLS).start()
    told.turn(("c1", "read", '{"path":"notes.txt"}'), ("c2", "search", '{"q":"tape"}'), text="I'll look it up.")
    told.call("read", {"path": "notes.txt"}, text(LINES), **{"claudecode/toolUseId": "c1"})
    told.call("search", {"q": "tape"}, text("2 hits: tape, reel", structuredContent=STRUCTURED))
    told.results(("c1", CUT), ("c2", '{"hits":2,"names":["tape","reel"]}'))
    told.turn(("c3", "write", '{"path":"out.txt"}'))
    told.call("write", {"path": "out.txt"}, text("no space left", isError=True), **{"claudecode/toolUseId": "c3"})
    told.call("stop", {"why": "nobody asked"}, text("stopped"))
    told.results(("c3", "no space left")).turn()
    slow = told.trips[4]
    told.trips[4] = replace(slow, first_byte_at=80_000, ended_at=80_000)
    return told


def record(path: Path, trips: list[RoundTrip] | None = None) -> Path:
    """That run as a cassette, with the facts of its server."""
    with Recorder(path) as recorder:
        command = ("npx", "-y", "@example/server-files", "/data")
        server = ToolServer("a", "files", command=command, pid=4711, started_at=(trips or story().trips)[0].started_at)
        recorder.tool_server(server)
        for trip in trips or story().trips:
            recorder.write(trip)
        recorder.tool_server_end(replace(server, ended_at=server.started_at, exit=0))
    return path
