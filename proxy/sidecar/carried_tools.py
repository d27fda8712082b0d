"""What the next segment needs of the tool servers: how their sessions began, their tools, and the open calls.

Without the definitions of its tools, calls of the model may not be joined to the runs of a server, and cannot be
compared with what the server offers.
"""

from collections.abc import Iterable

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.tools.tool_messages import ToolMessage, ToolMessageReader

BEGIN = frozenset({"initialize", "server/discover"})
LIST = "tools/list"
CALL = "tools/call"
MOST_CALLS = 10_000
"""So many of the latest calls are remembered."""


class CarriedTools:
    """`add` every round trip of a segment; `needed` says which of them the next segment repeats."""

    def __init__(self) -> None:
        self._reader = ToolMessageReader()
        self._sessions: dict[str, dict[str, list[int]]] = {}
        """By session and method: the round trips that are kept, those of the answers too."""
        self._asked: dict[tuple[str, int], str] = {}
        """The method of each kept request without an answer, by its session and place."""
        self._calls: dict[int, float] = {}
        """When each call began, by its round trip."""

    def add(self, trip: RoundTrip) -> None:
        """Read a round trip; any that is not of a tool server is left out."""
        for message in self._reader.add(trip):
            if message.is_request and message.sender == "client":
                self._request(message)
            elif message.answers is not None:
                method = self._asked.pop((message.session, message.answers), None)
                if method is not None and method != CALL:
                    self._keep(message, method)
                elif method == CALL and message.index not in self._calls:
                    self._calls[message.index] = message.at

    def _request(self, message: ToolMessage) -> None:
        method = message.method or ""
        if method == CALL:
            self._calls[message.index] = message.at
            while len(self._calls) > MOST_CALLS:
                del self._calls[next(iter(self._calls))]
        elif method in BEGIN or method == LIST:
            if method != LIST or not message.params.get("cursor"):  # the first page replaces an earlier list
                self._sessions.setdefault(message.session, {})[method] = []
            self._keep(message, method)
        else:
            return
        self._asked[message.session, message.sequence] = method

    def _keep(self, message: ToolMessage, method: str) -> None:
        kept = self._sessions.setdefault(message.session, {}).setdefault(method, [])
        if message.index not in kept:
            kept.append(message.index)

    def needed(self, waiting_since: float | None) -> Iterable[int]:
        """The round trips to carry, in the order of their importance.

        With `waiting_since`, the time of the earliest turn whose calls wait for results, also the calls since then.
        """
        for methods in self._sessions.values():
            for numbers in methods.values():
                yield from numbers
        if waiting_since is not None:
            yield from (number for number, at in self._calls.items() if at >= waiting_since)
