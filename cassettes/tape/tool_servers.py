"""Lines about tool servers: when a process started, what it wrote to stderr, how it ended.

A server has several lines, each with its session: one at the start, one for each piece of stderr, one at the end.
What a later line says counts.
"""

from collections.abc import Iterable

from .format import a_time, dumped, stamp, store
from .json_fields import Json, a_body, a_list, a_text, an_integer, optional, restored
from .model import ToolServer

MOST_STDERR = 1 << 20
"""How many bytes of stderr a reader keeps for each server."""


def start_line(server: ToolServer) -> bytes:
    """The line at the start of a server. `started_at` must be known."""
    fields: Json = {
        "server": server.server,
        "transport": server.transport,
        "command": list(server.command),
        "cwd": server.cwd,
        "pid": server.pid,
        "run": server.run,
        "started_at": stamp(server.started_at or 0),
    }
    return _line(server.session, fields)


def stderr_line(session: str, at: int, data: bytes) -> bytes:
    """The line of what a server wrote to stderr, `at` microseconds after its start."""
    return _line(session, {"at": at, "stderr": store(data)})


def end_line(server: ToolServer) -> bytes:
    """The line at the end of a server. `ended_at` must be known."""
    fields: Json = {
        "ended_at": stamp(server.ended_at or 0),
        "exit": server.exit,
        "signal": server.signal,
        "closed_first": server.closed_first,
    }
    return _line(server.session, fields)


def _line(session: str, fields: Json) -> bytes:
    return dumped({"tool_server": session, **{key: v for key, v in fields.items() if v not in (None, [], "")}})


def read_tool_server(session: str, lines: Iterable[Json]) -> ToolServer:
    """What the lines of one session say. Raises ValueError, which names the field, where they break the format."""
    fields: Json = {}
    stderr: list[tuple[int, bytes]] = []
    room = MOST_STDERR
    for line in lines:
        piece = optional(line, "stderr", a_body, None)
        if piece is None:
            fields |= line
        elif room > 0:
            stderr.append((optional(line, "at", an_integer, 0), restored(piece)))
            room -= len(stderr[-1][1])
    closed_first = optional(fields, "closed_first", a_text, None)
    if closed_first not in (None, "client", "server"):
        raise ValueError(f"its closed_first is {closed_first!r}, neither client nor server")
    return ToolServer(
        session,
        server=optional(fields, "server", a_text, ""),
        transport="process" if fields.get("transport") == "process" else "stdio",
        command=optional(fields, "command", _words, ()),
        cwd=optional(fields, "cwd", a_text, None),
        pid=optional(fields, "pid", an_integer, None),
        run=optional(fields, "run", a_text, None),
        started_at=optional(fields, "started_at", a_time, None),
        ended_at=optional(fields, "ended_at", a_time, None),
        exit=optional(fields, "exit", an_integer, None),
        signal=optional(fields, "signal", a_text, None),
        closed_first=closed_first,
        stderr=tuple(stderr),
    )


def _words(value: object, name: str) -> tuple[str, ...]:
    return tuple(a_text(word, name) for word in a_list(value, name))
