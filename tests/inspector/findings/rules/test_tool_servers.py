from dataclasses import replace
from typing import Any

import pytest
from tool_stories import ADD, SAY, Story, offered, text
from tool_wire import answers, asks, fails, notifies

from turntape.cassettes.tape.model import Failure

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
    assert ended(text("disk full", isError=True), "disk full").found() == [(2, "tool-reported-error", "tool", "info")]


def test_a_server_that_ends_while_a_call_is_open() -> None:
    story = ended(None, "Connection closed")

    assert story.found() == [(2, "tool-server-died", "tool", "error")]
    assert story.says("tool-server-died") == ["server 'files' ended before it had answered the call of 'add'"]


def test_a_server_that_never_answers() -> None:
    story = ended(None, "No answer: the tool failed")
    story.trips[3] = replace(story.trips[3], failure=Failure("client_gone", "it went"), closed_first="client")
    story.put(story.trips.pop(3))

    assert story.found() == [(2, "tool-server-silent", "tool", "error")]
    assert story.says("tool-server-silent") == ["server 'files' never answered the call of 'add'"]


def asked(got: object) -> Story:
    story = Story().start().turn(ONE)
    story.exchange(asks(1, "elicitation/create", message="Sure?"), got, sender="server")
    if got is None:
        story.trips[-1] = replace(story.trips[-1], failure=Failure("cut", "it ended"))
    return story.call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()


def test_a_request_of_a_server_that_the_client_leaves() -> None:
    assert asked(None).found() == [(3, "client-tool-input-unanswered", "client", "warning")]
    assert asked(fails(1, "Method not found")).found() == [(3, "client-tool-input-unanswered", "client", "info")]
    assert asked(answers(1, action="decline")).found() == []
    assert asked(fails(1, "Method not found")).says("client-tool-input-unanswered") == [
        "the request elicitation/create of server 'files' was refused by the client: 'Method not found'"
    ]


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
    assert listed({**ADD, "name": "more"}).found() == []


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
