"""Every member of the unions of Google's SDK is read, or listed with what happens to it."""

import json

from sdk_types import Json, field_samples, fields, literals, members, not_covered, samples, since

from turntape.cassettes.framing import Event
from turntape.inspector.wire.protocols.gemini.answer import FINISH
from turntape.inspector.wire.protocols.gemini.interactions import FINISH as INTERACTIONS_FINISH
from turntape.inspector.wire.protocols.gemini.interactions import assemble, step_parts
from turntape.inspector.wire.protocols.gemini.not_read import INTERACTIONS_NOT_READ, NOT_READ
from turntape.inspector.wire.protocols.gemini.parts import read_parts
from turntape.inspector.wire.protocols.shared.answers import stream_error

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
