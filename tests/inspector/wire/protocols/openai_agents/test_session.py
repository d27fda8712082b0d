"""Streams of OpenAI's Agents API become one turn for each time that the agent waits. Shapes: openai 3.54."""

from dataclasses import replace
from typing import Any

import pytest
from round_trips import exchanged, sse

from turntape.cassettes.tape.model import Chunk, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.sessions import turns_of
from turntape.inspector.wire.values import Reading, Usage

CREATE = "https://api.openai.com/v1/agents/sessions"
URL = f"{CREATE}/sess_1/events"
TOOL = {"type": "function", "name": "add", "description": "Add.", "parameters": {"type": "object"}}
AGENT = {
    "id": "agent_1",
    "model": "gpt-5.5",
    "instructions": "Be brief.",
    "tools": [TOOL, {"type": "web_search"}],
    "service_tier": "default",
}
USAGE = {
    "input_tokens": 20,
    "input_tokens_details": {"cached_tokens": 8},
    "output_tokens": 6,
    "output_tokens_details": {"reasoning_tokens": 2},
    "total_tokens": 26,
}

type Json = dict[str, Any]


def event(kind: str, **fields: Any) -> Json:
    return {"type": f"agent.session.{kind}", "event_id": "e", "session_id": "sess_1", **fields}


def session(status: str = "in_progress", **fields: Any) -> Json:
    return {
        "id": "sess_1",
        "object": "agent.session",
        "agent": AGENT,
        "status": status,
        "required_actions": [],
        **fields,
    }


def item(kind: str, id_: str, **fields: Any) -> Json:
    return {"id": id_, "type": kind, "turn_id": "turn_1", "status": "completed", **fields}


def user(text: str, name: str = "i_u") -> Json:
    content = [{"type": "input_text", "text": text}]
    return event("turn.item.added", turn_id="turn_1", item=item("message", name, role="user", content=content))


def done(place: int, one: Json) -> list[Json]:
    fields = {"turn_id": one["turn_id"], "output_index": place, "item": one}
    return [event("turn.item.added", **fields), event("turn.item.done", **fields)]


def said(place: int, text: str) -> list[Json]:
    content = [{"type": "output_text", "text": text}]
    return done(place, item("message", f"i_{place}", role="assistant", content=content, phase="final_answer"))


def call(place: int, call_id: str) -> list[Json]:
    return done(place, item("function_call", f"i_{place}", call_id=call_id, name="add", arguments={"a": 1}))


def result(call_id: str, **fields: Any) -> Json:
    given = {"output": "2", "error": None, **fields}
    return event("turn.item.added", item=item("function_call_output", f"r_{call_id}", call_id=call_id, **given))


def ended(word: str = "completed", **fields: Any) -> Json:
    turn = {"id": "turn_1", "status": word, "agent_id": "agent_1", "error": None, "subagent_id": None, **fields}
    return event(f"turn.{word}", turn_id="turn_1", turn=turn, usage=USAGE)


def requires(*actions: Json) -> Json:
    return event("requires_action", session=session("requires_action", required_actions=list(actions)))


CREATED = event("created", session=session("idle"))
IDLE = event("idle", session=session("idle"))


def stream(*events: Json, url: str = URL) -> RoundTrip:
    """The stream of a session whose events come 10 microseconds apart, the first at 10."""
    method, asked = ("GET", b"") if url == URL else ("POST", {"agent": {"model": "gpt-5.5"}, "stream": True})
    trip = exchanged(url, asked, sse(*events, names=True), method=method, content_type="text/event-stream")
    assert trip.response is not None
    chunks = tuple(Chunk(len(sse(one, names=True)), 10 * n) for n, one in enumerate(events, 1))
    return replace(
        trip, started_at=100.0, index=0, response=replace(trip.response, chunks=chunks), closed_first="client"
    )


def readings(*events: Json) -> list[Reading]:
    return [read(turn) for turn in turns_of(stream(*events))]


@pytest.mark.parametrize("url", [URL, CREATE])
def test_a_turn_has_the_sessions_agent_and_what_was_sent(url: str) -> None:
    events = [CREATED, event("turn.created", turn={"id": "turn_1"}), user("hi"), *said(0, "Hello"), ended(), IDLE]
    (turn,) = turns_of(stream(*events, url=url))
    reading = read(turn)

    assert (reading.protocol, reading.kind, reading.request.model) == ("openai-agents", "generation", "gpt-5.5")
    assert [part.text for part in reading.request.system] == ["Be brief."]
    assert [(tool.name, tool.server) for tool in reading.request.tools] == [("add", False), ("web_search", True)]
    assert reading.request.parameters == {"service_tier": "default"}
    assert [(m.role, m.parts[0].text) for m in reading.request.messages] == [("user", "hi")]
    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.finish.raw, reading.finish.effective) == ("Hello", "completed", "complete")
    assert reading.usage == Usage(input=20, cache_read=8, output=6, reasoning=2)
    assert (turn.started_at, reading.response_id, turn.closed_first) == (100.0 + 30 / 1_000_000, "sess_1", None)


def test_calls_of_functions_are_answered_by_the_next_turn() -> None:
    first, second = readings(
        CREATED, user("hi"), *call(0, "c1"), *call(1, "c2"), requires({"type": "function_call", "call_id": "c1"}),
        result("c1"), requires(), result("c2", output=None, error="no"), *said(2, "Done."), ended(),
    )  # fmt: skip

    assert (
        first.emission
        and first.finish
        and (first.finish.raw, first.finish.effective) == ("requires_action", "tool_calls")
    )
    assert [(c.id, c.name, c.arguments) for c in first.emission.calls] == [
        ("c1", "add", {"a": 1}),
        ("c2", "add", {"a": 1}),
    ]
    assert first.usage is None  # The API counts the whole turn at its end.
    assert [(r.call_id, r.text, r.is_error) for r in second.request.results] == [("c1", "2", False), ("c2", "no", True)]
    assert second.request.previous_id == "sess_1" and second.usage


def test_a_session_that_waits_for_an_approval_is_paused() -> None:
    (reading,) = readings(CREATED, user("hi"), *said(0, "May I?"), requires({"type": "mcp_approval_request"}))

    assert reading.finish and (reading.finish.raw, reading.finish.effective) == ("requires_action", "pause")


@pytest.mark.parametrize(
    ("one", "name", "arguments", "result"),
    [
        (
            item("mcp_call", "i", name="look_up", server_label="w", arguments={"w": 1}, output="a strip", error=None),
            "look_up",
            {"w": 1},
            ("a strip", False),
        ),
        (
            item("mcp_call", "i", name="look_up", server_label="w", arguments={}, output=None, error={"message": "no"}),
            "look_up",
            {},
            ('{"message":"no"}', True),
        ),
        (
            item("command_execution", "i", command="ls", cwd="/", duration_ms=3, exit_code=1, output="none"),
            "command_execution",
            {"command": "ls", "cwd": "/", "duration_ms": 3, "exit_code": 1},
            ("none", True),
        ),
        (
            item("web_search_call", "i", action={"type": "search", "query": "tape"}),
            "web_search",
            {"action": {"type": "search", "query": "tape"}},
            None,
        ),
        (
            item("wait_for_subagents_call", "i", recipient_agent_ids=["a"], sender_agent_id="b"),
            "wait_for_subagents",
            {"recipient_agent_ids": ["a"], "sender_agent_id": "b"},
            None,
        ),
    ],
)
def test_tools_that_openai_runs_are_apart_with_their_results(
    one: Json, name: str, arguments: Json, result: tuple[str, bool] | None
) -> None:
    (reading,) = readings(CREATED, user("hi"), *done(0, one), *said(1, "So."), ended())

    assert reading.emission and reading.emission.calls == ()
    assert [(c.id, c.name, c.arguments) for c in reading.emission.server_calls] == [("i", name, arguments)]
    assert [(r.text, r.is_error) for r in reading.emission.server_results] == ([result] if result else [])


def test_a_turn_that_breaks_off_has_the_pieces_that_came() -> None:
    begun = item("message", "i_0", role="assistant", content=[], status="in_progress")
    pieces = [
        event("turn.output_text.delta", output_index=0, content_index=0, item_id="i_0", delta=d) for d in ("He", "llo")
    ]
    thought = event("turn.reasoning_summary_text.delta", output_index=1, summary_index=0, item_id="i_1", delta="Hm.")
    (reading,) = readings(CREATED, user("hi"), event("turn.item.added", output_index=0, item=begun), *pieces, thought)

    assert reading.emission and reading.finish
    assert (reading.emission.text, reading.emission.reasoning, reading.finish.effective) == ("Hello", "Hm.", "cut")


def test_the_work_of_a_subagent_is_not_a_turn_of_the_agent() -> None:
    other = {
        **item("message", "x", role="assistant", content=[{"type": "output_text", "text": "inner"}]),
        "turn_id": "turn_2",
    }
    inner = {"id": "turn_2", "subagent_id": "sub_1", "status": "completed", "error": None}
    (reading,) = readings(
        CREATED, user("hi"), *said(0, "Hello"),
        event("turn.created", turn_id="turn_2", turn=inner), *done(0, other),
        event("turn.completed", turn=inner, usage=USAGE), *said(1, " you"), ended(),
    )  # fmt: skip

    assert reading.emission and reading.emission.text == "Hello you"


@pytest.mark.parametrize(
    ("end", "label", "message"),
    [
        (ended("failed", error={"code": "server_overloaded", "message": "Busy."}), "error", "Busy."),
        (event("failed", session=session("failed", error="It broke.")), "error", "It broke."),
        (ended("cancelled"), "cancelled", None),
        (event("budget_reached", session=session("budget_reached")), "limit", None),
    ],
)
def test_the_end_of_a_turn_is_labelled(end: Json, label: str, message: str | None) -> None:
    (reading,) = readings(CREATED, user("hi"), *said(0, "He"), end)

    assert reading.finish and reading.finish.effective == label
    assert (reading.error.message if reading.error else None) == message


def test_an_error_event_is_the_error_of_its_turn() -> None:
    error = {"type": "error", "event_id": "e", "error": {"type": "server_error", "code": None, "message": "Gone."}}
    (reading,) = readings(CREATED, user("hi"), error, ended("failed"), event("failed", session=session("failed")))

    assert reading.error and (reading.error.message, reading.error.in_stream) == ("Gone.", True)


def test_what_was_sent_and_not_answered_is_a_turn_without_an_answer() -> None:
    (turn,) = turns_of(stream(CREATED, user("hi")))
    assert turn.response is None and read(turn).request.messages[0].parts[0].text == "hi"


def test_a_session_without_turns_stays_whole_and_what_is_sent_is_not_a_turn() -> None:
    assert turns_of(stream(CREATED, IDLE)) == []
    sent = read(exchanged(URL, {"events": [{"type": "agent.session.input.cancel"}]}, b"", status=202))
    assert (sent.protocol, sent.kind) == ("openai-agents", "other")


def test_the_turns_of_a_session_are_one_thread_and_its_call_is_answered() -> None:
    trip = stream(CREATED, user("hi"), *call(0, "c1"), requires(), result("c1"), *said(1, "It is 2."), ended(), IDLE)
    labels: list[Any] = [one.label for one in label_all([trip])]

    assert [label["turn"] for label in labels] == [1, 2] and labels[0]["thread"] == labels[1]["thread"]
    assert (labels[0]["client"]["outcome"], labels[1]["client"]["outcome"]) == ("dispatched", "ended")
    assert [f["id"] for label in labels for f in label["findings"] if f["severity"] != "info"] == []
