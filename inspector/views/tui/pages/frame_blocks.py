"""The messages of a turn's part of a WebSocket session: one line for each, whose payload Enter opens."""

from collections.abc import Iterator, Sequence
from functools import partial

from turntape.cassettes.framing import Event
from turntape.cassettes.tape.model import Frame

from ....run.detail import Detail
from ....wire.json_value import as_object, as_text, parse_json
from ....wire.printable import safe
from ....wire.sessions import SessionPart
from ...text.terminal_text import clip, width_of
from ..formatting import several
from .blocks import Block, Spans
from .event_blocks import OPENABLE, TIMES, payload, rest, shown, times
from .sections import rule

_LONG = 200_000
"""A message with more bytes is not parsed for its line."""
_WIDEST = 32
"""Most cells of the types."""
_LOOKS = {"client": "client", "server": "api"}


def frame_blocks(part: SessionPart, detail: Detail) -> Iterator[Block]:
    """A title, then the messages."""
    messages = part.messages
    yield Block("messages", rule("messages", f"{several(len(messages), 'message')}: {TIMES}"), group=True)
    names = min(_WIDEST, max((width_of(_name(message)) for message in messages[:OPENABLE]), default=0))
    events = iter([*enumerate(detail.events)])
    coming = next(events, None)
    for number, message in enumerate(messages[:OPENABLE]):
        anchors: tuple[str, ...] = ()
        if coming is not None and message.sender == "server" and message.at - part.begun == coming[1].at:
            anchors, coming = (f"event {coming[0]}",), next(events, None)
        yield Block(
            f"message:{number}",
            partial(_line, messages, names, number),
            payload(message.data),
            open=False,
            indent=2,
            parent="messages",
            anchors=anchors,
        )
    if len(messages) > OPENABLE:
        body = rest(len(messages), partial(_line, messages, names))
        yield Block("message:rest", (), body, indent=2, parent="messages")


def _line(messages: Sequence[Frame], names: int, number: int, width: int) -> Spans:
    """When a message passed, how long after the one before, who sent it, its type, its payload."""
    message = messages[number]
    before = messages[number - 1] if number else None
    names = min(names, max(8, width // 3))
    name = _name(message)
    cut = clip(name, names)
    lead: list[tuple[str, str]] = [
        *times(message.at, before.at if before else message.at),
        (f"{message.sender} ", _LOOKS[message.sender]),
        (cut + " " * (names - width_of(cut)) + (" " if names else ""), "key"),
    ]
    room = max(8, width - sum(width_of(text) for text, _ in lead) - 4)
    same = Event(before.data, 0, 0) if before is not None and before.sender == message.sender else None
    return [*lead, (clip(shown(Event(message.data, 0, 0, name=name), same), room), "plain")]


def _name(message: Frame) -> str:
    """The type of a message, if it says one."""
    return safe(as_text(as_object(parse_json(message.data)).get("type")) or "") if len(message.data) <= _LONG else ""
