"""A run that goes its recorded way up to a turn, and another from there on.

What the tape answers is decided by what is asked, not by counting requests: a request that equals a recorded one
before the fork is played; any other goes to the API once all turns before the fork were played, and is refused, with
what differs, as long as some were not. So a client that strayed before the fork costs nothing and is told.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from mitmproxy import http

from turntape.cassettes.errors import TurntapeError
from turntape.cassettes.model import RoundTrip
from turntape.cassettes.player import Miss, Player
from turntape.cassettes.reader import Cassette
from turntape.cassettes.transports.replay import MISS_STATUS, replayed_headers

from .tap import Tap, pairs, round_trip

PLAYED = "played"
"""The field of `RoundTrip.extra` that says which recording an answer is from."""


@dataclass(frozen=True, slots=True)
class Script:
    """What is played of a recording, and what must have been before the rest goes live."""

    name: str
    """The file that it is from."""
    trips: tuple[RoundTrip, ...]
    """All that began before the fork, in the order in which it began."""
    at: int
    """The turn from which the run is live."""
    turns: tuple[int, ...]
    """The numbers of those that are turns of the forked thread."""
    edited: frozenset[int] = frozenset()
    """The numbers of those whose answer was changed."""
    strays_go_live: bool = False
    """True when what is asked before the fork and was not recorded goes to the API too."""

    def changed(self, edit: Callable[[RoundTrip], RoundTrip]) -> "Script":
        """The script with the answer of its last turn changed. Raises TurntapeError when there is none."""
        if not self.turns:
            raise TurntapeError("there is no turn before turn 1 whose answer could be edited; fork at a later turn")
        last = self.turns[-1]
        trips = tuple(edit(trip) if trip.index == last else trip for trip in self.trips)
        return replace(self, trips=trips, edited=frozenset({*self.edited, last}))


def script(cassette: Cassette, at: int, thread: str | None = None, *, strays_go_live: bool = False) -> Script:
    """What is played when `thread` (the first one by default) is forked at turn `at`.

    Raises TurntapeError when there is no such thread or turn. The turn after the last is one: the recording goes on.
    """
    from turntape.inspector.labelling import label_all

    name = str(cassette.path or "the recording")
    numbered = [trip if trip.index >= 0 else replace(trip, index=place) for place, trip in enumerate(cassette)]
    turns = [one.turn for one in label_all(numbered) if one.turn is not None]
    if not turns:
        raise TurntapeError(f"{name!r} holds no turn of an LLM, so it cannot be forked; record a run first")
    thread = thread or turns[0].thread
    mine = [turn for turn in turns if turn.thread == thread]
    if not mine:
        names = ", ".join(dict.fromkeys(turn.thread for turn in turns))
        raise TurntapeError(f"{name!r} has no thread {thread!r}; it has {names}")
    last = max(turn.number for turn in mine)
    if not 1 <= at <= last + 1:
        raise TurntapeError(
            f"thread {thread} of {name!r} has {last} turns, so --at is from 1 to {last + 1} and not {at}"
        )
    before = [turn.round_trip for turn in mine if turn.number < at]
    following = [turn.round_trip for turn in mine if turn.number >= at]
    if any(trip.frames for trip in (*before, *following)):
        raise TurntapeError(f"thread {thread} of {name!r} was held over a WebSocket, which cannot be forked")
    ordered = sorted(numbered, key=_began)
    limit = min(map(_began, following)) if following else None
    played = tuple(trip for trip in ordered if not trip.frames and (limit is None or _began(trip) < limit))
    return Script(name, played, at, tuple(trip.index for trip in before), strays_go_live=strays_go_live)


def _began(trip: RoundTrip) -> tuple[float, int]:
    return trip.started_at, trip.index


class Fork:
    """The addon that answers from a script. Stands behind the tap, which has the request's times by then."""

    def __init__(self, script: Script, tap: Tap, write: Callable[[RoundTrip], object]) -> None:
        self.script = script
        self._tap = tap
        self._write = write
        self._player = Player(script.trips)
        self._waiting = set(script.turns)
        self.played = 0
        self.live = 0
        self.misses: list[Miss] = []
        """What was asked before the fork and was not recorded."""

    @property
    def waiting(self) -> int:
        """How many turns before the fork were not asked for so far."""
        return len(self._waiting)

    def request(self, flow: http.HTTPFlow) -> None:
        if flow.id not in self._tap.takes or flow.response is not None:
            return
        request = flow.request
        headers = pairs(request.headers)
        try:
            recorded = self._player.answer(request.method, request.path, headers, request.raw_content or b"")
        except Miss as miss:
            if self._waiting and not self.script.strays_go_live:
                self._refuse(flow, miss)
            else:
                self.live += 1
            return
        self._waiting.discard(recorded.index)
        self.played += 1
        self._play(flow, recorded)

    def _play(self, flow: http.HTTPFlow, recorded: RoundTrip) -> None:
        take = self._tap.release(flow)
        assert take is not None
        asked = round_trip(flow, take, None, None)
        said: dict[str, object] = {"file": self.script.name.rpartition("/")[2], "index": recorded.index}
        if recorded.index in self.script.edited:
            said["edited"] = True
        # The answer, its times and its failure are the recording's; the question is the one of this run.
        self._write(
            replace(
                recorded,
                request=asked.request,
                index=-1,
                run=asked.run,
                route=asked.route,
                upstream=asked.upstream,
                client=asked.client,
                extra={**recorded.extra, PLAYED: said},
            )
        )
        response, failure = recorded.response, recorded.failure
        if response is None:
            flow.kill()  # refused as recorded: the client gets nothing, on a closed connection
            return
        is_cut = failure is not None and failure.kind != "client_gone"
        flow.response = http.Response(
            http_version=b"HTTP/1.1",
            status_code=response.status,
            reason=response.reason.encode("utf-8", "replace"),
            headers=_headers(replayed_headers(response), len(response.body), is_cut, flow.request.is_http2),
            content=response.body,
            trailers=None,
            timestamp_start=time.time(),
            timestamp_end=time.time(),
        )

    def _refuse(self, flow: http.HTTPFlow, miss: Miss) -> None:
        self.misses.append(miss)
        self._tap.release(flow)
        flow.response = http.Response.make(
            MISS_STATUS,
            json.dumps(miss.document(MISS_STATUS)).encode(),
            {"content-type": "application/json", "x-should-retry": "false", "x-turntape": "miss"},
        )


def _headers(fields: Iterable[tuple[str, str]], size: int, is_cut: bool, is_http2: bool) -> http.Headers:
    given = [
        (name.encode("utf-8", "surrogateescape"), value.encode("utf-8", "surrogateescape")) for name, value in fields
    ]
    if is_cut and not is_http2:
        given.append((b"connection", b"close"))
    # Of a cut answer one byte is promised that does not come, so that the client sees it end too early.
    return http.Headers([*given, (b"content-length", b"%d" % (size + is_cut))])
