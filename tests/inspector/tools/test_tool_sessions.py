from dataclasses import replace
from typing import Any

import pytest
from tool_stories import ADD, SAY, Story, text
from tool_wire import STREAM, answers, asks, events, fails, http, initialize, initialized, notifies

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.tools.session_state import WireNote
from turntape.inspector.tools.tool_run import ToolRun
from turntape.inspector.tools.tool_sessions import ToolSessions


def read(trips: list[RoundTrip]) -> tuple[list[ToolRun], list[WireNote]]:
    """The latest form of each run, and all notes."""
    sessions = ToolSessions()
    runs: dict[tuple[str, int], ToolRun] = {}
    notes: list[WireNote] = []
    for trip in trips:
        added = sessions.add(trip)
        runs |= {(run.session, run.sequence): run for run in added.runs}
        notes += added.notes
    return list(runs.values()), notes


def only(trips: list[RoundTrip]) -> ToolRun:
    [run] = read(trips)[0]
    return run


def test_a_run_has_what_was_asked_and_what_came_back() -> None:
    run = only(Story().start().call("add", {"a": 1}, text("3"), progressToken=0).trips)

    assert (run.index, run.session, run.server, run.name) == (2, "a", "files", "add")
    assert (run.arguments, run.arguments_raw, run.meta) == ({"a": 1}, '{"a":1}', {"progressToken": 0})
    assert (run.outcome, run.is_error, run.returned_text, run.result) == ("answered", False, "3", text("3"))
    assert (run.duration_ms, run.returned_bytes) == (5.0, len(b'{"content":[{"type":"text","text":"3"}]}'))


def test_an_error_of_the_tool_is_an_answer_and_one_of_the_server_is_none() -> None:
    run, other = read(Story().call("add", {}, text("no", isError=True)).call("add", {}, "unknown tool").trips)[0]

    assert (run.outcome, run.is_error, run.error, run.returned_text) == ("answered", True, None, "no")
    assert (other.outcome, other.is_error, other.result, other.returned_text) == ("failed", True, None, "unknown tool")
    assert other.error == {"code": -32603, "message": "unknown tool"}


def test_a_run_that_the_end_of_the_server_leaves_open_is_unanswered() -> None:
    run = only(Story().call("add", {}).trips)

    assert (run.outcome, run.is_error, run.duration_ms, run.returned_text) == ("unanswered", None, None, None)
    assert run.ended_by == "server"


def test_a_client_that_goes_while_a_call_is_open_ends_it() -> None:
    trip = Story().call("add", {}).trips[0]
    gone = replace(trip, failure=Failure("client_gone", "it went"), closed_first="client")

    run = only([gone])

    assert (run.outcome, run.ended_by) == ("unanswered", "client")


def test_only_a_cancel_before_the_answer_counts() -> None:
    story = Story().call("add", {}, text("1"))
    late = story.exchange(notifies("notifications/cancelled", requestId=11)).trips

    assert only(late).outcome == "answered"

    first = Story()
    first.exchange(notifies("notifications/cancelled", requestId=11, reason="timed out"))
    first.trips[0] = replace(first.trips[0], started_at=first.trips[0].started_at + 0.103)
    run = only(first.call("add", {}, text("1")).trips)

    assert (run.outcome, run.reason, run.duration_ms) == ("cancelled", "timed out", 3.0)
    assert run.returned_text == "1"


def test_a_cancelled_call_of_zero_is_cancelled() -> None:
    story = Story(id=-1).exchange(notifies("notifications/cancelled", requestId=0))
    story.trips[0] = replace(story.trips[0], started_at=story.trips[0].started_at + 0.15)

    run = only(story.call("add", {}).trips)

    assert (run.outcome, run.duration_ms) == ("cancelled", 50.0)


def test_a_request_for_input_and_its_continuation_are_one_run() -> None:
    story = Story().call("add", {"a": 1}, {"resultType": "input_required", "requestState": "s", "inputRequests": {}})
    waiting = only(story.trips)
    again = asks(99, "tools/call", name="add", arguments={"a": 1}, requestState="s", inputResponses={})
    run = only(story.exchange(again, answers(99, content=[{"type": "text", "text": "ok"}])).trips)

    assert waiting.outcome == "input_required"
    assert (run.outcome, run.exchanges, run.index, run.returned_text) == ("answered", (0, 1), 0, "ok")
    assert run.duration_ms == 105.0


def test_the_result_of_a_task_is_the_runs() -> None:
    story = Story().call("add", {}, {"task": {"taskId": "t1", "status": "working"}})
    assert only(story.trips).outcome == "unanswered"

    story.exchange(asks(50, "tasks/get", taskId="t1"), answers(50, taskId="t1", status="working"))
    assert only(story.trips).outcome == "unanswered"

    story.exchange(asks(51, "tasks/result", taskId="t1"), answers(51, **text("late")))
    run = only(story.trips)
    assert (run.outcome, run.returned_text, run.exchanges) == ("answered", "late", (0, 1, 2))


def test_the_task_of_the_extension_has_its_result_in_tasks_get() -> None:
    story = Story().call("add", {}, {"resultType": "task", "taskId": "t1", "status": "working"})
    story.exchange(asks(50, "tasks/get", taskId="t1"), answers(50, status="completed", result=text("late")))

    assert only(story.trips).returned_text == "late"


def test_a_task_may_fail_or_be_cancelled() -> None:
    task: dict[str, Any] = {"resultType": "task", "taskId": "t1", "status": "working"}
    failed = Story().call("add", {}, task)
    failed.exchange(asks(5, "tasks/get", taskId="t1"), answers(5, status="failed", error={"message": "broke"}))
    stopped = Story().call("add", {}, task)
    stopped.exchange(asks(5, "tasks/cancel", taskId="t1"), answers(5, status="cancelled"))
    refused = Story().call("add", {}, task).exchange(asks(5, "tasks/result", taskId="t1"), fails(5, "expired"))

    assert (only(failed.trips).outcome, only(failed.trips).returned_text) == ("failed", "broke")
    assert only(stopped.trips).outcome == "cancelled"
    assert (only(refused.trips).outcome, only(refused.trips).returned_text) == ("failed", "expired")


def test_ids_of_several_processes_are_not_mixed() -> None:
    one, two = Story(), Story(session="b")
    one.call("add", {"a": 1}, text("1"))
    two.call("add", {"a": 2}, text("2"))
    trips = [one.trips[0], replace(two.trips[0], index=1)]

    assert [(run.session, run.returned_text) for run in read(trips)[0]] == [("a", "1"), ("b", "2")]


def test_over_http_a_status_is_an_error_and_a_closed_stream_a_cancel() -> None:
    call = asks(1, "tools/call", name="add", arguments={})
    status = only([http(call, b"no", status=502, index=0)])
    closed = replace(http(call, index=0), response=None, failure=Failure("client_gone", "it went"))

    assert (status.outcome, status.returned_text) == ("failed", "HTTP status 502")
    assert (only([closed]).outcome, only([closed]).ended_by) == ("cancelled", "client")


def test_over_the_old_transport_the_answer_comes_in_another_round_trip() -> None:
    call = asks(1, "tools/call", name="add", arguments={})
    stream = (
        b'event: endpoint\ndata: /mcp\n\nevent: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n\n'
    )
    asked = http(call, b"", status=202, index=0, headers=())
    opened = http(None, stream, method="GET", kind="text/event-stream", index=1, headers=())

    assert only([asked]).outcome == "unanswered"
    assert only([asked, opened]).outcome == "answered"


def test_tools_are_known_as_they_were_listed_last() -> None:
    sessions = ToolSessions()
    story = Story().start()
    for trip in story.trips:
        sessions.add(trip)

    assert set(sessions.catalogue.tools["files"]) == {"add", "say"}
    assert sessions.catalogue.tools["files"]["add"].index == 1
    assert sessions.servers == {"files"}


def test_a_second_page_adds_to_the_first() -> None:
    sessions = ToolSessions()
    story = Story().start()
    story.exchange(asks(70, "tools/list", cursor="2"), answers(70, tools=[{"name": "more"}]))
    for trip in story.trips:
        sessions.add(trip)

    assert set(sessions.catalogue.tools["files"]) == {"add", "say", "more"}


def test_another_definition_of_a_tool_is_noted() -> None:
    story = Story().start()
    story.tools = [{**ADD, "description": "Subtract."}, SAY]
    [note] = read(story.lists().trips)[1]

    assert (note.kind, note.what, note.detail, note.index, note.before) == (
        "definition_changed",
        "add",
        "description; not announced",
        2,
        1,
    )


def test_an_announced_change_says_so() -> None:
    story = Story().start().exchange(notifies("notifications/tools/list_changed"), sender="server")
    story.tools = [{**ADD, "inputSchema": {}, "outputSchema": {}}]

    assert [note.detail for note in read(story.lists().trips)[1]] == ["arguments, results; announced"]


def test_the_same_definitions_again_are_nothing() -> None:
    assert read(Story().start().lists().trips)[1] == []


def test_the_first_line_that_is_not_a_message_is_garbage_and_an_empty_one_is_not() -> None:
    story = Story().exchange(b"Server ready.", sender="server").exchange(b"  ", sender="server")
    story.exchange(b'{"not":"rpc"}', sender="server").exchange(b"hello", sender="client")

    assert [(note.kind, note.what, note.index) for note in read(story.trips)[1]] == [("garbage", "Server ready.", 0)]
    assert [note.what for note in read(story.trips[1:])[1]] == ['{"not":"rpc"}']


def test_requests_of_a_server_that_a_client_refuses_or_leaves_are_noted() -> None:
    ask = asks(1, "elicitation/create", message="Sure?", requestedSchema={"type": "object"})
    refused = Story().exchange(ask, fails(1, "not supported", -32601), sender="server")
    left = Story().exchange(ask, sender="server")
    left.trips[0] = replace(left.trips[0], failure=Failure("cut", "it ended"))
    answered = Story().exchange(ask, answers(1, action="cancel"), sender="server")
    ping = Story().exchange(asks(1, "ping"), fails(1), sender="server")

    assert [(n.kind, n.what, n.detail) for n in read(refused.trips)[1]] == [
        ("refused_by_client", "elicitation/create", "not supported")
    ]
    assert [(n.kind, n.what) for n in read(left.trips)[1]] == [("no_answer_of_client", "elicitation/create")]
    assert read(answered.trips)[1] == []
    assert [(n.kind, n.what) for n in read(ping.trips)[1]] == [("cannot_answer", "ping")]


def test_a_client_that_answers_in_a_version_whose_servers_do_not_ask_is_noted_once() -> None:
    made = Story().modern()
    for name in (98, 99):
        made.exchange(answers(name, x=1))
    made.exchange(notifies("notifications/initialized"))

    how = "version 2026-07-28 does not have: its servers send no requests"
    assert read(made.trips)[1] == [WireNote("own_notice_wrong", "files", 2, "an answer", how)]
    assert read(Story().start().exchange(answers(98, x=1)).trips)[1] == []


@pytest.mark.parametrize(("after", "early"), [(0.001, True), (0.005, False), (0.006, False)])
def test_a_handshake_that_ends_before_the_server_has_answered(after: float, early: bool) -> None:
    made = Story().exchange(initialize(0), initialized(0))
    made.exchange(notifies("notifications/initialized"))
    first, last = made.trips
    notes = read([first, replace(last, started_at=first.started_at + after)])[1]

    how = "comes before the server has answered `initialize`"
    assert notes == [WireNote("own_notice_wrong", "files", 1, "notifications/initialized", how)] * early


SENT = asks(5, "tools/call", name="add", arguments={})
GIVEN = (("Mcp-Session-Id", "s-1"),)


READY = notifies("notifications/initialized")


@pytest.mark.parametrize("given", [GIVEN, ()], ids=["with ids of sessions", "without"])
def test_over_http_a_handshake_that_ends_before_it_begins(given: Any) -> None:
    start = http(initialize(0), initialized(0), headers=(), answer_headers=given)
    after = (*given, ("MCP-Protocol-Version", "2025-11-25"))
    ready, own = http(READY, status=202, headers=()), http(READY, status=202, headers=after)
    lists = http(asks(1, "tools/list"), answers(1, tools=[ADD]), headers=after)

    def found(*trips: RoundTrip) -> list[str]:
        sessions = ToolSessions()
        every = [replace(trip, index=place, started_at=float(place)) for place, trip in enumerate(trips)]
        notes = [note for trip in every for note in sessions.add(trip).notes]
        return [f"#{one.index} {one.kind} {one.detail}".strip() for one in (*notes, *sessions.closed([]))]

    assert found(ready, start, lists) == ["#0 own_notice_wrong comes before `initialize`"]
    assert found(start, lists) == ["#0 never_confirmed"]
    assert found(start, own, lists) == []
    assert found(ready, start, own, lists) == [], "of a session that began before the recording"


def over_http(*trips: RoundTrip, begins: int = 1) -> list[RoundTrip]:
    """After a handshake over HTTP in which the server gives the session its id."""
    start = http(initialize(0), initialized(0), headers=(), answer_headers=GIVEN)
    every = [*[start] * begins, *trips]
    return [replace(trip, index=place, started_at=float(place)) for place, trip in enumerate(every)]


@pytest.mark.parametrize(("content", "wrong"), [([], False), ("text", True)])
def test_a_run_over_http_has_its_status_and_what_is_wrong_with_its_result(content: object, wrong: bool) -> None:
    run = only(over_http(http(SENT, answers(5, content=content))))

    assert (run.status, run.flaw is not None, run.expired) == (200, wrong, False)


@pytest.mark.parametrize(("status", "expired"), [(404, True), (400, False)])
def test_a_run_in_a_session_that_the_server_has_ended(status: int, expired: bool) -> None:
    gone = only(over_http(http(SENT, fails(5, "no such session"), status=status, headers=GIVEN)))

    assert (gone.status, gone.expired) == (status, expired)


def asked_twice(**given: Any) -> list[str]:
    """The kinds of notes about a server that gives two requests over HTTP one id."""

    def stream(number: int, name: int, **more: Any) -> RoundTrip:
        call = asks(number, "tools/call", name="add", arguments={})
        return http(call, events(asks(name, "roots/list"), answers(number, **text("1"))), kind=STREAM, **more)

    sessions = ToolSessions()
    begins = given.pop("begins", 1)
    for trip in over_http(stream(5, 1), stream(6, 1, **given), begins=begins):
        sessions.add(trip)
    return [note.kind for note in sessions.closed(())]


def test_a_server_gives_each_of_its_requests_another_id() -> None:
    assert asked_twice() == ["never_confirmed", "ask_id_open"]
    assert asked_twice(headers=(*GIVEN, ("Last-Event-ID", "4"))) == ["never_confirmed"], "a stream that is resumed"
    assert asked_twice(begins=2) == [], "two clients"
