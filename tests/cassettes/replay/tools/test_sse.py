"""The older transport over HTTP: which round trips are one connection, and what was said in it."""

import orjson
import pytest

from turntape.cassettes import Request, Response, RoundTrip
from turntape.cassettes.replay.tools.http import http_recording
from turntape.cassettes.replay.tools.recording import recorded_sessions
from turntape.cassettes.replay.tools.sse import target_of, tool_streams

HOST = "http://127.0.0.1:9000"


def body(**fields: object) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields})


def stream(index: int, endpoint: bytes, *messages: bytes, name: bytes = b"endpoint") -> RoundTrip:
    said = b"".join(b"event: message\r\ndata: " + one + b"\r\n\r\n" for one in messages)
    answer = b"event: " + name + b"\r\ndata: " + endpoint + b"\r\n\r\n" + said
    head = (("content-type", "text/event-stream"),)
    return RoundTrip(Request("GET", f"{HOST}/sse"), Response(200, headers=head, content=answer), 100.0, index=index)


def post(index: int, target: str, sent: bytes) -> RoundTrip:
    return RoundTrip(
        Request("POST", HOST + target, content=sent), Response(202, content=b"Accepted"), 90.0 + index, index=index
    )


ASK = body(id=1, method="tools/call", params={"name": "t"})
ANSWER = body(id=1, result={"text": "yes"})
CHANGED = body(method="notifications/tools/list_changed")


@pytest.mark.parametrize("endpoint", [b"/messages?s=a", b"messages?s=a", b"http://127.0.0.1:9000/messages?s=a"])
def test_the_first_event_names_the_url_of_the_clients_messages(endpoint: bytes) -> None:
    trips = [post(0, "/messages?s=a", ASK), post(1, "/messages?s=b", ASK), stream(2, endpoint, ANSWER)]

    (found,) = tool_streams(trips)

    assert (found.target, found.posts) == ("/messages?s=a", (trips[0],))


@pytest.mark.parametrize("named", [b"http://[", b"//[::1/m"])
def test_a_connection_that_names_no_url_has_no_messages_and_stops_nothing(named: bytes) -> None:
    odd = RoundTrip(Request("POST", "http://[", content=ASK), Response(202), 90.0, index=1)
    trips = [post(0, "/messages?s=a", ASK), odd, stream(2, named, ANSWER), stream(3, b"/messages?s=a", ANSWER)]

    assert [found.posts for found in tool_streams(trips)][1] == (trips[0],)
    assert http_recording(trips).streams


@pytest.mark.parametrize(
    "other",
    [
        stream(0, b"/messages", name=b"message"),
        RoundTrip(Request("GET", f"{HOST}/sse"), Response(200, content=b'{"endpoint": "/messages"}'), 1.0, index=0),
        RoundTrip(Request("GET", f"{HOST}/sse"), None, 1.0, index=0),
        RoundTrip(Request("GET", f"{HOST}/sse"), Response(200, content=b"event: endpoint\n\n"), 1.0, index=0),
    ],
)
def test_other_answers_open_no_connection(other: RoundTrip) -> None:
    assert list(tool_streams([other])) == []


def test_two_connections_of_one_server_are_two_sessions() -> None:
    trips = [
        post(0, "/m?s=a", ASK),
        post(1, "/m?s=b", ASK),
        stream(2, b"/m?s=a", ANSWER, CHANGED),
        stream(3, b"/m?s=b", ANSWER),
    ]

    found = http_recording(trips)

    ((server, (first, second)),) = recorded_sessions(found.exchanges).items()
    assert server == "127.0.0.1:9000/sse"
    ((asked,), (again,)) = first.asked, second.asked
    assert asked.answer is not None and asked.answer.raw == ANSWER
    assert [one.raw for one in asked.others] == [CHANGED]
    assert again.answer is not None and again.others == []
    assert sorted(found.trips) == [0, 1, 2, 3]
    assert found.places == {}


def test_a_target_is_the_path_with_the_query() -> None:
    assert [target_of(url) for url in ("http://h/a?b=c", "/a?b=c", "http://h/a")] == ["/a?b=c", "/a?b=c", "/a"]
