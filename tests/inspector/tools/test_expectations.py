"""What messages of MCP rely on: capabilities, ids, sessions and arguments that the other side stated."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from judged import findings
from tool_stories import ADD, IDS, SAY, Story, text
from tool_wire import SESSION, answers, asks, events, fails, http, initialize, initialized, notifies, stdio

from turntape.cassettes.tape.model import Chunk, Failure, FailureKind, Headers, RoundTrip, Side

INFO = {"name": "files", "version": "1"}
CITY = {"name": "weather", "arguments": [{"name": "city", "required": True}, {"name": "unit"}]}
FORM = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
GONE = b'{"jsonrpc":"2.0","id":"server-error","error":{"code":-32001,"message":"Session not found"}}'
CLIENT, TOOL = ("client-tool-protocol-broken", "client"), ("tool-protocol-broken", "tool")


def begun(declared: dict[str, Any] | None = None, **offers: Any) -> Story:
    """A handshake in which both sides declare this."""
    ready = answers(0, protocolVersion="2025-11-25", capabilities={"tools": {}, **offers}, serverInfo=INFO)
    return Story().exchange(initialize(0, **(declared or {})), ready).exchange(notifies("notifications/initialized"))


def found(trips: list[RoundTrip]) -> list[tuple[str, str, str]]:
    every = findings(trips, hints=False, advice=False)
    return [(one["id"], one["layer"], one["severity"]) for _, one in every if one["id"] in IDS]


def over_http(*trips: RoundTrip) -> list[tuple[str, str, str]]:
    return found([replace(trip, index=index, started_at=index / 10) for index, trip in enumerate(trips)])


def opened(name: str = "s-1", version: str = "2025-11-25") -> RoundTrip:
    made = {**initialized(0), "result": {**initialized(0)["result"], "protocolVersion": version}}
    return http(initialize(0, version), made, headers=(), answer_headers=(("Mcp-Session-Id", name),))


@pytest.mark.parametrize(
    ("method", "offers", "declared", "sender", "wrong"),
    [
        ("notifications/tools/list_changed", {"tools": {}}, {}, "server", 1),
        ("notifications/tools/list_changed", {"tools": {"listChanged": False}}, {}, "server", 1),
        ("notifications/tools/list_changed", {"tools": {"listChanged": True}}, {}, "server", 0),
        ("notifications/prompts/list_changed", {"tools": {"listChanged": True}}, {}, "server", 1),
        ("notifications/resources/list_changed", {"resources": {"listChanged": True}}, {}, "server", 0),
        ("notifications/roots/list_changed", {}, {}, "client", 1),
        ("notifications/roots/list_changed", {}, {"roots": {"listChanged": True}}, "client", 0),
    ],
)
def test_changes_are_announced_only_by_who_declared_it(
    method: str, offers: dict[str, Any], declared: dict[str, Any], sender: Any, wrong: int
) -> None:
    story = begun(declared, **offers).exchange(notifies(method), sender=sender)

    assert found(story.trips) == [(*(TOOL if sender == "server" else CLIENT), "info")] * wrong


@pytest.mark.parametrize(
    ("method", "params", "result", "offers", "wrong"),
    [
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}},
         {"completion": {"values": []}}, {}, 1),
        ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}},
         {"completion": {"values": []}}, {"completions": {}}, 0),
        ("resources/subscribe", {"uri": "a:b"}, {}, {"resources": {}}, 1),
        ("resources/subscribe", {"uri": "a:b"}, {}, {"resources": {"subscribe": False}}, 1),
        ("resources/subscribe", {"uri": "a:b"}, {}, {"resources": {"subscribe": True}}, 0),
        ("logging/setLevel", {"level": "info"}, {}, {}, 1),
        ("resources/list", {}, {"resources": []}, {"resources": {}}, 0),
        ("ping", {}, {}, {}, 0),
    ],
)  # fmt: skip
def test_a_client_asks_for_what_the_server_has_not_declared(
    method: str, params: dict[str, Any], result: dict[str, Any], offers: dict[str, Any], wrong: int
) -> None:
    story = begun(**offers).exchange(asks(7, method, **params), answers(7, **result))

    assert found(story.trips) == [(*CLIENT, "info")] * wrong


def test_a_method_that_mcp_does_not_have_is_the_clients() -> None:
    unknown = begun().exchange(asks(7, "tools/get", name="add"), fails(7, "Method not found", -32601))
    known = begun(prompts={}).exchange(asks(7, "prompts/list"), fails(7, "Method not found", -32601))

    assert found(unknown.trips) == [(*CLIENT, "info")]
    assert found(known.trips) == [(*TOOL, "warning")]


@pytest.mark.parametrize(
    ("arguments", "got", "severity"),
    [
        ({}, fails(8, "city is required", -32602), "warning"),
        ({"unit": "C"}, answers(8, messages=[]), "info"),
        ({"city": "Rome"}, answers(8, messages=[]), None),
    ],
)
def test_a_prompt_needs_its_required_arguments(arguments: dict[str, str], got: Any, severity: str | None) -> None:
    story = begun(prompts={}).exchange(asks(7, "prompts/list"), answers(7, prompts=[CITY]))
    story.exchange(asks(8, "prompts/get", name="weather", arguments=arguments), got)

    assert found(story.trips) == ([(*CLIENT, severity)] if severity else [])


def left(arguments: dict[str, str], kind: FailureKind, after: int, over: Callable[..., RoundTrip]) -> set[str]:
    """The layers blamed for a request for a prompt without an answer, whose connection was closed after `after`."""
    ready = answers(0, protocolVersion="2025-11-25", capabilities={"tools": {}, "prompts": {}}, serverInfo=INFO)
    start = (
        http(initialize(0), ready, headers=(), answer_headers=SESSION[:1]) if over is http else begun(prompts={}).trips
    )
    asked = over(asks(8, "prompts/get", name="weather", arguments=arguments), ended_at=after)
    closed: Side = "client" if kind == "client_gone" else "server"
    trips = [
        *(start if isinstance(start, list) else [start]),
        over(asks(7, "prompts/list"), answers(7, prompts=[CITY])),
        replace(asked, failure=Failure(kind, "closed"), closed_first=closed),
    ]
    return {layer for _, layer, severity in over_http(*trips) if severity != "info"}


@pytest.mark.parametrize("over", [http, stdio])
@pytest.mark.parametrize(("kind", "after"), [("client_gone", 6_000_000), ("cut", 1_000)])
def test_a_prompt_without_its_arguments_that_is_never_answered(
    kind: FailureKind, after: int, over: Callable[..., RoundTrip]
) -> None:
    assert left({}, kind, after, over) == {"client"}
    assert left({"city": "Rome"}, kind, after, over) == {"tool"}


def questions(second: object, *, overlap: bool) -> Story:
    """Two requests of the server, of which the second may come while the first is open."""
    story = begun({"elicitation": {}})
    for number in (1, second):
        story.exchange(asks(number, "elicitation/create", **FORM), answers(number, action="decline"), sender="server")
    first, then = story.trips[-2:]
    if overlap:
        story.trips[-2] = replace(first, ended_at=int((then.started_at - first.started_at) * 1e6) + 1_000)
    return story


@pytest.mark.parametrize(
    ("second", "overlap", "severity"), [(1, True, "warning"), (1, False, "info"), (2, True, None), ("1", True, None)]
)
def test_each_request_of_a_server_has_another_id(second: object, overlap: bool, severity: str | None) -> None:
    assert found(questions(second, overlap=overlap).trips) == ([(*TOOL, severity)] if severity else [])


def test_a_session_keeps_its_id() -> None:
    lists = asks(1, "tools/list"), answers(1, tools=[ADD, SAY])
    same: Headers = (("Mcp-Session-Id", "s-1"),)
    other: Headers = (("Mcp-Session-Id", "s-2"),)

    assert over_http(opened(), http(*lists, answer_headers=same)) == []
    assert over_http(opened(), http(*lists, answer_headers=other)) == [(*TOOL, "warning")]


def test_the_end_of_a_session_is_the_servers_and_the_next_one_the_clients() -> None:
    call = asks(5, "tools/call", name="add", arguments={})
    lost = http(call, GONE, status=404)
    again = opened("s-2"), http(call, answers(5, **text("1")), headers=(("Mcp-Session-Id", "s-2"), SESSION[1]))
    error, left = ("tool-server-error", "tool", "info"), (*CLIENT, "info")

    assert sorted(over_http(opened(), lost)) == sorted([error, left])
    assert over_http(opened(), lost, *again) == [error]
    assert (*CLIENT, "warning") in over_http(opened(), lost, http({**call, "id": 6}, GONE, status=404))
    assert over_http(opened(), http(call, b"no", status=403)) == [("tool-server-error", "client", "warning")]


def test_a_server_that_answers_in_the_session_that_it_ended() -> None:
    call = asks(5, "tools/call", name="add", arguments={})
    lost, kept = http(call, GONE, status=404), http({**call, "id": 6}, answers(6, **text("1")))
    error = ("tool-server-error", "tool", "info")

    assert sorted(over_http(opened(), lost, kept)) == sorted([error, (*TOOL, "warning"), (*CLIENT, "info")])
    assert sum(one == (*TOOL, "warning") for one in over_http(opened(), lost, kept, kept)) == 1
    assert (*TOOL, "warning") not in over_http(opened(), lost, http({**call, "id": 6}, b"no", status=500))


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_server_without_a_stream_or_an_end_of_sessions_has_the_session(method: str) -> None:
    call = http(asks(5, "tools/call", name="add", arguments={}), answers(5, **text("1")))
    refused = http(b"", GONE, method=method, status=404)

    assert [one for one in over_http(opened(), refused, call) if one[2] != "info"] == []


@pytest.mark.parametrize(
    ("version", "headers", "wrong"),
    [
        ("2025-11-25", SESSION[:1], 1),
        ("2025-11-25", SESSION, 0),
        ("2025-03-26", SESSION[:1], 0),
        ("2025-11-25", (*SESSION, ("accept", "application/json")), 1),
    ],
)
def test_headers_that_a_request_needs(version: str, headers: Headers, wrong: int) -> None:
    lists = http(asks(1, "tools/list"), answers(1, tools=[]), headers=headers)
    if ("accept", "application/json") in headers:
        lists = replace(lists, request=replace(lists.request, headers=headers))

    assert over_http(opened(version=version), lists) == [(*CLIENT, "info")] * wrong


def test_a_client_that_does_not_take_streams_is_refused_for_it() -> None:
    said = "Not Acceptable: Client must accept both application/json and text/event-stream"
    refused = http(asks(1, "tools/list"), fails(None, said, -32600), status=406)
    alone = replace(refused, request=replace(refused.request, headers=(*SESSION, ("Accept", "application/json"))))

    assert over_http(opened(), alone) == [(*CLIENT, "warning")]


def test_what_needs_no_answer_gets_none() -> None:
    notice = notifies("notifications/initialized")

    assert over_http(opened(), http(notice, b"", status=202)) == over_http(opened(), http(notice, b"")) == []
    for body in (b"null", b'{"jsonrpc":"2.0","id":null}'):
        assert over_http(opened(), http(notice, body)) == [(*TOOL, "warning")]


def test_an_answer_under_another_id_in_the_stream_of_its_request() -> None:
    call = asks(5, "tools/call", name="add", arguments={})
    for number, wrong in ((5, 0), ("5", 1), (0, 1)):
        stream = http(call, events(answers(number, **text("1"))), kind="text/event-stream")
        assert ((*TOOL, "warning") in over_http(opened(), stream)) is bool(wrong)


@pytest.mark.parametrize(("version", "wrong"), [("latest", 1), ("2025-11-25", 0), ("DRAFT-2026-v1", 0)])
def test_a_client_wants_a_version_that_exists(version: str, wrong: int) -> None:
    story = Story().exchange(initialize(0, version), initialized(0))

    assert found(story.trips) == [(*CLIENT, "info")] * wrong


def test_reports_of_a_client_belong_to_a_request_of_the_server() -> None:
    reported = begun({"elicitation": {}})
    reported.exchange(
        asks(1, "elicitation/create", **FORM, _meta={"progressToken": "t"}),
        answers(1, action="decline"),
        sender="server",
    )
    reported.exchange(notifies("notifications/progress", progressToken="t", progress=1))
    made_up = begun().exchange(notifies("notifications/progress", progressToken="mine", progress=1))

    assert (found(reported.trips), found(made_up.trips)) == ([], [(*CLIENT, "info")])


def test_a_client_answers_once() -> None:
    story = questions(2, overlap=False)
    again = replace(story).exchange(answers(2, action="decline"))

    assert found(again.trips) == [(*CLIENT, "info")]


def test_an_initialize_that_is_cancelled_before_its_answer_is_recorded() -> None:
    start = stdio(initialize(0), initialized(0), sequence=0, answered=2, at=1.0, ended_at=900_000, index=1)
    given_up = stdio(notifies("notifications/cancelled", requestId=0), sequence=1, at=1.5, index=0)

    assert found([given_up, start]) == [(*CLIENT, "info")]
    assert found([replace(start, index=0)]) == []


def test_an_error_for_a_request_that_was_cancelled() -> None:
    story = begun().exchange(notifies("notifications/cancelled", requestId=12))
    given_up = story.trips[-1].started_at
    story.exchange(asks(12, "tools/call", name="add", arguments={}), fails(12, "Request cancelled", 0))
    story.trips[-1] = replace(story.trips[-1], started_at=given_up - 0.2, ended_at=400_000)

    assert (*TOOL, "info") in found(story.trips)


def test_a_server_that_waits_for_the_end_of_the_handshake_is_not_silent() -> None:
    """Not where it has answered something else, or the client has sent the notification."""

    def layers(*, ends: bool, lists: bool) -> set[str]:
        story = Story().exchange(initialize(0), initialized(0))
        if ends:
            story.exchange(notifies("notifications/initialized"))
        if lists:
            story.lists()
        story.exchange(asks(50, "tools/call", name="add", arguments={}))
        gone = Failure("client_gone", "the client went")
        story.trips[-1] = replace(story.trips[-1], failure=gone, closed_first="client", ended_at=60_000_000)
        return {layer for _, layer, _ in found(story.trips)}

    assert layers(ends=False, lists=False) == {"client"}
    assert layers(ends=True, lists=False) == layers(ends=False, lists=True) == {"tool"}


def test_reports_that_are_written_at_once_with_the_answer_come_in_their_order() -> None:
    """One piece of a pipe has one time, and a float of it differs in its last digit."""
    for order, wrong in (((2, 3), 0), ((3, 2), 1)):
        story = begun()
        call = asks(9, "tools/call", name="add", arguments={}, _meta={"progressToken": 9})
        report = notifies("notifications/progress", progressToken=9, progress=3)
        trips = [
            stdio(report, sender="server", sequence=2 + order[0], at=2.0000004, index=2),
            stdio(
                call, answers(9, **text("1")), sequence=4, answered=2 + order[1], at=1.0, ended_at=1_000_000, index=3
            ),
        ]
        said = found([*story.trips, *trips])
        assert said == [(*TOOL, "info")] * wrong


def test_a_tool_that_is_not_listed_and_runs() -> None:
    story = Story().start().call("status", {}, text("x"))
    more = Story(tools=[ADD]).exchange(initialize(0), initialized(0))
    more.exchange(asks(1, "tools/list"), answers(1, tools=[ADD], nextCursor="2")).call("say", {}, text("x"))

    assert found(story.trips) == [("client-tool-not-on-server", "client", "info")]
    assert found(more.trips) == [(*CLIENT, "warning")], "it may be on the page that was not read"
    assert found(Story().call("status", {}, text("x")).trips) == []


def old(*pairs: tuple[Any, Any]) -> list[RoundTrip]:
    """Exchanges over the transport of 2024-11-05: answers come on the stream, which is recorded last."""
    url = "http://127.0.0.1:9000/messages?session_id=s1"
    posts = [
        http(sent, b"Accepted", url=url, status=202, headers=(), at=1 + place / 10)
        for place, (sent, _) in enumerate(pairs)
    ]
    stream = b"event: endpoint\r\ndata: /messages?session_id=s1\r\n\r\n" + events(*(got for _, got in pairs))
    where: dict[str, Any] = {"url": "http://127.0.0.1:9000/sse", "method": "GET", "kind": "text/event-stream"}
    opened = http(None, stream, headers=(), at=0.9, ended_at=9_000_000, **where)
    return [replace(trip, index=index) for index, trip in enumerate([*posts, opened])]


def test_an_old_stream_is_one_clients() -> None:
    lists = asks(1, "tools/list"), answers(1, tools=[ADD, SAY])
    again = initialize(2), {**initialized(0), "id": 2}

    assert (*TOOL, "warning") in found(old((initialize(0), initialized(0)), lists, (asks(2, "ping"), answers(0))))
    assert (*TOOL, "warning") not in found(old((initialize(0), initialized(0)), lists, (asks(2, "ping"), answers(2))))
    second = list(findings(old((initialize(0), initialized(0)), again), hints=False, advice=False))
    assert all("`initialize`" in one["message"] or "handshake" in one["message"] for _, one in second)


def test_a_call_that_fails_for_a_reply_in_the_same_stream_is_the_clients() -> None:
    """Over HTTP the server asks in the stream of the call, and the reply is in another request."""
    call = asks(5, "tools/call", name="add", arguments={})
    ask = asks("q", "sampling/createMessage", messages=[], maxTokens=5)
    failed = answers(5, **text('[{"expected": "string", "code": "invalid_type", "path": ["model"]}]', isError=True))
    for reply, layer in (
        ({"content": {"type": "text", "text": "hi"}}, "client"),
        ({"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}, "tool"),
    ):
        answered = http(answers("q", **reply), b"", status=202, at=0.3)
        parts = events(ask), events(failed)
        chunks = Chunk(len(parts[0]), 50_000), Chunk(len(parts[1]), 300_000)
        stream = http(call, b"".join(parts), kind="text/event-stream", at=0.2, ended_at=400_000, chunks=chunks)
        start = http(initialize(0, sampling={}), initialized(0), headers=(), answer_headers=(SESSION[0],))
        lists = http(asks(1, "tools/list"), answers(1, tools=[ADD]), at=0.1)
        trips = [replace(trip, index=index) for index, trip in enumerate((start, lists, answered, stream))]

        assert [where for name, where, _ in found(trips) if name == "tool-reported-error"] == [layer]


def test_a_request_in_a_wrong_form_that_gets_no_answer() -> None:
    bare = {"id": 5, "method": "tools/call", "params": {"name": "add"}}
    story = Story().start().exchange(bare)
    story.trips[-1] = replace(story.trips[-1], failure=Failure("client_gone", "it went"), ended_at=1_000_000)

    assert (*CLIENT, "warning") in found(story.trips)
    listed = {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "add", "arguments": [1]}}
    assert (*CLIENT, "warning") in over_http(opened(), http(listed, b"no", status=400))
    assert (*CLIENT, "warning") not in over_http(
        opened(), http({**listed, "params": {"name": "add"}}, b"no", status=500)
    )
