"""What HTTP says of a tool server's session: each thing is noted once, and not where MCP allows it."""

from dataclasses import replace
from typing import Any

import pytest
from tool_stories import MODERN
from tool_wire import STREAM, answers, asks, fails, http, initialize, initialized, notifies

from turntape.cassettes.tape.model import Headers, RoundTrip
from turntape.inspector.tools.session_state import WireNote
from turntape.inspector.tools.tool_sessions import ToolSessions

ID = "Mcp-Session-Id"
VERSION = ("MCP-Protocol-Version", "2025-11-25")
NAMED: Headers = ((ID, "s-1"), VERSION)
CANCEL = notifies("notifications/cancelled", requestId=1)
OTHER = "http://127.0.0.1:9001/mcp"


def begins(given: str | None = "s-1", **more: Any) -> RoundTrip:
    """A handshake, in which the server gives the session this id."""
    answer = ((ID, given),) if given is not None else ()
    return http(initialize(), initialized(), headers=(), answer_headers=answer, **more)


def lists(status: int = 200, number: int = 5, **more: Any) -> RoundTrip:
    got = answers(number, tools=[]) if status < 300 else fails(number, more.pop("said", "Session not found"))
    return http(asks(number, "tools/list"), got, status=status, **{"headers": NAMED, **more})


def deletes(status: int = 200) -> RoundTrip:
    return http(b"", b"", method="DELETE", status=status, headers=NAMED)


def notes(*trips: RoundTrip) -> list[WireNote]:
    """The notes about these round trips, one a second."""
    sessions = ToolSessions()
    every = [replace(trip, index=place, started_at=100.0 + place) for place, trip in enumerate(trips)]
    return [note for trip in every for note in sessions.add(trip).notes]


def kinds(*trips: RoundTrip) -> list[tuple[str, int]]:
    """The notes about sessions: what they are about, and the round trip."""
    return [(note.kind, note.index) for note in notes(*trips) if note.kind.startswith("session_")]


def flaws(*trips: RoundTrip) -> list[str]:
    """How the calls of these round trips went wrong."""
    sessions = ToolSessions()
    every = [replace(trip, index=place, started_at=100.0 + place) for place, trip in enumerate(trips)]
    runs = [run for trip in every for run in sessions.add(trip).runs]
    return [str(run.flaw.text if run.flaw else None) for run in runs]


@pytest.mark.parametrize(
    ("given", "found"), [("s-1", []), ("sëssion", [("session_id_wrong", 0)]), ("a b", [("session_id_wrong", 0)])]
)
def test_an_id_of_other_signs_is_noted_once(given: str, found: list[tuple[str, int]]) -> None:
    again = lists(headers=((ID, given), VERSION), answer_headers=((ID, given),))

    assert kinds(begins(given), again) == found


def test_a_session_that_gets_another_id_is_noted_once() -> None:
    changed, again = (lists(number=n, answer_headers=((ID, f"s-{n}"),)) for n in (6, 7))

    (note,) = [one for one in notes(begins(), changed, again) if one.kind.startswith("session_")]
    assert (note.kind, note.index, note.what) == ("session_id_changed", 1, "s-6")
    assert kinds(begins(), lists(answer_headers=((ID, "s-1"),))) == []


def test_a_session_that_is_gone_and_still_used_is_noted_once_with_the_answer_that_said_so() -> None:
    (note,) = [one for one in notes(begins(), *(lists(404, n) for n in (5, 6, 7))) if one.kind != "list_failed"]

    assert (note.kind, note.index, note.what, note.before) == ("session_gone", 2, "tools/list", 1)


def test_a_server_that_still_answers_in_a_session_that_it_said_is_gone() -> None:
    assert kinds(begins(), lists(404), lists(200, 6), lists(200, 7)) == [("session_kept", 2)]
    assert kinds(begins(), deletes(), lists(200, 6)) == [("session_gone", 2)], "the client had ended it"
    assert kinds(begins(), lists(404), lists(300, 6, said="moved")) == [("session_gone", 2)]


@pytest.mark.parametrize(("status", "ends"), [(199, False), (200, True), (204, True), (299, True), (300, False)])
def test_only_a_delete_that_the_server_accepts_ends_a_session(status: int, ends: bool) -> None:
    assert kinds(begins(), deletes(status), lists()) == [("session_gone", 2)] * ends


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_status_404_for_another_method_than_post_ends_no_session(method: str) -> None:
    other = http(None, b"", method=method, status=404, headers=NAMED)

    assert kinds(begins(), other, lists()) == []


def test_a_session_that_begins_again_is_there() -> None:
    assert kinds(begins(), lists(404), begins(), lists(number=6)) == []


def test_a_request_without_the_id_that_its_server_gave_is_noted_once() -> None:
    def without(number: int, **more: Any) -> RoundTrip:
        return lists(400, number, headers=(VERSION,), **more)

    assert kinds(begins(), without(5), without(6)) == [("session_not_named", 1)]
    assert kinds(begins(), lists(404, headers=(VERSION,))) == []
    assert kinds(begins(None), without(5)) == [], "it gave none"
    assert kinds(begins(), begins(None, url=OTHER), without(5, url=OTHER)) == [], "that was another server"
    assert kinds(begins(), http(initialize(3), fails(3), status=400, headers=())) == []


@pytest.mark.parametrize(
    ("status", "said", "found"),
    [
        (400, "Bad Request: No valid session ID", [("session_refused", 1)]),
        (400, "Bad Request", []),
        (500, "Session not found", []),
    ],
)
def test_a_server_that_says_in_another_way_that_a_session_is_gone(
    status: int, said: str, found: list[tuple[str, int]]
) -> None:
    assert kinds(begins(), lists(status, said=said), lists(status, 6, said=said)) == found
    assert kinds(begins(None), lists(status, said=said)) == [], "it never gave this id in the recording"


def test_a_call_says_what_was_wrong_with_the_status() -> None:
    def call(said: str, *, headers: Headers = NAMED, status: int = 400) -> RoundTrip:
        return http(asks(5, "tools/call", name="add", arguments={}), fails(5, said), status=status, headers=headers)

    gone, bare = "No such session", (VERSION,)
    hides = "says with status 400 that it has no such session, where MCP wants 404"
    assert flaws(begins(), call(gone)) == [hides]
    wants = "wants the id of a session, and the server gave none"
    assert flaws(begins(None), call(gone, headers=bare)) == [wants]
    assert flaws(call(gone, headers=bare)) == ["None"], "its handshake is not recorded"
    assert flaws(begins(), call(gone, headers=bare)) == ["None"]
    assert flaws(begins(None), call("no", headers=bare)) == ["None"]
    assert flaws(begins(None), call(gone, headers=bare, status=500)) == ["None"]


def test_a_call_whose_version_is_refused_after_the_handshake_agreed_on_it() -> None:
    ready = http(notifies("notifications/initialized"), status=202, headers=NAMED)

    def call(version: str = VERSION[1], said: str = "Unsupported protocol version", status: int = 400) -> RoundTrip:
        sent = asks(5, "tools/call", name="add", arguments={})
        return http(sent, fails(5, said), status=status, headers=((ID, "s-1"), ("MCP-Protocol-Version", version)))

    refused = "refuses version 2025-11-25, with which the handshake of the session had ended"
    assert flaws(begins(), ready, call()) == [refused]
    assert flaws(begins(), ready, call("2024-11-05")) == ["None"], "the client named another one"
    assert flaws(begins(), ready, call(said="no")) == ["None"]
    assert flaws(begins(), ready, call(status=500)) == ["None"]


@pytest.mark.parametrize(
    ("trip", "kind", "what", "detail"),
    [
        (http(None, b"ok", method="GET", kind="text/html"), "stream_refused", "GET", "status 200 and 'text/html'"),
        (http(None, b"", method="GET", status=409), "stream_twice", "GET", ""),
        (http(b"[]", b"", status=202), "own_garbage", "an empty batch", ""),
        (http(b"hello", b"", status=400), "own_garbage_refused", "'hello'", "status 400"),
        (http(CANCEL, {"ok": True}), "notice_answered", "notifications/cancelled", None),
        (http(answers(1), {"ok": True}), "notice_answered", "a reply", None),
        *(
            (http(CANCEL, None, status=status), "notice_refused",
             "notifications/cancelled", f"status {status}")
            for status in (400, 405, 422, 500, 501)
        ),
    ],
)  # fmt: skip
def test_an_answer_to_something_else_than_a_request_is_noted_once(
    trip: RoundTrip, kind: str, what: str, detail: str | None
) -> None:
    (note,) = [note for note in notes(begins(), trip, trip) if note.kind == kind]

    assert (note.index, note.what, note.server) == (1, what, "files")
    assert note.detail == ('{"ok": true}' if detail is None else detail)


@pytest.mark.parametrize(
    "trip",
    [
        http(None, b"", method="GET", status=405),
        http(None, b"", method="GET", kind=STREAM),
        http(CANCEL, None, status=202),
        http(CANCEL, None, status=401),
        http(CANCEL, None, status=404),
        http(asks(5, "ping"), answers(5)),
    ],
)
def test_an_answer_that_mcp_has_for_it_is_not_noted(trip: RoundTrip) -> None:
    assert {note.kind for note in notes(begins(), trip)} & {
        "stream_refused", "stream_twice", "own_garbage", "own_garbage_refused", "notice_answered", "notice_refused",
    } == set()  # fmt: skip


def test_a_request_without_a_message_in_the_version_that_has_none() -> None:
    modern: Headers = (("MCP-Protocol-Version", "2026-07-28"),)
    first = http(asks(1, "tools/list", _meta=MODERN), answers(1, tools=[]), headers=modern)

    def outdated(method: str) -> list[tuple[int, str, str]]:
        trip = http(None, b"", method=method, status=405, headers=modern)
        return [(one.index, one.what, one.detail) for one in notes(first, trip, trip) if one.kind == "outdated"]

    assert outdated("GET") == [(1, "GET", "2026-07-28")]
    assert outdated("DELETE") == [(1, "DELETE", "2026-07-28")]
    assert not [one for one in notes(begins(), deletes(405)) if one.kind == "outdated"]
