"""Every member of the unions of Anthropic's SDK is read, or listed with what happens to it."""

from sdk_types import Json, literals, not_covered, samples, since

from turntape.inspector.wire.protocols.anthropic.answer import FINISH, MessageDraft
from turntape.inspector.wire.protocols.anthropic.not_read import NOT_READ
from turntape.inspector.wire.protocols.anthropic.request import read_blocks
from turntape.inspector.wire.protocols.anthropic.tools import CLIENT_KINDS, SERVER_KINDS

pytestmark = since("anthropic", 2, 12)


def listed(kind: str) -> dict[str, str]:
    return NOT_READ.get(kind, {})


def is_block_read(block: Json) -> bool:
    (part,) = read_blocks([block], "")
    return (part.kind != "other" or part.text != f"[{block['type']}]") and (part.kind != "result" or part.text != "")


def is_event_read(event: Json) -> bool:
    before, after = MessageDraft(), MessageDraft()
    for draft in (before, after):
        draft.add({"type": "message_start", "message": {}})
        draft.add({"type": "content_block_start", "index": 7, "content_block": {"type": "text"}})
    after.add(event)
    return before != after


def test_every_content_block_is_read_or_listed() -> None:
    from anthropic import types
    from anthropic.types import beta

    unions = (types.ContentBlock, types.ContentBlockParam, beta.BetaContentBlock, beta.BetaContentBlockParam)
    assert not_covered(samples(*unions), is_block_read, listed("content block")) == []


def test_every_kind_of_tool_result_shows_its_text() -> None:
    from anthropic.types.beta import beta_tool_result_block_param

    def is_read(content: Json) -> bool:
        (part,) = read_blocks([{"type": "tool_result", "tool_use_id": "toolu_1", "content": [content]}], "")
        return content["type"] in ("image",) or part.text not in ("", f"[{content['type']}]")

    assert not_covered(samples(beta_tool_result_block_param.Content), is_read, listed("content of a result")) == []


def test_every_stream_event_and_delta_is_read_or_listed() -> None:
    from anthropic import types
    from anthropic.types import beta

    events = samples(types.RawMessageStreamEvent, beta.BetaRawMessageStreamEvent)
    assert not_covered(events, is_event_read, listed("stream event")) == []

    deltas = samples(types.RawContentBlockDelta, beta.BetaRawContentBlockDelta)
    wrapped = {
        word: [{"type": "content_block_delta", "index": 7, "delta": delta} for delta in values]
        for word, values in deltas.items()
    }
    assert not_covered(wrapped, is_event_read, listed("delta")) == []


def test_every_tool_is_known_as_the_clients_or_the_apis() -> None:
    from anthropic import types
    from anthropic.types import beta

    tools = samples(types.ToolUnionParam, beta.BetaToolUnionParam)
    assert (
        not_covered(
            tools, lambda tool: tool["type"].startswith(("custom", *CLIENT_KINDS, *SERVER_KINDS)), listed("tool")
        )
        == []
    )


def test_every_finish_word_has_a_label() -> None:
    from anthropic import types
    from anthropic.types import beta

    words = {word: [{}] for word in (*literals(types.StopReason), *literals(beta.BetaStopReason))}
    assert words and not [word for word in words if word not in FINISH]
