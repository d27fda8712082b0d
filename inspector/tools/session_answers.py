"""What the answers to the requests of tool sessions say: of runs, tools, resources, and of the request itself."""

from collections.abc import Iterator

from turntape.cassettes.frozen import copied_with

from ..wire.json_value import as_text, objects_in
from .answers import NO_METHOD, judged, list_failed, not_there, of_status, paged, refused, undeclared
from .catalogue import Catalogue
from .handshake import OPENING, is_about_handshake, opened
from .replies import replied
from .request_flaws import rejudged, seen_late, unfounded
from .request_headers import speaks_of_headers
from .returned import error_message, returned_of
from .run_answer import given, of_task
from .session_state import Session, WireNote, is_new, key_of_id, token_of, version_of
from .tool_messages import ToolMessage
from .tool_run import Departure, ToolRun

_MOST_USED = 20_000
"""So many ids of a session are known to be used."""
_MOST_KEPT = 2_000
"""So many links of a session, and resources of a recording, are kept at most."""


class SessionAnswers:
    """Reads the answers of all sessions of a recording; what they say of tools goes into its `catalogue`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.resources: dict[tuple[str, str], str] = {}
        """The text of the resources that clients read, by their server and address."""

    def take(
        self, session: Session, asked: ToolMessage, answer: ToolMessage, notes: list[WireNote]
    ) -> Iterator[ToolRun]:
        """The runs that an answer changes; what else it shows goes into `notes`."""
        if asked.sender == "server":
            session.asks.answered(asked.sequence, answer.at)
            notes += replied(session, asked, answer)
            return
        if answer.id is not None and len(session.used) < _MOST_USED:
            session.used.setdefault(key_of_id(answer.id), answer.at)
        session.served = session.served or asked.method not in OPENING
        said = error_message(answer.error) or "" if answer.error is not None else ""
        session.version = version_of(session, asked, answer.result)
        if (token := token_of(asked)) is not None:
            session.progress.answered(token, answer.at, answer.sequence)
        wrong, beside = _flaw(session, asked, answer, notes)
        notes += judged(session, asked, answer)
        notes += _after_cancel(session, asked, answer, said)
        notes += paged(session, asked, answer)
        if wrong is None:
            session.turned(asked, failed=answer.error is not None)
        early = asked.method not in OPENING and is_about_handshake(session, said)
        if early and is_new(session, "not_ready"):
            notes.append(WireNote("not_ready", session.server, asked.index, asked.method or "", said))
        match asked.method:
            case "tools/call":
                yield from self._call(session, asked, answer, notes, early=early, beside=beside)
            case "resources/read":
                notes += self._resource(session, asked, answer, said)
            case "initialize" | "server/discover":
                notes += opened(session, asked, answer, wrong)
                yield from rejudged(session, answer, notes)
            case "prompts/list" if answer.result is not None:
                session.prompts.listed(answer.result)
            case "tools/list" if answer.result is not None:
                notes += self._catalogue.listed(session, asked, answer.index, answer.result)
            case "tools/list" if answer.error is not None:
                notes += () if early or wrong is not None else list_failed(session, answer, answer.error)
            case _ if wrong is None and answer.error is not None and answer.error.get("code") == NO_METHOD:
                notes += refused(session, asked, answer)
            case "tasks/get" | "tasks/result" | "tasks/cancel":
                notes += of_status(session, asked, answer)
                yield from _task(session, asked, answer)
            case _:
                pass

    def _call(
        self,
        session: Session,
        asked: ToolMessage,
        answer: ToolMessage,
        notes: list[WireNote],
        *,
        early: bool,
        beside: bool,
    ) -> Iterator[ToolRun]:
        """The run that the answer to `tools/call` ends.

        `early`: the server says that the handshake has not ended; `beside`: the answer does not speak of what was
        wrong in the request.
        """
        run = session.runs.pop(asked.sequence, None)
        for block in returned_of(answer.result).blocks:
            if block.kind == "link" and len(session.links) < _MOST_KEPT:
                session.links.setdefault(block.uri, asked.index)
        notes += undeclared(session, asked, answer)
        if run is None:
            return
        hasty = Departure("called it before the handshake had ended", asked.index) if early else None
        hasty = hasty or self._outdated(session, asked, answer)
        run = copied_with(run, departed=(None if beside else run.departed) or hasty)
        tool = self._catalogue.known(session.server, run.name)
        if tool is not None and run.output_schema is None:  # the answer that states it was recorded after the call
            run = copied_with(run, output_schema=tool.output_schema)
        yield given(session, asked, run, answer)

    def _outdated(self, session: Session, asked: ToolMessage, answer: ToolMessage) -> Departure | None:
        """A call that fails after the server had said that its tools change, of a client that did not list them."""
        said, index = self._catalogue.changing.get(session.server, (asked.at, 0))
        if answer.error is None or said >= asked.at:
            return None
        return Departure(
            f"had not listed the tools again after #{index}, where the server says that they change", index
        )

    def _resource(self, session: Session, asked: ToolMessage, answer: ToolMessage, said: str) -> Iterator[WireNote]:
        """The answer to a request for a resource."""
        if answer.error is not None:
            yield from not_there(session, asked, answer, said)
        elif len(self.resources) < _MOST_KEPT:
            found = (as_text(one.get("text")) for one in objects_in((answer.result or {}).get("contents")))
            self.resources[session.server, as_text(asked.params.get("uri")) or ""] = "\n".join(filter(None, found))


def _flaw(session: Session, asked: ToolMessage, answer: ToolMessage, notes: list[WireNote]) -> tuple[str | None, bool]:
    """How the request was wrong, and whether only its headers were, of which the answer does not speak.

    The second does not explain what the answer says, so the first is None with it.
    """
    wrong = session.flaws.pop(asked.sequence, None) or unfounded(session, asked, answer)
    wrong = wrong or seen_late(session, asked, answer)
    beside = asked.sequence in session.misheaded and not speaks_of_headers(answer, wrong or "")
    kind = "request_odd" if answer.error is None or beside else "request_wrong"
    if wrong is not None and is_new(session, kind):
        notes.append(WireNote(kind, session.server, asked.index, asked.method or "", wrong))
    return None if beside else wrong, beside


def _after_cancel(session: Session, asked: ToolMessage, answer: ToolMessage, said: str) -> Iterator[WireNote]:
    """An error that says of a cancelled request what its client knows: MCP wants no answer then."""
    given_up = session.cancelled.get(key_of_id(asked.id))
    late = given_up is not None and asked.at <= given_up[0] < answer.at
    if late and "cancel" in said.lower() and is_new(session, "cancelled_answered"):
        yield WireNote("cancelled_answered", session.server, answer.index, asked.method or "", said)


def _task(session: Session, asked: ToolMessage, answer: ToolMessage) -> Iterator[ToolRun]:
    """The run that an answer about its task changes."""
    place = session.waiting.get(as_text(asked.params.get("taskId")) or "")
    run = session.runs.get(place) if place is not None else None
    if run is None or place is None:
        return
    session.runs[place] = later = of_task(run, asked.method or "", answer)
    if later is not run:
        yield later
