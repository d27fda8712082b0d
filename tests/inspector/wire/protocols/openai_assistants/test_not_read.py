"""Every member of the unions of OpenAI's Assistants is read, or listed with what happens to it."""

import json

from sdk_types import Json, literals, not_covered, samples, since

from turntape.cassettes.framing import Event
from turntape.inspector.wire.protocols.openai_assistants.assistants import FINISH, assemble
from turntape.inspector.wire.protocols.openai_assistants.not_read import NOT_READ
from turntape.inspector.wire.protocols.shared.answers import stream_error

pytestmark = since("openai", 3, 54)


def changes_the_run(name: str, data: Json) -> bool:
    sent = Event(json.dumps(data).encode(), 0, 0, name=name)
    return assemble([(name, data)]) != assemble([]) or stream_error([sent]) is not None


def test_every_event_of_a_stream_is_read_or_listed() -> None:
    from openai.types import beta

    found = samples(beta.AssistantStreamEvent, key="event")
    for step in (one["data"] for name, events in found.items() if "step" in name for one in events):
        # A sample has the first kind of step, which names the message that it makes and nothing else.
        step["step_details"] = {"type": "tool_calls", "tool_calls": [{"type": "file_search", "file_search": {}}]}
    assert len(found) > 20
    assert not_covered(found, lambda one: changes_the_run(one["event"], one["data"]), NOT_READ["stream event"]) == []


def test_every_kind_of_content_is_read() -> None:
    from openai.types.beta.threads import MessageContentDelta

    def is_read(content: Json) -> bool:
        event = {"object": "thread.message.delta", "id": "msg_1", "delta": {"content": [content]}}
        _, parts, _ = assemble([("thread.message.delta", event)])
        return len(parts) == 1 and (parts[0].kind == "media" or not parts[0].text.startswith("["))

    assert not_covered(samples(MessageContentDelta), is_read, {}) == []


def test_every_kind_of_tool_call_is_read_or_listed() -> None:
    from openai.types.beta.threads import runs

    def is_read(call: Json) -> bool:
        step = {"object": "thread.run.step", "id": "step_1", "step_details": {"tool_calls": [call]}}
        _, parts, _ = assemble([("thread.run.step.completed", step)])
        return [part.kind for part in parts] == ["call", "result"] and parts[1].text != ""

    assert not_covered(samples(runs.ToolCall), is_read, NOT_READ["tool call"]) == []


def test_every_status_of_a_run_has_a_label() -> None:
    from openai.types.beta.threads import Run

    words = literals(Run.model_fields["status"].annotation)
    assert words and [word for word in words if word not in FINISH] == []
