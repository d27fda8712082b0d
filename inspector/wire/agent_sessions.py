"""Sessions of agents that the API itself runs: a stream of events, read into turns.

The client sends events by separate requests, and the stream of the session repeats them between the agent's own. A turn
is what the agent does with what it was sent, until it waits for the client again. A stream stays open after that, so
one round trip can hold many turns. Each has the session's settings and the new events as its request.
"""

import re
from dataclasses import field
from typing import Protocol

from turntape.cassettes.frozen import mutable
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Frame, RoundTrip

from .exchange import Exchange
from .json_value import Object, as_object, as_text
from .protocols.anthropic_agents.events import AnthropicAgentEvents
from .protocols.openai_agents.events import OpenAIAgentEvents
from .protocols.shared.agent_event import OWNER, EventKind
from .socket_turn import SocketTurn, round_trip_of


class AgentEvents(Protocol):
    """Says what the events in one API's sessions mean. Each stream has a separate object."""

    def kind(self, event: Object) -> EventKind:
        """What the event is for its turn."""
        ...

    def settings(self, event: Object) -> Object:
        """The settings of the agent that the event states; empty when it states none."""
        ...

    def call(self, event: Object) -> str | None:
        """The id of a call of the agent."""
        ...

    def answers(self, event: Object) -> str | None:
        """The id of the call whose result the client has sent."""
        ...


_STREAMS: tuple[tuple[re.Pattern[str], type[AgentEvents]], ...] = (
    (regex(r"/agents/sessions(?:/(?P<session>[^/?]+)/events)?/?(?:\?|$)"), OpenAIAgentEvents),
    (
        regex(r"/sessions/(?P<session>[^/?]+(?:/threads/[^/?]+)?)/(?:events/)?stream/?(?:\?|$)"),
        AnthropicAgentEvents,
    ),
)


def agent_turns(round_trip: RoundTrip) -> list[RoundTrip]:
    """One round trip for each turn of the agent; empty when this is not a stream of an agent's session."""
    found = next(((at, kinds) for path, kinds in _STREAMS if (at := path.search(round_trip.request.url))), None)
    if found is None or round_trip.response is None or round_trip.response.status >= 400:
        return []
    exchange = Exchange(round_trip)
    if exchange.framing != "sse" or OWNER in exchange.fields:
        return []
    at, kinds = found
    session = _Session(kinds(), as_text(at["session"]) or "")
    for event in exchange.events:
        if event.kind == "data" and (message := as_object(event.value)):
            session.add(message, Frame("server", event.at, event.data, True))
    return [round_trip_of(round_trip, turn) for turn in session.turns()]


@mutable
class _Turn:
    settings: Object
    sent: list[Object]
    turn: SocketTurn
    calls: set[str] = field(default_factory=set[str])


@mutable
class _Session:
    events: AgentEvents
    name: str
    """The session's id."""
    settings: Object = field(default_factory=dict[str, object])
    sent: list[Object] = field(default_factory=list[Object])
    """What the client sent and no turn has seen yet."""
    seen: set[str] = field(default_factory=set[str])
    """The ids of what the client sent: a stream may repeat it when it is processed."""
    asked_at: int | None = None
    begun: list[_Turn] = field(default_factory=list[_Turn])
    current: _Turn | None = None

    def add(self, event: Object, frame: Frame) -> None:
        """Take in one event of the stream."""
        self.settings.update(self.events.settings(event))
        self.name = self.name or as_text(as_object(event.get("session")).get("id")) or ""
        match self.events.kind(event):
            case "sent":
                self._send(event, frame)
            case "waits":
                self._end(event, frame, empty=False)
            case "end":
                self._end(event, frame, empty=bool(self.sent))
            case "done":
                self._begin(frame).turn.events.append((frame, event))
                self._call(self.events.call(event))
            case "other" if self.current is not None:
                self.current.turn.events.append((frame, event))
            case _:
                pass

    def _send(self, event: Object, frame: Frame) -> None:
        """An event of the client; the result of a call ends the turn that has the call."""
        name = as_text(event.get("id")) or as_text(as_object(event.get("item")).get("id"))
        if name is not None and name in self.seen:
            return
        if name is not None:
            self.seen.add(name)
        if self.current is not None and self.events.answers(event) in self.current.calls:
            self.current.turn.ended = True
            self.current = None
        self.asked_at = frame.at if self.asked_at is None else self.asked_at
        self.sent.append(event)

    def _begin(self, frame: Frame) -> _Turn:
        if self.current is None:
            at = frame.at if self.asked_at is None else self.asked_at
            self.current = _Turn(dict(self.settings), self.sent, SocketTurn({}, at))
            self.begun.append(self.current)
            self.sent, self.asked_at = [], None
        return self.current

    def _call(self, name: str | None) -> None:
        if name is not None and self.current is not None:
            self.current.calls.add(name)

    def _end(self, event: Object, frame: Frame, *, empty: bool) -> None:
        """End the current turn. With `empty`, a turn in which the agent did nothing counts too."""
        if self.current is None and not empty:
            return
        current = self._begin(frame)
        current.turn.events.append((frame, event))
        current.turn.ended = True
        self.current = None

    def turns(self) -> list[SocketTurn]:
        """All turns, and what was sent and not answered."""
        if self.asked_at is not None:
            self.begun.append(_Turn(dict(self.settings), self.sent, SocketTurn({}, self.asked_at)))
        for one in self.begun:
            one.turn.body = {"agent": one.settings, OWNER: self.name, "events": one.sent}
        return [one.turn for one in self.begun]
