"""The tool servers (MCP) of a marked test: played when the test is replayed, recorded otherwise."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import cached_property

from ..replay.miss import Miss
from ..replay.pace import Pace
from ..replay.session import Session
from ..replay.tools.http import HttpRecording, http_recording, place_of
from ..replay.tools.player import ToolPlayer
from ..replay.tools.recording import CALL, Asked, message, params_of
from ..transports.mcp import recorded_tools
from ..transports.mcp_played import PlayedSessions, played_sessions


class ToolServers:
    """The tool servers of one test. Those named in `live` run in a replay too, `*` for all.

    All of them run when the cassette was imported: the tool that recorded it let them run, and recorded none.
    """

    def __init__(self, session: Session, live: Sequence[str], pace: Pace) -> None:
        self._session = session
        has_turns_only = len(session.player.cassette) > 0 and not session.tool_wire
        self._live = frozenset(("*",) if session.is_imported and has_turns_only else live)
        self._played: PlayedSessions | None = None
        matching = session.restamp.of_tools if session.restamp is not None else session.player.matching
        self.player = ToolPlayer(
            session.tool_wire, matching=matching, values=session.player, pace=pace, redactor=session.redactor
        )

    @cached_property
    def _http(self) -> HttpRecording:
        return http_recording(self._session.player.cassette)

    @property
    def _plays(self) -> bool:
        plan = self._session.plan
        return plan.plays and plan.calls != "missing"

    def start(self, undo: ExitStack) -> Callable[[bytes], object]:
        """Play or record until `undo`; what to call with the body of each request over HTTP."""
        seen: Callable[[bytes], object] = len
        if self._plays or self._session.tools.is_wanted:
            seen = undo.enter_context(recorded_tools(self._session.tools)).goes_over_http
        if self._plays:
            # A session over HTTP is answered like the API if that is how it was recorded.
            self._played = undo.enter_context(
                played_sessions(self.player, live=self._live, over_http=lambda: not self._http.places)
            )
            for place, trips in self._http.places.items() if self._live else ():
                if self._live & {place.host, place.host.partition(":")[0]}:
                    self._session.player.leave_out(trips)
        return seen

    @property
    def missed(self) -> bool:
        """True when something that was not recorded was asked."""
        return bool(self.player.misses or self.player.unknown)

    @property
    def left_over(self) -> list[Asked]:
        """The recorded calls that were not made."""
        return [call for call in self.player.unplayed if not self._live & {"*", call.session.server}]

    def without_recording(self) -> str | None:
        """What to say when the test uses a tool server and its cassette has none."""
        if self._played is None or not self._played.opened or self.player.sessions:
            return None
        path = str(self._session.path)
        if not self._session.exists:
            return (
                f"the cassette {path!r} does not exist, so the tool server (MCP) of the test has no answer; "
                "record one with the mode 'once', or let the server run with @pytest.mark.turntape(live_tools=\"*\")"
            )
        return (
            f"the test uses a tool server (MCP), and the cassette {path!r} has none; record it with "
            '--turntape-mode=new, or let the server run with @pytest.mark.turntape(live_tools="*")'
        )

    def misses(self) -> list[str]:
        """The calls and other requests that were not recorded, one sentence each."""
        return [
            *(f"{'changed' if miss.differences else 'extra'}: {miss}" for miss in self.player.misses),
            *(f"extra: {sentence}" for sentence in dict.fromkeys(self.player.unknown)),
        ]

    def described(self, miss: Miss) -> str:
        """A miss of the API's side; one that calls a tool over HTTP names the tool and its server."""
        tool = called_tool(miss)
        return f"{tool}: {miss}" if tool else str(miss)


def called_tool(miss: Miss) -> str | None:
    """The tool and its server, when a request that was not answered calls a tool over HTTP."""
    data = message(miss.nearest.request.body) if miss.nearest is not None else {}
    if miss.nearest is None or data.get("method") != CALL:
        return None
    return f"the tool {params_of(data)[0].get('name', '')} of the server {place_of(miss.nearest.request.url)}"
