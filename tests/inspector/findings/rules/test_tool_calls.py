from dataclasses import replace
from typing import Any

import pytest
from tool_stories import ADD, SAY, Story, offered, text
from tool_wire import answers, asks, notifies

from turntape.cassettes.tape.model import Failure

ONE = ("c1", "add", '{"a":1}')


def not_executed(seen: str | None) -> Story:
    """A call that no server was asked to run, and what the next request shows for it."""
    story = Story().start().turn(ONE)
    if seen is not None:
        story.results(("c1", seen))
    return story.turn()


def test_a_call_that_no_server_was_asked_to_run() -> None:
    story = not_executed("")

    assert story.found() == [(2, "client-tool-never-executed", "client", "warning")]
    assert story.says("client-tool-never-executed") == [
        "the model called 'mcp__files__add' (c1), but server 'files' was not asked to run it"
    ]
    assert not_executed(None).found() == [(2, "client-tool-never-executed", "client", "warning")]


@pytest.mark.parametrize("seen", ["Error: no permission", "The user doesn't want to run this", "Tool call skipped."])
def test_a_refusal_that_the_model_sees_is_an_info(seen: str) -> None:
    assert not_executed(seen).found() == [(2, "client-tool-never-executed", "client", "info")]


@pytest.mark.parametrize(
    ("seen", "arguments", "severity"),
    [
        ("Invalid arguments for tool add: expected nonoptional, received undefined", '{"a":1}', "warning"),
        ("Invalid arguments for tool add: a must be a number", '{"a":"x"}', "info"),
        ("Error: No such tool available: mcp__files__add", '{"a":1}', "warning"),
    ],
)
def test_a_reason_that_the_servers_own_list_contradicts(seen: str, arguments: str, severity: str) -> None:
    story = Story().start().turn(("c1", "add", arguments)).results(("c1", seen)).turn()

    assert story.found() == [(2, "client-tool-never-executed", "client", severity)]


def routed(tool: str, *servers: str, **meta: Any) -> Story:
    """A call of `add`, for which the client runs this tool of the last of these servers."""
    story = Story(naming="{tool}").start()
    sql = {**ADD, "inputSchema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}}
    for server in servers:
        story.exchange(asks(1, "tools/list"), answers(1, tools=[sql]), session=server, server=server)
    story.turn(ONE)
    sent = asks(12, "tools/call", name=tool, arguments={"a": 1}, **({"_meta": meta} if meta else {}))
    where = {"session": servers[-1], "server": servers[-1]} if servers else {}
    return story.exchange(sent, answers(12, **text("It is 1.")), **where).results(("c1", "It is 1.")).turn()


def test_another_tool_than_the_model_called() -> None:
    for story in (routed("say"), routed("say", callId="c1")):
        assert story.found()[0] == (2, "client-tool-misrouted", "client", "warning")
        assert story.says("client-tool-misrouted") == [
            "the model called 'add' (c1), and the client ran 'say' of server 'files'"
        ]
    other = routed("add", "archive")
    assert other.found(severity="warning") == [(3, "client-tool-misrouted", "client", "warning")]
    assert (
        "as server 'files' defines it, and the client ran 'add' of server 'archive'"
        in (other.says("client-tool-misrouted")[0])
    )
    assert routed("add").found() == []


def test_a_run_that_ends_with_the_failure_of_a_tool() -> None:
    failed = Story().start().turn(ONE).call("add", {"a": 1}, "it broke")
    assert ("client-tool-error-ends-run", "client", "warning") in {one[1:] for one in failed.found()}
    reported = Story().start().turn(ONE).call("add", {"a": 1}, text("it broke", isError=True))
    assert ("client-tool-error-ends-run", "client", "warning") in {one[1:] for one in reported.found()}

    assert "client-tool-error-ends-run" not in {one[1] for one in reported.results(("c1", "it broke")).turn().found()}
    whole = Story().start().turn(ONE).call("add", {"a": 1}, text("1"))
    assert whole.found() == [(2, "client-tool-result-unread", "client", "info")]


def test_an_added_argument_that_the_tool_refuses() -> None:
    story = Story().start().turn(ONE)
    story.call("add", {"a": 1, "toolCallId": "c1"}, text("toolCallId: unexpected keyword argument", isError=True))
    found = story.results(("c1", "toolCallId: unexpected keyword argument")).turn().found()

    assert (2, "client-tool-arguments-changed", "client", "warning") in found


def test_a_recording_that_ends_with_the_call_is_an_info() -> None:
    assert Story().start().turn(ONE).found() == [(2, "client-tool-never-executed", "client", "info")]


def test_a_result_that_says_nothing_is_not_a_result() -> None:
    assert not_executed('{"result":""}').found() == [(2, "client-tool-never-executed", "client", "warning")]


def test_arguments_that_are_not_json_cannot_be_run() -> None:
    story = Story().start().turn(("c1", "add", '{"a":')).results(("c1", "")).turn()

    assert "client-tool-never-executed" not in {name for _, name, _, _ in story.found()}


def test_a_tool_of_the_client_itself_is_not_a_tool_of_the_server() -> None:
    story = Story().start()
    story.naming = "{tool}"
    tools = [*offered(SAY, name="mcp__files__{}"), *offered(ADD, name="{}")]

    assert story.turn(ONE, tools=tools).results(("c1", "1")).turn(tools=tools).found() == []
    assert Story().start().turn(("c1", "subtract", "{}")).results(("c1", "1")).turn().found() == []


def test_a_result_that_no_tool_returned() -> None:
    story = not_executed("The sum is 1.")

    assert story.found() == [(2, "client-tool-result-forged", "client", "error")]
    assert (
        "was not executed, but the model sees a result: 'The sum is 1.'" in story.says("client-tool-result-forged")[0]
    )


def test_a_result_for_a_run_that_failed_is_forged() -> None:
    def failed(seen: str) -> list[tuple[int, str, str, str]]:
        story = Story().start().turn(ONE).call("add", {"a": 1}, "it broke").results(("c1", seen)).turn()
        return [one for one in story.found() if one[1] == "client-tool-result-forged"]

    assert failed("The sum is 1.") == [(2, "client-tool-result-forged", "client", "error")]
    assert failed("An error occurred while running the tool.") == failed("it broke") == []


def test_a_call_that_is_executed_twice() -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text("1")).call("add", {"a": 1}, text("1"))
    story.results(("c1", "1")).turn()

    assert story.found() == [(2, "client-tool-executed-twice", "client", "warning")]
    assert story.says("client-tool-executed-twice") == ["the call 'mcp__files__add' (c1) was executed 2 times"]


def test_an_id_finds_the_second_execution_too() -> None:
    story = Story().start().turn(ONE)
    story.call("add", {"a": 1}, text("1"), callId="c1").call("add", {"a": 1}, text("1"), callId="c1")

    assert story.results(("c1", "1")).turn().found() == [(2, "client-tool-executed-twice", "client", "warning")]


def test_a_retry_and_a_tool_that_only_reads_are_an_info() -> None:
    retry = Story().start().turn(ONE).call("add", {"a": 1}, "it broke").call("add", {"a": 1}, text("1"))
    reads = Story()
    reads.tools = [{**reads.tools[0], "annotations": {"readOnlyHint": True}}, SAY]
    reads.start().turn(ONE).call("add", {"a": 1}, text("1")).call("add", {"a": 1}, text("1"))

    assert (2, "client-tool-executed-twice", "client", "info") in retry.results(("c1", "1")).turn().found()
    assert retry.says("client-tool-executed-twice")[0].endswith("2 times because the run before had no result")
    assert reads.results(("c1", "1")).turn().found() == [(2, "client-tool-executed-twice", "client", "info")]


@pytest.mark.parametrize(("hint", "severity"), [({}, "warning"), ({"idempotentHint": True}, "info")])
def test_a_run_after_an_error_of_the_tool(hint: dict[str, bool], severity: str) -> None:
    """The tool ran, and the model never reads of its error."""
    story = Story()
    story.tools = [{**story.tools[0], "annotations": hint}, SAY]
    story.start().turn(ONE).call("add", {"a": 1}, text("busy", isError=True)).call("add", {"a": 1}, text("1"))

    assert (2, "client-tool-executed-twice", "client", severity) in story.results(("c1", "1")).turn().found()
    assert story.says("client-tool-executed-twice")[0].endswith("because the run before reported an error")


def test_two_equal_calls_are_two_executions() -> None:
    story = Story().start().turn(ONE, ("c2", "add", '{"a":1}'))
    story.call("add", {"a": 1}, text("1")).call("add", {"a": 1}, text("1"))

    assert story.results(("c1", "1"), ("c2", "1")).turn().found() == []


def changed(sent: str, given: object) -> Story:
    story = Story().start().turn(("c1", "add", sent)).call("add", given, text("1"), callId="c1")
    return story.results(("c1", "1")).turn()


def test_arguments_that_were_changed_on_the_way() -> None:
    story = changed('{"a":1,"b":2}', {"a": 5, "b": 3})

    assert story.found() == [(2, "client-tool-arguments-changed", "client", "warning")]
    assert story.says("client-tool-arguments-changed") == [
        "'add' of server 'files' was given other arguments than the model wrote: a is 5 and not 1, and 1 more argument"
    ]
    assert "a was left out" in changed('{"a":1}', {}).says("client-tool-arguments-changed")[0]
    assert changed('{"a":1}', {}).found()[0][3] == "warning"


def test_one_change_is_named_and_a_long_value_is_shortened() -> None:
    [said] = changed('{"a":1}', {"a": "x" * 100}).says("client-tool-arguments-changed")

    assert said.endswith("the model wrote: a is '" + "x" * 58 + "… and not 1")


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        ('{"a":1}', {"a": 1, "b": 0}),
        ('{"a":1,"b":null}', {"a": 1}),
        ('{"a":"1"}', {"a": 1}),
        ('{"a":"True"}', {"a": True}),
    ],
)
def test_defaults_and_conversions_are_an_info(sent: str, given: object) -> None:
    assert changed(sent, given).found() == [(2, "client-tool-arguments-changed", "client", "info")]


def test_numbers_in_another_spelling_are_the_same() -> None:
    assert changed('{"a":1.0}', {"a": 1}).found() == []
    assert changed("", None).found() == []


def gave_up(*, continues: bool = True, late: bool = False, waits: float = 0.004, again: bool = False) -> Story:
    story = Story().start().turn(ONE)
    story.exchange(notifies("notifications/cancelled", requestId=12, reason="Request timed out"))
    cancel = story.trips.pop()
    story.call("add", {"a": 1}, text("1") if late else None)
    call = replace(story.trips.pop(), ended_at=int((waits + 1) * 1e6)) if late else story.trips.pop()
    story.put(replace(cancel, started_at=call.started_at + waits)).put(call)
    if again:
        return story.call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()
    return story.results(("c1", "The call timed out.")).turn() if continues else story


def test_a_client_that_gives_up_on_a_call() -> None:
    assert gave_up().found() == [(2, "client-tool-gave-up", "client", "warning")]
    assert gave_up().says("client-tool-gave-up") == [
        "the client gave up on 'add' of server 'files' after 0.004 s (Request timed out)"
    ]
    assert gave_up(late=True).says("client-tool-gave-up")[0].endswith("; the server answered later")


@pytest.mark.parametrize(("waits", "late"), [(4.9, False), (5.1, True)])
def test_a_client_that_gives_up_on_a_tool_that_is_slow(waits: float, late: bool) -> None:
    assert gave_up(waits=waits, late=late).found() == [(2, "client-tool-gave-up", "client", "warning")]


def test_a_client_that_waits_long_for_a_tool_that_hangs() -> None:
    hangs = gave_up(waits=5.1)

    assert hangs.found() == [(2, "tool-server-silent", "tool", "error")]
    assert hangs.says("tool-server-silent") == [
        "server 'files' had not answered the call of 'add' when the client gave up after 5.1 s"
    ]


def test_a_thread_that_ends_with_it_is_an_info() -> None:
    assert gave_up(continues=False).found() == [(2, "client-tool-gave-up", "client", "info")]


def test_a_cancel_after_the_answer_is_nothing() -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text("1"))
    story.exchange(notifies("notifications/cancelled", requestId=12))

    assert story.results(("c1", "1")).turn().found() == []


def test_a_call_that_no_answer_has() -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, text("1")).results(("c1", "1")).turn()
    story.call("say", {"text": "x"}, text("x"))

    assert story.found() == [(5, "client-tool-call-unasked", "client", "warning")]
    assert story.says("client-tool-call-unasked") == [
        "'say' of server 'files' was called with {\"text\":\"x\"}, but no answer of the model has that call"
    ]


def test_what_a_client_calls_for_itself_is_nothing() -> None:
    before = Story().start().call("say", {"text": "x"}, text("x")).turn()
    own = Story().start().turn().call("status", {}, text("x"))
    alone = Story().start().call("say", {"text": "x"}, text("x"))

    assert before.found() == alone.found() == []
    assert own.found() == [(3, "client-tool-not-on-server", "client", "info")], "it is not listed, and runs"


def test_what_follows_from_a_call_that_was_not_executed_names_it() -> None:
    story = not_executed(None)
    found: list[Any] = [one for label in story.label() for one in label.label["findings"]]  # type: ignore[attr-defined]

    causes = {one["id"]: one["because_of"] for one in found}
    assert causes["client-tool-never-executed"] == []
    assert causes["client-missing-tool-result"] == ["client-tool-never-executed"]


def given(sent: str, arguments: object) -> list[tuple[int, str, str, str]]:
    story = Story().start().turn(("c1", "add", sent)).call("add", arguments, text("1"), callId="c1")
    return story.results(("c1", "1")).turn().found()


def test_arguments_that_break_the_servers_schema_and_did_not_before() -> None:
    assert given('{"a":1}', {"a": "1"}) == [(2, "client-tool-arguments-changed", "client", "warning")]
    assert given('{"a":"1"}', {"a": 1}) == [(2, "client-tool-arguments-changed", "client", "info")]


def test_null_that_became_the_word_for_it() -> None:
    assert given('{"a":1,"c":null}', {"a": 1, "c": "null"}) == [
        (2, "client-tool-arguments-changed", "client", "warning")
    ]


@pytest.mark.parametrize(("seconds", "found"), [(0.4, "client-tool-gave-up"), (60, "tool-server-silent")])
def test_a_client_that_closes_the_connection_under_a_call(seconds: float, found: str) -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, None)
    gone, took = Failure("client_gone", "it went"), int(seconds * 1_000_000)
    story.trips[-1] = replace(story.trips[-1], failure=gone, closed_first="client", ended_at=took)

    assert [name for _, name, _, _ in story.results(("c1", "Session is closed")).turn().found()] == [found]


@pytest.mark.parametrize(
    ("task", "said"),
    [
        ({"taskId": "t1"}, "is a task that has no `status`, which MCP requires"),
        ({"taskId": "t1", "status": "running"}, 'is a task that has "running" as its `status`'),
        ({"status": "working"}, "is a task that has no `taskId`, which MCP requires"),
        ({"taskId": "t1", "status": "working", "ttl": None}, ""),
    ],
)
def test_a_task_in_a_wrong_form(task: dict[str, Any], said: str) -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, {"task": task}).results(("c1", str(task))).turn()

    found = story.says("tool-invalid-result")
    assert [one for one in found if said in one] == found[:1]
    assert len(found) == bool(said)
    assert bool(said) or story.found() == [(2, "client-tool-gave-up", "client", "warning")]


def test_a_task_whose_result_is_never_fetched() -> None:
    task = {"taskId": "t1", "status": "working"}
    story = Story().start().turn(ONE).call("add", {"a": 1}, {"task": task}).results(("c1", str(task))).turn()
    fetched = Story().start().turn(ONE).call("add", {"a": 1}, {"task": task})
    fetched.exchange(asks(50, "tasks/result", taskId="t1"), answers(50, **text("1"))).results(("c1", "1")).turn()

    assert story.found() == [(2, "client-tool-gave-up", "client", "warning")]
    assert fetched.found() == []


@pytest.mark.parametrize(
    ("reason", "severity"),
    [("Cancelled: parallel tool call errored", "warning"), ("The user rejected the tool use.", "info")],
)
def test_a_call_that_is_not_run_because_another_one_failed(reason: str, severity: str) -> None:
    story = Story().start().turn(ONE, ("c2", "say", "{}")).call("add", {"a": 1}, text("no", isError=True))

    found = story.results(("c1", "no"), ("c2", reason)).turn().found()
    assert (2, "client-tool-never-executed", "client", severity) in found


def test_white_space_of_an_argument_is_a_part_of_it() -> None:
    story = changed('{"a":"    if late:\\n"}', {"a": "if late:"})

    assert [severity for *_, severity in story.found()] == ["warning"]


@pytest.mark.parametrize(("seen", "found"), [("Field required", []), ("It is 42 and sunny", ["error"])])
def test_a_part_of_the_servers_error_is_not_forged(seen: str, found: list[str]) -> None:
    story = Story().start().turn(ONE).call("add", {"a": 1}, "1 validation error: key\n  Field required [type=missing]")
    story.results(("c1", seen)).turn()

    assert [rank for _, name, _, rank in story.found() if name == "client-tool-result-forged"] == found


def test_a_call_that_was_given_up_and_made_again() -> None:
    assert (2, "client-tool-gave-up", "client", "info") in gave_up(again=True).found()


@pytest.mark.parametrize(
    ("arguments", "said", "severity"),
    [
        ('{"a":1}', "Cannot read properties of undefined (reading 'callTool')", "warning"),
        ('{"a":1}', "AttributeError: 'NoneType' object has no attribute 'send'", "warning"),
        ('{"a":"x"}', "TypeError: unsupported operand type(s) for +: 'int' and 'str'", "info"),
        ('{"a":1}', "The user rejected this tool use.", "info"),
        ('{"a":1}', "Not connected to the server", "info"),
    ],
)
def test_a_call_that_was_never_sent_for_an_exception_of_the_client(arguments: str, said: str, severity: str) -> None:
    story = Story().start().turn(("c1", "add", arguments)).results(("c1", said)).turn()

    assert ("client-tool-never-executed", severity) in [(name, rank) for _, name, _, rank in story.found()]


@pytest.mark.parametrize(
    ("method", "found"),
    [
        ("tasks/cancel", [("client-tool-gave-up", "client", "info")]),
        ("tasks/get", [("tool-server-error", "tool", "warning")]),
    ],
)
def test_a_task_that_ends_before_its_result_was_stopped_by_one_side(
    method: str, found: list[tuple[str, str, str]]
) -> None:
    story, task = Story().start().turn(ONE), {"taskId": "t", "createdAt": "a", "lastUpdatedAt": "b", "ttl": None}
    story.exchange(
        asks(2, "tools/call", name="add", arguments={"a": 1}, task={}), answers(2, task={**task, "status": "working"})
    )
    story.exchange(asks(3, method, taskId="t"), answers(3, **task, status="cancelled"))
    story.results(("c1", "The user stopped the task.")).turn()

    assert [one[1:] for one in story.found() if one[1] != "client-tool-error-as-success"] == found
