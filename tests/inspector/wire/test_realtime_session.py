"""A session of OpenAI Realtime becomes one turn for each response."""

from dataclasses import replace
from typing import Any

import pytest
from realtime_sessions import CALL, CREATED, SESSION, USAGE, answer, client, item, said, server, session, user

from turntape.cassettes.tape.model import RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Reading, ToolResult, Usage
from turntape.inspector.wire.websocket import is_live, turns_of


def readings(*frames: tuple[str, dict[str, Any]]) -> list[Reading]:
    return [read(turn) for turn in turns_of(session(*frames))]


def test_a_response_is_a_turn_with_the_session_settings_and_the_new_items() -> None:
    (reading,) = readings(CREATED, user("i1", "hi"), client("response.create"), *answer("r1", said("i2", "Hello")))

    assert reading.protocol == "openai-realtime" and reading.emission and reading.finish
    assert (reading.request.model, reading.response_model) == ("gpt-realtime-2", "gpt-realtime")
    assert [part.text for part in reading.request.system] == ["Be brief."]
    assert [tool.name for tool in reading.request.tools] == ["add"]
    assert [(m.role, m.parts[0].text) for m in reading.request.messages] == [("user", "hi")]
    assert (reading.emission.text, reading.finish.effective, reading.response_id) == ("Hello", "complete", "r1")
    assert reading.usage == Usage(input=20, cache_read=8, output=6, input_audio=8, input_media=8, output_audio=4)
    assert reading.usage_raw == USAGE


def test_the_next_turn_has_only_what_is_new_and_continues_the_one_before() -> None:
    first, second = readings(
        CREATED,
        user("i1", "hi"),
        *answer("r1", CALL),
        item("i3", type="function_call_output", call_id="call_1", output="3"),
        client("response.create"),
        *answer("r2", said("i4", "It is 3.")),
    )

    assert first.emission and [call.id for call in first.emission.calls] == ["call_1"]
    assert first.finish and first.finish.effective == "tool_calls"
    assert second.request.previous_id == "r1"
    assert second.request.results == (ToolResult("call_1", None, False, "3"),)
    assert len(second.request.messages) == 1


def test_what_the_user_said_is_read_also_when_its_transcript_comes_after_the_answer() -> None:
    spoken = item("i1", type="message", role="user", content=[{"type": "input_audio", "transcript": None}])
    transcript = server(
        "conversation.item.input_audio_transcription.completed", item_id="i1", content_index=0, transcript="good day"
    )
    committed = server("input_audio_buffer.committed", item_id="i1")
    trip = session(CREATED, spoken, committed, *answer("r1", said("i2", "Hello")), transcript)
    (turn,) = turns_of(trip)

    assert read(turn).request.messages[0].parts[0].text == "good day"
    assert (turn.started_at, turn.first_byte_at) == (100.0 + 30 / 1_000_000, 10)  # It begins at the end of the speech.


def test_a_request_of_its_own_settings_beside_the_conversation() -> None:
    apart = client(
        "response.create",
        response={
            "conversation": "none",
            "instructions": "Classify.",
            "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "x"}]}],
            "tools": [],
        },
    )
    first, beside, then = readings(
        CREATED, user("i1", "hi"), *answer("r1", said("i2", "Hello")),
        user("i3", "more"), apart, *answer("r2", said("i4", "greeting")),
        client("response.create"), *answer("r3", said("i5", "More.")),
    )  # fmt: skip

    assert [part.text for part in beside.request.system] == ["Classify."] and beside.request.tools == ()
    assert (beside.request.previous_id, beside.request.messages[0].parts[0].text) == (None, "x")
    assert [message.parts[0].text for message in then.request.messages] == ["more"]
    assert first.request.previous_id is None and then.request.previous_id == "r1"


def test_settings_that_change_hold_from_then_on() -> None:
    first, second = readings(
        CREATED,
        *answer("r1", said("i1", "a")),
        server("session.updated", session={**SESSION, "instructions": "Be long.", "tools": []}),
        *answer("r2", said("i2", "b")),
    )

    assert ([p.text for p in first.request.system], len(first.request.tools)) == (["Be brief."], 1)
    assert ([p.text for p in second.request.system], len(second.request.tools)) == (["Be long."], 0)


def test_a_deleted_item_is_not_sent() -> None:
    deleted = server("conversation.item.deleted", item_id="i1")
    (reading,) = readings(CREATED, user("i1", "hi"), user("i2", "you"), deleted, *answer("r1"))

    assert [message.parts[0].text for message in reading.request.messages] == ["you"]


@pytest.mark.parametrize(
    ("status", "details", "label", "detail"),
    [
        ("cancelled", {"type": "cancelled", "reason": "turn_detected"}, "cancelled", "turn_detected"),
        ("incomplete", {"type": "incomplete", "reason": "max_output_tokens"}, "length", "max_output_tokens"),
        ("incomplete", {"type": "incomplete", "reason": "content_filter"}, "content_filter", "content_filter"),
        ("failed", {"type": "failed", "error": {"type": "server_error", "code": "x"}}, "error", "x"),
    ],
)
def test_the_end_of_a_response_is_labelled(status: str, details: object, label: str, detail: str) -> None:
    (reading,) = readings(CREATED, *answer("r1", said("i1", "He"), status=status, status_details=details))

    assert reading.finish and (reading.finish.raw, reading.finish.label) == (status, label)
    assert reading.finish.detail == detail


def test_a_response_without_its_end_is_cut_and_has_what_came() -> None:
    delta = {"response_id": "r1", "item_id": "i1", "output_index": 0, "content_index": 0}
    spoken = [server("response.output_audio_transcript.delta", **delta, delta=text) for text in ("Hel", "lo")]
    (reading,) = readings(CREATED, server("response.created", response={"id": "r1"}), *spoken)

    assert reading.finish and reading.finish.effective == "cut"
    assert reading.emission and reading.emission.text == "Hello"


def refused(code: str = "c", **fields: object) -> tuple[str, dict[str, Any]]:
    return server("error", error={"type": "invalid_request_error", "code": code, "message": "no", **fields})


def test_an_error_answers_the_request_that_waits() -> None:
    (turn,) = readings(CREATED, user("i1", "hi"), client("response.create"), refused())

    assert turn.error and turn.error.message == "no"


GIVEN = {"type": "function_call_output", "call_id": "call_other", "output": "2"}


@pytest.mark.parametrize("named", [{}, {"event_id": "e7"}])
def test_an_item_that_the_api_does_not_take_is_a_refused_turn_with_that_item(named: dict[str, str]) -> None:
    create = client("conversation.item.create", item=GIVEN, **named)
    after = [client("session.update", session={})] if named else []
    (turn,) = readings(CREATED, create, *after, refused(**named))

    assert turn.error and turn.error.message == "no"
    assert [result.call_id for result in turn.request.results] == ["call_other"]


def test_the_request_that_waits_is_not_the_one_that_an_error_refuses_by_name() -> None:
    create = client("conversation.item.create", item=GIVEN, event_id="e7")
    turns = readings(
        CREATED, create, client("response.create"), refused(event_id="e7"), *answer("r1", said("i1", "Two."))
    )

    assert [turn.error is not None for turn in turns] == [True, False]
    assert turns[1].emission and turns[1].emission.text == "Two."


@pytest.mark.parametrize(
    "kind", ["response.cancel", "conversation.item.truncate", "conversation.item.delete", "input_audio_buffer.commit"]
)
def test_what_a_client_sends_too_late_makes_no_turn(kind: str) -> None:
    assert turns_of(session(CREATED, client(kind), refused())) == []


def test_an_error_before_the_client_sent_anything_makes_no_turn() -> None:
    assert turns_of(session(CREATED, refused())) == []


def test_what_follows_a_refused_second_request_continues_the_active_response() -> None:
    calls = answer("r1", CALL)
    given = item("i2", type="function_call_output", call_id="call_1", output="2")
    twice = [client("response.create"), refused("conversation_already_has_active_response")]
    frames = [user("i1", "hi"), client("response.create"), *calls[:1], *twice, *calls[1:]]
    trip = session(CREATED, *frames, given, client("response.create"), *answer("r2", said("i3", "Two.")))
    found = [one["id"] for done in label_all(turns_of(trip)) for one in list[Any](done.label["findings"])]  # pyright: ignore[reportArgumentType]

    assert "request-rejected" in found
    assert "client-missing-tool-result" not in found


def test_a_request_that_nothing_answered_is_a_turn_without_an_answer() -> None:
    (turn,) = turns_of(session(CREATED, client("response.create")))

    assert turn.response is None and turn.closed_first == "client"


def test_a_session_without_responses_stays_whole() -> None:
    assert turns_of(session(CREATED)) == [] and is_live(session(CREATED))


def test_the_turns_of_a_session_are_one_thread_and_its_call_is_answered() -> None:
    frames = [
        CREATED,
        user("i1", "hi"),
        *answer("r1", CALL),
        item("i3", type="function_call_output", call_id="call_1", output="3"),
        client("response.create"),
        *answer("r2", said("i4", "It is 3.")),
    ]
    done = label_all([session(*frames)])
    labels: list[Any] = [one.label for one in done]

    assert [label["turn"] for label in labels] == [1, 2] and labels[0]["thread"] == labels[1]["thread"]
    assert labels[0]["client"]["outcome"] == "dispatched"
    assert [f["id"] for label in labels for f in label["findings"] if f["severity"] != "info"] == []


def events_of(text: str, final: str, call_id: str = "call_1") -> RoundTrip:
    """A session with one answer, whose pieces say `text` and whose last event says `final`, and a call."""
    named = {"response_id": "r1", "item_id": "i2", "output_index": 0, "content_index": 0}
    whole = {"id": "i2", "type": "message", "role": "assistant", "status": "completed"}
    call = {**CALL, "call_id": call_id}
    return session(
        CREATED,
        user("i1", "hi"),
        client("response.create"),
        server("response.created", response={"id": "r1", "status": "in_progress", "output": []}),
        server("response.output_item.added", response_id="r1", output_index=0, item={**whole, "content": []}),
        server("response.output_text.delta", delta=text, **named),
        server("response.output_text.done", text=text, **named),
        server("response.output_item.added", response_id="r1", output_index=1, item={**call, "arguments": ""}),
        server("response.output_item.done", response_id="r1", output_index=1, item=call),
        server(
            "response.done",
            response={
                "id": "r1",
                "status": "completed",
                "output": [{**whole, "content": [{"type": "output_text", "text": final}]}, call],
                "usage": USAGE,
            },
        ),
    )


def layers(trip: RoundTrip) -> list[tuple[str, str]]:
    found: list[Any] = [one for label in label_all([trip]) for one in label.label["findings"]]  # type: ignore[attr-defined]
    return [(one["id"], one["layer"]) for one in found if one["severity"] != "info"]


def test_a_last_event_that_says_something_else_than_the_pieces() -> None:
    assert ("api-stream-contradiction", "api") in layers(events_of("Hello", "Good bye"))
    assert ("api-stream-contradiction", "api") not in layers(events_of("Hello", "Hello"))


def test_a_call_without_an_id_is_the_fault_of_the_api() -> None:
    assert ("api-call-without-id", "api") in layers(events_of("Hello", "Hello", ""))
    assert layers(events_of("Hello", "Hello")) == []


@pytest.mark.parametrize(("model", "found"), [("gpt-realtime-2-2026-01-15", False), ("gpt-realtime-mini", True)])
def test_a_session_with_another_model_than_the_url_names_is_found_once(model: str, found: bool) -> None:
    created = server("session.created", session={**SESSION, "model": model})
    asked = [user("i1", "hi"), *answer("r1", said("i2", "Hello")), user("i3", "bye"), *answer("r2", said("i4", "Bye"))]
    ids = [one["id"] for done in label_all([session(created, *asked)]) for one in list[Any](done.label["findings"])]  # pyright: ignore[reportArgumentType]

    assert ids.count("api-model-substituted") == found


def test_a_session_whose_url_names_no_model_asks_for_what_it_has() -> None:
    trip = session(CREATED, user("i1", "hi"), *answer("r1", said("i2", "Hello")))
    call = replace(trip, request=replace(trip.request, url="wss://api.openai.com/v1/realtime?call_id=rtc_1"))
    (reading,) = map(read, turns_of(call))

    assert (reading.request.model, reading.response_model) == ("gpt-realtime", "gpt-realtime")
