"""A live session of Gemini Interactions becomes one turn for each answer. Messages are those of google-genai 3.6."""

import json
from typing import Any

import pytest

from turntape.cassettes.apis.lookup import answers_a_turn, asks_for_a_turn
from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, Usage
from turntape.inspector.wire.websocket import is_live, turns_of

type Sent = tuple[str, dict[str, Any]]

URL = "wss://generativelanguage.googleapis.com/v1beta/interactions/live"
TOOL = {"type": "function", "name": "add", "description": "Add.", "parameters": {"type": "object"}}
USAGE = {"total_input_tokens": 20, "total_output_tokens": 6, "total_cached_tokens": 8, "total_thought_tokens": 2}


def client(kind: str, **fields: Any) -> Sent:
    return "client", {"event_type": kind, **fields}


def server(kind: str, **fields: Any) -> Sent:
    return "server", {"event_type": kind, **fields}


def ask(text: str) -> Sent:
    return client("input", content=[{"type": "text", "text": text}])


def said(text: str, index: int = 0, **stop: Any) -> list[Sent]:
    return [
        server("step.start", index=index, step={"type": "model_output"}),
        server("step.delta", index=index, delta={"type": "text", "text": text}),
        server("step.stop", index=index, **stop),
    ]


def called(index: int = 0) -> list[Sent]:
    return [
        server("step.start", index=index, step={"type": "function_call", "id": "f1", "name": "add", "arguments": {}}),
        server("step.delta", index=index, delta={"type": "arguments_delta", "arguments": '{"a":1}'}),
        server("step.stop", index=index, step_usage=USAGE),
    ]


CREATED = [
    client("interaction.create", model="gemini-3-live", system_instruction="Be brief.", tools=[TOOL]),
    server("interaction.created", interaction_id="i1"),
]
CONNECTED = [client("interaction.connect", id="i1"), server("interaction.connected", interaction_id="i1")]


def session(*frames: Sent, opened: list[Sent] | None = None) -> RoundTrip:
    """A session whose frames come 10 microseconds apart, the first at 10."""
    sent = tuple(
        Frame("client" if who == "client" else "server", 10 * n, json.dumps(message).encode(), True)
        for n, (who, message) in enumerate([*(CREATED if opened is None else opened), *frames], 1)
    )
    return RoundTrip(Request("GET", URL), Response(101), 100.0, ended_at=9999, frames=sent, closed_first="client")


def readings(*frames: Sent, opened: list[Sent] | None = None) -> list[Reading]:
    return [read(turn) for turn in turns_of(session(*frames, opened=opened))]


def test_each_answer_is_a_turn_that_continues_the_one_before() -> None:
    first, second = readings(ask("hi"), *said("Hey"), ask("more"), *said("Yes", 1))

    assert first.protocol == second.protocol == "gemini-interactions-live"
    assert [reading.request.model for reading in (first, second)] == ["gemini-3-live"] * 2
    assert [part.text for part in first.request.system] == ["Be brief."]
    assert [tool.name for tool in second.request.tools] == ["add"]
    assert [[part.text for part in m.parts] for m in second.request.messages] == [["more"]]
    assert (first.response_id, second.request.previous_id) == ("i1/1", "i1/1")
    for reading, text in ((first, "Hey"), (second, "Yes")):
        assert reading.emission and (reading.emission.emitted, reading.emission.text) == ("text", text)
        assert reading.finish and reading.finish.label == "complete"


def test_events_of_one_message_are_read_as_if_each_came_alone() -> None:
    events = [message for _, message in [*said("Hey"), server("interaction.completed", usage=USAGE)]]
    alone = readings(ask("hi"), *((("server", event)) for event in events))
    together = readings(("client", {"events": [ask("hi")[1]]}), ("server", {"events": events}))

    assert [reading.emission for reading in together] == [reading.emission for reading in alone]
    assert together[0].usage == Usage(input=20, cache_read=8, output=8, reasoning=2)


def test_the_counts_of_the_interaction_are_those_of_its_only_turn() -> None:
    done = server("interaction.completed", usage=USAGE)

    (only,) = readings(ask("hi"), *said("Hey"), done)
    first, second = readings(ask("hi"), *said("Hey"), ask("more"), *said("Yes", 1), done)

    assert only.usage == Usage(input=20, cache_read=8, output=8, reasoning=2)
    assert (first.usage, second.usage) == (None, None)


def test_the_counts_of_the_steps_of_a_turn_are_summed() -> None:
    step = {"total_input_tokens": 5, "total_output_tokens": 3}
    thought = [server("step.start", index=0, step={"type": "thought"}), server("step.stop", index=0, step_usage=step)]

    first, second = readings(
        ask("hi"), *thought, *said("Hey", 1, step_usage=step), ask("more"), *said("Yes", 2, usage=USAGE)
    )

    assert first.usage == Usage(input=10, output=6)
    assert second.usage is None


def test_calls_and_their_results_are_paired() -> None:
    result = {"type": "function_result", "call_id": "f1", "name": "add", "result": "2"}
    trip = session(ask("1+1"), *called(), client("input", content=[result]), *said("2", 1, step_usage=USAGE))
    calling, answering = turns_of(trip)

    assert (finish := read(calling).finish) and finish.label == "tool_calls"
    assert [message.role for message in read(answering).request.messages] == ["tool"]
    labels: list[Any] = [done.label for done in label_all([trip])]
    assert labels[0]["client"]["outcome"] == "dispatched"
    assert [finding["id"] for label in labels for finding in label["findings"]] == []


@pytest.mark.parametrize("place", [1, 2])
def test_a_session_that_ends_within_a_step_cuts_its_turn(place: int) -> None:
    (turn,) = turns_of(session(ask("hi"), *said("Hey")[:place]))

    assert turn.closed_first == "client"
    assert (finish := read(turn).finish) and finish.label == "cut"


@pytest.mark.parametrize(
    ("event", "label"),
    [
        (server("interaction.cancelled"), "cancelled"),
        (server("error", error={"code": "quota", "message": "No."}), "error"),
        (server("interaction.completed", status={"code": 13, "message": "No."}), "error"),
        (server("interaction.completed", status={"code": 0}), "complete"),
    ],
)
def test_how_an_interaction_ends_is_said_of_the_turn_that_runs(event: Sent, label: str) -> None:
    (reading,) = readings(ask("hi"), *said("Hey")[:2], event)

    assert reading.finish and reading.finish.label == label
    assert (reading.error is not None) == (label == "error")


def test_an_error_answers_an_input_that_no_step_answers() -> None:
    first, second = readings(ask("hi"), *said("Hey"), ask("more"), server("error", error={"message": "No."}))

    assert first.finish and first.finish.label == "complete"
    assert second.error and second.error.message == "No."


def test_the_end_of_an_interaction_without_an_input_is_not_a_turn() -> None:
    assert readings(server("interaction.completed"), opened=CONNECTED) == []
    assert is_live(session(server("interaction.completed"), opened=CONNECTED))


def test_an_input_without_an_answer_is_a_turn_without_an_answer() -> None:
    (turn,) = turns_of(session(ask("hi")))

    assert turn.response is None and [m.role for m in read(turn).request.messages] == ["user"]


def test_a_new_connection_continues_the_interaction() -> None:
    before = turns_of(session(ask("hi"), *said("Hey")))
    again = turns_of(session(ask("more"), *said("Yes", 1), opened=CONNECTED))

    assert read(again[0]).request.previous_id == "i1"
    assert "i1" in read(before[0]).answer_ids


def test_other_sessions_are_not_read_as_interactions() -> None:
    other = [("client", {"type": "input", "content": []}), ("server", {"event": "step.start"})]
    assert is_live(session(*other, opened=[]))


def test_turns_are_counted_while_a_session_runs() -> None:
    batch = json.dumps({"events": [ask("hi")[1]]}).encode()
    stream = [json.dumps(message).encode() for _, message in said("Hey")]

    assert [asks_for_a_turn(m) for m in (batch, json.dumps(CREATED[0][1]).encode())] == [True, False]
    assert [answers_a_turn(m) for m in stream] == [True, False, False]


def test_a_session_that_is_refused_is_a_request_for_an_answer() -> None:
    refused = RoundTrip(
        Request("GET", URL, (("upgrade", "websocket"),)), Response(403, content=b'{"error":{"message":"no"}}'), 1.0
    )
    assert read(refused).protocol == "gemini-interactions-live" and read(refused).kind == "generation"
