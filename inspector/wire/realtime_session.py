"""OpenAI Realtime, read into turns: one for each response, with the items that are new since the one before.

The session holds the conversation, so a turn's request has the session's settings, the new items and the id of the
response before. A response that nobody asked for by `response.create` was started by the end of the user's speech.
What the API refuses is a turn too, with the item that it did not take.
"""

from dataclasses import field

from turntape.cassettes.frozen import mutable
from turntape.cassettes.regex import regex
from turntape.cassettes.tape.model import Frame

from .json_value import Object, as_array, as_count, as_object, as_text, parse_json
from .socket_turn import SessionNote, SocketTurn

_ITEM_EVENTS = frozenset({"conversation.item.added", "conversation.item.created", "conversation.item.done"})
_SPEECH_ENDS = frozenset({"input_audio_buffer.committed", "input_audio_buffer.speech_stopped"})
_NOT_SETTINGS = frozenset({"id", "object", "conversation"})
_LATE = regex(r"response\.cancel|conversation\.item\.(?:delete|retrieve|truncate)|(?:in|out)put_audio_buffer\.\w+")
"""Events that a client may send too late: meanwhile the user spoke, or the response ended. A refusal does no harm."""
_NEWEST = 32
"""How many events of the client are kept for the errors that name them."""
_ACTIVE = "conversation_already_has_active_response"
_OUTPUT = "function_call_output"
_TRANSCRIBED = "conversation.item.input_audio_transcription.completed"
_NOT_TRANSCRIBED = "conversation.item.input_audio_transcription.failed"


def realtime_turns(
    frames: tuple[Frame, ...],
) -> tuple[list[SocketTurn], dict[str, int], tuple[SessionNote, ...]]:
    """The responses of a session, in order; none when it is not one of OpenAI Realtime.

    With them the results, by call id, that no response has seen, and when the conversation got each; and what failed
    outside of the responses.
    """
    session = _Session()
    for frame in frames:
        message = as_object(parse_json(frame.data))
        kind = as_text(message.get("type")) or ""
        if frame.sender == "client":
            session.asked(kind, message, frame)
        else:
            session.said(kind, message, frame)
    return (session.turns(), session.results_left(), tuple(session.notes)) if session.begun else ([], {}, ())


@mutable
class _Response:
    """A response with its request. The items are read at the end, because transcripts come late."""

    settings: Object
    items: list[Object]
    previous: str | None
    turn: SocketTurn


@mutable
class _Session:
    begun: bool = False
    settings: Object = field(default_factory=dict[str, object])
    items: dict[str, Object] = field(default_factory=dict[str, Object])
    """Items of the conversation by id, as the server has them."""
    new: list[str] = field(default_factory=list[str])
    """The ids of items that no response has seen yet."""
    added: dict[str, int] = field(default_factory=dict[str, int])
    """When the conversation got each item."""
    emitted: set[str] = field(default_factory=set[str])
    """The ids of items that a response brought."""
    waiting: list[tuple[Object, int]] = field(default_factory=list[tuple[Object, int]])
    """`response.create`s that have no response yet: what each asks, and when."""
    sent: list[tuple[Object, int]] = field(default_factory=list[tuple[Object, int]])
    """The newest events of the client, and when they came: an error may name one of them."""
    speech_end: int | None = None
    responses: dict[str, _Response] = field(default_factory=dict[str, _Response])
    current: str | None = None
    """The id of the newest response."""
    last: str | None = None
    """The id of the newest response that is part of the conversation."""
    notes: list[SessionNote] = field(default_factory=list[SessionNote])
    """What failed outside of the responses."""

    def asked(self, kind: str, message: Object, frame: Frame) -> None:
        """Take in a frame of the client."""
        self.sent = [*self.sent[1 - _NEWEST :], (message, frame.at)]
        if kind == "session.update":
            self.settings.update(as_object(message.get("session")))
        elif kind == "response.create":
            self.waiting.append((as_object(message.get("response")), frame.at))

    def said(self, kind: str, message: Object, frame: Frame) -> None:
        """Take in a frame of the server."""
        if kind in ("session.created", "session.updated"):
            self.begun = True
            self.settings.update(as_object(message.get("session")))
        elif kind in _ITEM_EVENTS:
            self._keep(as_object(message.get("item")), frame)
        elif kind == "conversation.item.deleted":
            self._forget(as_text(message.get("item_id")) or "")
        elif kind == _TRANSCRIBED:
            self._transcribe(message)
        elif kind == _NOT_TRANSCRIBED:
            why = as_text(as_object(message.get("error")).get("message")) or "without a reason"
            self.notes.append(SessionNote(f"what the user said was not written down: {why}", "api"))
        elif kind in _SPEECH_ENDS:
            self.speech_end = frame.at
        elif kind == "error":
            self._refused(message, frame)
        elif kind.startswith("response."):
            self._respond(kind, message, frame)

    def _keep(self, item: Object, frame: Frame) -> None:
        name = as_text(item.get("id")) or ""
        self.added.setdefault(name, frame.at)
        if name not in self.items and name not in self.emitted:
            self.new.append(name)
        self.items.setdefault(name, {}).update(item)

    def _forget(self, name: str) -> None:
        self.items.pop(name, None)
        self.new = [one for one in self.new if one != name]

    def _transcribe(self, message: Object) -> None:
        """Put the transcript of the user's speech into the item that has the sound."""
        content = as_array(self.items.get(as_text(message.get("item_id")) or "", {}).get("content"))
        place = as_count(message.get("content_index")) or 0
        if 0 <= place < len(content):
            content[place] = {**as_object(content[place]), "transcript": message.get("transcript")}

    def _refused(self, message: Object, frame: Frame) -> None:
        """An error answers the event that it names, or the request that waits, or what the client sent last."""
        error = as_object(message.get("error"))
        code, named = as_text(error.get("code")), as_text(error.get("event_id"))
        event, at = self._named(named) or (as_object(None), frame.at)
        name = f"refused {len(self.responses)}"
        if self.waiting and event.get("type") in (None, "response.create"):
            turn = self._begin(name, frame, keeps_items=True).turn
        else:
            event, at = (event, at) if event or not self.sent else self.sent[-1]
            asked = as_text(event.get("type")) or ""
            if not event or _LATE.fullmatch(asked):
                said = as_text(error.get("message")) or code or "an error without a message"
                what = f"the API refused {asked!r}" if asked else "the session reports an error"
                self.notes.append(SessionNote(f"{what}: {said}", "client"))
                return
            item = event.get("item")
            items = [as_object(item)] if item is not None else []
            turn = SocketTurn({}, at)
            self.responses[name] = _Response(dict(self.settings), items, self.last, turn)
        turn.events.append((frame, message))
        turn.ended = True
        if code == _ACTIVE and self.current in self.responses:
            # The response that is active was not asked for by this: what comes after it follows from that response.
            self.responses[self.current] = self.responses.pop(self.current)

    def _named(self, event_id: str | None) -> tuple[Object, int] | None:
        """The event of the client with that id, and when it came."""
        return next((one for one in self.sent if event_id and one[0].get("event_id") == event_id), None)

    def _respond(self, kind: str, message: Object, frame: Frame) -> None:
        response = as_object(message.get("response"))
        name = as_text(message.get("response_id")) or as_text(response.get("id")) or self.current or ""
        if name not in self.responses:
            self._begin(name, frame)
            self.current = name
        turn = self.responses[name].turn
        if kind == "response.output_item.added" and (item := as_text(as_object(message.get("item")).get("id"))):
            self.emitted.add(item)
            self.new = [one for one in self.new if one != item]
        turn.events.append((frame, message))
        turn.ended = turn.ended or kind == "response.done"

    def _begin(self, name: str, frame: Frame, *, keeps_items: bool = False) -> _Response:
        """Begin a response: it answers what was asked first, or the end of the user's speech."""
        asks, at = self.waiting.pop(0) if self.waiting else ({}, self.speech_end)
        settings = {**self.settings, **{key: value for key, value in asks.items() if value is not None}}
        given = asks.get("input")
        apart = asks.get("conversation") == "none"
        items = [as_object(item) for item in as_array(given)] if given is not None else []
        if given is None:
            items = [self.items[one] for one in self.new if one in self.items]
        if not apart and not keeps_items:
            self.new = []
        begun = at if at is not None and at <= frame.at else frame.at
        previous = None if apart else self.last
        self.speech_end = None
        self.last = self.last if apart or keeps_items else name
        response = self.responses[name] = _Response(settings, items, previous, SocketTurn({}, begun))
        return response

    def results_left(self) -> dict[str, int]:
        """The results that no response has seen, by call id, with the times; none while a response is requested."""
        if self.waiting:
            return {}
        left = ((self.items[name], self.added[name]) for name in self.new if name in self.items)
        outputs = ((as_text(item.get("call_id")), at) for item, at in left if item.get("type") == _OUTPUT)
        return {call_id: at for call_id, at in outputs if call_id}

    def turns(self) -> list[SocketTurn]:
        """All responses as turns, and a request that nothing answered."""
        for asks, at in self.waiting:
            self.responses[f"open {at}"] = _Response({**self.settings, **asks}, [], self.last, SocketTurn({}, at))
        for response in self.responses.values():
            settings = {k: v for k, v in response.settings.items() if v is not None and k not in _NOT_SETTINGS}
            response.turn.body = {**settings, "input": response.items, "previous_response_id": response.previous}
        return [response.turn for response in self.responses.values()]
