"""Every member of the unions of Cohere's SDK is read, or listed with what happens to it."""

from sdk_types import Json, literals, not_covered, samples, since

from turntape.inspector.wire.protocols.cohere.not_read import NOT_READ, V1_NOT_READ
from turntape.inspector.wire.protocols.cohere.stream import assemble
from turntape.inspector.wire.protocols.cohere.usage import FINISH
from turntape.inspector.wire.protocols.cohere.v1 import assemble as assemble_v1
from turntape.inspector.wire.protocols.openai_chat.request import content_parts

pytestmark = since("cohere", 7, 3)


def test_every_stream_event_is_read_or_listed() -> None:
    from cohere.v2.types import V2ChatStreamResponse

    begun = [("", {"type": "tool-call-start", "index": 7, "delta": {"message": {"tool_calls": {"id": "c"}}}})]

    def is_read(event: Json) -> bool:
        return assemble([*begun, ("", event)]) != assemble(begun)

    assert not_covered(samples(V2ChatStreamResponse), is_read, NOT_READ["stream event"]) == []


def test_every_stream_event_of_version_1_is_read_or_listed() -> None:
    import cohere

    def is_read(event: Json) -> bool:
        named_only = {key: event[key] for key in ("event_type", "generation_id") if key in event}
        return assemble_v1([("", event)]) != assemble_v1([("", named_only)]) or "generation_id" in event

    events = samples(cohere.StreamedChatResponse, key="event_type")
    assert not_covered(events, is_read, V1_NOT_READ["stream event"]) == []


def test_every_content_of_a_message_is_read_or_listed() -> None:
    import cohere

    def is_read(content: Json) -> bool:
        (part,) = content_parts([content], "")
        return part.kind != "other"

    unions = (
        cohere.AssistantMessageResponseContentItem,
        cohere.AssistantMessageV2ContentOneItem,
        cohere.Content,
        cohere.ToolContent,
    )
    assert not_covered(samples(*unions), is_read, NOT_READ.get("content", {})) == []


def test_every_finish_word_has_a_label() -> None:
    import cohere

    words = [*literals(cohere.ChatFinishReason), *literals(cohere.FinishReason)]
    assert words and not [word for word in words if word not in FINISH]
