"""What is recorded of a tool server: its sessions, and what belongs to which message of the client."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from tool_wire import answers, asks, notifies, stdio

from turntape.cassettes.replay.tools.recording import (
    Asked,
    RecordedSession,
    canonical,
    id_of,
    message,
    meta_of,
    params_of,
    recorded_sessions,
)
from turntape.cassettes.tape.model import Failure, RoundTrip, ToolServer

CHANGED = notifies("notifications/tools/list_changed")


def called(sequence: int, answered: int | None, number: object = 1, *, at: float = 0.0, **params: object) -> RoundTrip:
    """A call and its answer, a quarter of a second later."""
    got = None if answered is None else answers(number, text=f"answer {number}")
    sent = asks(number, "tools/call", name="read", **params)
    return stdio(sent, got, sequence=sequence, answered=answered, at=at, ended_at=250_000)


def said(sequence: int, what: object = CHANGED, *, at: float = 0.0, session: str = "a") -> RoundTrip:
    return stdio(what, sender="server", sequence=sequence, at=at, session=session)


def only(*trips: RoundTrip) -> RecordedSession:
    ((session,),) = recorded_sessions(trips).values()
    return session


def in_short(asked: Asked) -> tuple[object, object, list[int]]:
    """The id of a request, that of its answer, and the places of what else the server said until the next one."""
    answer = asked.answer.data.get("id") if asked.answer else None
    return asked.request.data.get("id"), answer, [other.sequence for other in asked.others]


def test_a_call_has_its_answer_and_what_the_server_said_until_the_next_one() -> None:
    session = only(
        said(0), called(1, 3, 7, at=5.0, arguments={"a": 1}), said(2), said(4), called(5, 6, 8, at=9.0), said(9)
    )

    assert [one.sequence for one in session.greeting] == [0]
    assert [in_short(asked) for asked in session.asked] == [(7, 7, [2, 4]), (8, 8, [9])]
    first, second = session.asked
    assert (first.name, first.arguments, first.given, first.is_call) == ("read", {"a": 1}, {"a": 1}, True)
    assert (second.arguments, second.delay, second.index, second.key) == ({}, 0.25, 4, ("a", 5))
    assert first.answer is not None and (first.answer.sequence, first.answer.sender) == (3, "server")
    assert (session.started_at, session.last) == (0.0, 9.25)


def test_messages_that_are_recorded_out_of_order_are_in_that_of_the_session() -> None:
    session = only(said(9), called(5, 6, 8), said(2), called(1, 3, 7), said(0))

    assert [in_short(asked) for asked in session.asked] == [(7, 7, [2]), (8, 8, [9])]
    assert [one.sequence for one in session.greeting] == [0]


def test_progress_belongs_to_the_call_whose_token_it_names() -> None:
    meta: Any = {"_meta": {"progressToken": "t1"}}

    def reports(token: object, sequence: int) -> RoundTrip:
        return said(sequence, notifies("notifications/progress", progressToken=token, progress=1))

    session = only(called(0, 8, 1, **meta), called(1, 9, 2), reports("t1", 3), reports("other", 4), said(5))

    assert [in_short(asked)[2] for asked in session.asked] == [[3], [4, 5]]
    assert session.asked[0].token == "t1" and "_meta" not in session.asked[0].params
    late = only(called(1, 2, 1, **meta), called(3, 4, 2, **meta), reports("t1", 9))
    assert [in_short(asked)[2] for asked in late.asked] == [[], [9]], "the latest call with this token"


def test_a_notification_of_the_client_has_no_id_and_another_request_all_its_parameters() -> None:
    session = only(
        stdio(notifies("notifications/initialized"), sequence=0),
        stdio(asks(2, "resources/read", uri="a"), answers(2), sequence=1, answered=2),
        stdio(answers(9), sequence=3),
        stdio(b"no message", sequence=4),
    )

    notice, read = session.asked
    assert (notice.has_id, notice.method, notice.delay, notice.has_content) == (
        False,
        "notifications/initialized",
        0,
        False,
    )
    assert (read.has_id, read.given, read.is_call, read.has_content) == (True, {"uri": "a"}, False, False)


def test_an_error_and_an_empty_result_have_no_content() -> None:
    session = only(
        called(0, 1, 1),
        stdio(asks(2, "ping"), answers(2), sequence=2, answered=3),
        stdio(asks(3, "ping"), {"jsonrpc": "2.0", "id": 3, "error": {"code": 1}}, sequence=4, answered=5),
    )

    assert [asked.has_content for asked in session.asked] == [True, False, False]


def test_only_calls_after_the_last_answer_were_cut_by_the_end_of_the_server() -> None:
    cut = Failure("cut", "it ended")
    session = only(
        replace(called(0, None, 1), failure=cut), called(1, 2, 2), replace(called(3, None, 3), failure=cut),
        replace(called(4, None, 4), failure=Failure("client_gone", "it went")),
    )  # fmt: skip

    assert [asked.cut for asked in session.asked] == [False, False, True, False]


def test_sessions_are_by_server_in_the_order_in_which_they_started() -> None:
    def one(session: str, server: str, at: float) -> RoundTrip:
        return stdio(asks(1, "ping"), answers(1), session=session, server=server, answered=1, at=at)

    found = recorded_sessions([one("b", "files", 9.0), one("c", "mail", 1.0), one("a", "files", 2.0)])

    assert {name: [one.key for one in sessions] for name, sessions in found.items()} == {
        "files": ["a", "b"],
        "mail": ["c"],
    }
    assert [asked.index for sessions in found.values() for one in sessions for asked in one.asked] == [2, 0, 1]


def test_a_round_trip_keeps_its_own_number_and_what_is_not_of_a_tool_server_is_left_out() -> None:
    other = replace(called(0, 1), tool_wire=None)

    assert recorded_sessions([other]) == {}
    assert [asked.index for asked in only(other, called(0, 1), replace(called(2, 3), index=40)).asked] == [1, 40]


def test_the_process_of_a_session_says_what_it_wrote_to_stderr_and_how_it_ended() -> None:
    process = ToolServer("a", "files", started_at=50.0, closed_first="server", stderr=((500_000, b"oh"),))
    ((session,),) = recorded_sessions([called(0, 1, at=51.0)], processes=[process]).values()

    assert (session.started_at, session.errors, session.ends_unasked) == (50.0, [(50.5, b"oh")], True)
    ((left,),) = recorded_sessions([called(0, 1, at=51.0)], processes=[replace(process, started_at=None)]).values()
    assert left.started_at == 51.0
    bare = only(called(0, 1))
    assert (bare.process, bare.errors, bare.ends_unasked) == (None, [], False)


@pytest.mark.parametrize(("closed_first", "there"), [("server", True), ("client", False), (None, False)])
def test_a_process_that_ended_on_its_own_before_any_message_is_a_session(closed_first: Any, there: bool) -> None:
    silent = ToolServer("z", "mail", started_at=3.0, closed_first=closed_first)
    found = recorded_sessions([called(0, 1)], processes=[silent])

    assert [one.key for one in found.get("mail", [])] == ["z"] * there
    assert len(found["files"]) == 1


def test_secrets_are_marked_in_what_is_compared_and_not_in_what_was_sent() -> None:
    def marked(raw: bytes) -> bytes:
        return raw.replace(b"hunter2", b"***")

    ((session,),) = recorded_sessions([called(0, 1, arguments={"key": "hunter2"})], marked).values()

    assert session.asked[0].arguments == {"key": "***"} and b"hunter2" in session.asked[0].request.raw


def test_lists_that_changed_before_a_message_are_counted_by_what_they_list() -> None:
    prompts = notifies("notifications/prompts/list_changed")
    session = only(said(0), called(1, 3), said(2), said(4, prompts), called(5, 6), said(7))

    assert [session.changes_before("tools", place) for place in (0, 1, 3, 7, 8)] == [0, 1, 2, 2, 3]
    assert session.changes_before("prompts", 5) == 1


def test_each_message_of_a_batch_is_one_with_its_own_answer() -> None:
    sent = [asks(1, "ping"), notifies("notifications/initialized"), asks("1", "tools/call", name="b")]
    got = [answers("1", text="of the text"), answers(1, text="of the number")]
    session = only(
        stdio(sent, sequence=0, at=3.0), stdio(got, sender="server", sequence=5, at=4.5), called(8, 9, 1, at=6.0)
    )

    assert session.answers_batches
    assert [in_short(asked) for asked in session.asked] == [(1, 1, []), (None, None, []), ("1", "1", []), (1, 1, [])]
    number, notice, text, alone = session.asked
    assert [asked.request.sequence for asked in session.asked] == [0, 1, 2, 8]
    assert number.answer and text.answer and (number.answer.sequence, text.answer.sequence) == (6, 5)
    assert (number.delay, notice.has_id, alone.delay) == (1.5, False, 0.25)


def test_answers_that_come_as_one_message_each_are_not_a_batch() -> None:
    session = only(
        stdio([asks(1, "ping"), asks(2, "ping")], sequence=0),
        stdio(answers(2), sender="server", sequence=2),
        stdio(answers(1), sender="server", sequence=3),
        stdio([CHANGED], sender="server", sequence=4),
    )

    assert not session.answers_batches
    assert [in_short(asked) for asked in session.asked] == [(1, 1, []), (2, 2, [4])]


def test_an_answer_before_its_request_in_a_batch_belongs_to_another_one() -> None:
    session = only(
        stdio([asks(1, "ping")], sequence=5), stdio([answers(1)], sender="server", sequence=2),
    )  # fmt: skip

    assert [in_short(asked) for asked in session.asked] == [(1, None, [])]


@pytest.mark.parametrize("raw", [b"", b"no JSON", b"[1]", b"null", b"3"])
def test_a_line_that_is_not_an_object_is_an_empty_message(raw: bytes) -> None:
    assert message(raw) == {}


@pytest.mark.parametrize(
    ("params", "fields", "token", "meta"),
    [
        ({"a": 1, "_meta": {"progressToken": 3, "x": 1}}, {"a": 1}, 3, {"progressToken": 3, "x": 1}),
        ({"a": 1}, {"a": 1}, None, {}),
        ({"_meta": "odd"}, {}, None, {}),
        ([1], {}, None, {}),
        (None, {}, None, {}),
    ],
)
def test_parameters_are_read_apart_from_what_is_about_them(
    params: object, fields: object, token: object, meta: object
) -> None:
    data = {"params": params}

    assert (params_of(data), meta_of(data)) == ((fields, token), meta)
    assert data == {"params": params}


def test_equal_values_are_equal_bytes() -> None:
    assert canonical({"a": 1, "b": [2.0, True]}) == canonical({"b": [2, True], "a": 1.0})
    assert canonical({"a": True}) != canonical({"a": 1})
    assert canonical([{"n": 2**60}]) == canonical([{"n": float(2**60)}])
    assert orjson.loads(canonical({"a": "1", "b": None})) == {"a": "1", "b": None}


def test_the_ids_of_numbers_and_texts_differ_and_an_odd_one_is_none() -> None:
    assert id_of({"id": 1}) != id_of({"id": "1"})
    assert id_of({"id": 1}) == id_of({"id": 1, "method": "ping"})
    assert id_of({"id": [1]})[1] is None and id_of({})[1] is None
