"""A cassette with a tool server, for tests of the views: results that the model saw whole, in part, and not at all."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tool_stories import Story, text
from tool_wire import confirmed

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
    tale = Story(tools=TOOLS).start()
    tale.turn(("c1", "read", '{"path":"notes.txt"}'), ("c2", "search", '{"q":"tape"}'), text="I'll look it up.")
    tale.call("read", {"path": "notes.txt"}, text(LINES), **{"claudecode/toolUseId": "c1"})
    tale.call("search", {"q": "tape"}, text("2 hits: tape, reel", structuredContent=STRUCTURED))
    tale.results(("c1", CUT), ("c2", '{"hits":2,"names":["tape","reel"]}'))
    tale.turn(("c3", "write", '{"path":"out.txt"}'))
    tale.call("write", {"path": "out.txt"}, text("no space left", isError=True), **{"claudecode/toolUseId": "c3"})
    tale.call("stop", {"why": "nobody asked"}, text("stopped"))
    tale.results(("c3", "no space left")).turn()
    slow = tale.trips[4]
    tale.trips[4] = replace(slow, first_byte_at=80_000, ended_at=80_000)
    tale.trips[:] = confirmed(tale.trips)
    return tale


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
