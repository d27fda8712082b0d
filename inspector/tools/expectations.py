"""What a session promised and what its messages rely on: capabilities, ids of server requests, arguments of prompts.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle and `server/prompts`, read 2026-11-29.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import field

from turntape.cassettes.frozen import frozen, mutable

from ..wire.json_value import Object, as_object, as_text, objects_in
from .message_forms import declares
from .tool_messages import ToolMessage

_MOST = 10_000
"""So many ids and prompts of one session are known."""
ASKS = frozenset({"elicitation/create", "sampling/createMessage"})
"""Requests of a server that a person or a model must answer."""
PLAIN_ASKS = frozenset({"ping", "roots/list"})
"""Requests of a server that the client answers without asking anybody."""
MAY_WAIT = frozenset({"server/discover", "subscriptions/listen", "tasks/result"})
"""Requests that a server may leave open: older servers do not know the first, and the others end with what they wait
for."""
_CHANGES = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
    "notifications/roots/list_changed": "roots",
}


def unannounced(method: str, declared: Object | None) -> str | None:
    """How a notice of a change breaks what its sender declared; None where it does not, or that is not known."""
    name = _CHANGES.get(method)
    if name is None or declared is None or as_object(declared.get(name)).get("listChanged") is True:
        return None
    return f"says that {name} change, and its sender has not declared `listChanged` for them"


def unoffered(asked: ToolMessage, offers: Object | None) -> str | None:
    """How a request that the server answered asks for what the server has not declared; None where it does not."""
    method = asked.method or ""
    if method.startswith("tools/") or declares(method, asked.params, offers) is not False:
        return None
    return "asks for what the server has not declared"


@mutable
class Prompts:
    """By name: the arguments that the prompts of a server require."""

    _required: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])

    def listed(self, result: Object) -> None:
        """The server lists prompts."""
        for prompt in objects_in(result.get("prompts")):
            needed = (
                as_text(one.get("name")) for one in objects_in(prompt.get("arguments")) if one.get("required") is True
            )
            name = as_text(prompt.get("name"))
            if name is not None and len(self._required) < _MOST:
                self._required[name] = frozenset(filter(None, needed))

    def lacking(self, asked: ToolMessage) -> str | None:
        """How a request for a prompt lacks an argument that the server requires."""
        needed = self._required.get(as_text(asked.params.get("name")) or "", frozenset[str]())
        left = sorted(needed - as_object(asked.params.get("arguments")).keys())
        return f"has no argument {left[0]!r}, which the server requires" if left else None


@frozen
class Asked:
    """A request of the server."""

    at: float
    index: int
    method: str
    sequence: int


@mutable
class Asks:
    """The requests of one server, and whether each has another id."""

    _by_id: defaultdict[str, list[Asked]] = field(default_factory=lambda: defaultdict[str, list[Asked]](list))
    _ended: dict[int, float] = field(default_factory=dict[int, float])
    """By the place of a request: when it had its answer."""

    def add(self, key: str, asked: ToolMessage) -> None:
        """The server sends a request."""
        if len(self._by_id) < _MOST:
            self._by_id[key].append(Asked(asked.at, asked.index, asked.method or "", asked.sequence))

    def answered(self, sequence: int, at: float) -> None:
        """The request at this place has its answer."""
        self._ended[sequence] = at

    def has_answer(self, key: str) -> bool:
        """Whether a request with this id has its answer: a stream that is resumed may hold it twice."""
        return any(one.sequence in self._ended for one in self._by_id.get(key, ()))

    def repeated(self) -> Iterator[tuple[bool, str, Asked]]:
        """The first id that was used again while its request was open, and the first that was used again later.

        Whether it was open, the id, and the later request.
        """
        found: dict[bool, tuple[str, Asked]] = {}
        for key, asked in self._by_id.items():
            ordered = sorted(asked, key=lambda one: one.at)
            for before, after in zip(ordered, ordered[1:], strict=False):
                still_open = after.at < self._ended.get(before.sequence, float("inf"))
                found.setdefault(still_open, (key, after))
        for still_open, (key, after) in found.items():
            yield still_open, key, after
