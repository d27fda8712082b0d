"""Streams of Anthropic's managed agents become one turn for each time that the agent waits. Shapes: anthropic 2.12."""

from dataclasses import replace
from typing import Any

import pytest
from round_trips import exchanged, sse

from turntape.cassettes.tape.model import Chunk, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.sessions import turns_of
from turntape.inspector.wire.values import Reading, Usage

SENT = "https://api.anthropic.com/v1/sessions/sesn_1/events"
URL = f"{SENT}/stream"
BETA = (("anthropic-version", "2023-06-01"), ("anthropic-beta", "managed-agents-2026-04-01"))
USAGE = {
    "input_tokens": 10,
    "cache_read_input_tokens": 5,
    "cache_creation_input_tokens": 2,
    "output_tokens": 3,
}

type Json = dict[str, Any]


def event(kind: str, id_: str = "", **fields: Any) -> Json:
    return {"id": id_ or f"sevt_{kind}", "type": kind, "processed_at": "2026-11-22T00:00:00Z", **fields}


def user(text: str, name: str = "sevt_u") -> Json:
    return event("user.message", name, content=[{"type": "text", "text": text}])


def said(text: str, name: str = "sevt_m") -> Json:
    return event("agent.message", name, content=[{"type": "text", "text": text}])


def call(name: str) -> Json:
    return event("agent.custom_tool_use", name, name="add", input={"a": 1})


def result(name: str, text: str = "2", **fields: Any) -> Json:
    content = [{"type": "text", "text": text}]
    return event("user.custom_tool_result", f"r_{name}", custom_tool_use_id=name, content=content, **fields)


def idle(reason: str, **fields: Any) -> Json:
    stop = {"type": reason, **{key: fields.pop(key) for key in ("event_ids",) if key in fields}}
    return event("session.status_idle", stop_reason=stop, **fields)


RUNNING = event("session.status_running")
COUNTED = [
    event("span.model_request_start", "s1"),
    event("span.model_request_end", "s2", model_request_start_id="s1", model_usage=USAGE, is_error=False),
]


def stream(*events: Json) -> RoundTrip:
    """The stream of a session whose events come 10 microseconds apart, the first at 10."""
    trip = exchanged(
        URL, b"", sse(*events, names=True), method="GET", content_type="text/event-stream", request_headers=BETA
    )
    assert trip.response is not None
    chunks = tuple(Chunk(len(sse(one, names=True)), 10 * n) for n, one in enumerate(events, 1))
    return replace(
        trip, started_at=100.0, index=0, response=replace(trip.response, chunks=chunks), closed_first="client"
    )


def readings(*events: Json) -> list[Reading]:
    return [read(turn) for turn in turns_of(stream(*events))]


def test_a_turn_is_what_the_agent_did_until_it_waited() -> None:
    trip = stream(user("hi"), RUNNING, COUNTED[0], said("Hello"), *COUNTED[1:], *COUNTED, idle("end_turn"))
    (turn,) = turns_of(trip)
    reading = read(turn)

    assert (reading.protocol, reading.provider, reading.kind) == ("anthropic-agents", "anthropic", "generation")
    assert [(m.role, m.pointer, m.parts[0].text) for m in reading.request.messages] == [("user", "/events/0", "hi")]
    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.raw, reading.finish.effective) == ("Hello", "end_turn", "complete")
    assert reading.emission.content[0].pointer == "/events/0/content/0"
    assert reading.usage == Usage(input=34, cache_read=10, cache_write=4, output=6)
    assert (turn.started_at, turn.first_byte_at) == (100.0 + 10 / 1_000_000, 20)
    assert turn.closed_first is None and turn.request.method == "POST"


def test_calls_of_custom_tools_are_answered_by_the_next_turn() -> None:
    first, second = readings(
        user("hi"), call("c1"), call("c2"), idle("requires_action", event_ids=["c1", "c2"]),
        result("c1"), idle("requires_action", event_ids=["c2"]), result("c2", "no", is_error=True),
        RUNNING, said("Done."), idle("end_turn"),
    )  # fmt: skip

    assert first.emission and first.finish and first.finish.effective == "tool_calls"
    assert [(c.id, c.name, c.arguments) for c in first.emission.calls] == [
        ("c1", "add", {"a": 1}),
        ("c2", "add", {"a": 1}),
    ]
    assert [(r.call_id, r.text, r.is_error) for r in second.request.results] == [("c1", "2", False), ("c2", "no", True)]
    assert first.response_id == second.request.previous_id == "sesn_1"


def test_a_result_may_come_before_the_agent_says_that_it_waits() -> None:
    first, second = readings(user("hi"), call("c1"), result("c1"), said("It is 2."), idle("end_turn"))

    assert first.emission and first.finish and first.finish.effective == "tool_calls"
    assert second.emission and second.request.results and second.emission.text == "It is 2."


def test_tools_that_anthropic_runs_are_apart_with_their_results() -> None:
    (reading,) = readings(
        user("hi"),
        event("agent.tool_use", "t1", name="bash", input={"command": "ls"}, evaluated_permission="allow"),
        event("agent.tool_result", "t2", tool_use_id="t1", content=[{"type": "text", "text": "a.txt"}]),
        event("agent.mcp_tool_use", "t3", name="look_up", mcp_server_name="words", input={}),
        event(
            "agent.mcp_tool_result", "t4", mcp_tool_use_id="t3", is_error=True, content=[{"type": "text", "text": "no"}]
        ),
        said("One file."),
        idle("end_turn"),
    )

    assert reading.emission and reading.emission.calls == ()
    assert [(c.id, c.name) for c in reading.emission.server_calls] == [("t1", "bash"), ("t3", "look_up")]
    assert [(r.call_id, r.text, r.is_error) for r in reading.emission.server_results] == [
        ("t1", "a.txt", False),
        ("t3", "no", True),
    ]


@pytest.mark.parametrize(("permission", "effective", "calls"), [("ask", "pause", 0), ("allow", "tool_calls", 1)])
def test_a_built_in_tool_waits_for_a_permission_or_runs_in_the_clients_environment(
    permission: str, effective: str, calls: int
) -> None:
    tool = event("agent.tool_use", "t1", name="bash", input={"command": "ls"}, evaluated_permission=permission)
    (reading,) = readings(user("hi"), tool, idle("requires_action", event_ids=["t1"]))

    assert reading.finish and reading.finish.effective == effective
    assert reading.emission and len(reading.emission.calls) == calls


def test_a_permission_is_part_of_the_next_request() -> None:
    tool = event("agent.tool_use", "t1", name="bash", input={}, evaluated_permission="ask")
    denied = event("user.tool_confirmation", "u2", tool_use_id="t1", result="deny", deny_message="Too risky.")
    _, second = readings(
        user("hi"), tool, idle("requires_action", event_ids=["t1"]), denied, said("Ok."), idle("end_turn")
    )

    assert [(m.role, m.parts[0].text) for m in second.request.messages] == [
        ("user", "[tool_confirmation] deny: Too risky.")
    ]


def test_a_message_is_sent_once_although_the_stream_repeats_it() -> None:
    queued = {**user("hi"), "processed_at": None}
    (reading,) = readings(queued, RUNNING, user("hi"), said("Hello"), idle("end_turn"))

    assert len(reading.request.messages) == 1


def test_a_preview_counts_until_the_whole_event_comes() -> None:
    begun = {"type": "event_start", "event": {"type": "agent.message", "id": "m1"}}
    pieces = [
        {
            "type": "event_delta",
            "event_id": "m1",
            "delta": {"type": "content_delta", "content": {"text": text}, "index": 0},
        }
        for text in ("Hel", "lo")
    ]
    cut, whole = (
        readings(user("a"), begun, *pieces),
        readings(user("a"), begun, *pieces, said("Hello!", "m1"), idle("end_turn")),
    )

    assert cut[0].emission and cut[0].finish
    assert (cut[0].emission.text, cut[0].finish.effective) == ("Hello", "cut")
    assert whole[0].emission and whole[0].emission.text == "Hello!"


@pytest.mark.parametrize(
    ("reason", "label"),
    [
        ("end_turn", "complete"),
        ("budget_reached", "limit"),
        ("refusal", "refusal"),
        ("retries_exhausted", "error"),
        ("new", "unknown"),
    ],
)
def test_the_reason_to_stop_is_labelled(reason: str, label: str) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "No."} if reason == "refusal" else None
    (reading,) = readings(user("hi"), said("Well"), idle(reason, stop_details=details))

    assert reading.finish and (reading.finish.raw, reading.finish.label) == (reason, label)
    if details:
        assert reading.emission and (reading.emission.refusal, reading.finish.detail) == ("No.", "bio")


@pytest.mark.parametrize(
    ("retry", "ends", "failed"),
    [
        ("retrying", [said("Hello"), idle("end_turn")], False),
        ("exhausted", [idle("retries_exhausted")], True),
        ("terminal", [event("session.status_terminated")], True),
        ("exhausted", [said("Hello"), idle("end_turn")], False),
    ],
)
def test_an_error_counts_unless_the_api_continues_after_it(retry: str, ends: list[Json], failed: bool) -> None:
    error = {"type": "model_overloaded_error", "message": "Busy.", "retry_status": {"type": retry}}
    (reading,) = readings(user("hi"), event("session.error", error=error), *ends)

    assert (reading.error is not None) is failed
    if failed:
        assert reading.error and (reading.error.message, reading.error.type) == ("Busy.", "model_overloaded_error")


def test_what_was_sent_and_not_answered_is_a_turn_without_an_answer() -> None:
    *_, turn = turns_of(stream(user("a", "u1"), said("b"), idle("end_turn"), user("c", "u2")))

    assert turn.response is None and read(turn).request.messages[0].parts[0].text == "c"


def test_a_stream_without_turns_stays_whole_and_what_is_sent_is_not_a_turn() -> None:
    assert turns_of(stream(event("session.usage", usage={}))) == []
    sent = read(
        exchanged(SENT, {"events": [{"type": "user.message", "content": []}]}, {"data": []}, request_headers=BETA)
    )
    assert (sent.protocol, sent.kind) == ("anthropic-agents", "other")


def test_an_instruction_and_the_tools_of_an_update_are_read() -> None:
    agent = {"model": {"id": "claude-x"}, "system": "Be brief.", "tools": [{"name": "add", "input_schema": {}}]}
    system = event("system.message", "u2", content=[{"type": "text", "text": "Hurry."}])
    (reading,) = readings(event("session.updated", agent=agent), user("hi"), system, said("a"), idle("end_turn"))

    assert (reading.request.model, [p.text for p in reading.request.system]) == ("claude-x", ["Be brief."])
    assert [tool.name for tool in reading.request.tools] == ["add"]
    assert [(m.role, m.parts[0].text) for m in reading.request.messages] == [("user", "hi"), ("system", "Hurry.")]


def test_the_turns_of_a_session_are_one_thread_and_its_call_is_answered() -> None:
    trip = stream(
        user("hi"), call("c1"), *COUNTED, idle("requires_action", event_ids=["c1"]),
        result("c1"), said("It is 2."), *COUNTED, idle("end_turn"),
    )  # fmt: skip
    labels: list[Any] = [done.label for done in label_all([trip])]

    assert [label["turn"] for label in labels] == [1, 2] and labels[0]["thread"] == labels[1]["thread"]
    assert (labels[0]["client"]["outcome"], labels[1]["client"]["outcome"]) == ("dispatched", "ended")
    assert [f["id"] for label in labels for f in label["findings"] if f["severity"] != "info"] == []
