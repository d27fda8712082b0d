"""Every member of the unions of OpenAI's Responses is read, or listed with what happens to it."""

from sdk_types import Json, literals, not_covered, samples, since

from turntape.inspector.wire.protocols.openai_responses.items import item_parts
from turntape.inspector.wire.protocols.openai_responses.not_read import NOT_READ
from turntape.inspector.wire.protocols.openai_responses.responses import (
    CLIENT_TOOLS,
    FINISH,
    MIXED_TOOLS,
    SERVER_TOOLS,
)
from turntape.inspector.wire.protocols.openai_responses.stream import ResponseDraft
from turntape.inspector.wire.values import Part

pytestmark = since("openai", 3, 54)


def is_item_read(item: Json) -> bool:
    parts = item_parts(item, "")
    return bool(parts) and all(_is_part_read(part, item["type"]) for part in parts)


def _is_part_read(part: Part, word: str) -> bool:
    named_only = part.kind == "other" and part.text == f"[{word}]" and part.signature is None
    return not named_only and (part.kind != "result" or part.text != "")


def is_event_read(event: Json) -> bool:
    before, after = ResponseDraft(), ResponseDraft()
    for draft in (before, after):
        draft.add("", {"type": "response.output_item.added", "output_index": 7, "item": {"type": "message"}})
    after.add("", {key: value for key, value in event.items() if key != "sequence_number"})
    return before != after


def test_every_item_is_read_or_listed() -> None:
    from openai.types import beta, responses

    unions = (
        responses.ResponseInputItemParam,
        responses.ResponseOutputItem,
        responses.ResponseItem,
        beta.BetaResponseInputItem,
        beta.BetaResponseOutputItem,
    )
    assert not_covered(samples(*unions), is_item_read, NOT_READ.get("item", {})) == []


def test_every_part_of_a_message_is_read_or_listed() -> None:
    from openai.types import responses
    from openai.types.responses import response_output_message

    found = samples(responses.ResponseInputContentParam, response_output_message.Content)
    messages = {word: [{"type": "message", "content": [value]} for value in values] for word, values in found.items()}

    def is_read(message: Json) -> bool:
        (part,) = item_parts(message, "")
        return part.kind != "other"

    assert not_covered(messages, is_read, NOT_READ.get("part", {})) == []


def test_every_stream_event_is_read_or_listed() -> None:
    from openai.types import beta, responses

    unions = (
        responses.ResponseStreamEvent,
        responses.ResponsesServerEvent,
        responses.ResponsesClientEvent,
        beta.BetaResponsesServerEvent,
        beta.BetaResponsesClientEvent,
    )
    asked = {"response.create": "read by the WebSocket reader"}
    assert not_covered(samples(*unions), is_event_read, NOT_READ["stream event"] | asked) == []


def test_every_tool_is_known_as_the_clients_or_the_apis() -> None:
    from openai.types import beta, responses

    known = (*CLIENT_TOOLS, *SERVER_TOOLS, *MIXED_TOOLS)
    tools = samples(responses.ToolParam, beta.BetaTool)
    assert not_covered(tools, lambda tool: tool["type"].startswith(known), NOT_READ.get("tool", {})) == []


def test_every_finish_word_has_a_label() -> None:
    from openai.types.responses import ResponseStatus
    from openai.types.responses.response import IncompleteDetails

    reasons = literals(IncompleteDetails.model_fields["reason"].annotation)
    words = [*literals(ResponseStatus), *(f"incomplete: {reason}" for reason in reasons)]
    assert reasons and not [word for word in words if word not in FINISH]
