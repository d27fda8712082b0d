"""Every member of the unions of Anthropic's managed agents is read, or listed with what happens to it."""

from round_trips import exchanged, sse
from sdk_types import Json, fields, not_covered, samples, since

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.anthropic_agents.not_read import NOT_READ
from turntape.inspector.wire.protocols.anthropic_agents.session import FINISH
from turntape.inspector.wire.sessions import turns_of

URL = "https://api.anthropic.com/v1/sessions/sesn_1/events/stream"
SENT: Json = {"id": "u", "type": "user.message", "content": [{"type": "text", "text": "hi"}]}
PREVIEW: Json = {"type": "event_start", "event": {"type": "agent.message", "id": "a event_id"}}
DELTA: Json = {
    "type": "event_delta",
    "event_id": "a event_id",
    "delta": {"content": {"type": "text", "text": "so far"}},
}
WORK: list[Json] = [
    {"id": "m", "type": "agent.message", "content": [{"type": "text", "text": "so far"}]},
    {"id": "a custom_tool_use_id", "type": "agent.custom_tool_use", "name": "f", "input": {}},
]

pytestmark = since("anthropic", 2, 12)


def session(*events: Json) -> list[object]:
    """What is read of a session."""
    trip = exchanged(URL, b"", sse(*events, names=True), method="GET", content_type="text/event-stream")
    readings = [read(turn) for turn in turns_of(trip)]
    return [(r.request, r.emission, r.finish, r.usage, r.error) for r in readings]


def changes_the_session(event: Json) -> bool:
    places = [([], [SENT, *WORK]), ([SENT], WORK), ([SENT, *WORK], []), ([SENT, PREVIEW], []), ([SENT], [DELTA])]
    return any(session(*before, event, *after) != session(*before, *after) for before, after in places)


def test_every_event_is_read_or_listed() -> None:
    from anthropic.types.beta import sessions

    found = samples(
        sessions.BetaManagedAgentsStreamSessionEvents,
        sessions.BetaManagedAgentsStreamSessionThreadEvents,
        sessions.BetaManagedAgentsSessionEvent,
    )
    assert len(found) > 40
    assert not_covered(found, changes_the_session, NOT_READ["event"]) == []


def test_every_event_that_a_client_sends_is_read_or_listed() -> None:
    from anthropic.types.beta import sessions

    found = samples(sessions.beta_managed_agents_event_params.BetaManagedAgentsEventParams)
    assert len(found) > 5
    assert not_covered(found, changes_the_session, {}) == []


def test_every_reason_to_stop_has_a_label() -> None:
    from anthropic.types.beta import sessions

    found = samples(fields(sessions.BetaManagedAgentsSessionStatusIdleEvent)["stop_reason"])
    assert found and [word for word in found if word not in FINISH] == []
