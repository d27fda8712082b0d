"""A recorded tool server over HTTP: sessions, JSON and streams, and the stream of what it says on its own."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from turntape.cassettes import Player, Request, Response, RoundTrip
from turntape.cassettes.replay.tools.http import http_recording
from turntape.cassettes.replay.tools.player import ToolPlayer
from turntape.cassettes.server.server import app
from turntape.cassettes.server.tool_http import HttpTools
from turntape.cassettes.tape.model import Chunk

type Answer = tuple[int, dict[str, str], bytes]
type Ask = Callable[..., Awaitable[Answer]]

SESSION = "mcp-session-id"


def body(**fields: object) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", **fields})


def events(*messages: bytes) -> bytes:
    return b"".join(b"event: message\ndata: " + one + b"\n\n" for one in messages)


def trip(index: int, method: str, sent: bytes, status: int, said: bytes, asked: str = "", given: str = "") -> RoundTrip:
    kind = "text/event-stream" if said.startswith(b"event") else "application/json"
    head = ((SESSION, asked),) if asked else ()
    answer = (*(((SESSION, given),) if given else ()), ("content-type", kind))
    request = Request(method, "http://h:1/mcp", head, sent)
    return RoundTrip(request, Response(status, headers=answer, content=said), 100.0 + index / 1000, index=index)


NOTICE = body(method="notifications/message", params={"n": 1})
PROGRESS = body(method="notifications/progress", params={"progressToken": 5})
CHANGED = body(method="notifications/tools/list_changed")
RECORDED = [
    trip(0, "POST", body(id="d", method="server/discover"), 400, body(id="no", error={"code": -1, "message": "none"})),
    trip(1, "POST", body(id=0, method="initialize"), 200, events(body(id=0, result={"v": 1})), given="s1"),
    trip(2, "POST", body(method="notifications/initialized"), 202, b"", "s1"),
    trip(3, "POST", body(id=1, method="tools/call", params={"name": "plain"}), 200, body(id=1, result="P"), "s1"),
    trip(4, "GET", b"", 200, events(CHANGED), "s1"),
    trip(
        5,
        "POST",
        body(id=2, method="tools/call", params={"name": "stream", "_meta": {"progressToken": 5}}),
        200,
        events(PROGRESS, NOTICE, body(id=2, result="S")),
        "s1",
    ),
    trip(6, "DELETE", b"", 204, b"", "s1"),
]


def serving(trips: list[RoundTrip]) -> Ask:
    recording = http_recording(trips)
    player = Player(trips)
    player.leave_out(recording.trips.values())
    serve = app(player, tools=HttpTools(ToolPlayer(recording.exchanges, values=player), recording))

    async def ask(
        method: str = "POST",
        sent: bytes = b"",
        session: str = "",
        path: str = "/mcp",
        until: bytes = b"",
        to: list[bytes] | None = None,
    ) -> Answer:
        """One request; with `until`, the client leaves when these bytes have come. They are put into `to`."""
        start: dict[str, Any] = {}
        got: list[bytes] = [] if to is None else to
        enough = asyncio.Event()
        asked = [{"type": "http.request", "body": sent}]

        async def receive() -> Any:
            if asked:
                return asked.pop()
            await enough.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            start.update(message) if "status" in message else got.append(message["body"])
            if until and until in b"".join(got):
                enough.set()

        head = [(b"host", b"h:1"), *([(SESSION.encode(), session.encode())] if session else [])]
        where, _, query = path.partition("?")
        scope = {"type": "http", "method": method, "path": where, "query_string": query.encode(), "headers": head}
        await serve(scope, receive, send)
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return start["status"], headers, b"".join(got)

    return ask


def call(number: object, name: str, **meta: object) -> bytes:
    return body(id=number, method="tools/call", params={"name": name, **({"_meta": meta} if meta else {})})


def test_a_session_from_its_start_to_its_end() -> None:
    async def run() -> None:
        ask = serving(RECORDED)
        status, headers, said = await ask(sent=body(id=7, method="initialize"))
        assert (status, headers["content-type"], headers[SESSION]) == (200, "text/event-stream", "s1")
        assert said == events(body(id=7, result={"v": 1}))
        assert (await ask(sent=body(method="notifications/initialized"), session="s1"))[0] == 202
        status, headers, said = await ask(sent=call(8, "plain"), session="s1")
        assert (status, headers["content-type"], said) == (200, "application/json", body(id=8, result="P"))
        mine = body(method="notifications/progress", params={"progressToken": "mine"})
        _, _, said = await ask(sent=call(9, "stream", progressToken="mine"), session="s1")
        assert said == events(mine, NOTICE, body(id=9, result="S"))
        assert (await ask("DELETE", session="s1"))[0] == 204

    asyncio.run(run())


def test_each_server_is_listed_with_its_url() -> None:
    recording = http_recording(RECORDED)
    tools = HttpTools(ToolPlayer(recording.exchanges), recording)

    assert tools.listing("http://127.0.0.1:8000/t/x") == ["the tool server h:1/mcp at http://127.0.0.1:8000/t/x/mcp"]


@pytest.mark.parametrize("streamed", [False, True])
def test_a_batch_is_answered_by_one_body_or_by_one_stream(streamed: bool) -> None:
    first, second = body(id=2, result="B"), body(id=1, result="A")
    asked = b"[%s,%s,%s]" % (call(1, "a"), body(method="notifications/cancelled"), call(2, "b"))
    said = events(first, second) if streamed else b"[%s,%s]" % (first, second)
    recorded = [*RECORDED[:3], trip(3, "POST", asked, 200, said, "s1")]

    async def run() -> None:
        ask = serving(recorded)
        await ask(sent=body(id=7, method="initialize"))
        assert (await ask(sent=b"[%s]" % body(method="notifications/initialized"), session="s1"))[0] == 202
        sent = b"[%s, %s,%s]" % (call("b", "b"), call("a", "a"), body(method="notifications/cancelled"))
        status, headers, got = await ask(sent=sent, session="s1")
        answers = (body(id="b", result="B"), body(id="a", result="A"))
        assert (status, headers["content-type"]) == (200, "text/event-stream" if streamed else "application/json")
        assert got == (events(*answers) if streamed else b"[%s,%s]" % answers)

    asyncio.run(run())


def test_a_client_that_left_without_an_answer_to_its_last_request_ends_its_session_again() -> None:
    recorded = [*RECORDED[:6], replace(RECORDED[6], response=None)]
    player = Player(recorded)
    player.leave_out(http_recording(recorded).trips.values())

    async def run() -> None:
        ask = serving(recorded)
        await ask(sent=body(id=7, method="initialize"))
        assert (await ask("DELETE", session="s1"))[0] == 200

    asyncio.run(run())
    assert player.report().unplayed == ()


def test_what_the_server_says_on_its_own_comes_on_the_open_stream() -> None:
    async def run() -> None:
        ask = serving(RECORDED)
        await ask(sent=body(id=7, method="initialize"))
        stream = asyncio.ensure_future(ask("GET", session="s1", until=CHANGED))
        await ask(sent=call(8, "plain"), session="s1")
        status, headers, said = await stream
        assert (status, headers["content-type"], said) == (200, "text/event-stream", events(CHANGED))

    asyncio.run(run())


def test_a_listener_hears_of_a_change_when_it_happens_and_under_its_own_id() -> None:
    def tagged(method: str, number: object) -> bytes:
        meta = {"io.modelcontextprotocol/subscriptionId": number}
        return body(method=f"notifications/{method}", params={"_meta": meta})

    ready, changed = (events(tagged(method, "l-1")) for method in ("subscriptions/acknowledged", "tools/list_changed"))
    asked = body(id="l-1", method="subscriptions/listen", params={"notifications": {}})
    arrived = (Chunk(len(ready), 1_000), Chunk(len(changed), 6_000))
    stream = trip(0, "POST", asked, 200, ready + changed)
    assert stream.response is not None
    listened = replace(stream, response=replace(stream.response, chunks=arrived), closed_first="client")
    calls = [
        trip(2, "POST", call(1, "plain"), 200, body(id=1, result="P")),
        trip(5, "POST", call(2, "grow"), 200, body(id=2, result="G")),
    ]

    async def run() -> tuple[bytes, bytes]:
        ask = serving([listened, *calls])
        heard: list[bytes] = []
        stream = asyncio.ensure_future(
            ask(
                sent=body(id=70, method="subscriptions/listen", params={"notifications": {}}),
                until=b"changed",
                to=heard,
            )
        )
        for _ in range(50):
            await asyncio.sleep(0)
        await ask(sent=call(71, "plain"))
        before = b"".join(heard)
        await ask(sent=call(72, "grow"))
        status, headers, said = await stream
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        return before, said

    before, said = asyncio.run(asyncio.wait_for(run(), 60))
    ready, changed = (events(tagged(method, 70)) for method in ("subscriptions/acknowledged", "tools/list_changed"))
    assert (before, said) == (ready, ready + changed)


def test_a_stream_with_an_answer_to_no_request_is_given_as_recorded() -> None:
    stream = trip(2, "POST", call(1, "odd"), 200, events(body(id=None, error={"code": -1, "message": "none"})))
    recorded = [*RECORDED, replace(stream, closed_first="client")]

    async def run() -> bytes:
        return (await serving(recorded)(sent=call(7, "odd")))[2]

    assert b"none" in asyncio.run(asyncio.wait_for(run(), 60))


def test_each_client_has_a_session_of_its_own() -> None:
    async def run() -> list[str]:
        ask = serving(RECORDED)
        return [(await ask(sent=body(id=7, method="initialize")))[1][SESSION] for _ in range(3)]

    assert asyncio.run(run()) == ["s1", "s1-1", "s1-2"]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"sent": call(1, "plain"), "session": "gone"}, 404),
        ({"method": "GET", "session": "gone"}, 405),
        ({"sent": body(id=1, result={})}, 202),
        ({"sent": body(id=4, method="server/discover")}, 400),
        ({"sent": b"{}", "path": "/other"}, 400),
        ({"sent": b"not json"}, 400),
    ],
)
def test_other_requests_get_the_status_of_their_kind(asked: dict[str, Any], status: int) -> None:
    assert asyncio.run(serving(RECORDED)(**asked))[0] == status  # type: ignore[arg-type]


def test_an_answer_that_is_none_of_the_protocol_is_given_as_recorded() -> None:
    _, headers, said = asyncio.run(serving(RECORDED)(sent=body(id=4, method="server/discover")))  # type: ignore[arg-type]

    assert orjson.loads(said)["id"] == "no" and SESSION not in headers


def test_the_tools_are_not_missing_in_the_report_of_the_api() -> None:
    player = Player(RECORDED)
    player.leave_out(http_recording(RECORDED).trips.values())

    assert player.report().unplayed == ()


def test_a_request_that_the_client_gave_up_gets_no_answer_again() -> None:
    given_up = RoundTrip(
        Request("POST", "http://h:1/mcp", (), body(id="d", method="server/discover")), None, 99.0, index=9
    )
    player = Player([given_up, *RECORDED[1:]])
    recording = http_recording([given_up, *RECORDED[1:]])
    player.leave_out(recording.trips.values())
    tools = HttpTools(ToolPlayer(recording.exchanges, values=player), recording)
    sent: list[Any] = []
    left = asyncio.Event()

    async def receive() -> Any:
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask() -> bool:
        scope = {"method": "POST", "path": "/mcp"}
        data = body(id=1, method="server/discover")
        asked = asyncio.ensure_future(tools.answer(scope, "/mcp", (("host", "h:1"),), data, receive, send))
        for _ in range(5):
            await asyncio.sleep(0)
        assert not asked.done()
        left.set()
        return await asked

    assert asyncio.run(ask())
    assert sent == []
    assert player.report().unplayed == ()


def old_transport() -> list[RoundTrip]:
    """One connection with one call."""
    stream = b"event: endpoint\ndata: /messages?s=a\n\n" + events(body(id=1, result="P"))
    head = (("content-type", "text/event-stream"),)
    return [
        RoundTrip(Request("POST", "http://h:1/messages?s=a", (), call(1, "plain")), Response(202), 100.0, index=0),
        RoundTrip(Request("GET", "http://h:1/sse"), Response(200, headers=head, content=stream), 100.0, index=1),
    ]


def test_the_older_transport_answers_in_its_stream() -> None:
    async def run() -> None:
        ask = serving(old_transport())
        stream = asyncio.ensure_future(ask("GET", path="/sse", until=b'"P"'))
        for _ in range(3):
            await asyncio.sleep(0)
        assert (await ask(sent=call(8, "plain"), path="/messages?s=a"))[0] == 202
        status, headers, said = await stream
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        assert said == b"event: endpoint\ndata: /messages?s=a\n\n" + events(body(id=8, result="P"))
        assert (await ask(sent=call(9, "plain"), path="/messages?s=a"))[0] == 400  # the stream is closed

    asyncio.run(run())


def test_each_stream_of_the_older_transport_has_its_own_url() -> None:
    async def run() -> list[bytes]:
        ask = serving(old_transport())
        return [(await ask("GET", path="/sse", until=b"endpoint"))[2].splitlines()[1] for _ in range(2)]

    assert asyncio.run(run()) == [b"data: /messages?s=a", b"data: /messages?s=a-1"]
