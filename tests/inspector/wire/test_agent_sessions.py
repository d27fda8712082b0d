"""Streams of agents' sessions as round trips with several turns; their events have tests beside their protocols."""

import json
from dataclasses import replace

import pytest
from round_trips import exchanged, sse

from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.agent_sessions import agent_turns
from turntape.inspector.wire.sessions import turns_of

URL = "https://api.anthropic.com/v1/sessions/sesn_1"
EVENTS = [
    {"id": "u", "type": "user.message", "content": [{"type": "text", "text": "hi"}]},
    {"id": "m", "type": "agent.message", "content": [{"type": "text", "text": "Hello"}]},
    {"id": "i", "type": "session.status_idle", "stop_reason": {"type": "end_turn"}},
]


def stream(path: str = "/events/stream", body: bytes = sse(*EVENTS), status: int = 200) -> RoundTrip:
    return exchanged(f"{URL}{path}", b"", body, method="GET", status=status, content_type="text/event-stream")


@pytest.mark.parametrize("path", ["/events/stream", "/events/stream?event_deltas=agent.message", "/threads/t_1/stream"])
def test_a_stream_of_events_holds_turns(path: str) -> None:
    assert len(agent_turns(stream(path))) == 1


@pytest.mark.parametrize(
    "trip",
    [
        pytest.param(stream("/events"), id="another path"),
        pytest.param(stream(body=json.dumps({"data": EVENTS}).encode()), id="one body"),
        pytest.param(stream(status=404), id="an error"),
        pytest.param(replace(stream(), response=None), id="no answer"),
    ],
)
def test_any_other_round_trip_is_one(trip: RoundTrip) -> None:
    assert agent_turns(trip) == []


def test_a_turn_is_not_taken_for_a_session() -> None:
    (turn,) = agent_turns(stream())
    assert agent_turns(turn) == []


def test_the_session_of_another_thread_is_another_conversation() -> None:
    trips = [replace(stream(path), index=i) for i, path in enumerate(("/events/stream", "/threads/t_1/stream"))]
    labels = [done.label for done in label_all(trips)]

    assert [label["turn"] for label in labels] == [1, 1] and labels[0]["thread"] != labels[1]["thread"]


def test_later_streams_of_a_session_continue_it() -> None:
    labels = [done.label for done in label_all([replace(stream(), index=i, started_at=i) for i in range(2)])]

    assert [label["turn"] for label in labels] == [1, 2] and labels[0]["thread"] == labels[1]["thread"]


def test_sessions_of_both_kinds_hold_turns() -> None:
    sent = (Frame("client", 1, b'{"type":"response.create","model":"m","input":"hi"}', True),)
    socket = RoundTrip(Request("GET", "wss://api.openai.com/v1/responses"), Response(101), 1.0, frames=sent)

    assert [len(turns_of(trip)) for trip in (socket, stream(), stream("/events"))] == [1, 1, 0]


def test_turns_begin_one_after_the_other_although_no_times_were_recorded() -> None:
    """Their labels are distinguished by when they began."""
    again = [{**event, "id": f"{event['id']}2"} for event in EVENTS]
    turns = turns_of(replace(stream(body=sse(*EVENTS, *again)), started_at=1_780_000_000.0))

    assert [turn.started_at > 1_780_000_000.0 for turn in turns] == [False, True]
