"""Every member of the unions of OpenAI's Agents API is read, or listed with what happens to it."""

from round_trips import exchanged, sse
from sdk_types import Json, literals, members, not_covered, samples, since

from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.openai_agents.items import item_parts
from turntape.inspector.wire.protocols.openai_agents.not_read import NOT_READ
from turntape.inspector.wire.sessions import turns_of

URL = "https://api.openai.com/v1/agents/sessions/sess_1/events"
USER: Json = {"id": "u", "type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
SENT: Json = {"type": "agent.session.turn.item.added", "turn_id": "t", "item": USER}
CALL: Json = {"id": "c", "type": "function_call", "turn_id": "t", "call_id": "c", "name": "f", "arguments": {}}
WORK: list[Json] = [
    {
        "type": "agent.session.turn.output_text.delta",
        "turn_id": "t",
        "output_index": 9,
        "item_id": "m",
        "delta": "so far",
    },
    {"type": "agent.session.turn.item.added", "turn_id": "t", "output_index": 3, "item": CALL},
]

pytestmark = since("openai", 3, 54)


def session(*events: Json) -> list[object]:
    """What is read of a session."""
    trip = exchanged(URL, b"", sse(*events, names=True), method="GET", content_type="text/event-stream")
    readings = [read(turn) for turn in turns_of(trip)]
    return [(r.request, r.emission, r.finish, r.usage, r.error) for r in readings]


def changes_the_session(event: Json) -> bool:
    places = [([], [SENT, *WORK]), ([SENT], WORK), ([SENT, *WORK], []), ([SENT, *WORK], WORK)]
    return any(session(*before, event, *after) != session(*before, *after) for before, after in places)


def test_every_event_is_read_or_listed() -> None:
    from openai.types import beta

    found = samples(beta.AgentSessionEvent)
    for event in (event for events in found.values() for event in events):
        # A sample has every field, and this one says that the turn is that of a subagent.
        event.get("turn", {}).pop("subagent_id", None)
    assert len(found) > 30
    assert not_covered(found, changes_the_session, NOT_READ["event"]) == []


def test_every_item_is_read_or_listed() -> None:
    from openai.types.beta import agent_output_item, agent_session_item

    def is_read(item: Json) -> bool:
        parts = item_parts(item, "")
        return bool(parts) and all(part.kind == "media" or not part.text.startswith("[") for part in parts)

    found = samples(agent_session_item.AgentSessionItem, agent_output_item.AgentOutputItem)
    assert len(found) > 10
    assert not_covered(found, is_read, NOT_READ["item"]) == []


def test_every_tool_of_an_agent_has_a_name() -> None:
    from openai.types import beta

    tools = [{"type": word, "name": "f"} for word in samples(beta.AgentToolParam)]
    event = {"type": "agent.session.created", "session": {"agent": {"model": "m", "tools": tools}}}
    trip = exchanged(URL, b"", sse(event, SENT, *WORK, names=True), method="GET", content_type="text/event-stream")
    (turn,) = turns_of(trip)

    assert (
        len(tools) > 5
        and all(tool.name for tool in read(turn).request.tools)
        and len(tools) == len(read(turn).request.tools)
    )


def test_every_end_of_a_turn_is_known() -> None:
    from openai.types.beta.agents.sessions.turn import Turn

    running = {"queued", "in_progress", "waiting"}
    words = [word for one in members(Turn.model_fields["status"].annotation) for word in literals(one)]
    ends = [
        {"type": f"agent.session.turn.{word}", "turn": {"id": "t", "status": word}}
        for word in words
        if word not in running
    ]

    assert ends and all(session(SENT, *WORK, end) != session(SENT, *WORK) for end in ends)
