"""A live session of Gemini Interactions, read into turns: one for each input of the client that the model answers.

An answer consists of steps, and ends when they have all stopped. The next step after another input begins the next
answer. The session holds the conversation, so a turn's request has the settings of the interaction, the new input and
the name of the turn before. A message of either side may hold several events.
"""

from dataclasses import field

from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.model import Frame

from .json_value import Object, as_array, as_count, as_object, as_text, objects_in, parse_json
from .socket_turn import SocketTurn

_BEGINS = frozenset({"interaction.create", "interaction.connect", "interaction.created", "interaction.connected"})
_NOT_SETTINGS = frozenset({"event_type", "previous_interaction_id"})


def interaction_turns(frames: tuple[Frame, ...]) -> list[SocketTurn]:
    """The answers of a session, in order; none when it is not one of Gemini Interactions."""
    session = _Session()
    for frame in frames:
        message = as_object(parse_json(frame.data))
        for event in objects_in(message.get("events")) or [message]:
            kind = as_text(event.get("event_type")) or ""
            session.begun = session.begun or kind in _BEGINS
            if frame.sender == "client":
                session.asked(kind, event, frame)
            else:
                session.said(kind, event, frame)
    return session.turns() if session.begun else []


class Steps:
    """Which steps of an answer run."""

    def __init__(self) -> None:
        self._open: set[int] = set()
        self.over = False
        """True when all steps that began have stopped, or when the interaction has ended."""

    def add(self, kind: str, event: Object) -> None:
        """Take in an event of the answer."""
        index = as_count(event.get("index")) or 0
        if kind in ("step.start", "step.delta"):
            self._open.add(index)
        elif kind == "step.stop":
            self._open.discard(index)
        self.over = not self._open if kind.startswith("step.") else self.over or kind in ENDS


ENDS = frozenset({"interaction.completed", "interaction.cancelled", "interaction.canceled", "error"})
"""Events after which no step of the answer comes."""


@mutable
class _Answer:
    settings: Object
    given: list[Object]
    turn: SocketTurn
    steps: Steps = field(default_factory=Steps)

    def add(self, kind: str, event: Object, frame: Frame) -> None:
        self.turn.events.append((frame, event))
        self.steps.add(kind, event)
        self.turn.ended = self.steps.over


@mutable
class _Session:
    begun: bool = False
    settings: Object = field(default_factory=dict[str, object])
    name: str = "interaction"
    """The id of the interaction, where one side says it."""
    previous: str | None = None
    """The interaction that this one continues; its own id after a new connection."""
    given: list[Object] = field(default_factory=list[Object])
    """Input that no answer has seen yet."""
    asked_at: int | None = None
    answers: list[_Answer] = field(default_factory=list[_Answer])

    def asked(self, kind: str, event: Object, frame: Frame) -> None:
        """Take in an event of the client."""
        if kind == "interaction.create":
            self.settings = {key: value for key, value in event.items() if key not in _NOT_SETTINGS}
            self.previous = as_text(event.get("previous_interaction_id"))
        elif kind == "interaction.connect":
            self.name = as_text(event.get("id")) or self.name
            self.previous = as_text(event.get("id"))
        elif kind == "input":
            self.given.append({"type": "user_input", "content": as_array(event.get("content"))})
            self.asked_at = frame.at

    def said(self, kind: str, event: Object, frame: Frame) -> None:
        """Take in an event of the server."""
        if kind in _BEGINS:
            self.name = as_text(event.get("interaction_id")) or self.name
            return
        answer = self.answers[-1] if self.answers else None
        waits = self.asked_at is not None and (answer is None or answer.steps.over)
        if waits and kind in ENDS or kind == "step.start" and (waits or answer is None):
            answer = self._begin(frame.at)
        if answer is not None:
            answer.add(kind, event, frame)

    def _begin(self, at: int) -> _Answer:
        """Begin an answer with all input that no answer has seen yet."""
        asked_at = at if self.asked_at is None else self.asked_at
        self.answers.append(_Answer(self.settings, self.given, SocketTurn({}, asked_at)))
        self.given, self.asked_at = [], None
        return self.answers[-1]

    def turns(self) -> list[SocketTurn]:
        """All answers as turns, and a request that nothing answered."""
        if self.asked_at is not None:
            self._begin(self.asked_at)
        before = self.previous
        for number, answer in enumerate(self.answers, 1):
            name = f"{self.name}/{number}"
            made: Object = {"input": answer.given, "interaction": self.name, "turn": number}
            answer.turn.body = {**answer.settings, **made, "previous_interaction_id": before}
            before = name
        return [answer.turn for answer in self.answers]
