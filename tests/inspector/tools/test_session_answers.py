"""What an answer shows of a session of a tool server: of the call, of the tools, of the request itself."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from tool_stories import ADD, text
from tool_wire import answers, asks, fails, initialize, initialized

from turntape.inspector.tools import session_answers
from turntape.inspector.tools.catalogue import Catalogue
from turntape.inspector.tools.session_answers import SessionAnswers
from turntape.inspector.tools.session_state import Session, WireNote
from turntape.inspector.tools.tool_messages import ToolMessage
from turntape.inspector.tools.tool_run import Departure, ToolRun

EARLY = "Received request before initialization was complete"
CALL = asks(5, "tools/call", name="add", arguments={})


def message(data: dict[str, Any], at: float, index: int = 4, sender: Any = "client") -> ToolMessage:
    return ToolMessage("s", "files", sender, at, data, b"", index, 9)


@dataclass
class Exchange:
    """A session after its handshake, which takes answers to requests of 3.0 at 4.0."""

    session: Session = field(
        default_factory=lambda: Session(
            "files", starts=1, ready_at=2.0, version="2025-11-25", offers={}, confirmed=True
        )
    )
    catalogue: Catalogue = field(default_factory=Catalogue)
    notes: list[WireNote] = field(default_factory=list[WireNote])

    def __post_init__(self) -> None:
        self.answers = SessionAnswers(self.catalogue)

    def take(
        self, asked: dict[str, Any], answer: dict[str, Any], at: float = 4.0, sender: Any = "client"
    ) -> list[ToolRun]:
        """The runs that the answer changes."""
        got = message(answer, at, 6, "server")
        return list(self.answers.take(self.session, message(asked, 3.0, 4, sender), got, self.notes))

    def call(self, answer: dict[str, Any], **run: Any) -> ToolRun:
        """The run that an answer to a call ends."""
        given: dict[str, Any] = {"index": 4, "session": "s", "server": "files", "name": "add", "arguments": {}}
        self.session.runs[9] = ToolRun(**{**given, "started_at": 3.0, **run})
        [found] = self.take(CALL, answer)
        assert 9 not in self.session.runs
        return found

    @property
    def kinds(self) -> list[tuple[str, int, str]]:
        return [(note.kind, note.index, note.what) for note in self.notes]


def test_a_reply_of_the_client_says_nothing_of_the_server() -> None:
    one = Exchange()

    assert one.take(asks(5, "roots/list"), answers(5, roots=[]), sender="server") == []
    assert (one.session.used, one.session.served, one.session.version) == ({}, False, "2025-11-25")
    one.session.asks.add("5", message(asks(5, "roots/list"), 3.0, sender="server"))
    assert one.session.asks.has_answer("5")


def test_an_id_is_used_from_its_first_answer_on(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Exchange()
    for name, at in ((5, 4.0), (5, 7.0), ("5", 8.0)):
        one.take(asks(name, "ping"), answers(name), at)
    one.take(asks(6, "ping"), {"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "no"}})
    assert one.session.used == {"5": 4.0, '"5"': 8.0}

    monkeypatch.setattr(session_answers, "_MOST_USED", 2)
    one.take(asks(7, "ping"), answers(7))
    assert list(one.session.used) == ["5", '"5"'], "no more are kept"


@pytest.mark.parametrize(
    ("asked", "served"),
    [
        (initialize(5), False),
        (asks(5, "ping"), False),
        (asks(5, "server/discover"), False),
        (asks(5, "tools/list"), True),
    ],
)
def test_what_a_server_answers_only_when_it_is_ready(asked: dict[str, Any], served: bool) -> None:
    one = Exchange()
    one.take(asked, answers(5, tools=[]))

    assert one.session.served == served
    one.take(asks(8, "ping"), answers(8))
    assert one.session.served == served, "it stays so"


def test_the_answer_to_the_handshake_says_the_version_and_what_there_is() -> None:
    one = Exchange(Session("files", starts=1))
    one.take(initialize(0, "2025-06-18"), initialized(0))

    assert (one.session.version, one.session.ready_at) == ("2025-11-25", 4.0)
    assert "tools" in (one.session.offers or {})


def test_a_request_before_the_end_of_the_handshake_is_reported_once() -> None:
    one = Exchange()
    one.take(asks(4, "ping"), fails(4, EARLY))
    assert "not_ready" not in one.session.noted

    run = one.call(fails(5, EARLY))
    assert run.departed == Departure("called it before the handshake had ended", 4)
    one.take(asks(6, "tools/list"), fails(6, EARLY))
    assert [one for one in one.notes if one.kind == "not_ready"] == [
        WireNote("not_ready", "files", 4, "tools/call", EARLY)
    ]
    assert "list_failed" not in one.session.noted


@pytest.mark.parametrize(
    ("changed", "answer", "departed"),
    [
        (2.0, fails(5, "no such tool"), True),
        (2.0, answers(5, **text("1")), False),
        (3.0, fails(5, "no such tool"), False),
        (None, fails(5, "no such tool"), False),
    ],
)
def test_a_call_of_a_tool_that_may_be_gone(changed: float | None, answer: dict[str, Any], departed: bool) -> None:
    one = Exchange()
    if changed is not None:
        one.catalogue.announced("files", changed, 2)
    left = "had not listed the tools again after #2, where the server says that they change"

    assert one.call(answer).departed == (Departure(left, 2) if departed else None)


def test_what_was_wrong_in_a_call_stays_unless_the_answer_does_not_speak_of_it() -> None:
    before = Departure("sent a request that is odd", 4)
    assert Exchange().call(fails(5), departed=before).departed == before
    assert Exchange().call(fails(5, EARLY), departed=before).departed == before

    aside = Exchange()
    aside.session.misheaded.add(9)
    aside.session.flaws[9] = "has no header `Mcp-Name`"
    assert aside.call(fails(5), departed=before).departed is None
    assert aside.kinds == [("request_odd", 4, "tools/call")]

    meant = Exchange()
    meant.session.misheaded.add(9)
    meant.session.flaws[9] = "has no header `Mcp-Name`"
    assert meant.call(fails(5, "header mismatch", -32020), departed=before).departed == before
    assert meant.kinds == [("request_wrong", 4, "tools/call")]


@pytest.mark.parametrize(
    ("answer", "kind"), [(answers(5, **text("1")), "request_odd"), (fails(5, "no"), "request_wrong")]
)
def test_a_request_that_is_wrong_is_odd_where_the_server_took_it(answer: dict[str, Any], kind: str) -> None:
    one = Exchange()
    for _ in range(2):
        one.session.flaws[9] = "has no `name`"
        one.call(answer)

    assert one.notes == [WireNote(kind, "files", 4, "tools/call", "has no `name`")]  # type: ignore[arg-type]
    assert one.session.flaws == {}


def test_the_schema_of_a_result_may_be_known_only_after_the_call() -> None:
    one, schema = Exchange(), {"type": "object", "required": ["sum"]}
    assert one.call(answers(5, **text("1"))).output_schema is None
    one.take(asks(6, "tools/list"), answers(6, tools=[{**ADD, "outputSchema": schema}]))

    assert one.call(answers(5, **text("1"))).output_schema == schema
    assert one.call(answers(5, **text("1")), output_schema={"type": "array"}).output_schema == {"type": "array"}
    assert one.call(answers(5, **text("1")), name="other").output_schema is None


def linked(*uris: str) -> dict[str, Any]:
    return answers(5, content=[{"type": "resource_link", "uri": one, "name": "n"} for one in uris])


def test_a_resource_that_a_result_named_and_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Exchange()
    assert one.take(CALL, linked("a:b")) == [], "a call that is not on the tape"
    one.take(CALL, answers(5, **text("a:text")))
    assert one.session.links == {"a:b": 4}

    one.take(asks(6, "resources/read", uri="a:c"), fails(6, "gone"))
    assert one.notes == []
    one.take(asks(7, "resources/read", uri="a:b"), fails(7, "gone"))
    assert one.notes == [WireNote("link_broken", "files", 4, "a:b", "gone", 4)]
    assert one.answers.resources == {}

    monkeypatch.setattr(session_answers, "_MOST_KEPT", 2)
    one.take(CALL, linked("a:c", "a:d"))
    assert list(one.session.links) == ["a:b", "a:c"]


def test_the_texts_of_resources_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Exchange()
    contents = [{"uri": "a:b", "text": "one"}, {"uri": "a:b", "blob": "AA=="}, {"uri": "a:b", "text": "two"}]
    one.take(asks(6, "resources/read", uri="a:b"), answers(6, contents=contents))
    one.take(asks(6, "resources/read"), answers(7, contents=[]))
    assert one.answers.resources == {("files", "a:b"): "one\ntwo", ("files", ""): ""}

    monkeypatch.setattr(session_answers, "_MOST_KEPT", 2)
    one.take(asks(8, "resources/read", uri="a:c"), answers(8, contents=contents))
    assert len(one.answers.resources) == 2


def test_lists_are_kept_and_refused_lists_reported() -> None:
    one = Exchange()
    one.session.offers = {"prompts": {}, "tools": {}}
    one.take(
        asks(6, "prompts/list"), answers(6, prompts=[{"name": "p", "arguments": [{"name": "x", "required": True}]}])
    )
    one.take(asks(7, "tools/list"), answers(7, tools=[ADD]))
    assert one.session.prompts.lacking(message(asks(8, "prompts/get", name="p"), 3.0)) is not None
    assert list(one.catalogue.tools["files"]) == ["add"] and one.notes == []

    one.take(asks(9, "tools/list"), fails(9, "it broke"))
    assert one.notes == [WireNote("list_failed", "files", 6, "tools/list", "it broke")]


def test_a_list_that_is_refused_for_a_wrong_request_is_not_the_servers_failure() -> None:
    one = Exchange()
    one.session.flaws[9] = "has no `name`"
    one.take(asks(9, "tools/list"), fails(9, "it broke"))

    assert one.kinds == [("request_wrong", 4, "tools/list")]


@pytest.mark.parametrize(
    ("method", "flaw", "code", "kinds"),
    [
        ("logging/setLevel", None, -32601, ["not_declared"]),
        ("logging/setLevel", None, -32602, []),
        ("logging/setLevel", "is odd", -32601, ["request_wrong"]),
        ("ping", None, -32601, ["not_known"]),
    ],
)
def test_a_method_that_the_server_does_not_know(method: str, flaw: str | None, code: int, kinds: list[str]) -> None:
    one = Exchange()
    if flaw is not None:
        one.session.flaws[9] = flaw
    one.take(asks(6, method, level="info"), fails(6, "Method not found", code))

    assert [note.kind for note in one.notes] == kinds


@pytest.mark.parametrize(("flaw", "turned"), [(None, 1), ("is odd", 0)])
def test_a_page_that_the_client_asked_for(flaw: str | None, turned: int) -> None:
    one = Exchange()
    if flaw is not None:
        one.session.flaws[9] = flaw
    one.take(asks(6, "tools/list", cursor="p2"), fails(6, "no such page"))

    assert [(page.cursor, page.failed) for page in one.session.cursors] == [("p2", True)] * turned
    one.take(asks(7, "tools/list", cursor="p3"), answers(7, tools=[ADD]))
    assert (one.session.cursors[-1].cursor, one.session.cursors[-1].failed) == ("p3", False)


@pytest.mark.parametrize(
    ("cancelled", "said", "found"),
    [
        ({"5": (3.5, None)}, "Request was Cancelled", 1),
        ({"5": (3.0, None)}, "cancelled", 1),
        ({"5": (2.9, None)}, "cancelled", 0),
        ({"5": (4.0, None)}, "cancelled", 0),
        ({"5": (3.5, None)}, "it broke", 0),
        ({"6": (3.5, None)}, "cancelled", 0),
    ],
)
def test_an_error_for_a_request_that_was_cancelled(cancelled: dict[str, Any], said: str, found: int) -> None:
    one = Exchange()
    for _ in range(2):
        one.session.cancelled = dict(cancelled)
        one.call(fails(5, said))

    assert one.notes == [WireNote("cancelled_answered", "files", 6, "tools/call", said)] * found


def test_the_result_of_a_task_is_that_of_its_call() -> None:
    one = Exchange()
    task = {"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "ttl": None}
    one.session.runs[9] = ToolRun(index=4, session="s", server="files", name="add", arguments={}, started_at=3.0)
    [given] = one.take(CALL, answers(5, task=task))
    assert (given.task, given.outcome) == ("t1", "unanswered")
    [still] = one.take(asks(6, "tasks/get", taskId="t1"), answers(6, taskId="t1", status="working"))
    [done] = one.take(asks(7, "tasks/result", taskId="t1"), answers(7, **text("3")))

    assert (still.outcome, done.outcome, done.returned_text) == ("unanswered", "answered", "3")
    assert done.exchanges == (6, 6) and one.session.runs[9] == done
    one.take(asks(8, "tasks/get", taskId="t1"), answers(8, taskId="t2", status="working"))
    assert "is about the task 't2', and the request about 't1'" in {note.detail for note in one.notes}
    for other in (asks(9, "tasks/get", taskId="t2"), asks(9, "tasks/get")):
        assert one.take(other, answers(9, taskId="t2", status="working")) == []
