"""Plays recorded tool servers: messages of a client in, messages of the server out, each when it is due. No I/O.

A call is answered by the recorded call of the same tool with the same arguments, in the order in which they were
recorded, whichever process of the server the client sends it to: some clients start one process for each call. The
rest is answered as recorded: until the first call after the recorded time, since a faster server changes what a client
offers in its first turn; lists by how many times they have changed; what the server says on its own after the
message of the client that it followed. Ids and progress tokens are those of the client. A server that ended on its own
ends again once it has answered as much.
"""

import threading
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import orjson

from ..errors import ReplayMiss
from ..framing import batch
from ..matching.bindings import Bindings, spliced
from ..matching.fresh_values import Value
from ..matching.grades import Matching
from ..matching.json_diff import Difference, differences
from ..matching.json_texts import with_texts
from ..redaction.redactor import Redactor
from ..tape.model import RoundTrip, ToolServer
from .pace import Pace
from .tool_batches import AnsweredBatches, Sent
from .tool_recording import CALL, Asked, Json, RecordedSession, Said, canonical, message, params_of, recorded_sessions

PATIENCE = 2.0
"""Seconds that an answer waits for what was recorded before it: an earlier answer, or the client's answer."""
APART = 0.1
"""Seconds. Answers over different connections come in the recorded order, and as far apart as then, up to this: what a
client does with one answer may take longer than the next needs to come."""
_SMALL, _SMALL_APART = 2_000, 0.02
"""Bytes and seconds: a client reads a small answer at once, so the next may come a little later than recorded."""
_LISTS = "/list"
_OPENING = frozenset({"initialize", "server/discover"})
"""Requests that are answered as recorded whatever their parameters: these name the client's version."""
_NO_METHOD = -32601


class HasBindings(Protocol):
    """The player of the model's side, which knows what the values of this run are."""

    bindings: Bindings


class ToolMiss(ReplayMiss):
    """No recorded call of a tool server answers a call."""

    def __init__(self, server: str, name: str, nearest: Asked | None, found: Sequence[Difference], played: int) -> None:
        self.server = server
        self.name = name
        self.nearest = nearest
        self.differences = tuple(found)
        super().__init__(_sentence(server, name, nearest, found, played))


def _sentence(server: str, name: str, nearest: Asked | None, found: Sequence[Difference], played: int) -> str:
    what = f"no recorded call answers the tool {name} of the server {server}"
    if played:
        times = "once" if played == 1 else f"{played} times"
        return f"{what}: it was recorded {times} with these arguments, and is called again"
    if nearest is None or not found:
        return f"{what}: it was not called in the recording"
    first, *others = found
    more = f" (and {len(others)} more: {', '.join(one.pointer or '/' for one in others)})" if others else ""
    return f"{what}: the nearest is #{nearest.index}, where {first}{more}; record again if the change is intended"


@dataclass(frozen=True, slots=True)
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


class ToolPlayer:
    """The tool servers of a cassette. `connect(name)` is one process of a server. Any thread may use it.

    `values` has the bindings of the run, which the model's side and the tools share. `pace` is how fast the answers
    are that have a recorded time. `folders` are the recorded working directories of the servers.
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
        self.played: list[PlayedCall] = []
        self.misses: list[ToolMiss] = []
        self.unknown: list[str] = []
        """Requests other than calls that were not recorded, one sentence each."""
        self.lock = threading.RLock()
        self.answered: dict[tuple[str, int], float] = {}
        """When each recorded answer was sent, by the session and sequence of its call."""
        self._values = values or _Values()
        self._folders = {one.server: one.cwd for one in processes if one.cwd}
        self._connections: defaultdict[str, int] = defaultdict(int)
        self.taken: set[tuple[str, int]] = set()
        """The recorded calls that were played, by the session and sequence of each."""
        self._before: dict[tuple[str, int], list[Asked]] = {}

    @property
    def bindings(self) -> Bindings:
        return self._values.bindings

    def connect(self, server: str, folder: str | None = None, *, answers_apart: bool = False) -> "ToolConnection":
        """A new process of a server. `folder` is its working directory in this run; with `answers_apart`, each answer
        has a separate connection."""
        with self.lock:
            number = self._connections[server]
            self._connections[server] += 1
            recorded = self._folders.get(server)
            if folder and recorded and self.matching.map_values:
                self._values.bindings.learn_folder(recorded, folder)
        return ToolConnection(self, server, number, answers_apart)

    def answered_before(self, call: Asked) -> list[Asked]:
        """The recorded calls, of any server, that were open together with this one and were answered first."""
        found = self._before.get(_place(call))
        if found is None:
            found = self._before[_place(call)] = [
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
        return [call for server in self.sessions for call in self.calls(server) if _place(call) not in self.taken]

    def lines(self) -> list[str]:
        """One line for each difference from the recording."""
        return [
            *(f"changed: {miss}" for miss in self.misses),
            *(f"tolerated: {call}" for call in self.played if call.differences),
            *(f"extra: {sentence}" for sentence in dict.fromkeys(self.unknown)),
            *(f"not called: {one.session.server} {one.name} (#{one.index})" for one in self.unplayed),
        ]

    def find(self, server: str, params: Json) -> Asked | ToolMiss:
        """The recorded call for a call, which it takes; or the miss."""
        name = str(params.get("name", ""))
        given: object = params.get("arguments") or {}
        with self.lock:
            same = [call for call in self.calls(server) if call.name == name]
            free = [call for call in same if _place(call) not in self.taken]
            for call in free:
                if self._fits(call, given):
                    return self._play(call)
            known = with_texts(given, self.bindings.as_recorded)
            found = {_place(call): tuple(differences(call.arguments, known)) for call in same}
            equal = sum(not difference for difference in found.values())
            nearest = min(free or same, key=lambda call: len(found[_place(call)]), default=None)
            if free and nearest and self.matching.is_tolerant:
                return self._play(nearest, found[_place(nearest)])
            differ = found[_place(nearest)] if nearest else ()
            miss = ToolMiss(server, name, nearest, differ, 0 if free else equal)
            self.misses.append(miss)
            return miss

    def _play(self, call: Asked, found: tuple[Difference, ...] = ()) -> Asked:
        self.taken.add(_place(call))
        self.played.append(PlayedCall(call.session.server, call.name, call.index, found))
        return call

    def _fits(self, call: Asked, given: object) -> bool:
        """True when the arguments are equal, or equal except for values that are new in each run."""
        if canonical(call.arguments) == canonical(given):
            return True
        if not self.matching.map_values:
            return False
        values: tuple[list[Value], list[Value]] = ([], [])
        skeletons = [
            canonical(self._apart(one, kept)) for one, kept in zip((call.arguments, given), values, strict=True)
        ]
        trial = self.bindings.copy()
        if skeletons[0] != skeletons[1] or not trial.unify(*values):
            return False
        self._values.bindings = trial
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


def _place(call: Asked) -> tuple[str, int]:
    return call.session.key, call.request.sequence


def _gap(first: Asked, second: Asked) -> float:
    """Seconds to leave between two answers over different connections."""
    if first.answer is None or second.answer is None:
        return 0.0
    least = _SMALL_APART if len(first.answer.raw) <= _SMALL else 0.0
    return min(max(second.answer.at - first.answer.at, least), APART)


def _ended_during(other: Asked, call: Asked) -> bool:
    """True when a call was answered while another one was open."""
    if other.answer is None or call.answer is None:
        return False
    if other.session is call.session:
        return call.request.sequence < other.answer.sequence < call.answer.sequence
    return call.request.at < other.answer.at < call.answer.at


@dataclass(slots=True)
class _Step:
    """One message to send."""

    data: Json | None
    raw: bytes
    """For a line that is not JSON."""
    is_request: bool = False
    answers: Asked | None = None
    closes: bool = False
    """The recorded server ended here."""
    is_ours: bool = False
    """True for an answer that was not recorded."""


@dataclass(slots=True)
class _Script:
    """What the server says after one message of the client, step by step."""

    steps: list[_Step]
    origin: object = None
    """The id of the client's request."""
    not_before: float = 0.0
    """The time of the answer."""
    waits_for: object = None
    """The id of a request to the client that has no answer yet."""
    until: float | None = None
    """When waiting ends in any case."""
    look: float | None = None
    """When to look again whether it is over, if nothing else says so."""


class ToolConnection:
    """One process of a played server: `receive` a line of the client; `due` gives the lines to send now.

    `wait` says how long until there is something to do without the client. `closed` is True once the recorded server
    had ended at this place. `errors` gives what it writes to stderr now, and `rest_of_errors` what is left at the end.
    """

    def __init__(self, player: ToolPlayer, server: str, number: int, answers_apart: bool = False) -> None:
        self.closed = False
        self.server = server
        self._answers_apart = answers_apart
        self._player = player
        sessions = player.sessions.get(server, [])
        self._session = sessions[min(number, len(sessions) - 1)] if sessions else None
        self._others = [session for session in sessions if session is not self._session]
        self._used: set[tuple[str, int]] = set()
        self._changes: defaultdict[str, int] = defaultdict(int)
        self._requests = 0
        self._starts = number == 0
        """True until the first call of the first process."""
        self._scripts: list[_Script] = []
        self._batches = AnsweredBatches()
        self._reached = 0.0
        """The recorded time up to which this process has been played."""
        self._errors = deque(self._session.errors if self._session else ())
        self._ends_at: float | None = None
        """When it ends on its own."""
        if self._session:
            self._scripts.append(_Script([_other(said) for said in self._session.greeting]))

    def receive(self, data: bytes, now: float) -> Asked | None:
        """Take one line of the client, without its newline. `now` is any clock in seconds.

        The recorded message that says how it is answered; None when there is none, and for a batch.
        """
        if self._session is not None and not self._session.asked and self._session.ends_unasked:
            return None  # it ended before it read anything
        if parts := batch(data):
            if self._session is not None and self._session.answers_batches:
                self._batches.begin([said["id"] for said in map(message, parts) if "method" in said and "id" in said])
            for part in parts:
                self.receive(part, now)
            return None
        said = message(data)
        method, number = said.get("method"), said.get("id")
        redactor = self._player.redactor
        clean = message(redactor.normalise(redactor.body(data)))
        if not isinstance(method, str):
            for script in self._scripts:
                if number is not None and script.waits_for == number:
                    script.waits_for = script.until = None
            return None
        (params, _), (_, token) = params_of(clean), params_of(said)
        with self._player.lock:
            asked = self._player.find(self.server, params) if method == CALL else self._recorded(method, params)
        if isinstance(asked, ToolMiss):
            text = [{"type": "text", "text": str(asked)}]
            # The version of 2026-07-28 demands the type; older ones ignore it.
            self._say({"id": number, "result": {"resultType": "complete", "content": text, "isError": True}})
        elif asked is not None:
            self._play(asked, number, token, now)
        elif method == "ping" and number is not None:
            self._say({"id": number, "result": {}})
        elif number is not None:
            problem = f"{method} was not recorded for the server {self.server}"
            self._player.unknown.append(problem)
            self._say({"id": number, "error": {"code": _NO_METHOD, "message": f"turntape: {problem}"}})
        return asked if isinstance(asked, Asked) else None

    @property
    def process(self) -> ToolServer | None:
        """How the recorded process ended; None when that was not recorded."""
        return self._session.process if self._session else None

    def errors(self) -> bytes:
        """What the recorded process had written to stderr up to here."""
        pieces: list[bytes] = []
        while self._errors and self._errors[0][0] <= self._reached:
            pieces.append(self._errors.popleft()[1])
        return b"".join(pieces)

    def rest_of_errors(self) -> bytes:
        """What the recorded process wrote to stderr until its end."""
        pieces = [data for _, data in self._errors]
        self._errors.clear()
        return b"".join(pieces)

    def _say(self, fields: Json) -> None:
        self._scripts.append(_Script([_Step({"jsonrpc": "2.0", **fields}, b"", is_ours=True)], fields["id"]))

    def _recorded(self, method: str, params: Json) -> Asked | None:
        """The recorded message for another message than a call."""
        key = canonical(params)
        for session in (*([self._session] if self._session else []), *self._others):
            fitting = [
                one
                for one in session.asked
                if one.method == method and (method in _OPENING or canonical(one.params) == key)
            ]
            if not fitting:
                continue
            if method.endswith(_LISTS):
                return self._by_state(session, method.removesuffix(_LISTS), fitting)
            unused = [one for one in fitting if _place(one) not in self._used]
            chosen = unused[0] if unused else fitting[-1]
            self._used.add(_place(chosen))
            return chosen
        return None

    def _by_state(self, session: RecordedSession, kind: str, fitting: list[Asked]) -> Asked:
        """The list as it was after as many changes."""
        answered = [one for one in fitting if one.answer is not None] or fitting
        states = {_place(one): session.changes_before(kind, one.request.sequence) for one in answered}
        now = self._changes[kind]
        best = min(answered, key=lambda one: (states[_place(one)] > now, abs(states[_place(one)] - now)))
        same = [one for one in answered if states[_place(one)] == states[_place(best)]]
        unused = [one for one in same if _place(one) not in self._used]
        chosen = unused[0] if unused else same[-1]
        self._used.add(_place(chosen))
        return chosen

    def _play(self, asked: Asked, number: object, token: object, now: float) -> None:
        steps: list[_Step] = []
        if asked.session is self._session:
            self._reached = max(self._reached, asked.request.at)
        answer = asked.answer
        for said in asked.others:
            if answer is not None and said.sequence > answer.sequence:
                steps.append(self._answer(asked, answer, number))
                answer = None
            step = _other(said)
            if said.method == "notifications/progress":
                if token is None:
                    continue
                step = _with_token(step, token)
            steps.append(step)
        if answer is not None:
            steps.append(self._answer(asked, answer, number))
        elif asked.answer is None and asked.cut:
            steps.append(_Step(None, b"", closes=True))
        # Only the first process before its first call decides what a client offers in its first turn.
        self._starts = self._starts and not asked.is_call
        delay = self._player.pace.pauses().before(round(asked.delay * 1_000_000)) if self._starts else 0.0
        self._scripts.append(_Script(steps, number, now + delay))

    def _answer(self, asked: Asked, answer: Said, number: object) -> _Step:
        return _Step({**answer.data, "id": number}, b"", answers=asked)

    def due(self, now: float) -> list[bytes]:
        """The lines to send now, without their newlines."""
        return [sent.data for sent in self.sent(now)]

    def sent(self, now: float) -> list[Sent]:
        """As `due`, with the request that each line belongs to."""
        sent: list[Sent] = []
        with self._player.lock:
            while sum(self._advance(script, now, sent) for script in self._scripts):
                pass
            self._scripts = [script for script in self._scripts if script.steps]
            self._end_unasked(now)
        return list(self._batches.joined(sent))

    def _end_unasked(self, now: float) -> None:
        """End when the recorded server did: as long as then after the last of its messages.

        Not sooner: without proof of what it was that ended it, the client gets the time that it had then.
        """
        session = self._session
        if session is None or not session.ends_unasked or self._scripts or session.process is None:
            return
        played = self._used | self._player.taken
        if any(_place(one) not in played for one in session.asked if one.has_id):
            return
        if self._ends_at is None:
            self._ends_at = now + max((session.process.ended_at or 0.0) - session.last, 0.0)
        self.closed = self.closed or now >= self._ends_at

    def wait(self, now: float) -> float | None:
        """Seconds until `due` may give something although the client says nothing; None for never."""
        times = [script.until if script.until is not None else script.not_before for script in self._scripts]
        times += [script.look for script in self._scripts if script.look is not None]
        times += [self._ends_at] if self._ends_at is not None else []
        return max(min(times) - now, 0.0) if times else None

    def _advance(self, script: _Script, now: float, sent: list[Sent]) -> bool:
        """Send the next step if it is due."""
        if not script.steps or self.closed:
            return False
        step = script.steps[0]
        is_over = script.until is not None and now >= script.until
        if script.waits_for is not None:
            if not is_over:
                return False
            script.waits_for = script.until = None
        if step.answers is not None:
            if now < script.not_before:
                return False
            if not is_over and self._is_early(step.answers, script, now):
                script.until = script.until or now + PATIENCE
                return False
            script.until = script.look = None
            self._player.answered[_place(step.answers)] = now
            if step.answers.session is self._session and step.answers.answer is not None:
                self._reached = max(self._reached, step.answers.answer.at)
        del script.steps[0]
        if step.closes:
            self.closed = True
            return True
        is_answer = step.is_ours or step.answers is not None
        sent.append(Sent(self._written(script, step, now), script.origin, is_answer))
        return True

    def _written(self, script: _Script, step: _Step, now: float) -> bytes:
        if step.data is None:
            return step.raw
        data = step.data
        method = data.get("method")
        if isinstance(method, str) and method.endswith("/list_changed"):
            self._changes[method.split("/")[1]] += 1
        if step.is_request:
            self._requests += 1
            script.waits_for, script.until = self._requests, now + PATIENCE
            data = {**data, "id": self._requests}
        return orjson.dumps(self._player.in_this_run(data))

    def _is_early(self, asked: Asked, script: _Script, now: float) -> bool:
        """True when another call was open at the same time and was answered first, and is not yet or only just."""
        script.look = None
        if not asked.is_call:
            return False
        early = False
        for other in self._player.answered_before(asked):
            answered = self._player.answered.get(_place(other))
            is_apart = self._answers_apart or other.session is not asked.session
            gap = _gap(other, asked) if is_apart else 0.0
            if answered is None or now < answered + gap:
                early = True
                if is_apart:
                    script.look = max(script.look or 0.0, now + APART if answered is None else answered + gap)
        return early


def _other(said: Said) -> _Step:
    """A message that the server sends on its own."""
    data = said.data
    if not data:
        return _Step(None, said.raw)
    return _Step(data, said.raw, is_request="method" in data and "id" in data)


def _with_token(step: _Step, token: object) -> _Step:
    assert step.data is not None
    params, _ = params_of(step.data)
    return _Step({**step.data, "params": {**params, "progressToken": token}}, b"")
