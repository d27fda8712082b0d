"""A WebSocket session of Responses becomes one turn for each response."""

import json
from dataclasses import replace
from typing import Literal

import pytest
from judged import judged

from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire import websocket
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.websocket import is_live, turns_of


def message(sender: Literal["client", "server"], at: int, **body: object) -> Frame:
    return Frame(sender, at, json.dumps(body).encode(), True)


def session(*frames: Frame) -> RoundTrip:
    request = Request("GET", "wss://api.openai.com/v1/responses")
    return RoundTrip(request, Response(101), 100.0, frames=frames, closed_first="server")


ITEM = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hey"}]}


def test_each_response_is_a_separate_round_trip() -> None:
    turns = turns_of(
        session(
            message("client", 10, type="response.create", model="gpt-5", input="one"),
            message("server", 20, type="response.created", response={"id": "r1", "status": "in_progress"}),
            message("server", 30, type="response.completed", response={"status": "completed", "output": [ITEM]}),
            message("client", 40, type="response.create", model="gpt-5", input="two", previous_response_id="r1"),
            message("server", 50, type="response.created", response={"id": "r2", "status": "in_progress"}),
        )
    )
    first, second = (read(turn) for turn in turns)
    assert first.emission and first.emission.text == "Hey"
    assert first.finish and first.finish.label == "complete" and turns[0].closed_first is None
    assert second.finish and second.finish.label == "cut" and second.request.previous_id == "r1"
    assert turns[0].first_byte_at == 10 and turns[0].request.method == "POST"


def test_a_session_of_gemini_live_without_content_has_no_turns() -> None:
    live = session(
        message("client", 1, setup={"model": "models/gemini-live"}),
        message("server", 2, setupComplete={}),
        message("client", 3, clientContent={"turns": [], "turnComplete": True}),
    )
    assert turns_of(live) == [] and is_live(live)


def test_frames_that_are_not_json_are_passed_over() -> None:
    assert turns_of(session(Frame("client", 1, b"\xff\x00", False), Frame("server", 2, b"[1]", True))) == []


def test_a_request_that_generates_nothing_is_not_a_turn() -> None:
    """Codex warms the cache before its first turn, which continues that response."""
    done = label_all(
        [
            session(
                message("client", 10, type="response.create", model="gpt-5", input=[], generate=False),
                message("server", 20, type="response.completed", response={"id": "r0", "output": []}),
                message("client", 30, type="response.create", model="gpt-5", input="go", previous_response_id="r0"),
                message(
                    "server",
                    40,
                    type="response.completed",
                    response={"id": "r1", "status": "completed", "output": [ITEM]},
                ),
            )
        ]
    )

    assert [one.label["turn"] for one in done] == [None, 1]
    assert [f["id"] for f in done[1].label["findings"] if f["severity"] != "info"] == []  # type: ignore[attr-defined]


def asked(number: int) -> Frame:
    return message("client", number, type="response.create", model="gpt-5", input=str(number))


def done(number: int) -> Frame:
    response = {"id": f"r{number}", "status": "completed", "output": [ITEM]}
    return message("server", number, type="response.completed", response=response)


def test_events_of_requests_that_wait_go_to_the_first_that_is_open() -> None:
    turns = turns_of(session(asked(1), asked(2), done(1), done(2), done(3)))

    assert [read(turn).response_id for turn in turns] == ["r1", "r2"]


def test_an_event_after_the_end_belongs_to_the_last_response() -> None:
    late = message("server", 9, type="response.steer.pending", steer={})
    turns = turns_of(session(asked(1), done(1), late))

    assert [turn.response is not None and b"steer.pending" in turn.response.body for turn in turns] == [True]


def looks_at_turns(count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the reader looks at a turn while it reads a session of `count` responses."""
    turn = websocket.SocketTurn
    looks = 0

    def seen(self: object, name: str) -> object:
        nonlocal looks
        looks += name == "ended"
        return object.__getattribute__(self, name)

    monkeypatch.setattr(turn, "__getattribute__", seen)
    assert len(turns_of(session(*(frame for n in range(count) for frame in (asked(n), done(n)))))) == count
    monkeypatch.undo()
    return looks


def test_the_work_grows_with_the_session_and_not_with_its_square(monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = looks_at_turns(20, monkeypatch), looks_at_turns(200, monkeypatch)

    assert few >= 20 and many <= 11 * few


def test_a_turn_that_was_not_ended_lasts_until_the_session_ends() -> None:
    asked = message("client", 10, type="response.create", model="gpt-5", input="one")
    begun = message("server", 30, type="response.created", response={"id": "r1", "status": "in_progress"})
    done = message("server", 40, type="response.completed", response={"status": "completed", "output": [ITEM]})

    def ended_at(*frames: Frame, session_end: int | None = 100) -> int | None:
        (turn,) = turns_of(replace(session(*frames), ended_at=session_end))
        return turn.ended_at

    assert ended_at(asked) == 90
    assert ended_at(asked, begun) == 90
    assert ended_at(asked, begun, done) == 30
    assert ended_at(asked, begun, session_end=None) == 20
    assert ended_at(asked, begun, session_end=25) == 20
    assert ended_at(asked, session_end=None) is None


BUSY = {"type": "invalid_request_error", "code": "concurrent_response", "message": "A response is already in progress."}


def test_an_error_about_a_second_request_leaves_the_response_that_runs() -> None:
    turns = turns_of(
        session(
            message("client", 10, type="response.create", model="gpt-5", input="one"),
            message("server", 20, type="response.created", response={"id": "r1", "status": "in_progress"}),
            message("client", 30, type="response.create", model="gpt-5", input="two"),
            message("server", 40, type="error", status=400, error=BUSY),
            message("server", 50, type="response.completed", response={"status": "completed", "output": [ITEM]}),
        )
    )
    first, second = (read(turn) for turn in turns)
    assert first.error is None and first.emission and first.emission.text == "Hey"
    assert second.error and second.error.status == 400


def test_an_error_of_the_response_that_runs_is_its_own() -> None:
    turns = turns_of(
        session(
            message("client", 10, type="response.create", model="gpt-5", input="one"),
            message("server", 20, type="response.created", response={"id": "r1", "status": "in_progress"}),
            message("client", 30, type="response.create", model="gpt-5", input="two"),
            message("server", 40, type="error", status=500, error={"type": "server_error", "message": "no"}),
            message("server", 50, type="response.completed", response={"status": "completed", "output": [ITEM]}),
        )
    )
    assert [read(turn).error is not None for turn in turns] == [True, False]


def test_a_close_frame_answers_a_request_of_responses_too() -> None:
    trip = session(message("client", 10, type="response.create", model="gpt-5", input="one"))
    closed = {"from": "server", "code": 1011, "reason": "keepalive ping timeout"}

    [turn] = turns_of(replace(trip, extra={"closed": closed}))

    error = read(turn).error
    assert error and (error.status, error.message) == (500, "keepalive ping timeout")


def test_a_conversation_that_is_sent_in_full_after_the_api_lost_it_makes_the_failure_an_info() -> None:
    lost = {"code": "previous_response_not_found", "message": "Previous response with id 'r1' not found."}
    asks = {"type": "message", "role": "user", "content": "What is the longest river of the continent?"}
    says = {**ITEM, "content": [{"type": "output_text", "text": "It is the river that the continent is named after."}]}
    more = {"type": "message", "role": "user", "content": "And the second longest?"}

    def found(*after: Frame) -> list[tuple[str, str]]:
        frames = [
            message("client", 10, type="response.create", model="gpt-5", input=[asks], store=False),
            message(
                "server", 20, type="response.completed", response={"id": "r1", "status": "completed", "output": [says]}
            ),
            message(
                "client",
                30,
                type="response.create",
                model="gpt-5",
                input=[more],
                previous_response_id="r1",
                store=False,
            ),
            message("server", 40, type="error", status=400, error={"type": "invalid_request_error", **lost}),
        ]
        every = judged(session(*frames, *after))
        return [(one.id, one.severity) for one in every if one.id in ("client-stale-server-state", "request-rejected")]

    whole = [
        message("client", 50, type="response.create", model="gpt-5", input=[asks, says, more], store=False),
        message(
            "server", 60, type="response.completed", response={"id": "r2", "status": "completed", "output": [ITEM]}
        ),
    ]
    assert found() == [("client-stale-server-state", "error"), ("request-rejected", "error")]
    assert found(*whole) == [("client-stale-server-state", "info"), ("request-rejected", "info")]
