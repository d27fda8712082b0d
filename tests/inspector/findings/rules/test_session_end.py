"""What a client left undone when it closed a session over WebSocket."""

from dataclasses import replace
from typing import Any

import pytest
from judged import ids, judged
from realtime_sessions import (
    CALL,
    CREATED,
    SESSION,
    answer,
    client,
    gave,
    said,
    server,
    session,
    tool_session,
    user,
)

from turntape.cassettes.tape.model import RoundTrip

NAME = "client-answer-not-requested"
OPEN = "client-tool-calls-not-dispatched"
TWO = [CALL, {**CALL, "id": "i_two", "call_id": "call_2"}]


def messages(trip: RoundTrip, name: str = NAME) -> list[tuple[str, str]]:
    return [(one.severity, one.message) for one in judged(trip) if one.id == name]


def test_results_for_which_no_answer_is_asked_are_found() -> None:
    what = "(call_1), asked for no answer, and closed the session 60 s later"

    assert messages(tool_session(gave())) == [("warning", f"the client gave 1 result {what}")]
    assert messages(tool_session(gave()), OPEN) == []


def test_every_result_of_the_last_answer_is_named() -> None:
    given = [gave(), gave("call_2", "i4"), gave("call_9", "i5")]

    assert [text for _, text in messages(tool_session(*given, called=TWO))] == [
        "the client gave 2 results (call_1, call_2), asked for no answer, and closed the session 60 s later"
    ]


SILENT: dict[str, list[Any]] = {
    "asked for": [gave(), client("response.create"), *answer("r2", said("i4", "3."))],
    "asked for and still open": [gave(), client("response.create")],
    "the user spoke": [gave(), user("i5", "And?"), *answer("r2", said("i6", "3."))],
    "no result": [],
}


@pytest.mark.parametrize("after", SILENT.values(), ids=list(SILENT))
def test_results_that_a_response_saw_are_not(after: list[Any]) -> None:
    assert messages(tool_session(*after)) == []


def test_a_session_that_the_server_closed_or_whose_end_is_not_known_says_nothing() -> None:
    left = tool_session(gave())

    assert messages(replace(left, closed_first="server")) == []
    assert messages(replace(left, closed_first=None)) == []


def test_calls_that_are_open_when_the_client_closes_the_session_are_an_info() -> None:
    assert messages(tool_session(), OPEN) == [
        ("info", "the client closed the session after 1 call that nobody answered: call_1")
    ]
    assert messages(replace(tool_session(), closed_first="server"), OPEN) == []


def test_a_session_that_takes_all_tools_back_changes_them() -> None:
    said_first = [user("i1", "hi"), client("response.create"), *answer("r1", said("i2", "Hello."))]
    said_then = [user("i3", "Add."), client("response.create"), *answer("r2", said("i4", "I cannot."))]
    less = server("session.updated", session={**SESSION, "tools": []})

    found = messages(session(CREATED, *said_first, less, *said_then), "client-tools-changed")

    assert found == [("info", "the tools changed: add removed")]
    assert "client-tools-changed" not in ids(session(CREATED, *said_first, *said_then))


def test_an_answer_in_sound_without_a_transcript_is_not_empty() -> None:
    silent = {**said("i2", ""), "content": [{"type": "output_audio", "transcript": ""}]}
    nothing = {**said("i2", ""), "content": []}
    asked = [CREATED, user("i1", "hi"), client("response.create")]

    assert "model-empty-response" not in ids(session(*asked, *answer("r1", silent)))
    assert "model-empty-response" in ids(session(*asked, *answer("r1", nothing)))


FAILED = "session-event-failed"
SHORTER = "Audio content of 1000ms is already shorter than 5596ms"


def refused(kind: str, message: str, **fields: Any) -> list[Any]:
    """An event of the client, and the error that refuses it."""
    return [client(kind, **fields), server("error", error={"type": "invalid_request_error", "message": message})]


def failing(*frames: Any) -> list[tuple[str, str, str]]:
    spoken = [CREATED, user("i1", "hi"), client("response.create"), *answer("r1", said("i2", "Hello."))]
    found = judged(session(*spoken, *frames))
    return [(one.layer, one.severity, one.message) for one in found if one.id == FAILED]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("conversation.item.truncate", SHORTER),
        ("input_audio_buffer.commit", "Error committing input audio buffer: buffer too small."),
        ("conversation.item.delete", "Error deleting item: the item with id 'i_77' does not exist."),
        ("response.cancel", "Cancellation failed: no active response found"),
    ],
)
def test_an_event_of_the_client_that_the_api_refused_is_an_info(kind: str, message: str) -> None:
    assert failing(*refused(kind, message)) == [("client", "info", f"the API refused {kind!r}: {message}")]


def test_speech_that_was_not_written_down_is_the_apis() -> None:
    error = {"type": "server_error", "code": "audio_unintelligible", "message": "The audio could not be transcribed."}
    failed = server("conversation.item.input_audio_transcription.failed", item_id="i1", content_index=0, error=error)

    assert failing(failed) == [
        ("api", "info", "what the user said was not written down: The audio could not be transcribed.")
    ]


def test_a_session_in_which_nothing_failed_says_nothing() -> None:
    taken = [client("conversation.item.truncate", item_id="i2"), server("conversation.item.truncated", item_id="i2")]

    assert failing() == failing(*taken) == []
