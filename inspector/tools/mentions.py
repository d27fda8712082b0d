"""What messages of a session refer to: each request, task, subscription and page must have been there.

Over stdio a request is recorded when it has its answer, so only the end of the recording shows what never was.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import field

from turntape.cassettes.excerpts import cut
from turntape.cassettes.frozen import frozen, mutable

from ..wire.json_value import Object, as_array, as_object, as_text, compact
from .tool_messages import ToolMessage

_LONGEST = 2_000
"""Characters of an address that are looked at."""
_MOST = 10_000
"""So many names of a session are known, and so many are looked up."""


@frozen
class Mention:
    """A message that names something."""

    kind: str
    name: str
    index: int
    method: str
    by_server: bool

    @property
    def text(self) -> str:
        """The end of a sentence that begins with the message."""
        return f"names {_CALLED[self.kind]} {cut(self.name, 60)}, which the session does not have"


_CALLED: Mapping[str, str] = {
    "client request": "the request",
    "server request": "the request",
    "task": "the task",
    "subscription": "the resource",
    "page": "the page",
    "progress": "the progress token",
}
_NAMING: Mapping[str, tuple[str, str]] = {
    "tasks/get": ("task", "taskId"),
    "tasks/result": ("task", "taskId"),
    "tasks/cancel": ("task", "taskId"),
    "notifications/resources/updated": ("subscription", "uri"),
    "notifications/elicitation/complete": ("page", "elicitationId"),
}
"""By method: the kind of what it names, and the parameter with the name."""
LATE = frozenset(_NAMING) | {"notifications/cancelled"}
"""Methods whose messages are judged at the end of the recording."""


@mutable
class Mentions:
    """What one session has, and what its messages name."""

    _given: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    _named: list[Mention] = field(default_factory=list[Mention])
    _asks: Counter[str] = field(default_factory=Counter[str])
    """By id: how often the server sent a request with it."""
    _replies: Counter[str] = field(default_factory=Counter[str])
    """By id: how often the client answered."""
    _full: bool = False
    """Whether more was given than is known."""

    def add(self, message: ToolMessage) -> None:
        """Take in what a message gives and what it names."""
        method, params = message.method or "", message.params
        if message.is_request and message.sender == "server":
            self._asks[compact(message.id)] += 1
        if message.is_request:
            self._give(f"{message.sender} request", compact(message.id))
        if method == "resources/subscribe":
            self._give("subscription", compact(params.get("uri")))
        if method == "elicitation/create":
            self._give("page", compact(params.get("elicitationId")))
        if message.is_request and message.sender == "server":
            self._give("progress", compact(as_object(params.get("_meta")).get("progressToken")))
        for name in _tasks_of(message.result):
            self._give("task", compact(name))
        kind, key = _NAMING.get(method, ("", ""))
        if method == "notifications/cancelled" and "requestId" in params:
            kind, key = f"{message.sender} request", "requestId"
        if method == "notifications/progress" and message.sender == "client":
            kind, key = "progress", "progressToken"
        named = params.get(key)
        if message.is_answer and message.sender == "client" and message.id is not None:
            kind, method, named = "server request", "an answer", message.id
            self._replies[compact(named)] += 1
        if kind and len(self._named) < _MOST:
            self._named.append(Mention(kind, compact(named), message.index, method, message.sender == "server"))

    def _give(self, kind: str, name: str) -> None:
        self._full = self._full or len(self._given[kind]) >= _MOST
        self._given[kind].add(name)

    def unknown(self) -> Iterator[Mention]:
        """The first message of each side that names what the session never had."""
        sides: set[bool] = set()
        for one in () if self._full else self._named:
            if one.by_server not in sides and not self._has(one):
                sides.add(one.by_server)
                yield one

    def again(self) -> Mention | None:
        """The first answer of the client to a request that has one already."""
        found = (one for one in self._named if one.kind == "server request" and one.method == "an answer")
        return next((one for one in found if self._replies[one.name] > self._asks[one.name] > 0), None)

    def _has(self, one: Mention) -> bool:
        given = self._given[one.kind]
        if one.name in given or one.kind != "subscription":
            return one.name in given
        # A server may report a part of what the client subscribed to.
        ends = (place for place, sign in enumerate(one.name[:_LONGEST]) if sign == "/")
        return any(f'{one.name[:end]}"' in given or f'{one.name[: end + 1]}"' in given for end in ends)


def _tasks_of(result: Object | None) -> Iterator[str]:
    """The tasks that a result gives or lists."""
    fields = as_object(result)
    for one in (fields, fields.get("task"), *as_array(fields.get("tasks"))):
        if (name := as_text(as_object(one).get("taskId"))) is not None:
            yield name
