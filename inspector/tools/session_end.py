"""What only the end of a recording shows of a session."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from .handshake import cancelled_start, hasty
from .session_state import Session, WireNote, is_new


def at_end(session: Session, offering: Collection[str]) -> Iterator[WireNote]:
    """Answers that clients must refuse, handshakes that never ended, and what messages name that never was there.

    `offering`: the servers of which a tool was offered to the model, so that their answers were taken.
    """
    if session.unusable is not None:
        if session.server not in offering:
            yield session.unusable
        elif session.unusable.index not in session.known_wrong:
            yield _taken(session.unusable)
    if session.start_failed is not None:
        yield session.start_failed
    yield from hasty(session)
    yield from cancelled_start(session)
    if session.expired_by is not None and not session.renewed and "session_gone" not in session.noted:
        yield WireNote("session_not_renewed", session.server, session.expired_by, "")
    if session.starts < 2:  # several clients that share a session have their ids and read their pages
        yield from _of_one_client(session)
    for kind, token, report in session.progress.misplaced():
        yield WireNote(kind, session.server, report.index, token)


def _of_one_client(session: Session) -> Iterator[WireNote]:
    if session.start is not None:
        for one in session.mentions.unknown():
            kind = "notice_wrong" if one.by_server else "own_notice_wrong"
            if is_new(session, kind):
                yield WireNote(kind, session.server, one.index, one.method, one.text)
        if (again := session.mentions.again()) is not None:
            how = f"answers the request {again.name[:60]}, which has its answer already"
            yield WireNote("own_notice_wrong", session.server, again.index, again.method, how)
    found = session.pages.skipped() if "list_loops tools/list" not in session.noted else None
    if found is not None:
        yield WireNote("page_not_read", session.server, found[0], "tools/list", before=found[1])
    for still_open, key, after in session.asks.repeated():
        kind = "ask_id_open" if still_open else "ask_id_used"
        yield WireNote(kind, session.server, after.index, after.method, key)


def _taken(note: WireNote) -> WireNote:
    """An answer that clients must refuse, and that this one took."""
    return replace(note, kind="answer_odd", detail=f"{note.detail}, and its tools are offered all the same")
