"""The session: one cassette that is replayed, recorded or both, according to its record mode.

It does not know HTTP libraries: the transports and the replay server ask it what to do with a request, and give it
the answer.
"""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ..apis.lookup import is_recorded_path
from ..errors import CassetteError
from ..faults.fault import Faults
from ..matching.grades import Matching
from ..matching.request_key import path_key
from ..recording.pending import PendingTrips
from ..recording.recorder import Recorder
from ..redaction.redactor import Redactor
from ..routes.upstreams import by_host
from ..tape.model import Headers, Request, RoundTrip, ToolServer, split_url
from ..tape.provenance import PLAYED, ForkSource, played_from
from ..tape.reader import Cassette
from .live_diff import LiveDifference, live_difference
from .new_cassette import Labels, NewCassette
from .player import Miss, Played, Player
from .record_modes import Plan, effective_mode, plan
from .restamp import Restamp, restamping
from .telemetry_hosts import is_side_traffic
from .uploads import is_discovery

_FORKED = "nothing of a forked process is recorded; send its requests to the base URL turntape_server"

FAILED = "recorded_in_failed_test"
"""The key of a label that says that the test failed when it was recorded."""


class Session:
    """`Session(path, mode)` plays and records one cassette. Any thread and any asyncio task may use it at once.

    `mode` is the mode in the code; `override` and the environment take precedence (`record_modes.effective_mode`).
    `matching`, `faults` and `keep` are passed to the player. `labels` reads what was recorded, so that a replay names
    turns as other views do. If a new cassette is recorded, `fork` gives the turns of another one that are played first.
    `may_call` says why the live API must not be called (again), or None. `on_miss` is called for each miss, in the
    thread of the request. `player` plays the recording by other rules, with the arguments of `Player`. A missing
    cassette is an error only when a request needs it. Raises CassetteError when the file cannot be read.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: str | None = None,
        *,
        override: str | None = None,
        matching: Matching | None = None,
        faults: Faults | None = None,
        redactor: Redactor | None = None,
        keep: Sequence[str] = (),
        labels: Labels | None = None,
        fork: Callable[[], ForkSource] | None = None,
        may_call: Callable[[], str | None] = lambda: None,
        on_miss: Callable[[Miss], object] | None = None,
        player: Callable[..., Player] = Player,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self.path = Path(path)
        self.mode = effective_mode(mode, environ, override)
        self.exists = self.path.exists()
        self.plan: Plan = plan(self.mode, self.exists)
        cassette = Cassette.load(self.path) if self.plan.plays and self.exists else Cassette.from_round_trips([])
        self.restamp = Restamp(matching or Matching()) if self.plan.restamps else None
        """The requests of this run, which replace those of the recording (mode `restamp`)."""
        self.player = (Player if self.plan.restamps else player)(
            cassette,
            matching=restamping(matching) if self.restamp is not None else matching,
            faults=faults if self.plan.plays and self.exists else None,
            keep=keep,
        )
        self._process = os.getpid()
        self.exchanges = PendingTrips(self._keep)
        self.misses: list[Miss] = []
        """Requests that were neither recorded nor sent to the API."""
        self.unanswered: Request | None = None
        """The first request without an answer."""
        self.empty_addresses: list[str] = []
        """The addresses of this machine that were asked, where nothing listens and of which nothing is recorded."""
        self.live: list[RoundTrip] = []
        """What the live API has answered, in the order of its answers."""
        self.refused: list[str] = []
        """Why requests were not sent to the live API."""
        self._may_call, self._on_miss = may_call, on_miss
        self.live_differences: list[LiveDifference] = []
        """Where the live API answers in another shape than recorded (mode `verify`)."""
        self.notes: list[str] = []
        """What a person should know about the files, one sentence each."""
        self.strays: list[Miss] = []
        """Requests without an answer that are not misses: those after a fault that replaced a recorded answer, which
        cannot be in the recording, and those that are not part of the run."""
        self._fork = fork() if fork is not None and self.plan.writes == "replaced" else None
        self._tape = Player(self._fork.trips, matching=matching, keep=keep) if self._fork is not None else None
        self._waiting = set(self._fork.turns if self._fork is not None else ())
        """The turns of the fork that were not requested so far."""
        self._redactor, self._not_secret = redactor, keep
        self._new = NewCassette(
            self.path, append=self.plan.writes == "appended", redactor=lambda: self.redactor, labels=labels
        )
        self._lock = threading.Lock()
        self._passed: list[RoundTrip] = []
        self._astray = False
        self._finished = False
        self.tools = ToolSink(self, self._keep, self._to_recorder)
        """Records the tool servers of the run. In a replay it only notes what passes."""
        self.tool_wire = [trip for trip in cassette if trip.tool_wire is not None] if cassette.tool_servers else []
        """What was recorded of tool servers over stdio and in process."""
        self.interrupted = self._new.file if self._new.is_left_over else None
        """What an interrupted recording of this cassette has left."""
        if self.interrupted is not None:
            records = self.plan.writes != "nothing"
            then = "it is replaced if this run records" if records else "remove it, or record again"
            self.notes.append(f"{str(self._new.file)!r} is left over from an interrupted recording; {then}")

    @property
    def passed(self) -> list[RoundTrip]:
        """The round trips so far, played and recorded, as the agent saw them, in the order of their answers."""
        with self._lock:
            return list(self._passed)

    @property
    def is_of_failed_test(self) -> bool:
        """True when the test failed while its cassette was recorded."""
        return any(label.get(FAILED) for label in self.player.cassette.labels.values())

    @property
    def has_tools(self) -> bool:
        """True when the cassette has recorded tool servers."""
        return bool(self.tool_wire)

    @property
    def unplayed(self) -> list[RoundTrip]:
        """The recorded round trips that were not played yet."""
        return [replace(self.player.cassette[place], index=place) for place in self.player.unplayed]

    def ask(self, method: str, url: str, headers: Headers, body: bytes) -> Played | Miss | None:
        """The answer to this request: a recording, a miss, or None if the live API must be called."""
        asked = Request(method, url, headers, body)
        if self._fork is not None and self._tape is not None:
            return self._ask_tape(self._fork, self._tape, asked)
        if not self.plan.plays:
            return self._live(asked)
        try:
            found = self.player.play(method, url, headers, body)
            if self.restamp is not None:
                self.restamp.take(self.player, found, asked)
        except Miss as miss:
            if self.plan.calls == "missing":
                return self._live(asked)
            if not self.exists:
                miss.args = (
                    f"the cassette {str(self.path)!r} does not exist, so {method} {url} has no answer; "
                    "record one with the mode 'once'",
                )
            return self._missed(miss, asked)
        if found.faulted is not None and found.faulted.is_another_answer:
            self._astray = True
        self._note(replace(found.trip, request=Request(method, url, headers, body)))
        return found

    def _missed(self, miss: Miss, asked: Request) -> Miss:
        if self._fails_nothing(miss, asked):
            with self._lock:
                self.strays.append(miss)
            return miss
        with self._lock:
            (self.strays if self._astray else self.misses).append(miss)
            self.unanswered = self.unanswered or asked
        if self._on_miss is not None:
            self._on_miss(miss)
        return miss

    def failed_for(self, strays: Sequence[Miss]) -> None:
        """Count these requests as misses after all: what they got in place of an answer has failed the test."""
        with self._lock:
            self.strays = [one for one in self.strays if one not in strays]
            self.misses += strays

    def _fails_nothing(self, miss: Miss, asked: Request) -> bool:
        """True for a request beside the run, and for one of a tool that recorded only a part: it had no answer for it
        either, and the test passed. A request to an LLM API whose own recording still waits has changed since."""
        parts = split_url(asked.url)
        if is_discovery(asked.method, parts.path):
            return True
        if not self.is_imported or is_recorded_path(parts.path.rstrip("/")):
            return False
        host = parts.hostname or ""
        waits = miss.nearest is not None and not miss.nearest_played and not miss.played
        return not waits or by_host(host) is None or is_side_traffic(host, parts.path)

    @property
    def is_imported(self) -> bool:
        """True when another tool has recorded the cassette: one that saw no tool server, and that may have recorded
        only a part."""
        return self.exists and all(trip.route == "import" for trip in self.player.cassette)

    def _live(self, asked: Request) -> Miss | None:
        """None if the live API may be called."""
        why = self._may_call() or self._not_kept()
        if why is None:
            return None
        miss = Miss(asked.method, f"/{path_key(asked.url)}", None, [], 0, 0)
        miss.args = (why,)
        self.refused.append(why)
        return self._missed(miss, asked)

    def _not_kept(self) -> str | None:
        """Why the answer of the API could not be recorded; None if it can.

        So the file is opened before the first live call: an answer that cannot be kept costs all the same.
        """
        if self.plan.writes == "nothing":
            return None
        if os.getpid() != self._process:
            return _FORKED
        self._new.open()
        return self._new.problem

    def _ask_tape(self, fork: ForkSource, tape: Player, asked: Request) -> Played | Miss | None:
        """The answer from the forked recording; None once every turn before the fork was played. Until then, a
        different request is a miss. It is not sent to the API, so it costs nothing."""
        try:
            found = tape.play(asked.method, asked.url, asked.headers, asked.body)
        except Miss as miss:
            if not self._waiting:
                return self._live(asked)
            return self._missed(miss, asked)
        self._waiting.discard(found.trip.index)
        self._keep(replace(found.trip, request=asked, index=-1, extra=played_from(fork, found.trip)))
        return found

    def compare(self, recorded: RoundTrip, live: RoundTrip) -> None:
        """Note where a live answer differs from the recorded one."""
        found = live_difference(recorded, live)
        if found is not None:
            with self._lock:
                self.live_differences.append(found)

    def _note(self, trip: RoundTrip) -> None:
        with self._lock:
            self._passed.append(replace(trip, index=len(self._passed)))

    def _keep(self, trip: RoundTrip) -> None:
        self._note(trip)
        if PLAYED not in trip.extra and trip.tool_wire is None:
            self.live.append(trip)
        self._to_recorder(lambda recorder: recorder.write(trip))

    def _to_recorder(self, use: Callable[[Recorder], object]) -> None:
        """Give something to the recorder. Nothing happens in a replay."""
        if self.plan.writes != "nothing":
            self._new.give(use)

    @property
    def redactor(self) -> Redactor:
        """Finds the secrets in what is recorded here, by the settings and the arguments of this session."""
        return (self._redactor or Redactor.from_config()).keeping(self._not_secret)

    def finish(self, whole: bool = True, *, failed: bool = False) -> int:
        """End the recording; how many round trips were recorded. May be called twice.

        A recording that is not `whole` keeps the name of an unfinished one, and an earlier cassette is not changed.
        One of a test that `failed` says so in its labels, and each replay repeats it. Where such a test got only
        errors from the API, nothing is kept: they cost nothing, and a replay of them would not pass.
        Raises CassetteError when it could not be written.
        """
        if self._finished:
            return 0
        self._finished = True
        if self._fork is not None and self._waiting:
            self.notes.append(
                f"the run did not reach turn {self._fork.at}: {len(self._waiting)} of the {len(self._fork.turns)} "
                f"turns before it in {self._fork.name!r} were not requested"
            )
        self.exchanges.abandon()
        if self.restamp is not None:
            return self._restamped(self.restamp, whole)
        if not self._new.holds_something:
            self._new.discard()
            if self._new.problem:
                raise CassetteError(self._new.problem)
            return 0
        if failed and self.live and not any(map(_is_answer, self.live)):
            self._new.discard()
            stays = "; the earlier cassette stays" if self.exists else ""
            self.notes.append(
                f"not recorded: the test failed, and the API gave only errors ({_errors(self.live)}){stays}"
            )
            return 0
        count = self._new.close()
        if not whole:
            self.notes.append(f"the recording was interrupted and is kept in {str(self._new.file)!r}")
            return 0
        self._new.put_in_place({FAILED: True} if failed else {})
        return count

    def _restamped(self, restamp: Restamp, whole: bool) -> int:
        """Write the requests of this run into the cassette; how many there are."""
        if not restamp.changed or not whole or self.misses:
            return 0
        if problems := self.player.cassette.problems:
            raise CassetteError(
                f"{str(self.path)!r} is damaged and was not rewritten: {problems[0]}; restore it, for example from "
                "version control, or record again"
            )
        if self.has_tools:  # what is not changed stays as it is, and so in its place
            self._new.rewrite(restamp.requests(self.player))
        else:
            for trip in restamp.trips(self.player):
                self._new.give(lambda recorder, trip=trip: recorder.write(trip))
            self._new.close()
        self._new.put_in_place({})
        restamp.written = len(restamp.changed)
        return restamp.written


def _is_answer(trip: RoundTrip) -> bool:
    return trip.response is not None and trip.response.status < 400


def _errors(trips: Sequence[RoundTrip]) -> str:
    """The statuses of these answers, in their order."""
    found = dict.fromkeys(str(trip.response.status) if trip.response else "no connection" for trip in trips)
    return ", ".join(found)


Deck = Session
"""The earlier name of `Session`, kept as an alias."""


class ToolSink:
    """The tool servers of a session's run, as a recorder takes them."""

    def __init__(
        self,
        session: Session,
        keep: Callable[[RoundTrip], None],
        to_recorder: Callable[[Callable[[Recorder], object]], None],
    ) -> None:
        self._session = session
        self._keep = keep
        self._to_recorder = to_recorder

    @property
    def is_wanted(self) -> bool:
        """True when tool servers are recorded: in a new cassette, and in an earlier one that has none."""
        session = self._session
        if session.plan.writes == "appended":
            return not Cassette.load(session.path).tool_servers
        return session.plan.writes != "nothing"

    def write(self, round_trip: RoundTrip) -> int:
        """Record an exchange with a tool server; returns how many round trips have passed before it."""
        before = len(self._session.passed)
        self._keep(round_trip)
        return before

    def tool_server(self, server: ToolServer) -> None:
        """A tool server has started."""
        self._to_recorder(lambda recorder: recorder.tool_server(server))

    def tool_server_stderr(self, session: str, at: int, data: bytes) -> None:
        """What a tool server wrote to stderr."""
        self._to_recorder(lambda recorder: recorder.tool_server_stderr(session, at, data))

    def tool_server_end(self, server: ToolServer) -> None:
        """A tool server has ended."""
        self._to_recorder(lambda recorder: recorder.tool_server_end(server))
