"""What one process of a played server says: messages of a client in, messages of the server out, each when it is due.

The answers are as recorded: until the first call after the recorded time, since a faster server changes what a client
offers in its first turn; lists by how many times they have changed; what the server says on its own after the
message of the client that it followed. Ids and progress tokens are those of the client. A server that ended on its own
ends again once it has answered as much.
"""

from collections import deque

import orjson

from ...framing import batch
from ...tape.model import ToolServer
from .batches import AnsweredBatches, Sent
from .calls import ToolCalls
from .miss import ToolMiss
from .other_requests import OtherRequests
from .recording import CALL, LISTEN, SUBSCRIPTION, Asked, Json, Said, id_of, message, meta_of, params_of
from .script import Script, Step, step_of, with_listener, with_token

PATIENCE = 2.0
"""Seconds that an answer waits for what was recorded before it: an earlier answer, or the client's answer."""
APART = 0.1
"""Seconds. Answers over different connections come in the recorded order, and as far apart as then, up to this: what a
client does with one answer may take longer than the next needs to come."""
_SMALL, _SMALL_APART = 2_000, 0.02
"""Bytes and seconds: a client reads a small answer at once, so the next may come a little later than recorded."""
_NO_METHOD, _WRONG_PARAMETERS = -32601, -32602


class ToolConnection:
    """One process of a played server: `receive` a line of the client; `due` gives the lines to send now.

    `wait` says how long until there is something to do without the client. `closed` is True once the recorded server
    had ended at this place. `errors` gives what it writes to stderr now, and `rest_of_errors` what is left at the end.
    """

    def __init__(self, calls: ToolCalls, server: str, number: int, answers_apart: bool = False) -> None:
        self.closed = False
        self.server = server
        self._answers_apart = answers_apart
        self._calls = calls
        sessions = calls.sessions.get(server, [])
        self._session = sessions[min(number, len(sessions) - 1)] if sessions else None
        own_first = sorted(sessions, key=lambda session: session is not self._session)
        self._others = OtherRequests(calls, own_first)
        self._requests = 0
        self._starts = number == 0
        """True until the first call of the first process."""
        self._scripts: list[Script] = []
        self._batches = AnsweredBatches()
        self._listeners: dict[tuple[str, object], object] = {}
        """The ids of the client's requests to listen, by the recorded session and id of each."""
        self._reached = 0.0
        """The recorded time up to which this process has been played."""
        self._errors = deque(self._session.errors if self._session else ())
        self._ends_at: float | None = None
        """When it ends on its own."""
        if self._session:
            self._scripts.append(Script([step_of(said) for said in self._session.greeting]))

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
        redactor = self._calls.redactor
        clean = message(redactor.normalise(redactor.body(data)))
        if not isinstance(method, str):
            for script in self._scripts:
                if number is not None and script.waits_for == number:
                    script.waits_for = script.until = None
            return None
        (params, _), (_, token) = params_of(clean), params_of(said)
        with self._calls.lock:
            asked = self._calls.find(self.server, params) if method == CALL else self._others.find(method, params)
        if isinstance(asked, ToolMiss) and method != CALL:
            self._say({"id": number, "error": {"code": _WRONG_PARAMETERS, "message": f"turntape: {asked}"}})
        elif isinstance(asked, ToolMiss):
            text = [{"type": "text", "text": str(asked)}]
            # The version of 2026-07-28 demands the type; older ones ignore it.
            self._say({"id": number, "result": {"resultType": "complete", "content": text, "isError": True}})
        elif asked is not None:
            self._play(asked, number, token, now)
        elif method == "ping" and number is not None:
            self._say({"id": number, "result": {}})
        elif number is not None:
            problem = f"{method} was not recorded for the server {self.server}"
            self._calls.unknown.append(problem)
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
        self._scripts.append(Script([Step({"jsonrpc": "2.0", **fields}, b"", is_ours=True)], fields["id"]))

    def _play(self, asked: Asked, number: object, token: object, now: float) -> None:
        steps: list[Step] = []
        if asked.session is self._session:
            self._reached = max(self._reached, asked.request.at)
        answer = asked.answer
        if asked.method == LISTEN:
            self._listeners[asked.session.key, id_of(asked.request.data)] = number
        for said in asked.others:
            if answer is not None and said.sequence > answer.sequence:
                steps.append(self._answer(asked, answer, number))
                answer = None
            step = step_of(said)
            if said.method == "notifications/progress":
                if token is None:
                    continue
                step = with_token(step, token)
            listener = (asked.session.key, id_of({"id": meta_of(said.data).get(SUBSCRIPTION)}))
            steps.append(with_listener(step, self._listeners[listener]) if listener in self._listeners else step)
        if answer is not None:
            steps.append(self._answer(asked, answer, number))
        elif asked.answer is None and asked.cut:
            steps.append(Step(None, b"", closes=True))
        # Only the first process before its first call decides what a client offers in its first turn.
        self._starts = self._starts and not asked.is_call
        delay = self._calls.pace.pauses().before(round(asked.delay * 1_000_000)) if self._starts else 0.0
        self._scripts.append(Script(steps, number, now + delay))

    def _answer(self, asked: Asked, answer: Said, number: object) -> Step:
        return Step({**answer.data, "id": number}, b"", answers=asked)

    def due(self, now: float) -> list[bytes]:
        """The lines to send now, without their newlines."""
        return [sent.data for sent in self.sent(now)]

    def sent(self, now: float) -> list[Sent]:
        """As `due`, with the request that each line belongs to."""
        sent: list[Sent] = []
        with self._calls.lock:
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
        played = self._others.used | self._calls.taken
        if any(one.key not in played for one in session.asked if one.has_id):
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

    def _advance(self, script: Script, now: float, sent: list[Sent]) -> bool:
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
            self._calls.answered[step.answers.key] = now
            if step.answers.session is self._session and step.answers.answer is not None:
                self._reached = max(self._reached, step.answers.answer.at)
        del script.steps[0]
        if step.closes:
            self.closed = True
            return True
        is_answer = step.is_ours or step.answers is not None
        origin = script.origin if step.listener is None else step.listener
        sent.append(Sent(self._written(script, step, now), origin, is_answer))
        return True

    def _written(self, script: Script, step: Step, now: float) -> bytes:
        if step.data is None:
            return step.raw
        data = step.data
        method = data.get("method")
        if isinstance(method, str) and method.endswith("/list_changed"):
            self._others.changed(method.split("/")[1])
        if step.is_request:
            self._requests += 1
            script.waits_for, script.until = self._requests, now + PATIENCE
            data = {**data, "id": self._requests}
        return orjson.dumps(self._calls.in_this_run(data))

    def _is_early(self, asked: Asked, script: Script, now: float) -> bool:
        """True when another call was open at the same time and was answered first, and is not yet or only just."""
        script.look = None
        if not asked.is_call:
            return False
        early = False
        for other in self._calls.answered_before(asked):
            answered = self._calls.answered.get(other.key)
            is_apart = self._answers_apart or other.session is not asked.session
            gap = _gap(other, asked) if is_apart else 0.0
            if answered is None or now < answered + gap:
                early = True
                if is_apart:
                    script.look = max(script.look or 0.0, now + APART if answered is None else answered + gap)
        return early


def _gap(first: Asked, second: Asked) -> float:
    """Seconds to leave between two answers over different connections."""
    if first.answer is None or second.answer is None:
        return 0.0
    least = _SMALL_APART if len(first.answer.raw) <= _SMALL else 0.0
    return min(max(second.answer.at - first.answer.at, least), APART)
