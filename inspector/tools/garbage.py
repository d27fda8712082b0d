"""Lines of either side that are not messages, and what they do to the runs of a session."""

from collections.abc import Iterator
from dataclasses import replace

from .http_form import not_a_message
from .returned import error_message
from .run_end import strayed
from .session_state import Session, Stray, WireNote, is_new
from .tool_messages import ToolMessage
from .tool_run import ToolRun


def unreadable_line(session: Session, message: ToolMessage, notes: list[WireNote], *, wired: bool) -> Iterator[ToolRun]:
    """A line of either side that is not a message, and the runs whose answer it was."""
    if is_garbage(message):
        said = not_a_message(message.raw)
        session.garbled = session.garbled or WireNote("own_garbage", session.server, message.index, said)
    elif message.sender == "server" and message.method is None and message.raw.strip():
        text = " ".join(message.raw[:200].decode("utf-8", "replace").split())
        yield from strayed(session, Stray(message.at, False, None, text))
        if wired and is_new(session, "garbage"):
            notes.append(WireNote("garbage", session.server, message.index, text))


def refuses_garbage(session: Session, answer: ToolMessage, notes: list[WireNote]) -> bool:
    """Whether an error that names no request is about what the client wrote that is not a message."""
    if session.garbled is None or answer.error is None or answer.id is not None:
        return False
    if is_new(session, "own_garbage"):
        said = error_message(answer.error) or ""
        notes.append(replace(session.garbled, kind="own_garbage_refused", detail=said))
    session.garbled = None
    return True


def is_garbage(message: ToolMessage) -> bool:
    """Whether a client wrote something else than a message to its server."""
    plain = message.sender == "client" and message.method is None and not message.is_answer
    return plain and "jsonrpc" not in message.data and bool(message.raw.strip())
