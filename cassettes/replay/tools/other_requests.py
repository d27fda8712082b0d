"""Which recorded message answers a message of the client that calls no tool."""

from collections import Counter
from collections.abc import Sequence

from .calls import ToolCalls
from .miss import ToolMiss
from .recording import Asked, Json, Key, RecordedSession

_LISTS = "/list"
_OPENING = frozenset({"initialize", "server/discover"})
"""Requests that are answered as recorded whatever their parameters: these name the client's version."""


class OtherRequests:
    """The other messages to one process of a server: those of its recorded session first, then those of the others."""

    def __init__(self, calls: ToolCalls, sessions: Sequence[RecordedSession]) -> None:
        self._calls = calls
        self.used: set[Key] = set()
        """The recorded messages that were played."""
        self._sessions = sessions
        self._changes: Counter[str] = Counter()

    def changed(self, kind: str) -> None:
        """The server has said that a list (`tools`, `prompts`, …) has changed."""
        self._changes[kind] += 1

    def find(self, method: str, params: Json) -> Asked | ToolMiss | None:
        """The recorded message for a message of the client. None when there is none; a miss when one was recorded that
        asked for something else."""
        for fits in (self._calls.is_equal, self._calls.binds):
            for session in self._sessions:
                same = [one for one in session.asked if one.method == method]
                fitting = [one for one in same if method in _OPENING or fits(one.params, params)]
                if fitting:
                    is_list = method.endswith(_LISTS)
                    return self._next_of(self._by_state(session, method, fitting) if is_list else fitting)
        others = [
            one for session in self._sessions for one in session.asked if one.method == method and one.has_content
        ]
        return self._calls.missed(others[0].session.server, others, params) if others else None

    def _by_state(self, session: RecordedSession, method: str, fitting: list[Asked]) -> list[Asked]:
        """The lists as they were after as many changes."""
        kind = method.removesuffix(_LISTS)
        answered = [one for one in fitting if one.answer is not None] or fitting
        states = {one.key: session.changes_before(kind, one.request.sequence) for one in answered}
        now = self._changes[kind]
        nearest = min(states.values(), key=lambda state: (state > now, abs(state - now)))
        return [one for one in answered if states[one.key] == nearest]

    def _next_of(self, same: list[Asked]) -> Asked:
        unused = [one for one in same if one.key not in self.used]
        chosen = unused[0] if unused else same[-1]
        self.used.add(chosen.key)
        return chosen
