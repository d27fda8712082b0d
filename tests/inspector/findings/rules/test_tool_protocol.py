from dataclasses import replace
from typing import Any

import pytest
from conversations import START
from tool_stories import ADD, KEPT, MODERN, SAY, Story, text
from tool_wire import SESSION, STREAM, answers, asks, events, fails, http, initialize, initialized, notifies

from turntape.cassettes.tape.model import Chunk, Failure, RoundTrip
from turntape.inspector.run.labels import label_all

GIVEN = (("Mcp-Session-Id", "s-1"),)
STREAM_URL, POST_URL = "http://127.0.0.1:9000/sse", "http://127.0.0.1:9000/messages?session_id=1"
CONFIRMED = notifies("notifications/initialized")


def found(trips: list[RoundTrip]) -> list[tuple[str, str, str, str]]:
    """The findings of these round trips, a tenth of a second apart: id, layer, severity, message."""
    made = [replace(trip, index=place, started_at=START + place / 10) for place, trip in enumerate(trips)]
    rows: list[Any] = [one for row in label_all(made) for one in list[Any](row.label["findings"])]  # pyright: ignore[reportArgumentType]
    return [(one["id"], one["layer"], one["severity"], one["message"]) for one in rows]


def brief(trips: list[RoundTrip]) -> list[tuple[str, str, str]]:
    return [one[:3] for one in found(trips)]


def over_http(*trips: RoundTrip, version: str = "2025-11-25", **capabilities: Any) -> list[RoundTrip]:
    """After a whole handshake of a client with these capabilities, and a list of tools."""
    began = initialized(0)
    began["result"]["protocolVersion"] = version
    return [
        http(initialize(0, version, **capabilities), began, answer_headers=GIVEN, headers=()),
        http(CONFIRMED, status=202),
        http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY])),
        *trips,
    ]


def posted(message: object, status: int = 202, got: bytes = b"Accepted", **given: Any) -> RoundTrip:
    """A POST of the transport of 2024-11-05."""
    return http(message, got, status=status, url=POST_URL, headers=(), kind="text/plain", **given)


def old_stream(*messages: object, failure: Failure | None = None) -> RoundTrip:
    """Its stream, which is recorded last; each event comes a tenth of a second after the one before."""
    body = events(b"/messages?session_id=1", name="endpoint") + events(*messages)
    return replace(http(None, body, method="GET", url=STREAM_URL, headers=(), kind=STREAM), failure=failure)


EMPTY_STREAM = (STREAM, b"")
NO_BODY = ("application/json", b"")
ONLY_COMMENTS = (STREAM, b": ping\n\n")


@pytest.mark.parametrize(("kind", "body"), [EMPTY_STREAM, NO_BODY, ONLY_COMMENTS])
@pytest.mark.parametrize("method", ["tools/list", "resources/read", "ping", "initialize"])
def test_an_answer_that_ends_without_what_was_asked_is_the_servers(method: str, kind: str, body: bytes) -> None:
    trips = over_http(http(asks(5, method, uri="a://b"), body, kind=kind))
    if method == "initialize":
        trips = [http(initialize(0), body, kind=kind, headers=())]

    assert ("tool-server-silent", "tool", "warning") in brief(trips)
    assert f"ended its HTTP response to {method}, and there is no answer in it" in found(trips)[-1][3]


def test_a_call_that_reports_progress_and_whose_answer_ends_is_the_servers() -> None:
    reports = [notifies("notifications/progress", progressToken=5, progress=n) for n in (1, 2, 3)]
    call = asks(5, "tools/call", name="add", arguments={"a": 1}, _meta={"progressToken": 5})

    assert brief(over_http(http(call, events(*reports), kind=STREAM))) == [("tool-server-silent", "tool", "warning")]


def test_a_stream_that_may_be_resumed_or_that_the_client_left_is_silent() -> None:
    resumable = http(asks(5, "tools/list"), b"id: 1\r\ndata: \r\n\r\n", kind=STREAM)
    again = http(None, events(answers(5, tools=[ADD, SAY])), method="GET", kind=STREAM,
                 headers=(*SESSION, ("Last-Event-ID", "1")))  # fmt: skip
    gone = replace(resumable, failure=Failure("client_gone", "it went"), closed_first="client")
    listens = http(asks(5, "subscriptions/listen"), b"", kind=STREAM)

    assert brief(over_http(resumable, again)) == []
    assert brief(over_http(gone)) == []
    assert brief(over_http(listens)) == []


def test_a_call_that_is_cut_stays_the_servers_when_the_client_cancels_it_later() -> None:
    call = http(asks(5, "tools/call", name="add", arguments={"a": 1}), b"", kind=STREAM)
    cut = replace(call, failure=Failure("cut", "the server closed it"), closed_first="server")
    cancel = http(notifies("notifications/cancelled", requestId=5, reason="timed out"), status=202)

    assert brief(over_http(cut, cancel)) == [("tool-server-died", "tool", "error")]


def test_a_client_that_never_confirms_the_handshake_is_an_info() -> None:
    trips = over_http()
    assert brief([trips[0], trips[2]]) == [("client-tool-protocol-broken", "client", "info")]
    assert "never sent server 'files' `notifications/initialized`" in found([trips[0], trips[2]])[0][3]
    assert brief(trips) == []
    assert brief(trips[:1]) == []
    assert Story().modern().label()[-1].label["findings"] == []


def test_the_same_over_the_older_transport_and_over_stdio() -> None:
    old = [posted(initialize(0)), posted(asks(1, "tools/list"))]
    answered = old_stream(initialized(0), answers(1, tools=[ADD, SAY]))
    story = Story().start()

    assert len([one for one in found([*old, answered]) if "never sent" in one[3]]) == 1
    assert "never sent" not in str(found([*old, posted(CONFIRMED), answered]))
    assert [one["severity"] for one in story.every("client-tool-protocol-broken")] == ["info"]


BATCH_OF_PINGS = [asks(7, "ping"), asks(8, "ping")]
BATCH_OF_CALLS = [asks(7, "tools/call", name="add", arguments={"a": 1})]


def test_a_refused_batch_is_the_clients_over_http() -> None:
    for batch in (BATCH_OF_PINGS, BATCH_OF_CALLS):
        trips = over_http(http(batch, b"Could not parse message", status=400, kind="text/plain"))
        assert brief(trips) == [("client-tool-protocol-broken", "client", "warning")]


def test_a_refused_batch_is_the_clients_where_the_version_is_recorded_after_it() -> None:
    began = [posted(initialize(0)), posted(CONFIRMED)]
    refused = posted(BATCH_OF_CALLS, 400, b"Could not parse message")
    trips = [*began, refused, old_stream(initialized(0))]

    assert [one for one in brief(trips) if one[2] != "info"] == [("client-tool-protocol-broken", "client", "warning")]
    assert "comes in a batch, which version 2025-11-25 does not have" in str(found(trips))


def test_a_refused_batch_is_the_servers_where_the_version_has_batches() -> None:
    started = initialized(0)
    started["result"]["protocolVersion"] = "2025-03-26"
    trips = [posted(initialize(0, "2025-03-26")), posted(CONFIRMED), posted(BATCH_OF_CALLS, 400), old_stream(started)]

    assert [one for one in brief(trips) if one[2] != "info"] == [("tool-server-error", "tool", "warning")]


def test_a_batch_that_nobody_answers_is_the_clients_over_stdio() -> None:
    story = Story().start().exchange(BATCH_OF_PINGS)

    assert story.found() == [(2, "client-tool-protocol-broken", "client", "warning")]


def test_what_is_recorded_before_the_answers_before_it_is_judged_all_the_same() -> None:
    again = posted(asks(1, "ping"))
    twice = posted(initialize(5))
    began = [posted(initialize(1)), posted(CONFIRMED)]
    body = events(b"/messages?session_id=1", name="endpoint"), events(initialized(1)), events(answers(1))
    other = (*body[:2], events(initialized(5)))

    for request, pieces in ((again, body), (twice, other)):
        sizes = [len(piece) for piece in pieces]
        chunks = tuple(Chunk(size, at) for size, at in zip(sizes, (20, 50_000, 250_000), strict=True))
        opened = http(None, b"".join(pieces), method="GET", url=STREAM_URL, headers=(), kind=STREAM, chunks=chunks)
        made = [replace(one, index=n, started_at=START + n / 10) for n, one in enumerate((*began, request))]
        rows: list[Any] = [
            one
            for row in label_all([*made, replace(opened, index=3, started_at=START - 0.01)])
            for one in list[Any](row.label["findings"])  # pyright: ignore[reportArgumentType]
        ]
        assert [(one["id"], one["severity"]) for one in rows] == [("client-tool-protocol-broken", "info")]


def test_an_answer_on_the_older_stream_answers_what_was_asked_before_it() -> None:
    trips = [
        posted(initialize(1)),
        posted(CONFIRMED),
        replace(posted(asks(2, "tools/list"))),
        posted(asks(1, "ping")),
    ]
    body = old_stream(initialized(1), answers(2, tools=[ADD, SAY]), answers(1))
    assert body.response is not None

    assert not [one for one in found([*trips, body]) if one[1] == "tool"]


@pytest.mark.parametrize(("version", "is_one"), [("2025-01-01", False), ("2024-11-05", True), ("2031-01-01", True)])
def test_a_version_that_mcp_never_had(version: str, is_one: bool) -> None:
    began = initialized(0)
    began["result"]["protocolVersion"] = version
    stated = brief([http(initialize(0), began, answer_headers=GIVEN, headers=())])
    asked = brief([http(initialize(0, version), fails(0, "no"), answer_headers=GIVEN, headers=())])

    assert (stated == []) == is_one
    assert (("client-tool-protocol-broken", "client", "warning") in asked) != is_one


def test_an_id_that_is_a_fraction_is_not_valid() -> None:
    assert brief(over_http(http(asks(7.5, "ping"), answers(7.5)))) == [
        ("client-tool-protocol-broken", "client", "info")
    ]
    assert brief(over_http(http(asks(7.0, "ping"), answers(7.0)))) == []


def test_a_log_that_the_server_has_not_declared_is_an_info() -> None:
    line = notifies("notifications/message", level="info", data="x")
    declared = over_http(http(asks(5, "ping"), events(line, answers(5)), kind=STREAM))
    assert brief(declared) == []

    began = initialized(0)
    del began["result"]["capabilities"]["logging"]
    undeclared = [http(initialize(0), began, answer_headers=GIVEN, headers=()), *declared[1:]]
    assert brief(undeclared) == [("tool-protocol-broken", "tool", "info")]


def test_a_tool_that_one_list_has_twice_in_the_same_words_is_an_info() -> None:
    story = Story()
    story.tools = [ADD, SAY, ADD]

    assert story.start().found() == [(1, "tool-protocol-broken", "tool", "info")]
    assert story.says("tool-protocol-broken") == [
        "server 'files' gave an answer to tools/list that has the tool 'add' twice"
    ]


def test_a_page_that_the_server_has_not_named_is_the_clients() -> None:
    odd = http(asks(5, "tools/list", cursor="page-2"), answers(5, tools=[ADD, SAY]))
    named = http(asks(4, "tools/list"), answers(4, tools=[ADD], nextCursor="page-2"))
    refused = http(asks(5, "tools/list", cursor="page-2"), fails(5, "Invalid cursor", -32602))

    assert ("client-tool-protocol-broken", "client", "info") in brief(over_http(odd))
    assert ("client-tool-protocol-broken", "client", "warning") in brief(over_http(refused))
    assert "client-tool-protocol-broken" not in str(brief(over_http(named, odd)))


def test_a_task_of_a_server_that_has_none_is_the_clients() -> None:
    call = asks(5, "tools/call", name="add", arguments={"a": 1}, task={"ttl": 1})

    began = initialized(0)
    del began["result"]["capabilities"]["tasks"]
    trips = over_http(http(call, answers(5, **text("1"))))
    assert brief(trips) == []

    trips[0] = http(initialize(0), began, answer_headers=GIVEN, headers=())
    assert brief(trips) == [("client-tool-protocol-broken", "client", "info")]


def test_a_method_that_mcp_does_not_have() -> None:
    refused = http(asks(5, "tool/call", name="add"), fails(5, "Method not found", -32601))
    known = http(asks(5, "acme/state"), answers(5))
    ask = asks("s", "client/state")
    mine = http(asks(5, "ping"), events(ask, answers(5)), kind=STREAM)
    reply = http(fails("s", "Method not found", -32601), status=202)

    assert brief(over_http(refused)) == [("client-tool-protocol-broken", "client", "info")]
    assert brief(over_http(known)) == []
    assert brief(over_http(mine, reply)) == [("tool-protocol-broken", "tool", "info")]


def test_a_request_of_the_server_without_an_id_is_none() -> None:
    ask = {"jsonrpc": "2.0", "id": None, "method": "roots/list"}

    assert brief(over_http(http(asks(5, "ping"), events(ask, answers(5)), kind=STREAM))) == [
        ("tool-protocol-broken", "tool", "warning")
    ]


def test_a_question_over_http_that_the_client_never_answers() -> None:
    question = asks("s", "elicitation/create", message="Name?", requestedSchema={"type": "object", "properties": {}})
    call = asks(5, "tools/call", name="add", arguments={"a": 1})
    open_still = over_http(http(call, events(question, answers(5, **text("timed out"))), kind=STREAM))
    replied = http(answers("s", action="decline"), status=202)

    assert ("client-tool-input-unanswered", "client", "warning") in brief(open_still)
    assert "client-tool-input-unanswered" not in str(brief([*open_still, replied]))


def test_a_question_that_the_version_does_not_have_is_the_servers() -> None:
    question = asks("s", "elicitation/create", message="Name?", requestedSchema={"type": "object", "properties": {}})
    call = http(asks(5, "ping"), events(question, answers(5)), kind=STREAM)
    refused = http(fails("s", "Method not found", -32601), status=202)

    assert ("tool-protocol-broken", "tool", "warning") in brief(
        over_http(call, refused, version="2025-03-26", elicitation={})
    )
    assert "tool-protocol-broken" not in str(brief(over_http(call, refused, elicitation={})))


def test_a_question_before_the_answer_to_initialize_is_an_info() -> None:
    ask, rest = events(asks("s", "roots/list")), events(initialized(0))
    chunks = (Chunk(len(ask), 20), Chunk(len(rest), 9_000))
    early = http(initialize(0, roots={}), ask + rest, kind=STREAM, chunks=chunks, answer_headers=GIVEN, headers=())
    reply = http(answers("s", roots=[]), status=202)

    assert ("tool-protocol-broken", "tool", "info") in brief([early, http(CONFIRMED, status=202), reply])


def test_a_request_that_does_not_say_that_it_is_json_is_the_clients() -> None:
    call = asks(5, "tools/call", name="add", arguments={"a": 1})
    plain = (*SESSION, ("Content-Type", "text/plain"))
    fails_so = fails(None, "Bad Request: Invalid Content-Type header", -32600)
    refused = http(call, fails_so, status=400, headers=plain)
    taken = http(call, answers(5, **text("1")), headers=plain)
    right = http(call, answers(5, **text("1")), headers=(*SESSION, ("Content-Type", "application/json; charset=utf-8")))

    assert brief(over_http(refused)) == [("client-tool-protocol-broken", "client", "warning")]
    assert brief(over_http(taken)) == [("client-tool-protocol-broken", "client", "info")]
    assert brief(over_http(right)) == []


def test_a_version_that_the_server_agreed_to_and_then_refuses_is_the_servers() -> None:
    call = asks(5, "tools/call", name="add", arguments={"a": 1})
    said = fails(None, "Bad Request: Unsupported protocol version (supported: 2025-06-18)", -32000)
    other = (("Mcp-Session-Id", "s-1"), ("MCP-Protocol-Version", "2023-01-01"))

    assert [one[:3] for one in found(over_http(http(call, said, status=400)))] == [
        ("tool-server-error", "tool", "warning")
    ]
    assert "tool" not in [one[1] for one in found(over_http(http(call, said, status=400, headers=other)))]


def test_a_listed_resource_that_the_server_does_not_have_is_an_info() -> None:
    listed = http(asks(4, "resources/list"), answers(4, resources=[{"uri": "a://b", "name": "b"}]))
    began = initialized(0)
    began["result"]["capabilities"]["resources"] = {}
    head = [http(initialize(0), began, answer_headers=GIVEN, headers=()), http(CONFIRMED, status=202), listed]
    missing = http(asks(5, "resources/read", uri="a://b"), fails(5, "Unknown resource", -32602))
    other = http(asks(5, "resources/read", uri="a://c"), fails(5, "Unknown resource", -32602))
    broken = http(asks(5, "resources/read", uri="a://b"), fails(5, "disk", -32603))

    assert brief([*head, missing]) == [("tool-protocol-broken", "tool", "info")]
    assert brief([*head, other]) == []
    assert brief([*head, broken]) == []


FORM = {"method": "elicitation/create", "params": {"message": "Name?", "requestedSchema": {"type": "object",
        "properties": {"name": {"type": "string"}}}}}  # fmt: skip
REPLY = {"q": {"action": "accept", "content": {"name": "Ada"}}}


def asked_back(got: object = None, **params: Any) -> Story:
    """A call to which the server answers with a question, and its repetition."""
    story = Story().modern()
    first = {"name": "add", "arguments": {"a": 1}, "_meta": MODERN}
    story.exchange(
        asks(12, "tools/call", **first),
        answers(12, resultType="input_required", requestState="one", inputRequests={"q": FORM}),
    )
    return story.exchange(
        asks(13, "tools/call", **first, inputResponses=REPLY, **params),
        got or answers(13, resultType="complete", **text("1")),
    )


def test_a_state_that_the_client_drops_or_changes_is_the_clients() -> None:
    assert asked_back(requestState="one").found() == []
    for params in ({}, {"requestState": "two"}):
        assert [one[1:] for one in asked_back(**params).found()] == [("client-tool-protocol-broken", "client", "info")]
        refused = asked_back(fails(13, "Invalid requestState", -32602), **params)
        assert [one[1:] for one in refused.found(severity="warning")] == [
            ("client-tool-protocol-broken", "client", "warning")
        ]


def test_a_state_that_the_server_gave_and_refuses_is_the_servers() -> None:
    story = asked_back(fails(13, "Invalid or expired requestState", -32602), requestState="one")

    assert [one[1:] for one in story.found(severity="warning")] == [("tool-server-error", "tool", "warning")]


def test_only_calls_prompts_and_resources_may_be_answered_with_a_question() -> None:
    story = Story()
    found_it = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **KEPT}
    story.exchange(asks(0, "server/discover", _meta=MODERN), answers(0, **found_it))
    story.exchange(asks(1, "tools/list", _meta=MODERN), answers(1, resultType="input_required", requestState="s"))

    assert [one[1:] for one in story.found()] == [("tool-protocol-broken", "tool", "warning")]


def test_a_code_that_the_version_does_not_have_is_an_info() -> None:
    story = Story().modern()
    story.exchange(asks(5, "resources/read", uri="a://b", _meta=MODERN), fails(5, "not found", -32002))

    assert [one[1:] for one in story.found()] == [("tool-protocol-broken", "tool", "info")]
    old = http(asks(5, "resources/read", uri="a://b"), fails(5, "not found", -32002))
    assert "-32002" not in str(found(over_http(old)))


def test_a_client_that_answers_where_servers_ask_nothing() -> None:
    story = Story().modern().exchange(answers("zz"))

    assert [one[1:] for one in story.found()] == [("client-tool-protocol-broken", "client", "info")]

    headers = (("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list"))
    listed = http(asks(1, "tools/list", _meta=MODERN), answers(1, tools=[ADD, SAY], **KEPT), headers=headers)
    refused = http(answers("zz"), fails(None, "no"), status=400, headers=headers)
    assert ("client-tool-protocol-broken", "client", "info") in brief([listed, refused])
    assert "refused a reply" not in str(found([listed, refused]))


HEADERS_OF: list[tuple[dict[str, Any], bool]] = [
    ({"properties": {"a": {"type": "string", "x-mcp-header": "Region"}}}, True),
    ({"properties": {"a": {"type": "object", "properties": {"b": {"type": "integer", "x-mcp-header": "B"}}}}}, True),
    ({"properties": {"a": {"type": "string", "default": {"x-mcp-header": ""}}}}, True),
    ({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}, False),
    ({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}, False),
    ({"properties": {"a": {"type": "string", "x-mcp-header": "two words"}}}, False),
    ({"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}}, False),
    ({"properties": {n: {"type": "string", "x-mcp-header": h} for n, h in (("a", "Num"), ("b", "num"))}}, False),
]


@pytest.mark.parametrize(("schema", "right"), HEADERS_OF)
def test_headers_that_no_client_can_send_are_an_info(schema: dict[str, Any], right: bool) -> None:
    tool = {"name": "say", "description": "Say it.", "inputSchema": {"type": "object", **schema}}
    modern, before = Story(), Story()
    modern.tools = before.tools = [tool]

    assert (modern.modern().found() == []) == right
    assert before.start().found() == []


@pytest.mark.parametrize(("method", "severity"), [("resources/templates/list", "info"), ("resources/list", "warning")])
def test_a_server_with_resources_need_not_have_templates(method: str, severity: str) -> None:
    began = initialized(0)
    began["result"]["capabilities"]["resources"] = {}
    head = [http(initialize(0), began, answer_headers=GIVEN, headers=()), http(CONFIRMED, status=202)]

    assert brief([*head, http(asks(5, method), fails(5, "Method not found", -32601))]) == [
        ("tool-protocol-broken", "tool", severity)
    ]


def led_away(named: str, *, followed: bool = False) -> Story:
    """The stream of the transport of 2024-11-05, whose first event names the URL for the client's messages."""
    story, body = Story(), events(named.encode(), name="endpoint")
    if followed:
        body += events(initialized(0))
        story.put(http(initialize(), b"", url=named, status=202, headers=(), at=START + 1))
    stream = http(None, body, url="http://desk.test:80/sse", method="GET", kind=STREAM, headers=(), at=START)
    return story.put(replace(stream, ended_at=9_000_000))


@pytest.mark.parametrize(
    "named", ["http://other.test/messages?s=1", "https://desk.test/messages", "http://desk.test:8/m"]
)
def test_a_stream_that_sends_its_client_to_another_origin(named: str) -> None:
    story = led_away(named)

    assert story.found() == [(0, "tool-protocol-broken", "tool", "warning")]
    assert story.says("tool-protocol-broken") == [
        f"server 'desk.test' names {named} as the address for all messages, at another origin than its stream, and "
        "the client sent nothing there: the official SDKs refuse that"
    ]
    assert led_away(named, followed=True).found() == [(1, "tool-protocol-broken", "tool", "info")]


@pytest.mark.parametrize(
    "named", ["/messages?s=1", "messages", "?s=1", "http://desk.test/messages", "http://DESK.test:80/m"]
)
def test_a_stream_that_stays_at_its_origin(named: str) -> None:
    assert led_away(named).found() == []


def test_an_empty_batch_in_place_of_an_answer() -> None:
    named = (("Mcp-Session-Id", "s-1"),)
    story = Story().put(http(initialize(), initialized(), headers=(), answer_headers=named, at=START))
    story.put(http(notifies("notifications/initialized"), status=202, at=START + 1))
    story.put(http(asks(1, "tools/list"), b"[]", at=START + 2))

    assert "server 'files' gave an answer to tools/list that is an empty batch, and none of its tools is offered" in (
        story.says("tool-protocol-broken")
    )
