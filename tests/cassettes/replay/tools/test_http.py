"""Tool servers over HTTP in a recording: what belongs to one session, and which message answers which."""

import orjson

from turntape.cassettes import Request, Response, RoundTrip
from turntape.cassettes.replay.tools.http import Place, http_recording, place_of
from turntape.cassettes.replay.tools.recording import recorded_sessions

URL = "http://127.0.0.1:9000/mcp"
STREAM = ("content-type", "text/event-stream")
PLAIN = ("content-type", "application/json")


def body(**fields: object) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields})


def events(*messages: bytes) -> bytes:
    return b"".join(b"event: message\ndata: " + one + b"\n\n" for one in messages)


def trip(
    index: int,
    sent: bytes = b"",
    said: bytes = b"",
    *,
    method: str = "POST",
    url: str = URL,
    status: int = 200,
    stream: bool = False,
    asked: str = "",
    given: str = "",
    at: float | None = None,
) -> RoundTrip:
    """One round trip; `asked` and `given` are the ids of the session in the request and the answer."""
    head = (("mcp-session-id", asked),) if asked else ()
    answer = (*((("mcp-session-id", given),) if given else ()), STREAM if stream else PLAIN)
    return RoundTrip(
        Request(method, url, head, sent),
        Response(status, headers=answer, content=said),
        100.0 + index if at is None else at,
        index=index,
    )


INITIALIZE = trip(0, body(id=0, method="initialize"), body(id=0, result={"v": 1}), given="s1")
INITIALIZED = trip(1, body(method="notifications/initialized"), status=202, asked="s1")
CALL = trip(
    2,
    body(id=1, method="tools/call", params={"name": "t", "_meta": {"progressToken": 5}}),
    events(body(method="notifications/progress", params={"progressToken": 5}), body(id=1, result={"text": "yes"})),
    stream=True,
    asked="s1",
)


def test_the_messages_of_a_session_are_those_of_a_session_over_stdio() -> None:
    found = http_recording([INITIALIZE, INITIALIZED, CALL])

    ((server, (session,)),) = recorded_sessions(found.exchanges).items()
    assert (server, session.key) == ("127.0.0.1:9000/mcp", "s1")
    assert [(one.method, one.index, [said.method for said in one.others]) for one in session.asked] == [
        ("initialize", 0, []),
        ("notifications/initialized", 1, []),
        ("tools/call", 2, ["notifications/progress"]),
    ]
    assert [one.answer and one.answer.data["result"] for one in session.asked] == [{"v": 1}, None, {"text": "yes"}]
    assert list(found.trips) == [0, 1, 2]


def test_what_came_on_a_stream_of_its_own_follows_the_message_before_it() -> None:
    opened = trip(3, said=events(body(method="notifications/message")), method="GET", stream=True, asked="s1", at=102.5)

    found = http_recording([INITIALIZE, CALL, opened])

    (session,) = recorded_sessions(found.exchanges)["127.0.0.1:9000/mcp"]
    assert [said.method for said in session.asked[-1].others] == ["notifications/progress", "notifications/message"]
    assert 3 in found.trips


def test_requests_without_a_session_are_one() -> None:
    other = trip(1, body(id=1, method="tools/list"), body(id=1, result={}))

    found = http_recording([trip(0, body(id=0, method="server/discover"), body(id=0, result={})), other])

    (session,) = recorded_sessions(found.exchanges)["127.0.0.1:9000/mcp"]
    assert [one.method for one in session.asked] == ["server/discover", "tools/list"]


def test_other_requests_are_left_out() -> None:
    generation = trip(0, b'{"model": "m"}', b'{"jsonrpc": "2.0", "id": 1, "result": 1}', url="http://h/v1/messages")
    never_answered = trip(1, body(id=1, method="x"), b"<html>", url="http://h/rpc")
    elsewhere = trip(2, method="GET", url="http://h/other")

    found = http_recording([generation, never_answered, elsewhere])

    assert (found.exchanges, found.trips, found.places) == ([], {}, {})


def test_an_answer_has_the_id_of_its_request() -> None:
    refused = trip(0, body(id=0, method="server/discover"), body(id="server-error", error={"code": 1}), status=400)

    found = http_recording([refused, CALL])

    (first, *_) = [one for sessions in recorded_sessions(found.exchanges).values() for one in sessions[0].asked]
    assert (first.method, first.answer) == ("server/discover", None)


def test_a_server_is_found_on_another_port_when_its_path_is_the_only_one() -> None:
    found = http_recording([CALL])

    assert found.at("127.0.0.1:9000", "/mcp") == found.at("127.0.0.1:5", "/mcp") == place_of(URL)
    assert found.at("127.0.0.1:9000", "/tools/mcp") == place_of(URL)
    assert found.at("127.0.0.1:9000", "/other") is found.at("127.0.0.1:9000", "/mcp/other") is None
    other = trip(9, body(id=1, method="tools/list"), body(id=1, result={}), url="http://web/mcp")
    both = http_recording([CALL, other])
    assert both.at("web", "/mcp") == Place("web", "/mcp")
    assert both.at("127.0.0.1:5", "/mcp") is None


def test_an_answer_that_a_stream_repeats_is_said_once() -> None:
    again = trip(3, said=events(body(id=1, result={"text": "yes"})), method="GET", stream=True, asked="s1")

    found = http_recording([INITIALIZE, INITIALIZED, CALL, again])

    ((_, (session,)),) = recorded_sessions(found.exchanges).items()
    assert [other.method for asked in session.asked for other in asked.others] == ["notifications/progress"]
    assert [asked.answer is not None for asked in session.asked] == [True, False, True]


def test_an_answer_may_come_in_the_stream_that_continues_after_a_break() -> None:
    asked = body(id=1, method="tools/call", params={"name": "t"})
    broken = trip(2, asked, events(body(method="notifications/message")), stream=True, asked="s1")
    later = trip(3, said=events(body(id=1, result={"text": "yes"})), method="GET", stream=True, asked="s1")

    found = http_recording([INITIALIZE, INITIALIZED, broken, later])

    ((_, (session,)),) = recorded_sessions(found.exchanges).items()
    assert session.asked[-1].answer is not None
    assert session.asked[-1].answer.data["result"] == {"text": "yes"}


def test_a_request_that_the_client_gave_up_is_recorded_without_an_answer() -> None:
    given_up = RoundTrip(Request("POST", URL, (), body(id="d", method="server/discover")), None, 99.0, index=9)

    found = http_recording([given_up, INITIALIZE, INITIALIZED, CALL])

    assert found.trips[9] is given_up
    asked = [one for several in recorded_sessions(found.exchanges).values() for s in several for one in s.asked]
    assert [one.answer for one in asked if one.method == "server/discover"] == [None]
    assert not http_recording([given_up]).places
