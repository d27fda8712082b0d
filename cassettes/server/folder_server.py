"""A folder of cassettes as a server: each cassette under its prefix, and a list of them at `/`."""

import os
import sys
from collections.abc import Collection, Iterable
from contextlib import nullcontext
from functools import partial

import orjson

from ..counted import several
from ..errors import TurntapeError
from ..matching.grades import Matching
from ..replay.answer import MISS_STATUS
from ..replay.miss import Miss
from ..replay.pace import Pace
from ..replay.player import Player
from ..replay.tools.http import http_recording
from ..replay.tools.player import ToolPlayer
from ..replay.uploads import is_discovery
from ..routes.admission import Admission, base_urls, is_local, new_token, open_to_others
from .asgi import App, Message, Receive, Send
from .cassette_folder import MOST_AGENTS, CassetteFolder
from .server import app, serve
from .tool_http import HttpTools
from .tool_link import tool_link as link_of

_EXPORTS = (
    ("OPENAI_BASE_URL", "/openai/v1"),
    ("ANTHROPIC_BASE_URL", "/anthropic"),
    ("GOOGLE_GEMINI_BASE_URL", "/gemini"),
    ("OLLAMA_HOST", "/ollama"),
    ("CO_API_URL", "/cohere"),
    ("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "/bedrock"),
)
MOST_LISTED = 20
"""How many cassettes are printed at the start; `/` lists all of them."""


def folder_app(folder: CassetteFolder, *, pace: str | float | Pace = "instant", tools: HttpTools | None = None) -> App:
    """An ASGI app that hands each request to the player of its prefix; `tools` plays tool servers without a prefix."""
    apps: dict[str, tuple[Player, App]] = {}
    pace = Pace.of(pace)

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return
        path: bytes = scope.get("raw_path") or scope["path"].encode()
        if path == b"/" and scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and not folder.has_root:
            await _send_listing(folder, scope, send)
            return
        try:
            name, player, rest = folder.find(path.decode("latin-1"))
        except TurntapeError as exc:
            await _refuse(scope, send, str(exc))
            return
        if name not in apps or apps[name][0] is not player:
            for forgotten in [one for one in apps if one not in folder.players]:
                del apps[forgotten]
            apps[name] = player, app(player, pace=pace, tools=None if name else tools)
        if name:
            scope = {**scope, "path": rest, "raw_path": rest.encode("latin-1")}
        await apps[name][1](scope, receive, send)

    return answer


async def _send_listing(folder: CassetteFolder, scope: Message, send: Send) -> None:
    headers = dict(scope["headers"])
    base = f"http://{headers.get(b'host', b'127.0.0.1').decode('latin-1')}{scope.get('root_path', '')}"
    found = folder.listing(base)
    if b"json" in headers.get(b"accept", b""):
        kind, body = b"application/json", orjson.dumps({"cassettes": found})
    else:
        width = max(len(one["name"]) for one in found)
        lines = [f"{one['name']:{width}}  {one['base_url']}" for one in found]
        title = "turntape replays these; append /openai/v1, /anthropic, /gemini, … to a URL, and @AGENT to a name"
        kind, body = b"text/plain; charset=utf-8", "\n".join([title, *lines, ""]).encode()
    length = str(len(body)).encode()
    await send(
        {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-type", kind), (b"content-length", length)],
        }
    )
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


async def _refuse(scope: Message, send: Send, message: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": message[:120]})
        return
    error = {"type": "turntape_no_cassette", "code": MISS_STATUS, "status": "INVALID_ARGUMENT", "message": message}
    document = {"type": "error", "object": "error", "error": {**error, "param": None}, "message": message}
    headers = [(b"content-type", b"application/json"), (b"x-should-retry", b"false"), (b"x-turntape", b"no cassette")]
    await send({"type": "http.response.start", "status": MISS_STATUS, "headers": headers})
    await send({"type": "http.response.body", "body": orjson.dumps(document)})


def run_replay(
    paths: Iterable[str | os.PathLike[str]],
    host: str = "127.0.0.1",
    port: int = 0,
    pace: str | float | Pace = "instant",
    *,
    matching: Matching | None = None,
    faults: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    live: bool = True,
    tool_link: str | None = None,
    live_tools: Collection[str] = (),
    token: str | None = None,
) -> int:
    """`turntape replay F…`: serve cassettes until interrupted; print what to export, each miss when it happens (unless
    `live` is false), and at the end what was played. With `tool_link`, the recorded tool servers are played on that
    unix socket, except for those named in `live_tools`. On a `host` beyond loopback each request needs `token`, which
    is made when it is not given.

    The exit code: 0, 1 when a request or a call had no recorded answer, 2 when a cassette or the port cannot be used.
    """
    if token is None and not is_local(host):
        token = new_token()
    try:
        folder = CassetteFolder(paths, matching=matching, faults=faults, on_miss=_say_miss if live else None)
        tools, over_http = tools_of(folder, matching, live_tools)
        ready = None if quiet else partial(_say_ready, folder, over_http, host, token)
        with link_of(tools, tool_link) if tools and tool_link else nullcontext():
            serve(
                folder_app(folder, pace=pace, tools=over_http),
                host,
                port,
                ready=ready,
                admission=Admission(token, apis=True),
            )
        for name, player in folder.players.items():
            _say_report(name, player, folder)
        if folder.forgotten:
            said = f"{several(folder.forgotten, 'replay')} of agents that had asked longest ago"
            _say(f"{said} were forgotten; {MOST_AGENTS} have one at the same time")
        if tools is not None and (tools.played or (tools.lines() and (tool_link or over_http))):
            _say("\n".join([f"{several(len(tools.played), 'tool call')} played", *tools.lines()]))
    except TurntapeError as exc:
        print(f"turntape: {exc}", file=sys.stderr)  # noqa: T201
        return 2
    missed = [miss for player in folder.players.values() for miss in player.misses if not _fails_nothing(miss)]
    return int(bool(missed or folder.missed or (tools is not None and tools.misses)))


def _fails_nothing(miss: Miss) -> bool:
    return is_discovery(miss.method, miss.path)


def _say_ready(folder: CassetteFolder, tools: HttpTools | None, host: str, token: str | None, port: int) -> None:
    first, *others = base_urls(host, port, token)
    base = first
    many = len(folder.paths) > 1
    said = [] if is_local(host) else [open_to_others(port, "what the cassettes hold can be read by")]
    if "" in folder.players:
        said.append(f"replaying {several(len(folder.players[''].cassette), 'round trip')} at {base}")
    else:
        said.append(f"replaying {len(folder.paths)} cassettes, listed at {base}")
    said += [f"  {line}" for line in tools.listing(base)] if tools else []
    said += [f"  with the faults of {str(file)!r} in {name}" for name, file in folder.overlays.items()]
    if many:
        offered = folder.listing(base)
        said += [f"  {one['base_url']}" for one in offered[:MOST_LISTED]]
        if len(offered) > MOST_LISTED:
            said.append(f"  and {len(offered) - MOST_LISTED} more")
    said += [f"  also at {one}" for one in others]
    print("\n".join(said), file=sys.stderr)  # noqa: T201
    for variable, suffix in _EXPORTS if "" in folder.players else ():
        print(f"export {variable}={base}{suffix}", flush=True)  # noqa: T201


def _say_miss(name: str, miss: Miss) -> None:
    print(f"{name}: miss: {miss}" if name else f"miss: {miss}", file=sys.stderr, flush=True)  # noqa: T201


def tools_of(
    folder: CassetteFolder, matching: Matching | None, live: Collection[str]
) -> tuple[ToolPlayer | None, HttpTools | None]:
    """The players of the recorded tool servers, all of them and those over HTTP; None when there are none, and for a
    folder of several cassettes."""
    player = folder.players.get("")
    if player is None:
        return None, None
    trips = folder.exchanges()
    recording = http_recording(trips)
    wires = [trip for trip in trips if trip.tool_wire is not None and trip.tool_wire.server not in live]
    if not wires and not recording.exchanges:
        return None, None
    player.leave_out(recording.trips.values())
    servers = [one for one in player.cassette.tool_servers.values() if one.server not in live]
    tools = ToolPlayer([*wires, *recording.exchanges], matching=matching, values=player, servers=servers)
    return tools, HttpTools(tools, recording) if recording.exchanges else None


def _say(text: object) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def _say_report(name: str, player: Player, folder: CassetteFolder) -> None:
    if name and player is folder.players.get(""):
        return  # a single cassette is served at the root
    report = player.report()
    if (report.played or player.misses) and not (report.clean and not report.mapped):
        print(f"{name}:\n{report}" if name else report, file=sys.stderr)  # noqa: T201
