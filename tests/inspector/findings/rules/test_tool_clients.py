from dataclasses import replace
from typing import Any, Literal

import pytest
from conversations import START, chat, user
from tool_stories import ADD, IDS, KEPT, KEY, MODERN, SAY, Story, offered, text
from tool_wire import STREAM, answers, asks, confirmed, events, fails, http, initialize, initialized, notifies

from turntape.cassettes.tape.model import Chunk, Failure
from turntape.inspector.run.labels import label_all

ONE = ("c1", "add", '{"a":1}')

MORE: list[dict[str, Any]] = [{**SAY, "name": name} for name in ("move", "purge")]


def paged(*given: dict[str, Any]) -> Story:
    """A list in two pages, both read, and a turn that offers some of the tools."""
    story = Story()
    story.exchange(asks(1, "tools/list"), answers(1, tools=[ADD, SAY], nextCursor="p2"))
    story.exchange(asks(2, "tools/list", cursor="p2"), answers(2, tools=MORE))
    return story.turn(tools=offered(*given, name=story.name("{}")))


def test_pages_that_were_read_and_not_offered() -> None:
    story = paged(ADD, SAY)

    assert story.found() == [(2, "client-tool-protocol-broken", "client", "warning")]
    assert story.says("client-tool-protocol-broken") == [
        "the client offers every tool of the first page of server 'files', and none of the 2 tools of its later pages"
    ]


@pytest.mark.parametrize(
    ("given", "rest"),
    [
        ([ADD, SAY, *MORE], []),
        ([ADD, SAY, MORE[0]], ["1 tool of the 4 that server 'files' lists: purge"]),
        ([SAY, MORE[1]], ["2 tools of the 4 that server 'files' lists: add, move"]),
    ],
)
def test_a_choice_of_tools_is_not_a_page_and_is_an_info(given: list[dict[str, Any]], rest: list[str]) -> None:
    story = paged(*given)

    assert [(name, how) for _, name, _, how in story.found()] == [("client-tool-definition-differs", "info")] * len(
        rest
    )
    assert story.says("client-tool-definition-differs") == [f"the client never offers {one}" for one in rest]


def defined(offer: dict[str, Any], **served: Any) -> Story:
    """A tool that its server defines in one way and the model is offered in another."""
    schema: dict[str, Any] = {"type": "object", **served}
    story = Story(tools=[{**ADD, "inputSchema": schema}, SAY]).start()
    tools = offered({**ADD, "inputSchema": {"type": "object", **offer}}, SAY, name=story.name("{}"))
    return story.turn(tools=tools)


def offered_without(*, refused: bool) -> Story:
    """A call of a tool that is offered without what its server requires."""
    story = Story([{**ADD, "inputSchema": {**ADD["inputSchema"], "required": ["b"]}}, SAY]).start()
    story.tools = [ADD, SAY]
    story.turn(ONE).exchange(
        asks(9, "tools/call", name="add", arguments={"a": 1}),
        fails(9, "'b' is a required property", -32602) if refused else answers(9, **text("1")),
    )
    return story.results(("c1", "'b' is a required property" if refused else "1")).turn()


def test_a_call_that_is_refused_for_what_the_model_was_not_offered_is_the_clients_fault() -> None:
    refused = offered_without(refused=True)
    [about] = refused.every("call-args-not-taken")

    assert offered_without(refused=False).found() == [(2, "client-tool-definition-differs", "client", "info")]
    assert (2, "client-tool-definition-differs", "client", "warning") in refused.found()
    assert "client-tool-definition-differs" in about["because_of"]


def test_a_call_of_a_tool_that_the_model_made_up_is_not_the_clients_fault() -> None:
    story = Story().start().turn(("c1", "look", "{}"))
    story.exchange(asks(9, "tools/call", name="look", arguments={}), fails(9, "Unknown tool: look", -32602))
    story.results(("c1", "Unknown tool: look")).turn()

    assert [one["because_of"] for one in story.every("client-tool-not-on-server")] == [["model-unknown-tool"]]
    assert [one["because_of"] for one in story.every("model-unknown-tool")] == [[]]


@pytest.mark.parametrize(
    ("stated", "naming", "said", "of_server"),
    [
        (ADD, "x" * 70 + "__{tool}", "tools.0.custom.name: String should have at most 64 characters", False),
        ({**ADD, "inputSchema": {"type": "string"}}, "x__{tool}", "Invalid schema for function 'x__add'", True),
    ],
)
def test_the_name_is_the_clients_and_the_schema_the_servers(
    stated: dict[str, Any], naming: str, said: str, of_server: bool
) -> None:
    story = Story([stated], naming=naming).start()
    tools, error = offered(stated, name=story.name("{}")), {"error": {"message": said}}
    story.put(chat([user("Go.")], tools=tools, status=400, error=error, at=1, index=2))

    assert story.every("client-bad-tool-schema")
    assert bool(story.every("tool-definition-rejected")) == of_server


@pytest.mark.parametrize(("name", "of_server"), [("desk.add", False), ("desk add", True)])
def test_a_name_that_mcp_allows_is_for_the_client_to_change(name: str, of_server: bool) -> None:
    story = Story([{**ADD, "name": name}]).start()
    error = {"error": {"message": "Invalid 'tools[0].function.name': string does not match"}}
    tools = offered({**ADD, "name": name}, name="{}")
    refused = chat([user("Go.")], tools=tools, status=400, error=error, at=1, index=2)
    story.put(replace(refused, request=replace(refused.request, url="https://api.mistral.ai/v1/chat/completions")))

    assert story.every("client-bad-tool-schema")
    assert bool(story.every("tool-definition-rejected")) == of_server


ROWS = {"rows": {"type": "array", "items": {"$ref": "#/$defs/row"}}}
ROW = {"row": {"type": "object"}}


def test_a_definition_that_lost_what_it_refers_to() -> None:
    story = defined({"properties": ROWS}, properties=ROWS, **{"$defs": ROW})

    assert story.found() == [(2, "client-tool-definition-differs", "client", "warning")]
    assert "it refers to '#/$defs/row', which was left out" in story.says("client-tool-definition-differs")[0]
    assert defined({"properties": ROWS, "$defs": ROW}, properties=ROWS, **{"$defs": ROW}).found() == []
    assert [layer for _, _, layer, _ in defined({"properties": ROWS}, properties=ROWS).found()] == ["tool"], (
        "its server's"
    )


@pytest.mark.parametrize(
    ("lost", "severity"), [({"enum": ["eu", "us"]}, "warning"), ({"description": "Never guess it."}, "info")]
)
def test_words_and_values_of_an_argument_that_are_not_passed_on(lost: dict[str, Any], severity: str) -> None:
    served = {"region": {"type": "string", **lost}}
    nested = {"region": {"anyOf": [{"type": "string", **lost}, {"type": "null"}]}}

    assert defined({"properties": {"region": {"type": "string"}}}, properties=served).found() == [
        (2, "client-tool-definition-differs", "client", severity)
    ]
    assert defined({"properties": nested}, properties=served).found() == []


@pytest.mark.parametrize("listed", [False, True])
def test_fields_of_an_argument_that_are_not_passed_on(listed: bool) -> None:
    def of(**inner: Any) -> dict[str, Any]:
        given: dict[str, Any] = {"type": "object", **inner}
        return {"filter": {"type": "array", "items": given} if listed else given}

    served = of(properties={"since": {"type": "string"}})
    flat, whole = defined({"properties": of()}, properties=served), defined({"properties": served}, properties=served)

    assert flat.found() == [(2, "client-tool-definition-differs", "client", "warning")]
    assert flat.says("client-tool-definition-differs")[0].endswith(
        "the fields of the argument 'filter' are not passed on"
    )
    assert whole.found() == []
    other = defined({"properties": of(anyOf=[{"required": ["since"]}])}, properties=served)
    assert other.found() == [], "its fields are said in another way"


def at_once(second: float) -> Story:
    """Two calls with one id, of which the first takes 5 ms; `second` is when the other one begins, in ms."""
    story = Story().start().turn(ONE, ("c2", "say", '{"text":"x"}'))
    for name, given, said in (("add", {"a": 1}, "The sum is 1."), ("say", {"text": "x"}, "You said x.")):
        story.exchange(asks(12, "tools/call", name=name, arguments=given), answers(12, **text(said)))
    story.trips[-1] = replace(story.trips[-1], started_at=story.trips[-2].started_at + second / 1000)
    return story.results(("c1", "The sum is 1."), ("c2", "You said x.")).turn()


def test_an_id_of_a_request_that_is_still_open_is_not_given_again() -> None:
    story = at_once(2)

    assert story.found() == [(4, "client-tool-protocol-broken", "client", "warning")]
    assert story.says("client-tool-protocol-broken") == [
        "the client gave a request to server 'files' the id 12 of another one that was still open"
    ]
    assert at_once(6).found() == [(4, "client-tool-protocol-broken", "client", "info")], "used again, and taken"
    shared = at_once(2)
    shared.trips.insert(0, replace(shared.trips[0], started_at=shared.trips[0].started_at - 1))
    assert shared.found(severity="warning") == [], "two clients in one session, each with its own handshake"


@pytest.mark.parametrize(("number", "found"), [(2**60, 1), (12, 0)])
def test_an_id_that_json_parsers_round_explains_why_no_answer_came(number: int, found: int) -> None:
    story = Story().start().turn(ONE).exchange(asks(number, "tools/call", name="add", arguments={"a": 1}))
    gone = Failure("client_gone", "it went")
    story.trips[-1] = replace(story.trips[-1], failure=gone, closed_first="client", ended_at=60_000_000)
    story.results(("c1", "MCP error: timed out")).turn()

    wanted = "client-tool-protocol-broken" if found else "tool-server-silent"
    assert [name for _, name, _, _ in story.found()] == [wanted]


@pytest.mark.parametrize(
    ("tools", "prompt", "used", "severity"),
    [
        ([], "Do it.", False, ["info"]),
        ([SAY], "Do it.", False, ["info"]),
        ([ADD], "Do it.", False, []),
        ([], "Use add.", False, ["info"]),
        ([], "Answer with `add(a, b)`: Add two numbers.", False, []),
        ([], "Do it.", True, []),
    ],
)
def test_tools_that_a_server_lists_and_no_request_offers(
    tools: list[Any], prompt: str, used: bool, severity: list[str]
) -> None:
    story = Story([ADD]).start()
    story.messages = [user(prompt)]
    story.turn(tools=offered(*tools, name="{}"))
    if used:
        story.call("add", {"a": 1}, text("1"))

    assert [rank for _, name, _, rank in story.found() if name == "client-tool-definition-differs"] == severity


def test_a_tool_that_two_servers_have_is_held_against_the_one_that_is_offered() -> None:
    other = {**ADD, "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}
    story = Story(naming="{tool}").start()
    story.exchange(asks(1, "tools/list"), answers(1, tools=[other]), session="b", server="archive")

    assert story.turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn().found(severity="warning") == []


WANTED = {"type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]}


@pytest.mark.parametrize(
    ("method", "result", "said"),
    [
        ("elicitation/create", {"action": "accept", "content": {}}, "breaks the schema that the server gave for it"),
        ("elicitation/create", {"action": "accept", "content": {"branch": "main"}}, ""),
        ("elicitation/create", {"action": "decline"}, ""),
        ("elicitation/create", {"action": "yes"}, 'has "yes" as its `action`'),
        ("sampling/createMessage", {"role": "assistant", "content": {"type": "text", "text": "4"}}, "has no `model`"),
        ("roots/list", {}, "has no `roots`"),
        ("roots/list", {"roots": []}, ""),
    ],
)
def test_a_reply_in_another_form_than_the_server_asked_for(method: str, result: dict[str, Any], said: str) -> None:
    story = Story().start().exchange(asks(1, method, requestedSchema=WANTED), answers(1, **result), sender="server")

    found = story.says("client-tool-protocol-broken")
    assert [one for one in found if f"the client's reply to {method} of server 'files' {said}" in one] == found[:1]
    assert len(found) == bool(said)


def test_a_reply_that_is_not_an_object() -> None:
    nothing = {"jsonrpc": "2.0", "id": 1, "result": None}
    story = Story().start().exchange(asks(1, "roots/list"), nothing, sender="server")

    assert "has null as its `result`, which must be an object" in story.says("client-tool-protocol-broken")[0]


FORM = {"message": "Which?", "requestedSchema": WANTED}


def over_http(*streamed: object, reply: object, after: int = 10) -> list[tuple[str, tuple[str, ...]]]:
    """The findings, with their evidence, where a server asks in the stream of a call and the client replies in another
    POST, which ends `after` milliseconds after the call began and so is recorded before it."""
    story = Story(tools=[]).put(http(initialize(0, elicitation={}), initialized()))
    story.put(replace(http(reply, None, status=202), started_at=story.at + after / 1000))
    asked, answered = events(*streamed), events(answers(5, **text("moved")))
    chunks = (Chunk(len(asked), 1_000), Chunk(len(answered), 900_000))
    call = asks(5, "tools/call", name="move")
    stream = http(call, asked + answered, kind=STREAM, at=START, ended_at=900_000, chunks=chunks)
    story.put(replace(stream, started_at=story.at - 0.1))
    labels: list[Any] = [labelled.label for labelled in label_all(confirmed(story.trips))]
    found: list[Any] = [one for label in labels for one in label["findings"]]
    return [(one["id"], tuple(one["evidence"])) for one in found if one["id"] in IDS]


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (answers(1, action="accept", content={"branch": "main"}), []),
        (answers(1, action="decline"), []),
        (answers(1, content={"branch": "main"}), ["client-tool-protocol-broken"]),
        (answers(1, action="accept", content={"branch": 1}), ["client-tool-protocol-broken"]),
        (fails(1, "Method not found", -32601), ["client-tool-input-unanswered"]),
    ],
)
def test_a_reply_over_http_that_is_recorded_before_what_it_answers(reply: object, found: list[str]) -> None:
    said = over_http(asks(1, "elicitation/create", **FORM), reply=reply)

    assert [name for name, _ in said] == found
    assert all(evidence == ("#2 response", "#1 request") for _, evidence in said)


def test_a_reply_that_is_older_than_the_request_with_its_id() -> None:
    said = over_http(asks(1, "elicitation/create", **FORM), reply=answers(1, content={}), after=-500)

    assert said == [("client-tool-input-unanswered", ("#2 response",))]


@pytest.mark.parametrize(("late", "found"), [(0.05, 0), (-0.05, 1)])
def test_a_request_before_the_server_has_answered_the_handshake(late: float, found: int) -> None:
    story = Story().exchange(initialize(0), initialized(0)).lists()
    first, second = story.trips
    done = first.started_at + (first.ended_at or 0) / 1e6
    story.trips[1] = replace(second, started_at=done + late)

    said = story.turn().says("client-tool-protocol-broken")
    end = "a tools/list that comes before the server has answered `initialize`"
    assert said == [f"the client sent server 'files' {end[2:]}"] * found


@pytest.mark.parametrize(("number", "found"), [(0, 1), (11, 0)])
def test_a_client_that_cancels_its_own_start(number: int, found: int) -> None:
    story = Story().exchange(initialize(), initialized()).lists()
    cancelled = notifies("notifications/cancelled", requestId=number, reason="timeout")

    assert [how for _, _, _, how in story.exchange(cancelled).found()] == ["info"] * found


def test_a_tool_that_a_newer_list_brings_and_no_request_offers() -> None:
    story = Story().start().turn()
    story.exchange(asks(7, "tools/list"), answers(7, tools=[ADD, SAY, MORE[0]]))

    assert story.turn().says("client-tool-definition-differs") == [
        "the client never offers 1 tool of the 3 that server 'files' lists: move"
    ]


@pytest.mark.parametrize("sent", [{"id": None}, {}])
def test_a_call_that_is_not_a_request(sent: dict[str, Any]) -> None:
    message = {"jsonrpc": "2.0", **sent, "method": "tools/call", "params": {"name": "add", "arguments": {"a": 1}}}
    story = Story().start().turn(ONE).exchange(message).results(("c1", "MCP error -32001: timed out")).turn()

    assert (3, "client-tool-protocol-broken", "client", "warning") in story.found()
    assert "so it is a notification, and nobody answers it" in story.says("client-tool-protocol-broken")[0]


def test_a_request_in_a_wrong_form_that_the_server_took_is_an_info() -> None:
    story = Story().start().turn(ONE)
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}, _meta={"progressToken": {}}),
                   answers(12, **text("1"))).results(("c1", "1")).turn()  # fmt: skip

    assert story.found() == [(3, "client-tool-protocol-broken", "client", "info")]
    assert story.says("client-tool-protocol-broken")[0].endswith("and the server took it")


def test_a_notification_of_the_client_in_a_wrong_form_is_an_info() -> None:
    story = Story().start().exchange(notifies("notifications/cancelled", requestId=None)).turn()

    assert story.found() == [(2, "client-tool-protocol-broken", "client", "info")]
    assert Story().start().exchange(notifies("notifications/cancelled", requestId=11)).turn().found() == []


def test_a_request_without_what_the_newest_version_wants_of_each() -> None:
    story = Story().modern().turn(ONE)
    story.call("add", {"a": 1}, "protocolVersion is required").results(("c1", "protocolVersion is required")).turn()

    assert {layer for _, _, layer, _ in story.found()} == {"client"}
    assert f"does not say `{KEY}protocolVersion` in its `_meta`" in story.says("client-tool-protocol-broken")[0]


def test_a_second_handshake_that_the_server_refuses() -> None:
    refused = fails(7, "already initialized", -32600)
    story = Story().start().exchange(initialize(7), refused)

    assert story.found() == [(2, "client-tool-protocol-broken", "client", "warning")]
    assert "comes after the handshake of the session" in story.says("client-tool-protocol-broken")[0]
    taken = Story().start().exchange(initialize(7), initialized(7))
    assert taken.found() == [(2, "client-tool-protocol-broken", "client", "info")]


@pytest.mark.parametrize(("level", "found"), [("warn", True), ("warning", False)])
def test_a_level_of_log_messages_that_does_not_exist(level: str, found: bool) -> None:
    refused = fails(7, "Invalid level", -32602)
    story = Story().start().exchange(asks(7, "logging/setLevel", level=level), refused)

    assert ("client-tool-protocol-broken" in [name for _, name, _, _ in story.found()]) is found


@pytest.mark.parametrize(("uri", "found"), [("/home/ada", True), ("file:///home/ada", False)])
def test_a_root_that_is_a_path(uri: str, found: bool) -> None:
    story = Story().start(roots={}).exchange(asks(1, "roots/list"), answers(1, roots=[{"uri": uri}]), sender="server")

    assert len(story.says("client-tool-protocol-broken")) == found


def test_a_batch_that_the_server_refuses_without_an_id_is_the_clients() -> None:
    refused = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "no batches"}}
    story = Story().start().exchange([asks(7, "ping"), asks(8, "tools/list")]).exchange(refused, sender="server")

    assert [row[1:] for row in story.found()] == [("client-tool-protocol-broken", "client", "warning")]
    assert "comes in a batch" in story.says("client-tool-protocol-broken")[0]


@pytest.mark.parametrize(("params", "found"), [({"id": 7}, ["info"]), ({"requestId": 11}, [])])
def test_a_cancelled_request_has_its_id(params: dict[str, Any], found: list[str]) -> None:
    story = Story().start().exchange(notifies("notifications/cancelled", **params)).turn()

    assert [rank for _, _, _, rank in story.found()] == found


@pytest.mark.parametrize(("number", "wrong"), [(50, True), (51, False)])
def test_an_id_of_a_request_that_never_had_an_answer_is_not_given_again(*, number: int, wrong: bool) -> None:
    """Over stdio, a request is open until its answer comes."""
    story = Story().start().turn(ONE).exchange(asks(50, "tools/call", name="add", arguments={"a": 1}))
    story.exchange(asks(number, "resources/list"), answers(number, resources=[]))

    found = [one for one in story.results(("c1", "1")).turn().says("client-tool-protocol-broken") if "id 50" in one]
    assert bool(found) == wrong


def test_a_client_that_is_ready_before_the_server() -> None:
    def found(after: float) -> list[str]:
        story = Story().exchange(initialize(0), initialized(0)).exchange(notifies("notifications/initialized"))
        first = story.trips[0]
        story.trips[0] = replace(first, first_byte_at=1_000_000, ended_at=1_000_000)
        story.trips[1] = replace(story.trips[1], started_at=first.started_at + after)
        story.lists()
        story.trips[2] = replace(story.trips[2], started_at=first.started_at + 1.5)
        return story.turn().says("client-tool-protocol-broken")

    [said] = found(0.1)
    assert said.endswith("notifications/initialized that comes before the server has answered `initialize`")
    assert found(1.1) == []


def test_a_client_that_ends_the_handshake_before_it_begins() -> None:
    ready = notifies("notifications/initialized")
    early = Story().exchange(ready).exchange(initialize(0), initialized(0)).lists().turn()
    usual = Story().exchange(initialize(0), initialized(0)).exchange(ready).lists().turn()
    begun_before = Story().exchange(ready).lists().turn()

    [said] = early.says("client-tool-protocol-broken")
    assert said.endswith("notifications/initialized that comes before `initialize`")
    assert usual.says("client-tool-protocol-broken") == begun_before.says("client-tool-protocol-broken") == []


@pytest.mark.parametrize(
    ("method", "params", "known"),
    [
        ("notifications/cancelled", {"requestId": 77}, False),
        ("notifications/cancelled", {"requestId": 11}, True),
    ],
)
def test_a_notification_of_the_client_names_what_the_session_has(
    method: str, params: dict[str, Any], known: bool
) -> None:
    said = Story().start().exchange(notifies(method, **params)).turn().says("client-tool-protocol-broken")

    assert bool(said) != known
    if said:
        assert said[0].endswith("notifications/cancelled that names the request 77, which the session does not have")


def test_a_version_that_the_server_does_not_name_is_the_clients() -> None:
    refused = Story().modern(supportedVersions=["2025-06-18", "2025-11-25"]).turn(ONE)
    refused.call("add", {"a": 1}, "Unsupported protocol version", **MODERN).results(("c1", "no")).turn()
    listed = Story().modern().turn(ONE).call("add", {"a": 1}, WHOLE, **MODERN).results(("c1", "1")).turn()

    assert "says version '2026-07-28', and its server has only" in refused.says("client-tool-protocol-broken")[0]
    assert {layer for _, _, layer, _ in refused.found()} == {"client"}
    assert listed.found() == []


def repeated(**again: Any) -> Story:
    """A call that its server asked about, repeated with these parameters."""
    story = Story().modern().turn(ONE)
    asking = {"resultType": "input_required", "requestState": "s", "inputRequests": {"who": NAME}}
    call = {"name": "add", "arguments": {"a": 1}, "_meta": MODERN}
    story.exchange(asks(2, "tools/call", **call), answers(2, **asking))
    said = {"requestState": "s", "inputResponses": {"who": {"action": "decline"}}}
    return story.exchange(asks(3, "tools/call", **{**call, **said, **again}), answers(3, **WHOLE))


WHOLE: dict[str, Any] = {**text("1"), "resultType": "complete"}
NAME: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}},
}


def test_a_call_that_is_repeated_with_other_arguments() -> None:
    other = repeated(arguments={"a": 2}).results(("c1", "1")).turn()

    assert ("client-tool-arguments-changed", "client", "warning") in [row[1:] for row in other.found()]
    assert "repeats the call, and not as its server had asked about it" in other.says("client-tool-protocol-broken")[0]
    assert repeated().results(("c1", "1")).turn().found() == []


def test_a_progress_token_of_two_open_calls_is_an_info() -> None:
    def both(token: str) -> Story:
        story = Story().start().turn(ONE, ("c2", "say", '{"text":"a"}'))
        story.call("add", {"a": 1}, text("1"), progressToken="t")
        story.trips[-1] = replace(story.trips[-1], ended_at=900_000)
        return story.call("say", {"text": "a"}, text("2"), progressToken=token).results(("c1", "1"), ("c2", "2")).turn()

    assert both("t").found() == [(4, "client-tool-protocol-broken", "client", "info")]
    assert both("u").found() == []


def test_a_ping_that_nobody_answered_before_the_server_ended() -> None:
    def left(after: int, how: Literal["cut", "client_gone"]) -> list[tuple[str, str]]:
        story = Story().start().turn(ONE).exchange(asks(1, "ping"), sender="server")
        story.trips[-1] = replace(story.trips[-1], failure=Failure(how, "it ended"), ended_at=after)
        return [(name, severity) for _, name, _, severity in story.results(("c1", "Connection closed")).turn().found()]

    assert ("client-tool-input-unanswered", "warning") in left(8_000_000, "cut")
    assert ("client-tool-input-unanswered", "info") in left(20, "cut")
    assert "client-tool-input-unanswered" not in dict(left(8_000_000, "client_gone"))


def test_an_error_that_answers_a_cancelled_call_is_not_the_servers() -> None:
    def ends(cancelled: float) -> list[str]:
        story = Story().start().turn(ONE)
        story.exchange(asks(7, "tools/call", name="add", arguments={"a": 1}), fails(7, "Request cancelled", 0))
        story.trips[-1] = replace(story.trips[-1], ended_at=2_000_000)
        begun = story.trips[-1].started_at
        story.exchange(notifies("notifications/cancelled", requestId=7, reason="the user stopped it"))
        story.trips[-1] = replace(story.trips[-1], started_at=begun + cancelled)
        return [
            name
            for _, name, _, severity in story.results(("c1", "Interrupted by the user")).turn().found()
            if severity != "info"
        ]

    assert "tool-server-error" not in ends(1.0)
    assert "tool-server-error" in ends(3.0)


def test_a_tool_of_two_servers_of_which_one_is_offered_is_an_info() -> None:
    def both(**other: Any) -> Story:
        story = Story(tools=[ADD], naming="{tool}").start()
        lister = Story(tools=[{**ADD, **other}], server="maps", session="b", trips=story.trips).start()
        return replace(story, trips=lister.trips).turn()

    story = both(description="Add a place to the map.")

    assert [row[1:] for row in story.found()] == [("client-tool-definition-differs", "client", "info")]
    assert "servers 'files' and 'maps' both list a tool 'add'" in story.says("client-tool-definition-differs")[0]
    assert both().found() == []
    beside = both(description="Add a place to the map.")
    beside.trips.pop()
    own = {"type": "function", "function": {"name": "ask", "description": "Ask.", "parameters": {"type": "object"}}}
    assert beside.turn(tools=[*offered(ADD, name="{}"), own]).found() == story.found()


def test_the_client_that_offers_none_of_a_servers_tools_offers_others_or_none_at_all() -> None:
    def said(*tools: Any) -> str:
        (sentence,) = Story([ADD]).start().turn(tools=[*tools]).says("client-tool-definition-differs")
        return sentence

    assert said(*offered(SAY, name="{}")).endswith("lists (add), and requests offer other tools")
    assert said().endswith("lists (add), and offers the model no tools at all")


@pytest.mark.parametrize("left", [[], [SAY]])
@pytest.mark.parametrize("again", [True, False])
def test_a_tool_that_the_newest_list_lacks_is_still_offered_and_called(left: list[Any], again: bool) -> None:
    story = Story([ADD]).start(tools={"listChanged": True})
    story.exchange(notifies("notifications/tools/list_changed"), sender="server")
    if again:
        story.exchange(asks(7, "tools/list"), answers(7, tools=left))
    story.turn(ONE).exchange(
        asks(9, "tools/call", name="add", arguments={"a": 1}), fails(9, "Unknown tool: add", -32602)
    )
    story.results(("c1", "Unknown tool: add")).turn()

    assert bool(story.says("client-tool-not-on-server")) == again
    assert bool(story.says("tool-server-error")) == (not again)


@pytest.mark.parametrize(("support", "found"), [("forbidden", "warning"), ("optional", None), (None, None)])
@pytest.mark.parametrize("refused", [True, False])
def test_a_tool_that_is_run_as_a_task_although_it_cannot_be(
    support: str | None, found: str | None, refused: bool
) -> None:
    more: dict[str, Any] = {} if support is None else {"execution": {"taskSupport": support}}
    story = Story([{**ADD, **more}, SAY]).start().turn(ONE)
    got = fails(12, "no tasks here", -32601) if refused else answers(12, **text("1"))
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}, task={"ttl": 9}), got)
    story.results(("c1", "1")).turn()
    how = [one[3] for one in story.found() if one[1] == "client-tool-protocol-broken"]

    assert how == ([] if found is None else ["warning" if refused else "info"])


@pytest.mark.parametrize(("name", "wrong"), [(5, 0), (6, 1)])
def test_an_answer_of_the_client_to_nothing_that_was_asked(name: int, wrong: int) -> None:
    story = Story().start(roots={})
    story.exchange(asks(5, "roots/list"), answers(5, roots=[]) if name == 5 else None, sender="server")
    if name != 5:
        story.exchange(answers(name, roots=[]))
    said = story.turn().says("client-tool-protocol-broken")

    assert len(said) == wrong
    assert all(one.endswith("an answer that names the request 6, which the session does not have") for one in said)


@pytest.mark.parametrize(("version", "wrong"), [("2026-07-28", 1), ("2025-11-25", 0), (None, 0)])
@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_modern_client_that_asks_for_a_stream_or_ends_a_session(version: str | None, wrong: int, method: str) -> None:
    story, headers = Story(), () if version is None else (("MCP-Protocol-Version", version),)
    found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **KEPT}
    story.put(http(asks(0, "server/discover", _meta=MODERN), answers(0, **found), headers=(), at=story.at))
    story.put(http(None, None, method=method, status=405, headers=headers, at=story.at))

    assert len([one for one in story.says("client-tool-protocol-broken") if f"a {method} request" in one]) == wrong


MODE: dict[str, Any] = {"const": "read"}
SPOT: list[dict[str, Any]] = [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "number"}}}]


@pytest.mark.parametrize(
    ("offer", "served", "severity"),
    [
        ({"type": "string"}, MODE, "warning"),
        ({"type": "string", "enum": ["read"]}, MODE, None),
        (MODE, MODE, None),
        (SPOT[1], {"oneOf": SPOT}, "info"),
        ({"anyOf": SPOT}, {"oneOf": SPOT}, None),
        ({"type": ["string", "object"]}, {"anyOf": SPOT}, None),
        (SPOT[0], {"anyOf": [SPOT[0], {"type": "null"}]}, None),
        ({"type": "NUMBER"}, {"anyOf": [{"type": "integer"}, {"type": "number"}]}, None),
        (SPOT[0], {"anyOf": [SPOT[0], {"$ref": "#/$defs/Any"}]}, None),
        ({"type": "string"}, {"anyOf": [{}, SPOT[1]]}, None),
    ],
)
def test_a_constant_and_one_of_several_types_are_passed_on(
    offer: dict[str, Any], served: dict[str, Any], severity: str | None
) -> None:
    story = defined({"properties": {"to": offer}}, properties={"to": served})

    assert [(name, how) for _, name, _, how in story.found()] == [
        ("client-tool-definition-differs", how) for how in (severity,) if how
    ]


@pytest.mark.parametrize(
    ("name", "arguments", "state", "wrong"),
    [
        ("say", {"text": "x"}, "s1", 1),
        ("add", {"a": 2}, "s1", 1),
        ("add", {"a": 1}, "s1", 0),
        ("say", {"text": "x"}, None, 0),
        ("say", {"text": "x"}, "of-before-the-tape", 0),
    ],
)
def test_a_state_belongs_to_the_call_for_which_it_was_given(
    name: str, arguments: dict[str, Any], state: str | None, wrong: int
) -> None:
    story = Story().modern().turn(ONE)
    form: dict[str, Any] = {"mode": "form", "message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
    asked = {"ok": {"method": "elicitation/create", "params": form}}
    called: dict[str, Any] = {"name": "add", "arguments": {"a": 1}, "_meta": MODERN}
    story.exchange(
        asks(5, "tools/call", **called),
        answers(5, resultType="input_required", inputRequests=asked, requestState="s1"),
    )
    reply = {"inputResponses": {"ok": {"action": "accept", "content": {}}}, "requestState": "s1"}
    story.exchange(asks(6, "tools/call", **called, **reply), answers(6, **text("1"), resultType="complete"))
    more: dict[str, Any] = {} if state is None else {"requestState": state}
    other = asks(7, "tools/call", name=name, arguments=arguments, _meta=MODERN, **more)
    story.exchange(other, answers(7, **text("2"), resultType="complete")).results(("c1", "1")).turn()

    assert len([one for one in story.says("client-tool-protocol-broken") if "of another call" in one]) == wrong


@pytest.mark.parametrize(("uri", "wrong"), [("log://{day}/a", 1), ("log://2026-05-01/a", 0), ("file:///a%7Bb%7D", 0)])
@pytest.mark.parametrize("refused", [True, False])
def test_an_address_whose_variables_are_not_filled_in(uri: str, wrong: int, refused: bool) -> None:
    got = fails(7, "Resource not found", -32002) if refused else answers(7, contents=[{"uri": uri, "text": "x"}])
    story = Story().exchange(asks(7, "resources/read", uri=uri), got)

    assert [one[1:] for one in story.found()] == wrong * [
        ("client-tool-protocol-broken", "client", "warning" if refused else "info")
    ]


@pytest.mark.parametrize(("modern", "wrong"), [(True, 1), (False, 0)])
def test_the_end_of_a_handshake_that_the_version_does_not_have(modern: bool, wrong: int) -> None:
    story = Story().modern() if modern else Story().start()
    story.exchange(notifies("notifications/initialized"))

    assert len([one for one in story.says("client-tool-protocol-broken") if "belongs to a handshake" in one]) == wrong


@pytest.mark.parametrize(("status", "wrong"), [(409, 1), (405, 0)])
def test_a_second_stream_for_the_servers_messages(status: int, wrong: int) -> None:
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(("Mcp-Session-Id", "s-1"),), at=story.at))
    story.put(http(None, None, method="GET", status=status, at=story.at))

    assert len(story.says("client-tool-protocol-broken")) == wrong


@pytest.mark.parametrize(("state", "wrong"), [(12, 1), ("12", 0)])
def test_the_state_of_a_question_is_a_text(state: object, wrong: int) -> None:
    story = Story().modern().turn(ONE)
    asked = {"ok": {"method": "elicitation/create", "params": {"mode": "url", "url": "https://a.b", "message": "?"}}}
    got = answers(5, resultType="input_required", requestState=state, inputRequests=asked)
    story.exchange(asks(5, "tools/call", name="add", arguments={"a": 1}, _meta=MODERN), got)

    said = story.results(("c1", "?")).turn().says("tool-protocol-broken")
    assert len([one for one in said if "requestState" in one]) == wrong


@pytest.mark.parametrize(("given", "wrong"), [(12, 0), (None, 1)])
def test_a_client_gives_back_a_state_as_the_server_wrote_it(given: object, wrong: int) -> None:
    story = Story().modern().turn(ONE)
    asked = {"ok": {"method": "elicitation/create", "params": {"mode": "url", "url": "https://a.b", "message": "?"}}}
    called: dict[str, Any] = {"name": "add", "arguments": {"a": 1}, "_meta": MODERN}
    state = {} if given is None else {"requestState": given}
    story.exchange(
        asks(5, "tools/call", **called), answers(5, resultType="input_required", inputRequests=asked, **state)
    )
    reply = {"inputResponses": {"ok": {"action": "accept"}}, "requestState": 12}
    story.exchange(asks(6, "tools/call", **called, **reply), answers(6, **text("1"), resultType="complete"))

    said = story.results(("c1", "1")).turn().says("client-tool-protocol-broken")
    assert len([one for one in said if "requestState" in one]) == wrong


NOTICE = notifies("notifications/initialized")
EMPTY = "an empty batch, which is not a message of MCP"


@pytest.mark.parametrize(
    ("line", "said"), [(b"[]", "an empty batch"), (b"[ ]", "an empty batch"), (b"hello", "'hello'"), (b"{}", "'{}'")]
)
def test_a_line_that_is_not_a_message_is_the_clients_where_its_server_refuses_it(line: bytes, said: str) -> None:
    story = Story().start().exchange(NOTICE).exchange(line)
    story.exchange(fails(None, "Invalid Request", -32600), sender="server").call("add", {"a": 1}, text("1"))

    assert story.found() == [(4, "client-tool-protocol-broken", "client", "warning")]
    assert story.says("client-tool-protocol-broken") == [
        f"the client sent server 'files' {said}, which is not a message of MCP, and the server refused it: "
        "'Invalid Request'"
    ]


def test_a_line_that_is_not_a_message_is_an_info_where_nobody_minds() -> None:
    story = Story().start().exchange(NOTICE).exchange(b"[]").exchange(b"[]").call("add", {"a": 1}, text("1"))

    assert story.found() == [(3, "client-tool-protocol-broken", "client", "info")]
    assert story.says("client-tool-protocol-broken") == [f"the client sent server 'files' {EMPTY}"]
    assert Story().start().exchange(NOTICE).exchange(b"\n").exchange(b"  ").found() == []


def test_an_error_about_no_request_is_the_servers_where_the_client_sent_messages_alone() -> None:
    story = Story().start().exchange(NOTICE).exchange(fails(None, "Invalid Request", -32600), sender="server")

    assert story.found() == [(3, "tool-protocol-broken", "tool", "warning")]


@pytest.mark.parametrize(("status", "severity"), [(400, "warning"), (202, "info"), (200, "info")])
def test_an_empty_batch_over_http_is_the_clients(status: int, severity: str) -> None:
    named = (("Mcp-Session-Id", "s-1"),)
    story = Story().put(http(initialize(), initialized(), headers=(), answer_headers=named, at=START))
    story.put(http(NOTICE, status=202, at=START + 1)).put(http(b"[]", b"", status=status, at=START + 2))
    refused = ", and the server refused it: 'status 400'" if status == 400 else ""

    assert story.found() == [(2, "client-tool-protocol-broken", "client", severity)]
    assert story.says("client-tool-protocol-broken") == [f"the client sent server 'files' {EMPTY}{refused}"]
