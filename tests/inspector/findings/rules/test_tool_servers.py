import json
from dataclasses import replace
from typing import Any

import pytest
from conversations import START, chat, said, user
from tool_stories import ADD, KEPT, KEY, MODERN, SAY, Story, offered, text
from tool_wire import (
    SESSION,
    STREAM,
    URL,
    answers,
    asks,
    confirmed,
    events,
    fails,
    http,
    initialize,
    initialized,
    notifies,
)

from turntape.cassettes.tape.model import Failure, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.tools import answers as tool_answers

ONE = ("c1", "add", '{"a":1}')


def ended(result: object, seen: str = "it broke") -> Story:
    return Story().start().turn(ONE).call("add", {"a": 1}, result).results(("c1", seen)).turn()


def test_an_error_of_the_server() -> None:
    story = ended("it broke")

    assert story.found() == [(2, "tool-server-error", "tool", "warning")]
    assert story.says("tool-server-error") == [
        "server 'files' answered the call of 'add' with an error (code -32603): 'it broke'"
    ]


def test_a_server_that_refuses_a_call_is_an_info() -> None:
    story = Story().start().turn(ONE)
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), fails(12, "no such city", -32602))

    assert story.results(("c1", "no such city")).turn().found() == [(2, "tool-server-error", "tool", "info")]


def test_a_server_cannot_refuse_a_tool_that_it_lists_as_unknown() -> None:
    story = Story().start().turn(ONE)
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), fails(12, "Unknown tool: add", -32602))

    assert story.results(("c1", "Unknown tool: add")).turn().found() == [(2, "tool-server-error", "tool", "warning")]


def test_an_error_of_the_tool_is_an_info() -> None:
    assert ended(text("no: it fails", isError=True), "no: it fails").found() == [
        (2, "tool-reported-error", "tool", "info")
    ]


def test_a_server_that_ends_while_a_call_is_open() -> None:
    story = ended(None, "Connection closed")

    assert story.found() == [(2, "tool-server-died", "tool", "error")]
    assert story.says("tool-server-died") == ["server 'files' ended before it had answered the call of 'add'"]


def test_a_server_that_never_answers() -> None:
    story = ended(None, "No answer: the tool failed")
    story.trips[3] = gone_after(story.trips[3], 60)
    story.put(story.trips.pop(3))

    assert story.found() == [(2, "tool-server-silent", "tool", "error")]
    assert story.says("tool-server-silent") == ["server 'files' never answered the call of 'add'"]


def gone_after(call: RoundTrip, seconds: float) -> RoundTrip:
    """A call whose connection the client closes before an answer."""
    gone = Failure("client_gone", "it went")
    return replace(call, response=None, failure=gone, closed_first="client", ended_at=int(seconds * 1_000_000))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            {"jsonrpc": "2.0", "id": "12", "result": text("1")},
            'the only answer came with the id "12", and the request has 12',
        ),
        (
            {"jsonrpc": "2.0", "id": 0, "result": text("1")},
            "the only answer came with the id 0, and the request has 12",
        ),
        (b'{"content": []', "the only answer was not a message of MCP, but '{\"content\": []'"),
    ],
)
def test_what_a_server_writes_in_place_of_an_answer_is_its_fault(written: object, said: str) -> None:
    """The client cannot match it and gives up, however soon."""
    story = Story().start().turn(ONE).call("add", {"a": 1}, None)
    story.trips[-1] = gone_after(story.trips[-1], 3)
    story.exchange(written, sender="server").results(("c1", "MCP error -32001: Request timed out")).turn()

    assert (2, "tool-server-silent", "tool", "error") in story.found()
    assert "client" not in {layer for _, _, layer, severity in story.found() if severity != "info"}
    assert story.says("tool-server-silent")[0].endswith(said)


FORM: dict[str, Any] = {"message": "Sure?", "requestedSchema": {"type": "object"}}


def asked(got: object, method: str = "elicitation/create", asking: object = FORM, **declared: Any) -> Story:
    story = Story().start(**declared).turn(ONE)
    story.exchange({"jsonrpc": "2.0", "id": 1, "method": method, "params": asking}, got, sender="server")
    if got is None:
        story.trips[-1] = replace(story.trips[-1], failure=Failure("cut", "it ended"))
    return story.call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()


def test_a_request_of_a_server_that_the_client_leaves() -> None:
    assert asked(None).found() == [(3, "client-tool-input-unanswered", "client", "warning")]
    refused = asked(fails(1, "the user has no time", -1), elicitation={})
    assert refused.found() == [(3, "client-tool-input-unanswered", "client", "info")]
    assert asked(answers(1, action="decline")).found() == []
    assert refused.says("client-tool-input-unanswered") == [
        "the request elicitation/create of server 'files' was refused by the client: 'the user has no time'"
    ]


SAMPLING = "sampling/createMessage"


def test_who_is_to_blame_for_a_refused_request_is_what_was_declared_and_its_form() -> None:
    unknown = fails(1, "Method not found", -32601)
    unable = asked(unknown, elicitation={})
    undeclared = asked(unknown, sampling={})
    broken = asked(fails(1, "Invalid params", -32602), SAMPLING, {"messages": []}, sampling={})

    assert unable.found() == [(3, "client-tool-input-unanswered", "client", "warning")]
    assert "which had declared that it can answer" in unable.says("client-tool-input-unanswered")[0]
    assert undeclared.found() == broken.found() == [(3, "tool-protocol-broken", "tool", "warning")]
    assert undeclared.says("tool-protocol-broken") == [
        "server 'files' sent a request elicitation/create to a client that has not declared that it can answer"
    ]
    assert broken.says("tool-protocol-broken") == [
        "server 'files' sent a request sampling/createMessage that has no `maxTokens`, which MCP requires"
    ]
    taken = asked(
        answers(1, role="assistant", content={"type": "text", "text": "a"}, model="m"), SAMPLING, {"messages": []}
    )
    assert taken.found() == [(3, "tool-protocol-broken", "tool", "info")]


@pytest.mark.parametrize(
    ("method", "asking", "flaw"),
    [
        (SAMPLING, {"maxTokens": 1}, "has no `messages`, which MCP requires"),
        (
            SAMPLING,
            {"maxTokens": 1, "messages": [{"role": "user", "content": "x"}]},
            "as its `messages/0/content`, which must be",
        ),
        ("elicitation/create", {"requestedSchema": {"type": "object"}}, "has no `message`, which MCP requires"),
        ("elicitation/create", {"message": "Sure?", "mode": "url"}, "has no `url`"),
        (
            "elicitation/create",
            {"message": "Sure?", "requestedSchema": {"type": "string"}},
            "which MCP does not allow there",
        ),
        ("elicitation/create", ["Sure?"], 'has ["Sure?"] as its `params`'),
    ],
)
def test_how_a_request_of_a_server_breaks_its_form(method: str, asking: object, flaw: str) -> None:
    story = asked(fails(1, "Invalid params", -32602), method, asking, elicitation={}, sampling={})

    assert flaw in story.says("tool-protocol-broken")[0]


def test_a_result_that_asks_for_input_must_be_continued() -> None:
    wants = {"resultType": "input_required", "requestState": "s", "inputRequests": {}}

    assert ended(wants, "").found() == [(2, "client-tool-input-unanswered", "client", "warning")]

    story = Story().start().turn(ONE).call("add", {"a": 1}, wants)
    again = asks(99, "tools/call", name="add", arguments={"a": 1}, requestState="s", inputResponses={})
    story.exchange(again, answers(99, content=[{"type": "text", "text": "1"}]))
    assert story.results(("c1", "1")).turn().found() == []


def typed(result: dict[str, Any]) -> Story:
    story = Story()
    schema = {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]}
    story.tools = [{**ADD, "outputSchema": schema}]
    return story.start().turn(ONE).call("add", {"a": 1}, result).results(("c1", '{"sum":1}')).turn()


def test_a_result_that_breaks_the_schema_of_its_tool() -> None:
    wrong = typed(text('{"sum":"1"}', structuredContent={"sum": "1"}))
    missing = typed(text('{"sum":1}'))

    assert (2, "tool-invalid-result", "tool", "warning") in wrong.found()
    assert missing.found() == [(2, "tool-invalid-result", "tool", "warning")]
    assert "it has no structured content" in missing.says("tool-invalid-result")[0]
    assert typed(text('{"sum":1}', structuredContent={"sum": 1})).found() == []
    assert "tool-invalid-result" not in {name for _, name, _, _ in typed(text("no", isError=True)).found()}


def listed(tool: dict[str, Any], *, announced: bool = False) -> Story:
    story = Story().start()
    if announced:
        story.exchange(notifies("notifications/tools/list_changed"), sender="server")
    story.tools = [tool, SAY]
    return story.lists()


OTHER: dict[str, Any] = {**ADD, "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}}}


def test_a_definition_that_changes_during_the_run() -> None:
    story = listed(OTHER)

    assert story.found() == [(2, "tool-definition-changed", "tool", "warning")]
    assert story.says("tool-definition-changed") == [
        "server 'files' changed the arguments of 'add' and did not announce it"
    ]
    assert listed(OTHER, announced=True).found() == [(3, "tool-definition-changed", "tool", "info")]
    assert listed({**ADD, "description": "Sum."}).found() == [(2, "tool-definition-changed", "tool", "info")]
    assert listed({**ADD, "title": "Sum"}).found() == []
    removed = listed({**ADD, "name": "more"})
    assert removed.found() == [(2, "tool-definition-changed", "tool", "info")]
    assert removed.says("tool-definition-changed") == ["server 'files' no longer lists 'add' and did not announce it"]
    assert listed({**ADD, "name": "more"}, announced=True).found() == []


def test_garbage_on_stdout() -> None:
    story = Story().exchange(b"listening on port 3", sender="server").exchange(b"ready", sender="server")

    assert story.found() == [(0, "tool-garbage-on-stdout", "tool", "warning")]
    assert Story().exchange(b"", sender="server").found() == []


def offers(**changed: Any) -> Story:
    story = Story().start()
    return story.turn(tools=offered({**ADD, **changed}, SAY, name=story.name("{}")))


def properties(**given: Any) -> dict[str, Any]:
    return {"inputSchema": {"type": "object", "properties": given}}


def test_the_model_is_offered_another_definition() -> None:
    story = offers(description="Subtract two numbers.")

    assert story.found() == [(2, "client-tool-definition-differs", "client", "warning")]
    assert story.says("client-tool-definition-differs") == [
        "'mcp__files__add' differs from what its server states: the description is 'Subtract two numbers.' and not "
        "'Add two numbers.'"
    ]
    missing = offers(**properties(a={"type": "number"}))
    assert missing.found() == [(2, "client-tool-definition-differs", "client", "warning")]
    assert "the argument 'b' is missing" in missing.says("client-tool-definition-differs")[0]
    other = offers(**properties(a={"type": "boolean"}, b={"type": "number"}))
    assert "the argument 'a' is boolean and not number" in other.says("client-tool-definition-differs")[0]


@pytest.mark.parametrize(
    "changed",
    [
        {"description": "Add two numbers. Use it with care."},
        {"description": "Add two…"},
        {"description": ""},
        properties(a={"type": "integer"}, b={"type": ["number", "null"]}),
        properties(a={"type": "number"}, b={"type": "number"}, wait={"type": "boolean"}),
    ],
)
def test_what_clients_do_to_definitions_is_at_most_an_info(changed: dict[str, Any]) -> None:
    assert {severity for _, _, _, severity in offers(**changed).found()} <= {"info"}


def test_differences_by_design_are_one_finding() -> None:
    story = Story().start()
    tools = [{**one, "description": f"{one['description']} Use it with care."} for one in (ADD, SAY)]

    [said] = story.turn(tools=offered(*tools, name=story.name("{}"))).says("client-tool-definition-differs")

    assert (
        said
        == "'mcp__files__add' (and 1 more tool) differs from what its server states: the description got more words"
    )


def test_a_result_is_held_against_the_schema_of_its_time() -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1"))
    story.tools = [{**ADD, "outputSchema": {"type": "object"}}, SAY]

    assert story.lists().turn().says("tool-invalid-result") == []


def test_equal_definitions_are_nothing_and_a_difference_is_reported_once() -> None:
    assert offers().found() == offers(**properties(a={"type": "NUMBER"}, b={})).found() == []
    story = offers(description="Subtract.")
    story.turn(tools=offered({**ADD, "description": "Subtract."}, SAY, name=story.name("{}")))

    assert len(story.found()) == 1


def test_what_a_dead_server_causes_names_it() -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}).turn()
    found: list[Any] = [one for label in story.label() for one in label.label["findings"]]  # type: ignore[attr-defined]

    causes = {one["id"]: one["because_of"] for one in found}
    assert causes["client-missing-tool-result"] == ["tool-server-died"]


def found_of(story: Story, name: str) -> list[tuple[int, str, str, str]]:
    return [one for one in story.found() if one[1] == name]


UNKNOWN = "Unknown tool: add"


def test_a_call_to_a_server_that_has_no_such_tool_is_the_clients() -> None:
    other = Story(server="notes", session="b", tools=[SAY]).start()
    story = Story().start()
    for trip in other.trips:
        story.put(replace(trip, started_at=story.at))
    story.turn(ONE)
    refused = fails(70, UNKNOWN, -32602)
    story.exchange(asks(70, "tools/call", name="add", arguments={"a": 1}), refused, session="b", server="notes")
    story.results(("c1", UNKNOWN)).turn()

    assert found_of(story, "client-tool-not-on-server") == [(4, "client-tool-not-on-server", "client", "warning")]
    assert not found_of(story, "client-tool-result-stale")
    assert story.says("client-tool-not-on-server") == [
        "the client called 'add' on server 'notes', which does not list it"
    ]


def test_a_call_under_the_clients_own_name_of_the_tool() -> None:
    story = Story(naming="{tool}").start().turn(ONE)
    story.exchange(asks(70, "tools/call", name="files_add", arguments={"a": 1}), fails(70, "Unknown tool: files_add"))
    story.results(("c1", "Unknown tool: files_add")).turn()

    assert found_of(story, "client-tool-not-on-server")
    assert not found_of(story, "tool-server-error")


@pytest.mark.parametrize(
    ("result", "what"),
    [
        ({"output": "1"}, "has no `content`, only 'output'"),
        ({"content": "1"}, 'has "1" as its `content`, which must be a list'),
        ({"content": ["1"]}, 'holds "1" in its `content`, which has no type'),
        ({"content": [{"type": "error", "text": "no"}]}, "holds a block of type 'error', which MCP does not have"),
        ({"content": [{"type": "text", "text": None}]}, "holds a text block whose text is null"),
        (text("1", structuredContent=[1]), "has [1] as its `structuredContent`, which must be an object"),
        (text("1", isError="true"), 'has "true" as `isError`, which must be true or false'),
        (
            {"content": [{"type": "image", "data": "data:image/png;base64,iVBO", "mimeType": "image/png"}]},
            "holds a block of type 'image' whose data is a URL in place of base64",
        ),
        ({"content": [{"type": "image", "data": "iVBO"}]}, "holds a block of type 'image' without a `mimeType`"),
        ({"toolResult": {"content": []}}, "has no `content`, only 'toolResult'"),
    ],
)
def test_a_result_that_is_not_as_mcp_says(result: dict[str, Any], what: str) -> None:
    story = ended(result, "Error: invalid result")

    assert story.found() == [(2, "tool-invalid-result", "tool", "warning")]
    assert what in story.says("tool-invalid-result")[0]


def answered(**beside: object) -> Story:
    """A call whose answer has more members than a result."""
    story = Story().start().turn(ONE)
    whole = {**answers(12, **text("The sum is 1.")), **beside}
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), whole)
    return story.results(("c1", "MCP error: invalid answer")).turn()


def test_an_answer_is_a_result_or_an_error_and_the_client_may_refuse_both_at_once() -> None:
    assert answered().found() == [(2, "client-tool-result-changed", "client", "warning")]
    assert answered(error={"code": -1, "message": "err"}).found() == [(2, "tool-invalid-result", "tool", "warning")]
    assert answered(error=None).found() == [(2, "tool-invalid-result", "tool", "warning")]


def test_an_answer_that_is_not_utf_8() -> None:
    story = Story().start().turn(ONE)
    raw = b'{"jsonrpc":"2.0","id":12,"result":{"content":[{"type":"text","text":"\xb0\xa1 1"}]}}'
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), raw)
    story.results(("c1", "MCP error: timed out")).turn()

    assert story.says("tool-invalid-result") == ["the result of 'add' of server 'files' is not valid UTF-8"]
    assert story.found() == [(2, "tool-invalid-result", "tool", "warning")]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ({"jsonrpc": 2.0}, "has 2.0 as `jsonrpc`, which must be the text '2.0'"),
        ({"result": {**text("1"), "structuredContent": {"mean": float("nan")}}}, "holds NaN or Infinity"),
    ],
)
def test_an_envelope_that_a_strict_client_does_not_open(answer: dict[str, Any], what: str) -> None:
    story = answered(**answer)

    assert story.found() == [(2, "tool-invalid-result", "tool", "warning")]
    assert what in story.says("tool-invalid-result")[0]
    assert not found_of(answered(result=text("NaN, Infinity")), "tool-invalid-result"), "in a text"


@pytest.mark.parametrize(("version", "found"), [("2025-03-26", 0), ("2025-06-18", 1)])
def test_an_answer_in_a_batch_is_one_of_the_version_that_had_batches(version: str, found: int) -> None:
    agreed = initialized()
    agreed["result"]["protocolVersion"] = version
    story = Story().exchange(initialize(0, version), agreed).lists().turn(ONE)
    answer = json.dumps([answers(12, **text("The sum is 1."))]).encode()
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), answer)

    assert len(found_of(story.results(("c1", "timed out")).turn(), "tool-invalid-result")) == found


@pytest.mark.parametrize("version", ["2024-10-07", "2027-01-01"])
def test_each_version_has_its_own_form(version: str) -> None:
    story = Story()
    agreed = initialized()
    agreed["result"]["protocolVersion"] = version
    story.exchange(initialize(0, version), agreed).lists().turn(ONE)
    given = {"toolResult": "1"} if version < "2025" else text("1", structuredContent=[1])
    story.call("add", {"a": 1}, given).results(("c1", "it broke")).turn()

    assert not found_of(story, "tool-invalid-result")


def test_an_error_that_a_tool_does_not_mark() -> None:
    story = ended(text("Error: no connection"), "Error: no connection")

    assert story.found() == [(2, "tool-error-unmarked", "tool", "info")]
    assert not found_of(ended(text("No error was found."), "No error was found."), "tool-error-unmarked")


def paged(*cursors: str | None) -> Story:
    """The list of tools in pages: the cursor of each request after the first."""
    story = Story().start()
    story.trips[1] = replace(
        story.trips[1], response=http(None, answers(11, tools=story.tools, nextCursor="p2")).response
    )
    for number, cursor in enumerate(cursors):
        more = {} if cursor is None else {"nextCursor": cursor}
        story.exchange(asks(50 + number, "tools/list", cursor="p2"), answers(50 + number, tools=[], **more))
    return story.turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()


def test_pages_of_the_list_that_the_client_does_not_read() -> None:
    assert paged().found() == [(3, "client-tool-protocol-broken", "client", "warning")]
    assert paged(None).found() == []


def test_a_list_that_never_ends() -> None:
    story = paged("p2", None)

    assert story.found() == [(2, "tool-protocol-broken", "tool", "warning")]
    assert "so its list never ends" in story.says("tool-protocol-broken")[0]


def test_a_tool_that_is_listed_twice() -> None:
    story = Story().start()
    twice = [ADD, {**ADD, "description": "Multiply."}, SAY]
    story.exchange(asks(60, "tools/list"), answers(60, tools=twice)).turn()

    assert story.found() == [(2, "tool-protocol-broken", "tool", "warning")]
    assert Story(tools=[ADD, ADD, SAY]).start().found() == [(1, "tool-protocol-broken", "tool", "info")]


def test_a_second_answer_to_one_request() -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text("1"))
    story.exchange(answers(story.id, content=[]), sender="server")

    assert story.results(("c1", "1")).turn().found() == [(4, "tool-protocol-broken", "tool", "warning")]


def test_a_server_that_ends_at_its_start() -> None:
    story = Story().exchange(initialize(0))
    story.trips[0] = replace(story.trips[0], failure=Failure("cut", "it ended"), closed_first="server")

    assert story.found() == [(0, "tool-server-died", "tool", "error")]
    story.trips[0] = replace(story.trips[0], failure=Failure("client_gone", "it went"), closed_first="client")
    assert story.found() == []


def test_a_request_before_the_handshake_has_ended() -> None:
    said = "Received request before initialization was complete"
    story = Story().exchange(asks(1, "tools/list"), fails(1, said, -32602))

    assert story.found() == [(0, "client-tool-protocol-broken", "client", "warning")]


@pytest.mark.parametrize(
    ("method", "params", "flaw"),
    [
        ("tools/list", None, "has null as its `params`, which must be an object"),
        ("tools/list", {"cursor": None}, "has null as its `cursor`, which must be a text"),
        ("tools/call", {"arguments": {}}, "has no `name`, which MCP requires"),
        ("tools/call", {"name": "add", "arguments": [1]}, "has [1] as its `arguments`, which must be an object"),
        ("notifications/initialized", {}, "has an id, and a notification has none"),
    ],
)
def test_a_request_of_the_client_that_the_server_refuses_for_its_form(method: str, params: object, flaw: str) -> None:
    story = Story().exchange(initialize(), initialized())
    story.exchange({"jsonrpc": "2.0", "id": 7, "method": method, "params": params}, fails(7, "no", -32602))

    assert story.found() == [(1, "client-tool-protocol-broken", "client", "warning")]
    assert flaw in story.says("client-tool-protocol-broken")[0]


def test_a_server_that_refuses_a_call_which_came_too_early_is_not_to_blame() -> None:
    story = Story().start().turn(ONE)
    early = fails(12, "Server not initialized", -32000)
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), early)

    found = story.results(("c1", "Server not initialized")).turn().found()
    assert (2, "tool-server-error", "client", "info") in found
    assert (3, "client-tool-protocol-broken", "client", "warning") in found


def test_a_ping_without_an_answer_is_an_info() -> None:
    story = Story().start().exchange(asks(1, "ping"), sender="server")
    story.trips[-1] = replace(story.trips[-1], failure=Failure("cut", "it ended"))

    assert story.found() == [(2, "client-tool-input-unanswered", "client", "info")]
    story.trips[-1] = replace(story.trips[-1], failure=Failure("client_gone", "it went"))
    assert story.found() == []


def changed(*, again: bool) -> Story:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text("1"))
    story.exchange(notifies("notifications/tools/list_changed"), sender="server")
    story.trips[-1] = replace(story.trips[-1], started_at=story.trips[-1].started_at - 5)
    if again:
        story.lists()
    return story.results(("c1", "1")).turn()


def test_tools_that_changed_and_were_not_read_again_are_an_info() -> None:
    assert changed(again=False).found() == [(5, "client-tool-protocol-broken", "client", "info")]
    assert changed(again=True).found() == []


GONE = fails(5, "Session not found", -32001)


def over_http(*statuses: int, named: bool = True) -> list[tuple[str, str, str]]:
    """Requests in a session over HTTP, with the statuses of their answers."""
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(SESSION[0],), at=story.at))
    for number, status in enumerate(statuses):
        got = answers(5 + number, tools=[ADD]) if status == 200 else {**GONE, "id": 5 + number}
        headers = SESSION if named else SESSION[1:]
        story.put(http(asks(5 + number, "tools/list", number=number), got, status=status, headers=headers, at=story.at))
    return [(name, layer, severity) for _, name, layer, severity in story.found()]


def test_a_session_that_is_gone_is_not_used_again() -> None:
    assert over_http(404, 404) == [("client-tool-protocol-broken", "client", "warning")]
    assert over_http(200, 404) == [("client-tool-protocol-broken", "client", "info")], "it began no other one"


def test_a_request_that_does_not_name_its_session() -> None:
    assert over_http(400, named=False) == [("client-tool-protocol-broken", "client", "warning")]


def test_a_server_that_hides_that_a_session_is_gone() -> None:
    assert over_http(400) == [("tool-protocol-broken", "tool", "warning")]

    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(SESSION[0],), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(ONE)
    sent = asks(12, "tools/call", name="add", arguments={"a": 1})
    story.put(http(sent, {**fails(0, "Bad Request: No valid session ID"), "id": None}, status=400, at=story.at))
    story.results(("c1", "HTTP 400")).turn()
    assert {(layer, severity) for _, _, layer, severity in story.found()} == {("tool", "warning")}


@pytest.mark.parametrize(
    ("code", "severity"), [(-32603, [("tool-server-error", "warning")]), (-32601, []), (-32600, [])]
)
def test_a_server_that_cannot_list_its_tools(code: int, severity: list[tuple[str, str]]) -> None:
    said = "Session not found" if code == -32600 else "it broke"
    story = Story().exchange(initialize(0), initialized(0)).exchange(asks(1, "tools/list"), fails(1, said, code))

    assert [(name, how) for _, name, _, how in story.found()] == severity


def reports(*, token: object = 12, late: bool = False, asked: bool = True) -> Story:
    """A call with a report of progress, recorded as the wrapper records it: before the call, which ends later."""
    story = Story().start().turn(ONE)
    meta = {"_meta": {"progressToken": 12}} if asked else {}
    report = notifies("notifications/progress", progressToken=token, progress=1)
    call = asks(12, "tools/call", name="add", arguments={"a": 1}, **meta)
    if not late:
        story.exchange(report, sender="server")
        story.exchange(call, answers(12, **text("1")))
        story.trips[-1] = replace(story.trips[-1], started_at=story.trips[-2].started_at - 0.05, ended_at=90_000)
    else:
        story.exchange(call, answers(12, **text("1"))).exchange(report, sender="server")
    return story.results(("c1", "1")).turn()


def test_reports_of_progress_belong_to_an_open_request() -> None:
    assert reports().found() == []
    assert reports(late=True).found() == [(4, "tool-protocol-broken", "tool", "info")]
    assert reports(token="tool-call-12").found() == [(3, "tool-protocol-broken", "tool", "info")]
    assert reports(asked=False).found() == [(3, "tool-protocol-broken", "tool", "info")]
    assert reports(late=True).says("tool-protocol-broken") == [
        "server 'files' reports progress under the token 12 after it had answered the request"
    ]


@pytest.mark.parametrize(("values", "found"), [((10, 60, 20), 1), ((10, 60.5, 100), 0), ((5, 5), 1)])
def test_progress_that_goes_back(values: tuple[float, ...], found: int) -> None:
    story = Story().start().turn(ONE)
    for value in values:
        story.exchange(notifies("notifications/progress", progressToken=12, progress=value), sender="server")
    begun = story.trips[-len(values)].started_at - 0.05
    call = asks(12, "tools/call", name="add", arguments={"a": 1}, _meta={"progressToken": 12})
    story.exchange(call, answers(12, **text("1")))
    story.trips[-1] = replace(
        story.trips[-1], started_at=begun, ended_at=int((story.trips[-1].started_at - begun) * 1e6)
    )

    said = story.results(("c1", "1")).turn().says("tool-protocol-broken")
    assert said == ["server 'files' reports progress under the token 12 that does not grow, and it must"] * found


@pytest.mark.parametrize(("status", "layer", "severity"), [(404, "tool", "info"), (405, "client", "warning")])
def test_a_status_that_speaks_of_the_request_is_the_clients_unless_the_session_had_ended(
    status: int, layer: str, severity: str
) -> None:
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(SESSION[0],), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(ONE)
    story.put(http(asks(5, "tools/call", name="add", arguments={"a": 1}), GONE, status=status, at=story.at))

    repeated = replace(story, trips=[*story.trips], messages=[*story.messages])
    repeated.put(http(asks(6, "tools/call", name="add", arguments={"a": 1}), answers(6, **text("1")), at=story.at))

    lost = story.results(("c1", "Session not found")).turn().found()
    assert ("tool-server-error", layer, severity) in {tuple(one) for _, *one in lost}
    again = {tuple(one) for _, *one in repeated.results(("c1", "1")).turn().found()}
    assert ("tool-server-error", layer, "info") in again, "the call got its result"


def test_a_list_that_never_ends_may_be_left_unread() -> None:
    story = Story().start().exchange(asks(50, "tools/list"), answers(50, tools=[ADD, SAY], nextCursor="p2"))
    story.exchange(asks(51, "tools/list", cursor="p2"), answers(51, tools=[ADD, SAY], nextCursor="p2"))
    story.turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()

    assert story.found() == [(3, "tool-protocol-broken", "tool", "warning")]


def test_a_tool_without_a_schema() -> None:
    bare = {"name": "add", "description": "Add two numbers."}
    story = Story().exchange(asks(1, "tools/list"), answers(1, tools=[bare, SAY])).turn()

    assert story.found() == [(0, "tool-protocol-broken", "tool", "warning")]
    assert "without an `inputSchema`" in story.says("tool-protocol-broken")[0]


def test_an_image_without_data_is_the_tools_fault() -> None:
    empty = text("see this")
    empty["content"].append({"type": "image", "data": "", "mimeType": "image/png"})

    assert ended(empty, "see this").found() == [(2, "tool-invalid-result", "tool", "warning")]


@pytest.mark.parametrize(
    ("said", "severity"),
    [
        ('{"success": false, "error": "user not found"}', "info"),
        ('{"status": "error", "message": "quota"}', "info"),
        ("❌ Node Error: Unknown tool: add. Is the node running?", "warning"),
    ],
)
def test_failures_that_a_tool_writes_into_a_result(said: str, severity: str) -> None:
    found = [one for one in ended(text(said), said).found() if one[1].startswith("tool-")]

    assert found == [(2, "tool-error-unmarked", "tool", severity)]


@pytest.mark.parametrize(
    "said", ['{"success": true, "error": null}', '{"success": false}', '{"rows": [{"error": "x"}]}']
)
def test_results_that_report_no_failure(said: str) -> None:
    assert ended(text(said), said).says("tool-error-unmarked") == []


def test_an_error_without_a_word() -> None:
    story = ended({"content": [], "isError": True}, "")

    assert (2, "tool-reported-error", "tool", "warning") in story.found()
    assert story.says("tool-reported-error") == ["'add' of server 'files' reports an error without saying which"]


@pytest.mark.parametrize(("linked", "found"), [("report://7", 1), ("report://8", 0)])
def test_a_resource_that_a_result_names_and_the_server_does_not_have(linked: str, found: int) -> None:
    link = {"type": "resource_link", "uri": linked, "name": "report"}
    story = Story().start().turn(ONE).call("add", {"a": 1}, {"content": [link]})
    story.exchange(asks(40, "resources/read", uri="report://7"), fails(40, "Resource not found", -32002))

    assert len(story.says("tool-protocol-broken")) == found


@pytest.mark.parametrize(("version", "found"), [("1.0.0", 1), ("2024-11-05", 0), ("2031-01-01", 0)])
def test_a_version_that_does_not_exist(version: str, found: int) -> None:
    info = {"name": "files", "version": "1"}
    answer = answers(0, protocolVersion=version, capabilities={"tools": {}}, serverInfo=info)

    assert len(Story().exchange(initialize(0), answer).says("tool-protocol-broken")) == found


@pytest.mark.parametrize("status", [200, 307])
def test_the_server_answers_over_http_without_a_result_before_the_client_cancels(status: int) -> None:
    """Some clients send `cancelled` after every call."""
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(SESSION[0],), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(ONE)
    story.put(http(asks(5, "tools/call", name="add", arguments={"a": 1}), b"{}", status=status, at=story.at))
    story.put(http(notifies("notifications/cancelled", requestId=5, reason="done"), b"", status=202, at=story.at))

    found = story.results(("c1", "the stream ended")).turn().found()
    assert (2, "tool-server-silent", "tool", "error") in found
    assert "client-tool-gave-up" not in {name for _, name, _, _ in found}


@pytest.mark.parametrize("kind", ["text/event-stream", "text/plain"])
@pytest.mark.parametrize(("seen", "severity"), [("SSE stream disconnected", "warning"), ("It is 1.", "info")])
def test_json_under_another_name_is_the_servers_fault(seen: str, severity: str, kind: str) -> None:
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(ONE)
    called = asks(5, "tools/call", name="add", arguments={"a": 1})
    story.put(http(called, answers(5, **text("It is 1.")), kind=kind, at=story.at))

    assert story.results(("c1", seen)).turn().found() == [(2, "tool-invalid-result", "tool", severity)]


def test_a_call_without_an_answer_is_found_in_a_long_run() -> None:
    story = Story().start().turn(ONE).exchange(asks(912, "tools/call", name="add", arguments={"a": 1}))
    story.results(("c1", "the stream ended"))
    for number in range(6):
        story.turn((f"n{number}", "add", f'{{"a":{number + 5}}}')).call(
            "add", {"a": number + 5}, text(f"It is {number}.")
        )
        story.results((f"n{number}", f"It is {number}."))

    assert story.turn().found() == [(2, "tool-server-silent", "tool", "error")]


def layers(story: Story, name: str) -> list[str]:
    """The layers that the findings of a class blame."""
    return [one["layer"] for one in story.every(name)]


def causes(story: Story, name: str) -> list[list[str]]:
    """What the findings of a class name as their cause."""
    return [one["because_of"] for one in story.every(name)]


@pytest.mark.parametrize("returned", ["[object Object]", "<coroutine object add at 0x7f0a>"])
def test_what_a_tool_sent_so_is_not_the_clients_fault(returned: str) -> None:
    of_tool = ended(text(returned), returned)

    assert layers(of_tool, "tool-result-unreadable") == ["tool"]
    assert causes(of_tool, "client-unserialized-result") == [["tool-result-unreadable"]]
    assert causes(ended(text("It is 1."), returned), "client-unserialized-result") == [[]]


def exchanged(*, by_server: bool) -> Story:
    """Two calls whose results speak of each other's argument."""
    story = Story().start().turn(("c1", "say", '{"text":"P-4711"}'), ("c2", "say", '{"text":"P-9032"}'))
    given = ["P-9032 is in Turin", "P-4711 is in Gent"]
    for name, result in zip(("P-4711", "P-9032"), given if by_server else given[::-1], strict=True):
        story.call("say", {"text": name}, text(result))
    return story.results(("c1", given[0]), ("c2", given[1])).turn()


def test_results_that_the_server_exchanges_are_its_fault() -> None:
    assert causes(exchanged(by_server=True), "client-results-exchanged") == [["tool-protocol-broken"]]
    assert causes(exchanged(by_server=False), "client-results-exchanged") == [[]]


HALF = "\ud83d"


def halved(returned: str, seen: str) -> Story:
    """The API refuses a request in which a result holds half of a surrogate pair, as JSON can."""
    story = Story().start().turn(ONE).call("add", {"a": 1}, text(returned)).results(("c1", seen.replace(HALF, "HALF")))
    said = {"error": {"message": "The request body is not valid JSON: no low surrogate in string: line 1 column 9"}}
    trip = chat(list(story.messages), status=400, error=said, at=9, index=4, tools=offered(ADD, SAY))
    body = trip.request.body.replace(b"HALF", rb"\ud83d")
    return story.put(replace(trip, request=replace(trip.request, content=body)))


def test_half_a_character_in_a_result_is_the_fault_of_who_wrote_it() -> None:
    assert layers(halved(f"It is {HALF}", f"It is {HALF}"), "request-rejected") == ["tool"]
    assert layers(halved("It is \U0001f600 here", f"It is {HALF}"), "request-rejected") == ["client"]


@pytest.mark.parametrize(
    ("said", "severity"),
    [
        ("Input validation error: 'a' is a required property", "warning"),
        ("Input validation error: 'b' is a required property", "warning"),
        ("Output validation error: {} is not of type 'array'", "warning"),
    ],
)
def test_a_tool_that_misses_what_it_was_given_or_refuses_its_own_result(said: str, severity: str) -> None:
    assert (2, "tool-reported-error", "tool", severity) in ended(text(said, isError=True), said).found()


def test_an_error_about_a_part_of_an_argument_is_not_about_the_argument_of_that_name() -> None:
    rows: dict[str, Any] = {"type": "array", "items": {"type": "object", "required": ["a"]}}
    nested = {**ADD, "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "rows": rows}}}
    story = Story([nested, SAY]).start().turn(("c1", "add", '{"a":1,"rows":[{}]}'))
    said = "Input validation error: 'a' is a required property"
    story.call("add", {"a": 1, "rows": [{}]}, text(said, isError=True)).results(("c1", said)).turn()

    assert (2, "tool-reported-error", "model", "info") in story.found(), "the model broke the schema of the rows"


def test_an_object_around_what_a_tool_returned_is_the_clients() -> None:
    shown = "meta=None content=[TextContent(type='text', text='It is 1.')] structuredContent=None isError=False"

    assert causes(ended(text("It is 1."), shown), "client-unserialized-result") == [[]]
    assert causes(ended(text(shown), shown), "client-unserialized-result") == [["tool-result-unreadable"]]
    assert causes(ended(text(shown), json.dumps({"result": shown})), "client-unserialized-result") == [
        ["tool-result-unreadable"]
    ]


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ([{**ADD, "name": "add them"}], "Invalid 'tools[0].function.name': string does not match pattern"),
        ([ADD, ADD], "tools: Tool names must be unique."),
    ],
)
def test_a_name_that_the_server_itself_states_so_is_its_fault(tools: list[dict[str, Any]], said: str) -> None:
    def refused(stated: list[dict[str, Any]]) -> Story:
        story, error = Story(stated).start(), {"error": {"message": said}}
        return story.put(chat([user("Go.")], tools=offered(*tools, name="{}"), status=400, error=error, at=1, index=2))

    assert causes(refused(tools), "client-bad-tool-schema")[0] == ["tool-definition-rejected"]
    assert causes(refused([ADD]), "client-bad-tool-schema")[0] == []


@pytest.mark.parametrize(("support", "layer"), [("required", "client"), ("optional", "tool")])
def test_a_tool_that_runs_only_as_a_task_and_is_called_plainly(support: str, layer: str) -> None:
    story = Story([{**ADD, "execution": {"taskSupport": support}}, SAY]).start().turn(ONE)
    refused = fails(12, "Method not found", -32601)
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), refused).results(("c1", "no")).turn()

    assert (2, "tool-server-error", layer, "info") in story.found()
    assert bool(story.says("client-tool-protocol-broken")) == (layer == "client")


@pytest.mark.parametrize(("kind", "found"), [("text/event-stream", 1), ("application/json", 0)])
def test_a_list_of_tools_that_clients_cannot_read(kind: str, found: int) -> None:
    story = Story()
    story.put(http(initialize(), initialized(), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), kind=kind, at=story.at))

    said = story.turn(tools=offered({**ADD, "name": "other"}, name="{}")).says("tool-protocol-broken")
    assert [" ".join(one.split()[-8:]) for one in said] == found * ["stream, and none of its tools is offered"]


@pytest.mark.parametrize("listed", [True, False])
def test_a_list_of_messages_in_answer_to_one_request(listed: bool) -> None:
    story, tools = Story(), answers(1, tools=[ADD, SAY])
    story.put(http(initialize(), initialized(), at=story.at))
    story.put(http(asks(1, "tools/list"), [tools] if listed else tools, at=story.at))
    story.turn(tools=[])

    assert bool(story.says("tool-protocol-broken")) == listed
    assert bool(story.says("client-tool-definition-differs")) != listed


def test_a_tool_that_an_earlier_request_offered_is_not_made_up() -> None:
    mul = {**ADD, "name": "mul"}
    story = Story().start().turn(ONE, tools=offered(ADD, SAY, mul)).call("add", {"a": 1}, text("1"))
    story.results(("c1", "1")).turn(("c2", "mul", '{"a":1}'))
    story.exchange(asks(99, "tools/call", name="mul", arguments={"a": 1}), fails(99, "Unknown tool: mul", -32602))
    story.results(("c2", "Unknown tool: mul")).turn()

    assert causes(story, "client-tool-not-on-server") == [[]]


@pytest.mark.parametrize("seen", ["42", "MCP error -32602: Invalid tools/call result"])
def test_a_result_that_is_not_an_object_is_the_servers(seen: str) -> None:
    story = Story().start().turn(ONE)
    story.exchange(asks(12, "tools/call", name="add", arguments={"a": 1}), {"jsonrpc": "2.0", "id": 12, "result": "42"})
    story.results(("c1", seen)).turn()

    assert (2, "tool-invalid-result", "tool", "warning") in story.found()
    assert {layer for _, _, layer, severity in story.found() if severity != "info"} == {"tool"}
    assert story.says("tool-invalid-result") == [
        "the result of 'add' of server 'files' is \"42\", and must be an object"
    ]


def test_null_in_a_result_is_an_info_until_a_client_refuses_it() -> None:
    taken = ended(text("three", structuredContent=None), "three")
    refused = ended(text("three", structuredContent=None), "MCP error -32602: Invalid tools/call result")

    assert taken.found() == [(2, "tool-invalid-result", "tool", "info")]
    assert (2, "tool-invalid-result", "tool", "warning") in refused.found()
    assert {layer for _, _, layer, severity in refused.found() if severity != "info"} == {"tool"}


QUESTION: dict[str, Any] = {"who": {"method": "elicitation/create", "params": FORM}}
ANSWER: dict[str, Any] = {"who": {"action": "accept", "content": {}}}


def modern(first: dict[str, Any], again: dict[str, Any] | None, gives: object = "no", seen: str = "no") -> Story:
    """A call in version 2026-07-28 whose first answer is `first`, and which is repeated with `again`."""
    story = Story().modern().turn(ONE)
    call = {"name": "add", "arguments": {"a": 1}, "_meta": MODERN}
    story.exchange(asks(2, "tools/call", **call), answers(2, **first))
    if again is not None:
        result = fails(3, gives, -32602) if isinstance(gives, str) else answers(3, **gives)  # type: ignore[arg-type]
        story.exchange(asks(3, "tools/call", **{**call, **again}), result)
    return story.results(("c1", seen)).turn()


WAITS: dict[str, Any] = {"resultType": "input_required", "inputRequests": QUESTION}


@pytest.mark.parametrize("state", [None, "s1"])
def test_a_question_that_the_client_answers_is_silent(state: str | None) -> None:
    said = {} if state is None else {"requestState": state}
    done = {**text("1"), "resultType": "complete"}

    assert modern({**WAITS, **said}, {"inputResponses": ANSWER, **said}, done, "1").found() == []


def test_a_question_that_asks_nothing_is_the_servers() -> None:
    story = modern({"resultType": "input_required"}, None, seen="no question")

    assert [(name, layer) for _, name, layer, rank in story.found() if rank != "info"] == [
        ("tool-invalid-result", "tool")
    ]
    waiting = modern({"resultType": "input_required", "requestState": "s"}, {"requestState": "s"}, WHOLE, "1")
    assert waiting.found() == []


WHOLE: dict[str, Any] = {**text("1"), "resultType": "complete"}


def test_a_result_that_does_not_say_its_type_in_the_newest_version_is_an_info() -> None:
    assert modern(text("1"), None, seen="1").found() == [(2, "tool-invalid-result", "tool", "info")]
    assert modern(WHOLE, None, seen="1").found() == []
    assert Story().start().turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn().found() == []


def test_a_notice_of_no_subscription_in_the_newest_version_is_an_info() -> None:
    def noticed(**params: Any) -> Story:
        story = Story().modern().exchange(notifies("notifications/tools/list_changed", **params), sender="server")
        return story.exchange(asks(3, "tools/list", _meta=MODERN), answers(3, tools=story.tools, **KEPT)).turn()

    assert noticed().found() == [(2, "tool-protocol-broken", "tool", "info")]
    assert noticed(_meta={f"{KEY}subscriptionId": 2}).found() == []


def test_an_answer_under_another_name_than_the_question_is_the_clients() -> None:
    story = modern({**WAITS, "requestState": "s"}, {"requestState": "s", "inputResponses": {"0": ANSWER["who"]}})

    assert ("client-tool-protocol-broken", "client", "warning") in [row[1:] for row in story.found()]
    assert {layer for _, _, layer, _ in story.found()} == {"client"}
    assert "that does not answer the question 'who' of its server" in story.says("client-tool-protocol-broken")[0]


def test_a_type_of_result_that_mcp_does_not_have() -> None:
    story = modern({**text("no"), "resultType": "partial"}, None)

    assert story.found() == [(2, "tool-invalid-result", "tool", "info")]
    assert modern({**text("no"), "resultType": "complete"}, None).found() == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ([QUESTION["who"]], "as its `inputRequests`, which must be an object"),
        ({"who": {"params": FORM}}, "asks the question 'who', which has null as its method, which no question has"),
        ({"who": {"method": "ping"}}, 'which has "ping" as its method'),
        ({"who": {"method": "elicitation/create", "params": {"message": "Who?"}}}, "has no `requestedSchema`"),
        ({"who": {"method": "roots/list", "params": []}}, "has [] as its `params`"),
    ],
)
def test_a_question_in_a_wrong_form_is_the_servers(question: object, said: str) -> None:
    story = modern({"resultType": "input_required", "inputRequests": question}, None, seen="Invalid result")

    assert [(name, layer) for _, name, layer, rank in story.found() if rank != "info"] == [
        ("tool-invalid-result", "tool")
    ]
    assert said in story.says("tool-invalid-result")[0]


NAMED = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ASKS_NAME = {"who": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": NAMED}}}


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ({"action": "ok"}, "answers the question 'who' in a form that has \"ok\" as its `action`"),
        ({"action": "accept", "content": {"name": 7}}, "answers the question 'who' against the schema"),
        ("Ada", "answers the question 'who' with \"Ada\", which must be an object"),
    ],
)
def test_an_answer_to_a_question_in_a_wrong_form_is_the_clients(reply: object, said: str) -> None:
    story = modern({"resultType": "input_required", "inputRequests": ASKS_NAME}, {"inputResponses": {"who": reply}})

    assert ("client-tool-protocol-broken", "client", "warning") in [row[1:] for row in story.found()]
    assert {layer for _, _, layer, _ in story.found()} == {"client"}
    assert said in story.says("client-tool-protocol-broken")[0]


@pytest.mark.parametrize("reply", [{"action": "accept", "content": {"name": "Ada"}}, {"action": "decline"}])
def test_an_answer_to_a_question_in_its_form_is_silent(reply: dict[str, Any]) -> None:
    waits = {"resultType": "input_required", "inputRequests": ASKS_NAME}
    done = {**text("1"), "resultType": "complete"}

    assert modern(waits, {"inputResponses": {"who": reply}}, done, "1").found() == []


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"type": "object", "properties": [{"name": "a"}]}, True),
        ({"type": "object", "properties": {"a": {"required": True}}}, True),
        ({"type": "object", "properties": {"a": {"type": "str"}}}, True),
        ({"type": "object", "required": "a"}, True),
        ({"type": "object", "properties": {"a": {"items": [{"type": "string"}]}}}, False),
        ({"type": "object", "properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}}, False),
        ({"type": "object", "properties": {"a": {"pattern": "[\\w-.]+", "format": "own"}}}, False),
        ({"type": "object", "$schema": "https://desk.example/own", "properties": {"a": {"$ref": "b:c"}}}, False),
        ({"type": "object", "properties": {"a": {"type": "string", "description": "half \ud83d"}}}, False),
    ],
)
def test_a_schema_of_a_server_that_is_none(schema: dict[str, Any], wrong: bool) -> None:
    story = Story().start().exchange(asks(50, "tools/list"), answers(50, tools=[ADD, {**SAY, "inputSchema": schema}]))
    found = [one for one in story.says("tool-protocol-broken") if "states for the tool 'say' an `inputSchema`" in one]

    assert len(found) == wrong
    assert [rank for _, name, _, rank in story.found() if name == "tool-protocol-broken"] == ["info"] * wrong


def test_an_answer_that_comes_twice_in_one_stream() -> None:
    answer = answers(12, **text("1"))
    stream = events(answer, answer)
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(SESSION[0],), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(ONE)
    call = asks(12, "tools/call", name="add", arguments={"a": 1})
    story.put(http(call, stream, kind="text/event-stream", at=story.at)).results(("c1", "1")).turn()

    assert story.found() == [(3, "tool-protocol-broken", "tool", "warning")]
    story.trips[3] = replace(story.trips[3], response=http(call, events(answer), kind="text/event-stream").response)
    assert story.found() == []


@pytest.mark.parametrize(("status", "found"), [(200, True), (405, False)])
def test_a_client_that_deletes_its_session_and_continues(status: int, found: bool) -> None:
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(SESSION[0],), at=story.at))
    story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(ONE)
    story.put(http(b"", b"", method="DELETE", status=status, at=story.at))
    story.put(http(asks(12, "tools/call", name="add", arguments={"a": 1}), answers(12, **text("1")), at=story.at))
    story.results(("c1", "1")).turn()

    said = "sent tools/call to server 'files' in a session that the server no longer has"
    assert [said in one for one in story.says("client-tool-protocol-broken")] == [True] * found


@pytest.mark.parametrize(("uri", "layers"), [("notes/today.md", {"tool"}), ("urn:isbn:0451450523", {"client"})])
def test_a_resource_whose_address_is_a_path(uri: str, layers: set[str]) -> None:
    story = ended({"content": [{"type": "resource", "resource": {"uri": uri, "text": "Buy milk."}}]}, "Invalid URL")

    assert {layer for _, _, layer, rank in story.found() if rank != "info"} == layers


@pytest.mark.parametrize(("more", "layer"), [({}, "tool"), ({"elicitationId": "e1"}, "client")])
def test_a_page_to_open_has_an_id(more: dict[str, str], layer: str) -> None:
    page = {"mode": "url", "message": "Sign in", "url": "https://desk.example/", **more}
    story = asked(fails(1, "no", -32602), asking=page, elicitation={"url": {}})

    assert [one for _, _, one, _ in story.found()] == [layer]


def test_a_second_page_that_is_the_first_again() -> None:
    story = Story().start()
    first = http(None, answers(11, tools=story.tools, nextCursor="p2")).response
    story.trips[1] = replace(story.trips[1], response=first)
    story.exchange(asks(50, "tools/list", cursor="p2"), answers(50, tools=story.tools)).turn()

    assert story.found() == [(2, "tool-protocol-broken", "tool", "warning")]
    assert story.says("tool-protocol-broken") == ["server 'files' has 'add' on several pages of tools/list"]


def on_both_streams(*headers: tuple[str, str], issued: bool = True) -> list[Any]:
    """What is found where the answer to a call comes again on the client's stream for what the server sends."""
    named = (("Mcp-Session-Id", "s-1"),) if issued else ()
    answer = answers(12, **text("1"))
    trips = [
        http(initialize(0), initialized(0), answer_headers=named, headers=(), at=0),
        http(asks(12, "tools/call", name="add", arguments={"a": 1}), answer, at=1),
        http(None, events(answer), method="GET", kind=STREAM, headers=(*SESSION, *headers), at=2),
    ]
    numbered = [replace(trip, index=place) for place, trip in enumerate(trips)]
    return [one for row in label_all(confirmed(numbered)) for one in row.label["findings"]]  # type: ignore[attr-defined]


def test_an_answer_that_comes_again_on_another_stream() -> None:
    [found] = on_both_streams()

    assert (found["id"], found["layer"]) == ("tool-protocol-broken", "tool")
    assert "sent an answer with the id 12 that no open request has" in found["message"]
    assert on_both_streams(("Last-Event-ID", "7")) == []
    assert on_both_streams(issued=False) == []


def outdated(*, announced: bool, lists: bool = False) -> Story:
    """A server refuses a call, after it had announced that its tools change."""
    story = Story().start()
    if announced:
        story.exchange(notifies("notifications/tools/list_changed"), sender="server")
    if lists:
        story.lists()
    return story.turn(ONE).call("add", {"a": 1}, "Unknown tool: add").results(("c1", "Unknown tool: add")).turn()


def test_a_tool_that_is_gone_after_the_server_had_said_so() -> None:
    def blamed(story: Story) -> list[str]:
        return layers(story, "tool-server-error")

    assert blamed(outdated(announced=True)) == ["client"]
    assert "had not listed the tools again after #2" in outdated(announced=True).says("tool-server-error")[0]
    assert blamed(outdated(announced=False)) == ["tool"]
    assert blamed(outdated(announced=True, lists=True)) == ["tool"]


@pytest.mark.parametrize(
    ("said", "structured", "wrong"),
    [
        ('{"total": 41}', {"total": 14}, "says 41 for 'total' in its text, and 14 in its structured content"),
        ('{"total": 14.0}', {"total": 14}, None),
        ('{"sum": 41}', {"total": 14}, None),
        ("41", {"total": 14}, None),
    ],
)
def test_a_result_with_two_values_for_one_field(said: str, structured: dict[str, Any], wrong: str | None) -> None:
    story = ended(text(said, structuredContent=structured), said)

    assert [one.endswith(wrong or "") for one in story.says("tool-invalid-result")] == ([] if wrong is None else [True])


def test_a_definition_that_the_api_refuses_later_is_still_the_servers() -> None:
    wrong = {**ADD, "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}, "required": ["a"]}}}
    story = Story([wrong]).start().turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()
    for number in range(2):
        story.messages.append(user(f"And now {number}?"))
        story.turn(text=f"Done {number}.")
    story.messages.append(user("And at last?"))
    error = {"error": {"message": f"Invalid schema for function '{story.name('add')}': ['a'] is not of type 'object'."}}
    tools = offered(wrong, name=story.name("{}"))
    story.put(chat(list(story.messages), tools=tools, status=400, error=error, at=9, index=len(story.trips)))

    assert layers(story, "request-rejected") == ["tool"]


def test_a_reference_to_nothing_in_a_tool_that_is_not_offered() -> None:
    broken = {**SAY, "inputSchema": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}}}

    def notes(*tools: dict[str, Any]) -> list[str]:
        story = Story([ADD, broken]).start()
        story.put(chat([user("Go.")], said("Done."), tools=offered(*tools), at=1, index=2))
        return [one for one in story.says("tool-protocol-broken") if "#/$defs/a" in one]

    assert notes(ADD) == [
        "server 'files' states for the tool 'say' an `inputSchema` that refers to '#/$defs/a', which it does not have"
    ]
    assert notes(ADD, broken) == []


def after_handshake(*trips: RoundTrip, named: bool = True) -> list[Any]:
    """What is found after the handshake with a server that gave a session, or none."""
    issued = (("Mcp-Session-Id", "s-1"),) if named else ()
    first = http(initialize(0), initialized(0), answer_headers=issued, headers=())
    numbered = [replace(trip, index=place, started_at=float(place)) for place, trip in enumerate((first, *trips))]
    return [one for row in label_all(confirmed(numbered)) for one in row.label["findings"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (200, "text/plain", "with status 200 and 'text/plain', where MCP wants an event stream or status 405"),
        (200, STREAM, None),
        (405, "application/json", None),
    ],
)
def test_a_client_that_listens_gets_a_stream_or_status_405(status: int, kind: str, said: str | None) -> None:
    found = after_handshake(*(http(None, b"Use POST.", method="GET", status=status, kind=kind) for _ in range(3)))

    assert [one["message"].endswith(said or "") for one in found] == ([] if said is None else [True])


@pytest.mark.parametrize(("status", "found"), [(400, True), (405, True), (202, False), (401, False), (404, False)])
def test_a_notification_must_be_accepted(status: int, found: bool) -> None:
    refused = after_handshake(
        http(notifies("notifications/initialized"), fails(None) if status >= 400 else None, status=status)
    )

    assert ("refused notifications/initialized" in str(refused)) == found
    wrong = http(notifies("notifications/progress", progress="much"), fails(None), status=400)
    assert "refused notifications/progress" not in str(after_handshake(wrong))


def test_the_id_of_a_session_that_the_server_never_gave() -> None:
    def layer(*, named: bool) -> str:
        story = Story().start().turn(ONE)
        said = fails(None, "Bad Request: Mcp-Session-Id header is required", -32000)
        issued = (("Mcp-Session-Id", "s-1"),) if named else ()
        start = http(initialize(0), initialized(0), answer_headers=issued, headers=(), at=START + 0.1)
        call = asks(12, "tools/call", name="add", arguments={"a": 1})
        shown = SESSION if named else ()
        lists = http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), headers=shown, at=START + 0.15)
        trips = [start, lists, *story.trips[2:], http(call, said, status=400, headers=(), at=story.at)]
        story.trips = [replace(trip, index=place) for place, trip in enumerate(trips)]
        return layers(story.results(("c1", "Bad Request")).turn(), "tool-server-error")[0]

    assert layer(named=False) == "tool"
    assert layer(named=True) == "client"


def test_progress_beyond_its_total() -> None:
    def said(total: object) -> list[str]:
        story = Story().start().turn(ONE)
        more = {} if total is None else {"total": total}
        story.exchange(notifies("notifications/progress", progressToken=12, progress=15, **more), sender="server")
        begun = story.trips[-1].started_at - 0.05
        call = asks(12, "tools/call", name="add", arguments={"a": 1}, _meta={"progressToken": 12})
        story.exchange(call, answers(12, **text("1")))
        ended = int((story.trips[-1].started_at - begun) * 1e6)
        story.trips[-1] = replace(story.trips[-1], started_at=begun, ended_at=ended)
        return story.results(("c1", "1")).turn().says("tool-protocol-broken")

    assert said(10) == ["server 'files' reports more progress under the token 12 than the total that it states"]
    assert said(15) == said(None) == []


def test_a_question_for_what_the_client_has_not_declared_is_the_servers() -> None:
    sample = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 9}}
    took = {"role": "assistant", "model": "m", "content": {"type": "text", "text": "yes"}}
    asked_for = {"resultType": "input_required", "inputRequests": {"who": sample}, "requestState": "s"}
    story = modern(asked_for, {"requestState": "s", "inputResponses": {"who": took}}, WHOLE, "1")

    assert story.found() == [(3, "tool-protocol-broken", "tool", "info")]
    assert "asks for sampling/createMessage, which the client has not declared" in story.says("tool-protocol-broken")[0]
    assert (
        modern({**WAITS, "requestState": "s"}, {"requestState": "s", "inputResponses": ANSWER}, WHOLE, "1").found()
        == []
    )


@pytest.mark.parametrize(
    ("statuses", "named", "wrong"),
    [
        (["working", "completed"], "t", None),
        (["completed", "completed"], "t", None),
        (["completed", "working"], "t", "says 'working' of the task 't', which had ended as 'completed'"),
        (["working"], "other", "is about the task 'other', and the request about 't'"),
    ],
)
def test_what_a_server_says_of_a_task(statuses: list[str], named: str, wrong: str | None) -> None:
    story = Story().start().turn(ONE)
    task = {"taskId": "t", "status": "working", "createdAt": "a", "lastUpdatedAt": "b", "ttl": 9}
    story.exchange(asks(2, "tools/call", name="add", arguments={"a": 1}, task={}), answers(2, task=task))
    for number, status in enumerate(statuses):
        got = answers(3 + number, **{**task, "taskId": named, "status": status})
        story.exchange(asks(3 + number, "tasks/get", taskId="t"), got)
    story.exchange(asks(9, "tasks/result", taskId="t"), answers(9, **text("1"))).results(("c1", "1")).turn()

    assert story.found() == ([] if wrong is None else [(2 + len(statuses) + 1, "tool-protocol-broken", "tool", "info")])
    assert wrong is None or wrong in story.says("tool-protocol-broken")[0]


@pytest.mark.parametrize("known", [1, 2])
def test_only_so_many_tasks_are_known(known: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_answers, "MOST_TASKS", known)
    story = Story().start().turn(ONE)
    for number, (task, status) in enumerate([("a", "completed"), ("b", "working"), ("a", "working")]):
        got = {"taskId": task, "status": status, "createdAt": "a", "lastUpdatedAt": "b", "ttl": 9}
        story.exchange(asks(3 + number, "tasks/get", taskId=task), answers(3 + number, **got))
    story.turn()

    assert ("tool-protocol-broken" in [name for _, name, _, _ in story.found()]) is (known == 2)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("Bad Request: Unsupported protocol version (supported versions: 2025-06-18, 2025-03-26)", True),
        ("Bad Request: the header Authorization is missing", False),
    ],
)
def test_a_handshake_that_is_refused_for_its_version_is_the_servers(said: str, found: bool) -> None:
    story = Story(tools=[]).put(http(initialize(0), fails(0, said, -32600), headers=(), status=400)).turn()

    assert ("tool-server-error" in [name for _, name, _, _ in story.found()]) is found


def called_over_http(*answer_headers: tuple[str, str]) -> Story:
    """A session over HTTP with two tools, and a turn that calls one of them."""
    story = Story()
    given = answer_headers or (SESSION[0],)
    story.put(http(initialize(), initialized(), headers=(), answer_headers=given, at=story.at))
    return story.put(http(asks(1, "tools/list"), answers(1, tools=[ADD, SAY]), at=story.at)).turn(ONE)


@pytest.mark.parametrize(("repeated", "name", "layer"), [(False, "tool-server-error", "client"), (True, None, None)])
def test_a_call_that_is_sent_elsewhere_is_the_clients_to_repeat(
    repeated: bool, name: str | None, layer: str | None
) -> None:
    story, moved = called_over_http(), (("Location", "http://localhost:9/mcp/"),)
    called = asks(5, "tools/call", name="add", arguments={"a": 1})
    story.put(http(called, b"", status=307, answer_headers=moved, at=story.at))
    if repeated:
        story.put(http(called, answers(5, **text("1")), at=story.at))
    story.results(("c1", "1" if repeated else "HTTP 405: Method Not Allowed")).turn()

    assert [one[1:3] for one in story.found(severity="warning")] == ([] if name is None else [(name, layer)])
    assert story.found(severity="error") == []


@pytest.mark.parametrize("method", ["ping", "initialize", "tools/list", "server/discover"])
@pytest.mark.parametrize(("waited", "cancelled"), [(30_000_000, False), (30_000_000, True), (2_000_000, False)])
def test_a_request_that_the_server_leaves_open(method: str, waited: int, cancelled: bool) -> None:
    story = Story(tools=[]) if method == "initialize" else Story(tools=[]).start()
    if cancelled:
        story.exchange(notifies("notifications/cancelled", requestId=7))
    story.exchange(initialize(7) if method == "initialize" else asks(7, method))
    left = Failure("client_gone", "the client closed the connection")
    story.trips[-1] = replace(story.trips[-1], failure=left, closed_first="client", ended_at=waited)
    silent = waited > 5_000_000 and not cancelled and method != "server/discover"

    assert len(story.turn(tools=None).says("tool-server-silent")) == silent


@pytest.mark.parametrize(("name", "wrong"), [("ab-12~!", 0), ("tab 7", 1), ("zürich", 1)])
def test_the_id_of_a_session_has_only_visible_signs(name: str, wrong: int) -> None:
    assert len(called_over_http(("Mcp-Session-Id", name)).says("tool-protocol-broken")) == wrong


@pytest.mark.parametrize(
    ("error", "wrong"), [({"code": -32002}, 1), ({"message": "no"}, 1), ({"code": -1, "message": ""}, 0)]
)
def test_an_error_needs_a_code_and_a_message(error: dict[str, Any], wrong: int) -> None:
    story = (
        Story()
        .start()
        .exchange(asks(7, "resources/read", uri="file:///a"), {"jsonrpc": "2.0", "id": 7, "error": error})
    )

    assert [name for _, name, _, how in story.found() if how == "info"] == wrong * ["tool-protocol-broken"]


@pytest.mark.parametrize(
    ("levels", "sent", "wrong"),
    [(["error"], "debug", 1), (["error"], "critical", 0), (["error", "debug"], "info", 0), ([], "debug", 0)],
)
def test_notes_below_the_level_that_the_client_set(levels: list[str], sent: str, wrong: int) -> None:
    story = Story().start()
    for number, level in enumerate(levels):
        story.exchange(asks(20 + number, "logging/setLevel", level=level), answers(20 + number))
    story.exchange(notifies("notifications/message", level=sent, data="x"), sender="server")

    assert len(story.says("tool-protocol-broken")) == wrong


@pytest.mark.parametrize(("url", "wrong"), [("http://localhost:9100/mcp", 0), (URL, 1)])
def test_a_session_that_is_gone_at_one_server_is_not_gone_at_another(url: str, wrong: int) -> None:
    story = Story()
    story.put(http(initialize(), initialized(), headers=(), answer_headers=(SESSION[0],), at=story.at))
    story.put(http(asks(5, "resources/list"), fails(5, "no session"), url=url, status=404, at=story.at))
    again = fails(6, "no session") if url == URL else answers(6, tools=[ADD, SAY])
    story.put(http(asks(6, "tools/list"), again, status=404 if url == URL else 200, at=story.at + 1))

    assert sum("no longer has" in one for one in story.says("client-tool-protocol-broken")) == wrong


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}, 1),
        ({"content": [{"type": "text", "text": "x"}], "isError": False}, 1),
        ({"content": [{"type": "text", "text": "x"}], "title": "a page"}, 0),
        ({"content": "x"}, 0),
        ({"content": []}, 0),
        ({"jsonrpc": "2.0", "method": "ping"}, 0),
    ],
)
def test_a_whole_result_as_the_text_of_a_result(said: dict[str, Any], wrong: int) -> None:
    written = json.dumps(said)
    story = Story().start().turn(ONE).call("add", {"a": 1}, text(written)).results(("c1", written)).turn()

    assert [one[1:] for one in story.found()] == wrong * [("tool-invalid-result", "tool", "info")]
