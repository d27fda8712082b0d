"""What only the end of a recording shows of a session."""

from collections.abc import Collection, Iterator
from dataclasses import replace

from turntape.cassettes.excerpts import cut

from .expectations import ASKS, MAY_WAIT
from .handshake import cancelled_start, hasty, never_confirmed
from .session_state import OPEN, Session, WireNote, is_new, key_of_id

_USED_ON = ("session_gone", "session_kept")
"""What is noted of a client that uses a session after the server has ended it."""


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
    if session.garbled is not None and is_new(session, "own_garbage"):
        yield session.garbled
    yield from hasty(session)
    yield from cancelled_start(session)
    yield from _unanswered(session)
    yield from never_confirmed(session)
    if session.expired_by is not None and not session.renewed and session.noted.isdisjoint(_USED_ON):
        yield WireNote("session_not_renewed", session.server, session.expired_by, "")
    if session.starts < 2:  # several clients that share a session have their ids and read their pages
        yield from _of_one_client(session)
    for kind, token, report in session.progress.misplaced():
        yield WireNote(kind, session.server, report.index, token)


def _unanswered(session: Session) -> Iterator[WireNote]:
    """Requests without an answer whose round trip has ended; those of calls are reported with their runs."""
    for place, asked in session.asked.items():
        method = asked.method or ""
        if asked.sender == "server":
            if method in ASKS and not session.asks.has_answer(key_of_id(asked.id)):
                yield WireNote("no_answer_of_client", session.server, asked.index, method, OPEN)
        elif method == "tools/call":
            continue
        elif place in session.flaws:
            if is_new(session, "request_wrong"):
                yield WireNote("request_wrong", session.server, asked.index, method, session.flaws[place])
        elif place in session.spent and method not in MAY_WAIT and is_new(session, "answer_ended"):
            yield WireNote("never_answered", session.server, asked.index, method)


def _of_one_client(session: Session) -> Iterator[WireNote]:
    if session.start is not None:
        for one in session.mentions.unknown():
            kind = "notice_wrong" if one.by_server else "own_notice_wrong"
            if is_new(session, kind):
                yield WireNote(kind, session.server, one.index, one.method, one.text)
        yield from _unnamed_pages(session)
        if (again := session.mentions.again()) is not None:
            how = f"answers the request {cut(again.name, 60)}, which has its answer already"
            yield WireNote("own_notice_wrong", session.server, again.index, again.method, how)
    found = session.pages.skipped() if "list_loops tools/list" not in session.noted else None
    if found is not None:
        yield WireNote("page_not_read", session.server, found[0], "tools/list", before=found[1])
    for still_open, key, after in session.asks.repeated():
        kind = "ask_id_open" if still_open else "ask_id_used"
        yield WireNote(kind, session.server, after.index, after.method, key)


def _unnamed_pages(session: Session) -> Iterator[WireNote]:
    """Pages that the client asks for and that no answer names. Over HTTP, an answer may be recorded after the next."""
    for one in session.cursors:
        listing = session.listings.get(one.method)
        if listing is None or one.cursor not in listing.named:
            kind = "request_wrong" if one.failed else "request_odd"
            wrong = f"asks for the page {cut(one.cursor, 40)!r}, which no answer names"
            if is_new(session, kind):
                yield WireNote(kind, session.server, one.index, one.method, wrong)


def _taken(note: WireNote) -> WireNote:
    """An answer that clients must refuse, and that this one took."""
    return replace(note, kind="answer_odd", detail=f"{note.detail}, and its tools are offered all the same")
