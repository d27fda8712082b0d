"""Notices between a client and a server: their form, and the tokens under which progress is reported."""

from collections.abc import Iterator

from turntape.cassettes.excerpts import cut

from ..wire.json_value import compact, is_object
from .expectations import unannounced
from .form import is_modern
from .message_forms import wrong_notice
from .request_form import flaw_of_sent
from .session_state import Session, WireNote, is_new
from .tool_messages import ToolMessage


def of_notice(session: Session, message: ToolMessage) -> Iterator[WireNote]:
    """How a message without an id breaks MCP's form."""
    if message.is_request or message.is_answer or message.method is None:
        return
    kind = "request_wrong" if message.sender == "client" else "ask_wrong"
    if (wrong := flaw_of_sent(message)) is not None and is_new(session, kind):
        yield WireNote(kind, session.server, message.index, message.method, wrong)
    elif (wrong := _wrong_notice(session, message)) is not None:
        kind = "notice_wrong" if message.sender == "server" else "own_notice_wrong"
        if is_new(session, kind):
            yield WireNote(kind, session.server, message.index, message.method, wrong)


def _wrong_notice(session: Session, message: ToolMessage) -> str | None:
    if message.method == "notifications/message" and message.sender == "server" and session.starts < 2:
        level = message.params.get("level")
        if (held := session.levels.above(level, message.at)) is not None:
            return f"has the level {level!r}, and the client had set {held!r}"
    if session.starts < 2 and not is_modern(session.version):
        declared = session.offers if message.sender == "server" else session.declared
        if (wrong := unannounced(message.method or "", declared)) is not None:
            return wrong
    if message.method == "notifications/initialized" and session.start is None and is_modern(session.version):
        return f"belongs to a handshake, which version {session.version} does not have"
    if not is_object(params := message.data.get("params", {})):
        return f"has {cut(compact(params), 40)} as its `params`, which must be an object"
    modern = message.sender == "server" and is_modern(session.version)
    wrong = wrong_notice(message.method or "", message.params, modern=modern)
    logs = message.method == "notifications/message" and message.sender == "server" and session.starts < 2
    if wrong is None and logs and not modern and session.offers is not None and "logging" not in session.offers:
        return "holds a line of a log, and its sender has not declared `logging`"
    return wrong


def shared_token(session: Session, asked: ToolMessage, token: str) -> Iterator[WireNote]:
    """A request that wants reports of progress under the token of another one that is still open."""
    if session.starts < 2 and session.progress.is_open(token, asked.at) and is_new(session, "shared_token"):
        wrong = f"has the progress token {token} of another one that was still open"
        yield WireNote("request_odd", session.server, asked.index, asked.method or "", wrong)
