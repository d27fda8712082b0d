"""Gemini Live, read into turns: one for each answer of the model, with the content that is new since the one before.

A turn ends when the model has completed it, or when the client answers its calls. One that the model completes
without a word is a turn too, unless the model waits for more or was interrupted before its first word.

The session holds the conversation, so a turn's request has the session's setup, the new contents and the name of the
turn before. Sound is named in it, with the transcription that the server gives; the bytes of the sound stay in the
frames alone.
"""

from dataclasses import field

from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.model import Frame

from .json_value import Object, as_array, as_object, as_text, objects_in, parse_json
from .protocols.gemini.parts import get
from .socket_turn import SocketTurn

_ASKS = ("setup", "clientContent", "realtimeInput", "toolResponse", "contextUpdate")
_SOUND = ("audio", "video", "mediaChunks")
_ASKS_NOW = ("text", "activityEnd", "audioStreamEnd")
"""Realtime input after which the model answers."""
_SAID = ("modelTurn", "outputTranscription")


def live_turns(frames: tuple[Frame, ...], name: str = "session", *, failed: bool = False) -> list[SocketTurn]:
    """The answers of a session, in order; none when it is not one of Gemini Live.

    `name` is the session's id where the server gives none. In a session that `failed`, because the server
    closed it for a reason, the client's last message is a request as well.
    """
    session = _Session(name=name)
    for frame in frames:
        message = as_object(parse_json(frame.data))
        if frame.sender == "client":
            session.asked(message, frame)
        else:
            session.said(message, frame)
    if failed:
        session.fail()
    return session.turns() if session.begun else []


@mutable
class _Turn:
    """An answer with its request. The user's speech is read at the end, because transcriptions come late."""

    setup: Object
    contents: list[Object]
    media: dict[str, None]
    """Media types of what the user sent in real time."""
    turn: SocketTurn
    heard: list[str] = field(default_factory=list[str])
    """Pieces of the transcription of the user's speech."""
    calls: set[str] = field(default_factory=set[str])
    """The ids of its calls."""
    complete: bool = False
    """Whether the model has completed the turn, so that what it says next is another one."""

    def add(self, message: Object, frame: Frame, content: Object, calls: list[Object]) -> None:
        """Take in a message of the server with its content and its calls."""
        self.turn.events.append((frame, message))
        self.calls |= {name for call in calls if (name := as_text(call.get("id")))}
        self.complete = self.complete or get(content, "turnComplete") is True
        if calls or self.complete:
            self.turn.ended = True
        elif _says(content):
            self.turn.ended = False


@mutable
class _Session:
    begun: bool = False
    setup: Object = field(default_factory=dict[str, object])
    name: str = "session"
    """The session's id, where the server gives one."""
    resumed: str | None = None
    """The handle of the session that this one continues."""
    contents: list[Object] = field(default_factory=list[Object])
    """Content that no answer has seen yet."""
    media: dict[str, None] = field(default_factory=dict[str, None])
    heard: list[str] = field(default_factory=list[str])
    asked_at: int | None = None
    interrupted: bool = False
    """True from an interruption of an answer without a word to the end of that."""
    last_asked: int | None = None
    """When the client sent the newest message."""
    going_away: bool = False
    """Whether the server said that it would end the connection."""
    answers: list[_Turn] = field(default_factory=list[_Turn])

    def asked(self, message: Object, frame: Frame) -> None:
        """Take in a frame of the client."""
        self.last_asked = frame.at
        given = {name: as_object(get(message, name)) for name in _ASKS}
        if get(message, "setup") is not None:
            self.begun = True
            self.setup.update(given["setup"])
            self.resumed = as_text(as_object(get(self.setup, "sessionResumption")).get("handle"))
        if get(message, "clientContent") is not None:
            self.contents += objects_in(given["clientContent"].get("turns"))
            self._ask(frame, now=get(given["clientContent"], "turnComplete") is True)
        if get(message, "realtimeInput") is not None:
            self._hear(given["realtimeInput"], frame)
        if responses := as_array(get(given["toolResponse"], "functionResponses")):
            self._answer(responses, frame)
        if update := given["contextUpdate"]:
            self._update(update)

    def _hear(self, sent: Object, frame: Frame) -> None:
        """Real-time input: text, or pieces of sound and video of which only the media type is kept."""
        if (text := as_text(sent.get("text"))) is not None:
            self.contents.append({"role": "user", "parts": [{"text": text}]})
        for name in _SOUND:
            value = get(sent, name)
            for blob in objects_in(value) or [as_object(value)]:
                if kind := as_text(get(blob, "mimeType")):
                    self.media[kind] = None
        self._ask(frame, now=any(get(sent, name) is not None for name in _ASKS_NOW))

    def _answer(self, responses: list[object], frame: Frame) -> None:
        """The results of calls. The answer with the calls has ended, and the model gives the next one."""
        parts: list[object] = [{"functionResponse": response} for response in responses]
        self.contents.append({"role": "function", "parts": parts})
        if self.answers:
            self.answers[-1].complete = True
        self._ask(frame, now=True)

    def _update(self, update: Object) -> None:
        """Replace the instructions or the tools of the session from here on."""
        instruction, tools = get(update, "systemInstruction"), get(update, "tools")
        if instruction is not None:
            self.setup = {**self.setup, "systemInstruction": instruction}
        if tools is not None:
            self.setup = {**self.setup, "tools": as_object(tools).get("tools") or []}

    def _ask(self, frame: Frame, *, now: bool) -> None:
        if now:
            self.asked_at = frame.at

    def fail(self) -> None:
        """The server closed the session because of a failure: the client's last message has no other answer."""
        answering = bool(self.answers) and not self.answers[-1].turn.ended
        if self.asked_at is not None or answering or self.going_away or self.last_asked is None:
            return
        asked = SocketTurn({}, self.last_asked)
        self.answers.append(_Turn(dict(self.setup), self.contents, self.media, asked, self.heard))

    def said(self, message: Object, frame: Frame) -> None:
        """Take in a frame of the server."""
        self.going_away = self.going_away or get(message, "goAway") is not None
        if (done := get(message, "setupComplete")) is not None:
            self.begun = True
            self.name = as_text(get(as_object(done), "sessionId")) or self.name
            return
        content = as_object(get(message, "serverContent"))
        calls = objects_in(get(as_object(get(message, "toolCall")), "functionCalls"))
        answer = self.answers[-1] if self.answers else None
        if answer is None or answer.complete:
            self.interrupted = self.interrupted or get(content, "interrupted") is True
            if calls or _says(content) or self._is_empty(content, answer):
                answer = self._begin(frame)
        if get(content, "turnComplete") is True:
            self.interrupted = False
        if text := as_text(as_object(get(content, "inputTranscription")).get("text")):
            next_asked = answer is not None and answer.complete and (self.asked_at is not None or bool(self.media))
            answer = None if next_asked else answer
            (self.heard if answer is None else answer.heard).append(text)
        if cancelled := {name for name in _cancelled(message) if isinstance(name, str)}:
            answer = next((one for one in reversed(self.answers) if one.calls & cancelled), answer)
        if answer is not None:
            answer.add(message, frame, content, calls)

    def _is_empty(self, content: Object, before: _Turn | None) -> bool:
        """True when this completes an answer without a word to what the client asked, and not the answer before it."""
        if get(content, "turnComplete") is not True or self.asked_at is None or self.interrupted:
            return False
        if get(content, "waitingForInput") is True or get(content, "turnCompleteReason") == "NEED_MORE_INPUT":
            return False
        if get(as_object(get(self.setup, "proactivity")), "proactiveAudio") is True:
            return False
        # Tools that do not block the model: what is complete may be the answer that called them.
        return before is None or not before.calls or not _has_background_tools(self.setup)

    def _begin(self, frame: Frame) -> _Turn:
        """Begin an answer with everything that no answer has seen yet."""
        at = frame.at if self.asked_at is None else self.asked_at
        begun = _Turn(dict(self.setup), self.contents, self.media, SocketTurn({}, at), self.heard)
        self.contents, self.media, self.heard, self.asked_at = [], {}, [], None
        self.answers.append(begun)
        return begun

    def turns(self) -> list[SocketTurn]:
        """All answers as turns, and a request that nothing answered."""
        if self.asked_at is not None and (self.contents or self.media):
            self.answers.append(
                _Turn(dict(self.setup), self.contents, self.media, SocketTurn({}, self.asked_at), self.heard)
            )
        before = self.resumed
        for number, answer in enumerate(self.answers, 1):
            name = f"{self.name}/{number}"
            contents = [*answer.contents, *_spoken(answer)]
            answer.turn.body = {**answer.setup, "contents": contents, "turn": name, "previousTurn": before}
            before = name
        return [answer.turn for answer in self.answers]


def _says(content: Object) -> bool:
    """True when the model says something in this content."""
    return any(get(content, name) is not None for name in _SAID)


def _has_background_tools(setup: Object) -> bool:
    """True when the model may go on talking, or say nothing, while a tool runs and after it."""
    declared = (
        one for tool in objects_in(get(setup, "tools")) for one in objects_in(get(tool, "functionDeclarations"))
    )
    return any(one.get("behavior") == "NON_BLOCKING" for one in declared)


def _cancelled(message: Object) -> list[object]:
    """The ids of the calls that the server takes back."""
    return as_array(get(as_object(get(message, "toolCallCancellation")), "ids"))


def _spoken(answer: _Turn) -> list[Object]:
    """What the user sent in real time, as content: its media types, and what the server heard."""
    parts: list[object] = [{"inlineData": {"mimeType": kind}} for kind in answer.media]
    if answer.heard:
        parts.append({"audioTranscription": {"text": "".join(answer.heard)}})
    return [{"role": "user", "parts": parts}] if parts else []
