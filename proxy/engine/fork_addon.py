"""The addon of `turntape fork`: it replays a recording up to a turn, and lets the run continue live from there.

The request decides what is replayed, not its position: a request that equals a recorded one before the fork gets the
recorded answer. Any other request goes to the API once all turns before the fork were replayed. Until then it is
refused with the difference, so a client that departs from the recording before the fork costs nothing.
"""

# mitmproxy's headers and connection tables are only partly typed.
# pyright: reportUnknownMemberType=false

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from mitmproxy import http

from turntape.cassettes.replay.answer import MISS_STATUS, replayed_headers
from turntape.cassettes.replay.player import Miss, Player
from turntape.cassettes.tape.model import RoundTrip
from turntape.cassettes.tape.provenance import PLAYED, played_from
from turntape.inspector.run.fork_plan import ForkPlan, plan_fork

from ..capture.flow_conversion import header_fields, round_trip
from ..capture.recorder_addon import RecorderAddon

__all__ = ["PLAYED", "Fork", "ForkPlan", "plan_fork"]


class Fork:
    """Answers from a script. Runs after the recorder addon, which has the request's times by then."""

    def __init__(self, script: ForkPlan, recorder: RecorderAddon, write: Callable[[RoundTrip], object]) -> None:
        self.script = script
        self._recorder = recorder
        self._write = write
        self._player = Player(script.trips)
        self._waiting = set(script.turns)
        self.played = 0
        self.live = 0
        self.misses: list[Miss] = []
        """Requests before the fork that are not in the recording."""

    @property
    def waiting(self) -> int:
        """How many turns before the fork were not replayed yet."""
        return len(self._waiting)

    def request(self, flow: http.HTTPFlow) -> None:
        if flow.id not in self._recorder.pending or flow.response is not None:
            return
        request = flow.request
        headers = header_fields(request.headers)
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
        pending = self._recorder.release(flow)
        assert pending is not None
        asked = round_trip(flow, pending, None, None)
        # The answer, its times and its failure are recorded; the request is the one of this run.
        self._write(
            replace(
                recorded,
                request=asked.request,
                index=-1,
                run=asked.run,
                route=asked.route,
                upstream=asked.upstream,
                client=asked.client,
                extra=played_from(self.script.tape, recorded),
            )
        )
        response, failure = recorded.response, recorded.failure
        if response is None:
            flow.kill()  # as recorded: the connection is closed without an answer
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
        self._recorder.release(flow)
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
    # A cut answer announces one byte more than it has, so that the client sees it end too early.
    return http.Headers([*given, (b"content-length", b"%d" % (size + is_cut))])
