"""The handshake of a session: how it ends, and what a server refuses because it has not ended."""

import re
from collections.abc import Iterator

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ..wire.json_value import Object, as_array, as_object, as_text, compact, is_array
from ..wire.protocols.mcp.shape import META
from .form import ANY_JSON, is_modern
from .returned import error_message
from .session_state import Session, WireNote, is_new
from .tool_messages import ToolMessage

_NOT_READY = regex(r"before initiali[sz]ation|server (?:is )?not (?:yet )?initiali[sz]ed", re.IGNORECASE)
"""How the official SDKs refuse what comes before the end of the handshake (read 2026-11-23)."""
_HANDSHAKE = regex(
    r"(?:must|first|expect|missing|before|not (?:yet )?|without|call|send|notifications/).{0,40}\binitiali[sz]ed?\b",
    re.IGNORECASE,
)
"""How others do. It counts only where the handshake is not complete."""
_VERSION = regex(r"20\d\d-\d\d-\d\d|DRAFT-.+")
"""How MCP names its versions."""
_KNOWN = frozenset({"2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", ANY_JSON})
"""The versions up to the newest one that is known here. What a later date names is not known."""
_OTHER_VERSION = regex(
    r"(?:unsupported|unknown|invalid|not support\w*|supports? only).{0,40}protocol.?version"
    r"|protocol.?version.{0,60}(?:unsupported|not (?:be )?support|unknown|invalid)",
    re.IGNORECASE,
)
"""How servers refuse the version in `initialize`, although the handshake is there to agree on one."""
_SHORT = 2_000
"""Characters of an error that are read."""
OPENING = frozenset({"initialize", "ping", "server/discover"})
"""What a client may ask before the server has said that it is ready."""


def flaw_of_handshake(session: Session, asked: ToolMessage, *, again: bool) -> str | None:
    """How an `initialize` is out of place, or says a version that does not exist; None for anything else.

    `again`: it comes in a session that is one client's, and not in one that a server gives several.
    """
    if asked.method != "initialize":
        return None
    version = as_text(asked.params.get("protocolVersion"))
    if version is not None and not _exists(version):
        return f"says version {cut(version, 40)!r}, which MCP does not have"
    late = session.ready_at is not None and session.ready_at < asked.at
    return "comes after the handshake of the session" if again and late else None


def _exists(version: str) -> bool:
    """Whether MCP has a version, or may have it: a draft, or a later one than those known here."""
    later = version > ANY_JSON and _VERSION.fullmatch(version) is not None
    return version in _KNOWN or later or version.startswith("DRAFT-")


def never_confirmed(session: Session) -> Iterator[WireNote]:
    """The client never said that the handshake is over, and the server answered its requests all the same."""
    if session.start is None or session.ready_at is None or session.confirmed or not session.served:
        return
    reported = session.noted & {"not_ready", "own_notice_wrong", "request_wrong"}
    if session.starts != 1 or is_modern(session.version) or reported:
        return
    if (early := session.ended_early) is not None:
        how = "comes before `initialize`"
        yield WireNote("own_notice_wrong", session.server, early.index, early.method or "", how)
    else:
        yield WireNote("never_confirmed", session.server, session.start.index, "initialize")


def is_unconfirmed(session: Session) -> bool:
    """Whether the client has not said that the handshake is over, for which a server may wait with its answers."""
    open_still = session.start is not None and session.ready_at is not None and not session.confirmed
    open_still = open_still and not session.served
    return open_still and session.starts == 1 and not is_modern(session.version)


def cancelled_start(session: Session) -> Iterator[WireNote]:
    """The client cancelled its `initialize`, and that was recorded before the request had its answer."""
    start = session.start
    given_up = session.cancelled.get(compact(start.id)) if start is not None and session.starts == 1 else None
    if start is None or given_up is None or "start_cancelled" in session.noted:
        return
    if start.at <= given_up[0] <= (session.ready_at or given_up[0]):
        yield WireNote("start_cancelled", session.server, start.index, "")


def opened(session: Session, asked: ToolMessage, answer: ToolMessage, wrong: str | None) -> Iterator[WireNote]:
    """The server has answered what a client opens a session with; `wrong`: how the request broke the rules."""
    result = answer.result
    if asked.method == "server/discover":
        versions = as_array((result or {}).get("supportedVersions"))
        session.supported = tuple(one for one in versions if isinstance(one, str))
        if is_array((result or {}).get("supportedVersions")) and not versions and is_new(session, "no version"):
            yield WireNote(
                "answer_odd", session.server, asked.index, asked.method, "names no version that the server has"
            )
    elif result is not None:
        yield from started(session, asked, answer.at, result)
    elif wrong is None:
        yield from not_started(session, asked, error_message(answer.error) or "" if answer.error is not None else "")


def started(session: Session, asked: ToolMessage, at: float, result: Object) -> Iterator[WireNote]:
    """The server has answered `initialize`."""
    session.ready_at, session.offers = at, as_object(result.get("capabilities"))
    session.start_failed = None
    version = as_text(result.get("protocolVersion"))
    if version is None or not _exists(version):
        yield WireNote("version_unknown", session.server, asked.index, compact(result.get("protocolVersion")))


def not_started(session: Session, asked: ToolMessage, said: str) -> Iterator[WireNote]:
    """The server has refused `initialize`. Whether the next one succeeds, only the end of the recording shows."""
    if session.ready_at is None:
        session.start_failed = session.start_failed or WireNote(
            "start_failed", session.server, asked.index, "initialize", said
        )
    elif session.ready_at < asked.at and is_new(session, "request_wrong"):
        yield WireNote(
            "request_wrong", session.server, asked.index, "initialize", "comes after the handshake of the session"
        )


def hasty(session: Session) -> Iterator[WireNote]:
    """The client's first request came before the handshake had ended, and the server answered it all the same."""
    first, ready_at = session.first, session.ready_at
    if first is None or ready_at is None or session.starts != 1 or is_modern(session.version):
        return
    if first.at < ready_at and not session.noted & {"not_ready", "own_notice_wrong"}:
        wrong = "comes before the server has answered `initialize`"
        yield WireNote("own_notice_wrong", session.server, first.index, first.method or "", wrong)


def is_about_handshake(session: Session, said: str) -> bool:
    """Whether a server refuses a request because the handshake has not ended."""
    if _NOT_READY.search(said) is not None:
        return True
    complete = session.confirmed and session.ready_at is not None
    return not complete and _HANDSHAKE.search(said[:_SHORT]) is not None


def is_about_version(said: str) -> bool:
    """Whether a server refuses `initialize` for its version. One that has no handshake names only newer versions."""
    return _OTHER_VERSION.search(said[:_SHORT]) is not None and (ANY_JSON not in said or said.count("20") > 1)


def unlisted_version(session: Session, asked: ToolMessage) -> str | None:
    """How a request says a version that its server does not have, by the list that the server gave of them."""
    said = as_text(as_object(asked.params.get("_meta")).get(f"{META}protocolVersion"))
    if said is None or not session.supported or said in session.supported or asked.method == "server/discover":
        return None
    return f"says version {said!r}, and its server has only {', '.join(session.supported)[:60]}"
