"""Every member of the unions of Google's SDK is read, or listed with what happens to it."""

import json
from functools import partial

from sdk_types import Json, field_samples, fields, literals, members, not_covered, samples, since

from turntape.cassettes.framing import Event
from turntape.cassettes.tape.model import Frame, Request, Response, RoundTrip
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.protocols.gemini.answer import FINISH
from turntape.inspector.wire.protocols.gemini.interactions import FINISH as INTERACTIONS_FINISH
from turntape.inspector.wire.protocols.gemini.interactions import assemble, step_parts
from turntape.inspector.wire.protocols.gemini.live import FINISH as LIVE_FINISH
from turntape.inspector.wire.protocols.gemini.not_read import (
    INTERACTIONS_LIVE_NOT_READ,
    INTERACTIONS_NOT_READ,
    LIVE_NOT_READ,
    NOT_READ,
)
from turntape.inspector.wire.protocols.gemini.parts import read_parts
from turntape.inspector.wire.protocols.shared.answers import stream_error
from turntape.inspector.wire.websocket import turns_of

pytestmark = since("google-genai", 3, 4)


def test_every_field_of_a_part_is_read_or_listed() -> None:
    from google.genai import types

    def is_read(part: Json) -> bool:
        (found,) = read_parts({"parts": [part]}, "")
        return found.kind != "other" and (found.kind != "result" or found.text != "")

    assert not_covered(field_samples(types.Part), is_read, NOT_READ["part"]) == []


def test_every_finish_word_has_a_label() -> None:
    from google.genai import types

    assert [word for word in literals(types.FinishReason) if word not in FINISH] == []


def test_every_step_and_content_of_interactions_is_read_or_listed() -> None:
    from google.genai import interactions

    def is_read(step: Json) -> bool:
        parts = step_parts(step, "")
        return bool(parts) and all(p.kind != "other" and (p.kind != "result" or p.text) for p in parts)

    found = samples(interactions.Step, interactions.Content)
    assert not_covered(found, is_read, INTERACTIONS_NOT_READ.get("step", {})) == []


def test_every_event_and_delta_of_interactions_is_read_or_listed() -> None:
    from google.genai import interactions

    begun = [
        ("", {"event_type": "step.start", "index": 7, "step": {"type": "model_output"}}),
        ("", {"event_type": "step.delta", "index": 7, "delta": {"type": "text", "text": "so far"}}),
    ]

    def is_read(event: Json) -> bool:
        sent = Event(json.dumps(event).encode(), 0, 0, name=event["event_type"])
        return assemble([*begun, ("", event)]) != assemble(begun) or stream_error([sent]) is not None

    events = samples(interactions.InteractionSSEEvent, key="event_type")
    assert not_covered(events, is_read, INTERACTIONS_NOT_READ.get("stream event", {})) == []

    deltas = {
        word: [{"event_type": "step.delta", "index": 7, "delta": one} for one in values]
        for word, values in samples(interactions.StepDeltaData).items()
    }
    assert not_covered(deltas, is_read, INTERACTIONS_NOT_READ.get("delta", {})) == []


def test_every_status_of_interactions_has_a_label() -> None:
    from google.genai import interactions

    words = [word for one in members(fields(interactions.Interaction)["status"]) for word in literals(one)]
    assert words and not [word for word in words if word not in INTERACTIONS_FINISH]


LIVE_SETUP: list[tuple[str, Json]] = [("client", {"setup": {"model": "models/m"}}), ("server", {"setupComplete": {}})]
LIVE_ASKED: list[tuple[str, Json]] = [
    *LIVE_SETUP,
    ("client", {"clientContent": {"turns": [{"parts": [{"text": "hi"}]}]}}),
    (
        "server",
        {"serverContent": {"modelTurn": {"parts": [{"text": "so far"}]}}, "usageMetadata": {"promptTokenCount": 9}},
    ),
    ("server", {"toolCall": {"functionCalls": [{"id": "a ids", "name": "f", "args": {}}]}}),
]
LIVE_ANSWER: tuple[str, Json] = ("server", {"serverContent": {"modelTurn": {"parts": [{"text": "more"}]}}})


LIVE_INTERACTIONS = "wss://generativelanguage.googleapis.com/v1beta/interactions/live"


def live(
    *frames: tuple[str, Json],
    asked: Json | None = None,
    url: str = "wss://generativelanguage.googleapis.com/ws/GenerativeService.BidiGenerateContent",
) -> list[object]:
    """What is read of a session whose frames come together, but for `asked`, which is before them."""
    sent = tuple(
        Frame("client" if who == "client" else "server", 1 if m is asked else 9, json.dumps(m).encode(), True)
        for who, m in frames
    )
    turns = turns_of(RoundTrip(Request("GET", url), Response(101), 1.0, frames=sent))
    read_turns = [(read(turn), turn.started_at) for turn in turns]
    return [(r.request, r.emission, r.finish, r.usage, r.continuation, r.response_id, at) for r, at in read_turns]


def changes_the_session(who: str, message: Json) -> bool:
    """Whether a message changes a session somewhere: before everything, before an answer, within one or after it."""
    places = [([], LIVE_ASKED), (LIVE_SETUP, [LIVE_ANSWER]), (LIVE_ASKED, []), (LIVE_ASKED, [LIVE_ANSWER])]
    return any(
        live(*before, (who, message), *after, asked=message) != live(*before, *after) for before, after in places
    )


def test_every_message_of_a_live_session_is_read_or_listed() -> None:
    from google.genai import types

    inner = {
        "serverContent": (types.LiveServerContent, "server"),
        "clientContent": (types.LiveClientContent, "client"),
        "realtimeInput": (types.LiveClientRealtimeInput, "client"),
        "contextUpdate": (types.LiveClientContextUpdate, "client"),
        "usageMetadata": (types.UsageMetadata, "server"),
    }
    found = {
        who: {word: values for word, values in field_samples(model).items() if word not in inner}
        for who, model in (("client", types.LiveClientMessage), ("server", types.LiveServerMessage))
    }
    for name, (model, who) in inner.items():
        for word, values in field_samples(model).items():
            found[who][f"{name}.{word}"] = [{name: value} for value in values]
    declared = {"tools": {"tools": [{"functionDeclarations": [{"name": "g"}]}]}}
    found["client"]["contextUpdate.tools"] = [{"contextUpdate": declared}]
    for who, samples_of_side in found.items():
        listed = {word: what for word, what in LIVE_NOT_READ["message"].items() if word in samples_of_side}
        assert len(samples_of_side) > 5
        is_read = partial(changes_the_session, who)
        assert not_covered(samples_of_side, is_read, listed) == []
    assert set(LIVE_NOT_READ["message"]) <= {word for words in found.values() for word in words}


INTERACTION: list[tuple[str, Json]] = [
    ("client", {"event_type": "interaction.create", "model": "m"}),
    ("server", {"event_type": "interaction.created", "interaction_id": "i"}),
    ("client", {"event_type": "input", "content": [{"type": "text", "text": "hi"}]}),
]
RUNNING: list[tuple[str, Json]] = [
    *INTERACTION,
    ("server", {"event_type": "step.start", "index": 7, "step": {"type": "model_output"}}),
    ("server", {"event_type": "step.delta", "index": 7, "delta": {"type": "text", "text": "so far"}}),
]


@since("google-genai", 3, 6)
def test_every_event_of_a_live_interaction_is_read_or_listed() -> None:
    from google.genai import interactions

    def changes_the_session(who: str, event: Json) -> bool:
        return any(
            live(*before, (who, event), *after, url=LIVE_INTERACTIONS) != live(*before, *after, url=LIVE_INTERACTIONS)
            for before, after in (([], RUNNING[2:]), (INTERACTION, []), (RUNNING, []))
        )

    listed = INTERACTIONS_LIVE_NOT_READ["client event"]
    for who, union, left in (("client", interactions.ClientEvent, listed), ("server", interactions.ServerEvent, {})):
        events = samples(union, key="event_type")
        assert len(events) > 5
        assert not_covered(events, partial(changes_the_session, who), left) == []


def test_every_reason_for_the_end_of_a_live_turn_has_a_label() -> None:
    from google.genai import types

    assert [word for word in literals(types.TurnCompleteReason) if word not in LIVE_FINISH] == []
