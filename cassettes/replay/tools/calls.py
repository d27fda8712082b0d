"""The calls of recorded tool servers: which recorded call answers a call, and what the processes of a run share.

A call is answered by the recorded call of the same tool with the same arguments, in the order in which they were
recorded, whichever process of the server the client sends it to: some clients start one process for each call.
"""

import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import orjson

from ...frozen import frozen
from ...matching.bindings import Bindings, spliced
from ...matching.fresh_values import Value
from ...matching.grades import Matching
from ...matching.json_diff import Difference, differences
from ...matching.json_texts import with_texts
from ...redaction.redactor import Redactor
from ...tape.model import RoundTrip, ToolServer
from ..pace import Pace
from .miss import ToolMiss
from .recording import Asked, Json, Key, canonical, recorded_sessions


class HasBindings(Protocol):
    """The player of the model's side, which knows what the values of this run are."""

    bindings: Bindings


@frozen
class PlayedCall:
    """A call that was answered."""

    server: str
    name: str
    index: int
    """The number of its round trip in the cassette."""
    differences: tuple[Difference, ...] = ()
    """Where the arguments differ although the call was answered."""

    def __str__(self) -> str:
        return f"{self.server} {self.name} (#{self.index}): {'; '.join(map(str, self.differences)) or 'as recorded'}"


class ToolCalls:
    """The tool servers of a cassette, and what was played of them. Hold `lock` while an answer is chosen and sent.

    `values` has the bindings of the run, which the model's side and the tools share. `pace` is how fast the answers
    are that have a recorded time. `servers` are the recorded processes; their working directories are mapped to those
    of this run.
    """

    def __init__(
        self,
        trips: Sequence[RoundTrip],
        *,
        matching: Matching | None = None,
        values: HasBindings | None = None,
        pace: Pace | None = None,
        servers: Iterable[ToolServer] = (),
        redactor: Redactor | None = None,
    ) -> None:
        self.matching = matching or Matching()
        self.pace = pace or Pace.of("recorded")
        self.redactor = redactor or Redactor.from_config()
        """Clears what a client says of secrets, as the recording is, before it is compared and reported."""
        processes = list(servers)
        self.sessions = recorded_sessions(trips, self.redactor.normalise, processes)
        self._folders = {one.server: one.cwd for one in processes if one.cwd}
        self.played: list[PlayedCall] = []
        self.misses: list[ToolMiss] = []
        self.unknown: list[str] = []
        """Requests other than calls that were not recorded, one sentence each."""
        self.lock = threading.RLock()
        self.connections: Counter[str] = Counter()
        """How many processes of each server were started in this run."""
        self.taken: set[Key] = set()
        """The recorded calls that were played."""
        self.answered: dict[Key, float] = {}
        """When each recorded answer was sent."""
        self.values = values or _Values()
        self._before: dict[Key, list[Asked]] = {}

    @property
    def bindings(self) -> Bindings:
        return self.values.bindings

    def runs_in(self, server: str, folder: str) -> None:
        """Map the working directory that a server had in the recording to the one that it has now."""
        recorded = self._folders.get(server)
        if recorded and self.matching.map_values:
            self.bindings.learn_folder(recorded, folder)

    def answered_before(self, call: Asked) -> list[Asked]:
        """The recorded calls, of any server, that were open together with this one and were answered first."""
        found = self._before.get(call.key)
        if found is None:
            found = self._before[call.key] = [
                other
                for sessions in self.sessions.values()
                for session in sessions
                for other in session.asked
                if other.is_call and other is not call and _ended_during(other, call)
            ]
        return found

    def calls(self, server: str) -> Iterator[Asked]:
        """The recorded calls of a server, in order."""
        found = [one for session in self.sessions.get(server, ()) for one in session.asked if one.is_call]
        return iter(sorted(found, key=lambda one: one.request.at))

    @property
    def unplayed(self) -> list[Asked]:
        """Recorded calls that were not made."""
        return [call for server in self.sessions for call in self.calls(server) if call.key not in self.taken]

    def find(self, server: str, params: Json) -> Asked | ToolMiss:
        """The recorded call for a call, which it takes; or the miss."""
        name = str(params.get("name", ""))
        given: object = params.get("arguments") or {}
        with self.lock:
            same = [call for call in self.calls(server) if call.name == name]
            free = [call for call in same if call.key not in self.taken]
            for fits in (self.is_equal, self.binds):
                for call in free:
                    if fits(call.given, given):
                        return self._play(call)
            nearest, differ = self._nearest(free or same, given)
            if free and nearest and self.matching.is_tolerant:
                return self._play(nearest, differ)
            played = 0 if free else sum(self.is_equal(call.given, given) for call in same)
            return self._missed(ToolMiss(server, name, nearest, differ, played))

    def missed(self, server: str, recorded: Sequence[Asked], given: object) -> ToolMiss:
        """What to say of a request that is none of these recorded ones of the same method."""
        nearest, differ = self._nearest(recorded, given)
        return self._missed(ToolMiss(server, recorded[0].method, nearest, differ))

    def _missed(self, miss: ToolMiss) -> ToolMiss:
        self.misses.append(miss)
        return miss

    def _nearest(self, recorded: Sequence[Asked], given: object) -> tuple[Asked | None, tuple[Difference, ...]]:
        """The recorded message that differs least, and where."""
        known = with_texts(given, self.bindings.as_recorded)
        found = [(one, tuple(differences(one.given, known))) for one in recorded]
        return min(found, key=lambda pair: len(pair[1]), default=(None, ()))

    def _play(self, call: Asked, found: tuple[Difference, ...] = ()) -> Asked:
        self.taken.add(call.key)
        self.played.append(PlayedCall(call.session.server, call.name, call.index, found))
        return call

    def is_equal(self, recorded: object, given: object) -> bool:
        """True when what a client sends is equal to what is recorded, or is so with the recorded values in it."""
        ours = canonical(recorded)
        if ours == canonical(given):
            return True
        return self.matching.map_values and ours == canonical(with_texts(given, self.bindings.as_recorded))

    def binds(self, recorded: object, given: object) -> bool:
        """True when they are equal except for values that are new in each run, which are bound then."""
        if not self.matching.map_values:
            return False
        values: tuple[list[Value], list[Value]] = ([], [])
        skeletons = [canonical(self._apart(one, kept)) for one, kept in zip((recorded, given), values, strict=True)]
        trial = self.bindings.copy()
        if skeletons[0] != skeletons[1] or not trial.unify(*values):
            return False
        self.values.bindings = trial
        return True

    def _apart(self, value: object, values: list[Value]) -> object:
        def skeleton(text: str) -> str:
            found = self.bindings.split(text)
            values.extend(found.values)
            return found.skeleton

        # In sorted order, so that the values of two equal objects are in the same order.
        return with_texts(orjson.loads(canonical(value)), skeleton)

    def in_this_run(self, value: object) -> object:
        """A recorded value with the values of this run in its strings."""
        bindings = self.bindings
        return with_texts(value, lambda text: spliced(text, bindings.in_this_run(text))) if bindings else value


class _Values:
    def __init__(self) -> None:
        self.bindings = Bindings()


def _ended_during(other: Asked, call: Asked) -> bool:
    """True when a call was answered while another one was open."""
    if other.answer is None or call.answer is None:
        return False
    if other.session is call.session:
        return call.request.sequence < other.answer.sequence < call.answer.sequence
    return call.request.at < other.answer.at < call.answer.at
