"""One stream of messages from every transport, in order, numbered and paired; odd bytes never raise."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from round_trips import CHAT, exchanged
from tool_wire import (
    STREAM,
    URL,
    answers,
    asks,
    encoded,
    events,
    fails,
    http,
    in_run,
    initialize,
    initialized,
    notifies,
    stdio,
)

from turntape.cassettes.errors import CassetteError
from turntape.cassettes.tape.model import Chunk, RoundTrip
from turntape.inspector.tools.tool_messages import ToolMessage, ToolMessageReader, tool_messages

CALL = asks(1, "tools/call", name="t", arguments={"a": 1})
DONE = answers(1, content=[{"type": "text", "text": "x"}])


def listed(*trips: RoundTrip) -> list[ToolMessage]:
    return list(tool_messages(trips))


def pairs(messages: list[ToolMessage]) -> list[tuple[int, int | None]]:
    return [(one.sequence, one.answers) for one in messages]


def test_all_transports_give_the_same() -> None:
    over_http = listed(http(CALL, DONE, headers=()))
    over_sse = listed(http(CALL, events(DONE), kind=STREAM, headers=(), chunks=(Chunk(999, 20),)))
    over_stdio = listed(stdio(CALL, DONE, answered=1))
    for found in (over_http, over_sse, over_stdio):
        assert [one.data for one in found] == [CALL, DONE]
        assert [one.sender for one in found] == ["client", "server"]
        assert pairs(found) == [(0, None), (1, 0)]
        assert [one.index for one in found] == [0, 0]
    assert [one.at for one in over_http] == [one.at for one in over_sse] == [0.00001, 0.00002]


def test_each_message_of_a_batch_over_stdio_has_a_place_and_its_answer() -> None:
    asked = [asks(1, "tools/call", name="t"), notifies("cancelled"), asks("1", "tools/call", name="u")]
    found = listed(
        stdio(asked, sequence=4),
        stdio([answers("1"), DONE], sender="server", sequence=7, at=1.0),
        stdio(CALL, sequence=9, at=2.0),
    )

    assert sorted(pairs(found)) == [(4, None), (5, None), (6, None), (7, 6), (8, 4), (9, None)]


def test_what_is_not_mcp_is_left_out() -> None:
    found = listed(exchanged(CHAT, {"model": "m", "messages": []}, {}), http(CALL, DONE))
    assert [one.index for one in found] == [1, 1]


def test_the_number_of_a_round_trip_is_kept() -> None:
    assert {one.index for one in listed(http(CALL, DONE, index=41))} == {41}


def test_messages_are_in_the_order_of_time_and_not_of_the_file() -> None:
    progress = [notifies("notifications/progress", progress=n) for n in (1, 2)]
    stream = events(progress[0]), events(progress[1])
    late = http(None, b"".join(stream), method="GET", kind=STREAM,
                chunks=(Chunk(len(stream[0]), 12), Chunk(len(stream[1]), 2_000_012)))  # fmt: skip
    found = listed(http(CALL, DONE), http(asks(2, "tools/list"), answers(2), at=1.0), late)
    assert [one.data for one in found] == [
        CALL, progress[0], DONE, asks(2, "tools/list"), answers(2), progress[1]
    ]  # fmt: skip
    assert pairs(found) == [(0, None), (1, None), (2, 0), (3, None), (4, 3), (5, None)]


def test_within_one_microsecond_the_recorder_has_the_order() -> None:
    first = stdio(notifies("notifications/message", n=1), sender="server", sequence=0)
    second = stdio(notifies("notifications/message", n=2), sender="server", sequence=1)
    assert [one.params["n"] for one in listed(second, first)] == [1, 2]


def test_over_stdio_the_recorder_has_paired() -> None:
    found = listed(
        stdio(CALL, DONE, sequence=4, answered=9), stdio(asks(2, "ping"), answers(2), sequence=5, answered=6)
    )
    assert sorted(pairs(found), key=lambda pair: pair[0]) == [(4, None), (5, None), (6, 5), (9, 4)]


def test_ids_of_other_types_and_senders_are_different() -> None:
    found = listed(
        http([asks(0, "tools/list"), asks("0", "tools/call"), asks(0.0, "ping")], [answers("0"), answers(0)]),
        http(None, events(asks(0, "roots/list")), method="GET", kind=STREAM, at=1.0),
        http(answers(0, roots=[]), status=202, at=2.0),
    )
    by_method = {one.method: one.sequence for one in found if one.method}
    answered = [(one.sender, one.id, one.answers) for one in found if one.is_answer]
    assert answered == [
        ("server", "0", by_method["tools/call"]),
        ("server", 0, by_method["ping"]),
        ("client", 0, by_method["roots/list"]),
    ]


def test_an_id_that_is_used_again_is_answered_where_it_was_asked() -> None:
    slow = http(CALL, DONE, ended_at=500)
    found = listed(slow, replace(http(CALL, DONE), started_at=0.0001))
    assert [(one.index, one.answers) for one in found] == [(0, None), (1, None), (1, 1), (0, 0)]


def test_a_second_answer_answers_nothing() -> None:
    assert pairs(listed(http(CALL, [DONE, DONE]))) == [(0, None), (1, 0), (2, None)]
    assert pairs(listed(http(answers(7), status=202))) == [(0, None)]


def test_an_error_without_the_id_answers_the_only_request_there() -> None:
    for name in (None, "server-error"):
        assert pairs(listed(http(CALL, fails(name), status=400))) == [(0, None), (1, 0)]
    two = listed(http([CALL, asks(2, "ping")], fails(None), status=400))
    assert pairs(two)[-1] == (2, None)
    assert pairs(listed(http(CALL, answers(None)))) == [(0, None), (1, None)]


def test_an_old_stream_answers_what_was_posted() -> None:
    at = "http://127.0.0.1:9000/messages?sessionId=7"
    posts = [http(asks(n, "tools/call"), b"Accepted", status=202, url=at, headers=(), at=float(n)) for n in (1, 2)]
    pieces = [events(b"/messages?sessionId=7", name="endpoint"), events(answers(2)), events(answers(1))]
    times = (1, 3_000_000, 4_000_000)
    stream = http(None, b"".join(pieces), method="GET", kind=STREAM, url="http://127.0.0.1:9000/sse", headers=(),
                  chunks=tuple(Chunk(len(piece), t) for piece, t in zip(pieces, times, strict=True)))  # fmt: skip
    found = listed(*posts, stream)
    assert {one.session for one in found} == {at}
    assert pairs(found) == [(0, None), (1, None), (2, 1), (3, 0)]


def test_a_reply_that_is_recorded_before_its_question_has_the_name_of_the_server() -> None:
    reader, at = ToolMessageReader(), "http://127.0.0.1:9000/messages?sessionId=7"
    body = events(b"/messages?sessionId=7", name="endpoint") + events(initialized(0), asks(5, "roots/list"))
    for sent in (initialize(0), answers(5, roots=[])):
        reader.add(http(sent, b"Accepted", status=202, url=at, headers=(), at=1.0))
    found = reader.add(http(None, body, method="GET", kind=STREAM, url="http://127.0.0.1:9000/sse", headers=(), at=0.0))

    assert [(one.sender, one.server) for one in found] == [("server", "files")] * 2 + [("client", "files")]


NAMED = answers(0, _meta={"io.modelcontextprotocol/serverInfo": {"name": "notes"}})


@pytest.mark.parametrize("said", [initialized(0, "notes"), NAMED])
def test_the_server_is_called_as_it_calls_itself(said: dict[str, Any]) -> None:
    found = listed(
        http(asks(0, "server/discover"), fails(0), headers=()),
        http(initialize(), said, headers=(), answer_headers=(("Mcp-Session-Id", "s-1"),), at=1.0),
        http(CALL, DONE, at=2.0),
    )
    assert {one.server for one in found} == {"notes"}
    assert [one.session for one in found] == [URL, URL, "s-1", "s-1", "s-1", "s-1"]


def test_two_servers_of_one_program_have_two_names() -> None:
    urls = ["http://a:1/mcp", "http://b:2/mcp", "http://a:1/mcp"]
    trips = [http(initialize(), initialized(), url=url, headers=(), at=at) for at, url in enumerate(urls)]

    assert [one.server for one in tool_messages(trips)][::2] == ["files", "files (b:2/mcp)", "files"]


def test_a_server_without_a_name_is_called_by_its_upstream_or_host() -> None:
    assert listed(http(CALL))[0].server == "127.0.0.1"
    assert listed(replace(http(CALL), upstream="tools"))[0].server == "tools"


def test_over_stdio_the_client_names_the_server() -> None:
    found = listed(stdio(initialize(), initialized(0, "another"), server="mine", answered=1))
    assert {one.server for one in found} == {"mine"}


def test_runs_and_processes_are_sessions_of_their_own() -> None:
    found = listed(
        in_run(http(CALL, headers=()), "a"), in_run(http(CALL, DONE, headers=()), "b"),
        stdio(CALL, session="p"), stdio(CALL, DONE, session="q", answered=1),
    )  # fmt: skip
    assert {one.session for one in found} == {f"a:{URL}", f"b:{URL}", "p", "q"}
    assert [one.session for one in found if one.answers is not None] == [f"b:{URL}", "q"]


def test_a_message_says_what_it_is() -> None:
    call, done = listed(http(CALL, DONE))
    (sent,) = listed(http(notifies("notifications/cancelled", requestId=1), status=202))
    assert (call.method, call.id, call.is_request, call.is_answer) == ("tools/call", 1, True, False)
    assert (call.params["name"], call.result, call.error) == ("t", None, None)
    assert (done.method, done.is_request, done.is_answer, done.result) == (None, False, True, DONE["result"])
    assert (sent.method, sent.is_request, sent.is_answer) == ("notifications/cancelled", False, False)
    assert listed(http(CALL, fails(1, "gone")))[1].error == {"code": -32603, "message": "gone"}
    (stray,) = listed(stdio(b"hello", sender="server"))
    assert (stray.data, stray.raw, stray.method, stray.params, stray.is_answer) == ({}, b"hello", None, {}, False)
    odd = listed(stdio({"jsonrpc": "2.0", "id": 1, "result": [1], "error": "x"}))[0]
    assert (odd.is_answer, odd.result, odd.error) == (True, None, None)


def test_round_trips_may_come_one_by_one() -> None:
    reader = ToolMessageReader()
    assert reader.add(exchanged(CHAT, {"model": "m", "messages": []}, {})) == []
    first = reader.add(replace(http(initialize(), initialized(), headers=()), index=3))
    second = reader.add(replace(http(CALL, DONE, headers=(), at=1.0), index=4))
    assert pairs([*first, *second]) == [(0, None), (1, 0), (2, None), (3, 2)]
    assert {one.server for one in [*first, *second]} == {"files"}


def broken(trip: RoundTrip) -> RoundTrip:
    def lost() -> bytes:
        raise CassetteError("gone")

    return replace(trip, request=replace(trip.request, content=lost))


def bad_address(trip: RoundTrip) -> RoundTrip:
    return replace(trip, request=replace(trip.request, url="http://["))


@pytest.mark.parametrize(("spoil", "read"), [(broken, {1}), (bad_address, {0, 1})])
def test_a_round_trip_that_cannot_be_read_hides_no_other(
    spoil: Callable[[RoundTrip], RoundTrip], read: set[int]
) -> None:
    found = listed(spoil(http(CALL, DONE, headers=())), http(CALL, DONE, headers=()))
    assert {one.index for one in found} == read


IDS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.just([1]))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)
KEYS = {"jsonrpc": st.sampled_from(["2.0", "1.0", 2]), "id": IDS, "params": VALUES, "result": VALUES, "error": VALUES,
        "method": st.one_of(st.sampled_from(["tools/call", "initialize"]), VALUES)}  # fmt: skip
MESSAGES = st.fixed_dictionaries({}, optional=KEYS)
BODIES = st.one_of(
    st.binary(max_size=40),
    MESSAGES.map(encoded),
    st.lists(MESSAGES, max_size=3).map(encoded),
    st.lists(MESSAGES, max_size=3).map(lambda found: events(*found)),
    st.lists(st.text(max_size=9), max_size=2).map(
        lambda found: events(*(one.encode() for one in found), name="endpoint")
    ),
)


@st.composite
def odd_round_trips(draw: st.DrawFn) -> RoundTrip:
    sent, got = draw(BODIES), draw(BODIES)
    cut = draw(st.integers(0, max(len(got), 1)))
    if draw(st.booleans()):
        return stdio(sent, draw(st.sampled_from([None, got])), sender=draw(st.sampled_from(["client", "server"])))
    return http(
        sent,
        got[:cut],
        method=draw(st.sampled_from(["POST", "GET", "DELETE", "PUT"])),
        status=draw(st.sampled_from([0, 200, 202, 404])),
        headers=draw(st.sampled_from([(), (("Mcp-Session-Id", "1"),)])),
        kind=draw(st.sampled_from([STREAM, "application/json", ""])),
        url=draw(st.sampled_from([URL, "", "x", "http://["])),
        chunks=tuple(Chunk(size, size) for size in draw(st.lists(st.integers(0, 30), max_size=3))),
    )


@settings(max_examples=300, deadline=None)
@given(st.lists(odd_round_trips(), max_size=4))
def test_odd_bytes_never_raise(trips: list[RoundTrip]) -> None:
    found = listed(*trips)
    assert [one.at for one in found] == sorted(one.at for one in found)
    for session in {one.session for one in found}:
        mine = [one for one in found if one.session == session]
        asked = [one.answers for one in mine if one.answers is not None and trips[one.index].tool_wire is None]
        assert len(asked) == len(set(asked))
    for one in found:
        assert isinstance(one.data, dict) and json.dumps(one.data) and one.raw is not None
        _ = (one.method, one.id, one.params, one.result, one.error, one.is_request, one.is_answer)


def test_two_servers_may_give_the_same_id_of_a_session() -> None:
    other = "http://localhost:9100/mcp"
    trips = [http(CALL, at=1.0, index=0), http(CALL, url=other, at=2.0, index=1), http(CALL, DONE, at=3.0, index=2)]
    found = list(tool_messages(trips))

    assert [one.session for one in found] == ["s-1", "s-1 (localhost:9100)", "s-1", "s-1"]
    assert found[-1].answers == found[-2].sequence
