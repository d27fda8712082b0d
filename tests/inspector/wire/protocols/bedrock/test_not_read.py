"""Every member of botocore's unions of Converse and of agents is read, or listed with what happens to it."""

from typing import Any

from sdk_types import Json, not_covered, shape_sample, shape_samples, since

from turntape.inspector.wire.protocols.bedrock.agent import AgentDraft
from turntape.inspector.wire.protocols.bedrock.converse import FINISH
from turntape.inspector.wire.protocols.bedrock.converse_blocks import assemble, block_parts, read_converse_request
from turntape.inspector.wire.protocols.bedrock.not_read import AGENT_NOT_READ, NOT_READ

pytestmark = since("botocore", 1, 44, 5)


def shape(name: str, service: str = "bedrock-runtime") -> Any:
    import botocore.session

    return botocore.session.get_session().get_service_model(service).shape_for(name)


def is_block_read(block: Json) -> bool:
    return bool(parts := block_parts([block], "")) and parts[0].kind != "other" or _is_named(block)


def _is_named(block: Json) -> bool:
    """True for a block of another kind that says more than its name."""
    return any(part.text and not part.text.startswith("[") for part in block_parts([block], ""))


def test_every_content_block_is_read_or_listed() -> None:
    blocks = shape_samples(shape("ContentBlock")) | shape_samples(shape("SystemContentBlock"))
    assert not_covered(blocks, is_block_read, NOT_READ["block"]) == []


def test_every_kind_of_tool_result_shows_its_content() -> None:
    def is_read(content: Json) -> bool:
        (part,) = block_parts([{"toolResult": {"toolUseId": "t", "content": [content]}}], "")
        (kind,) = content
        return part.text == f"[{kind}]" if kind in ("image", "document", "video") else "a " in part.text

    assert not_covered(shape_samples(shape("ToolResultContentBlock")), is_read, {}) == []


def test_every_stream_event_start_and_delta_is_read_or_listed() -> None:
    events = {name: [(name, shape_sample(member))] for name, member in shape("ConverseStreamOutput").members.items()}
    errors = {name for name in events if name.endswith("Exception")}
    begun = [("contentBlockStart", {"contentBlockIndex": 7, "start": {"toolUse": {"name": "f"}}})]

    def is_read(event: Any) -> bool:
        return assemble([*begun, event]) != assemble(begun)

    plain: Any = {name: values for name, values in events.items() if name not in errors}
    assert errors  # They come as frames of another kind, which the shared reader of errors takes.
    assert not_covered(plain, is_read, NOT_READ["stream event"]) == []

    starts: Any = {
        key: [("contentBlockStart", {"contentBlockIndex": 7, "start": one}) for one in values]
        for key, values in shape_samples(shape("ContentBlockStart")).items()
    }
    deltas: Any = {
        key: [("contentBlockDelta", {"contentBlockIndex": 7, "delta": one}) for one in values]
        for key, values in shape_samples(shape("ContentBlockDelta")).items()
    }
    assert not_covered(starts, is_read, NOT_READ.get("start", {})) == []
    assert not_covered(deltas, is_read, NOT_READ.get("delta", {})) == []


def test_every_kind_of_tool_is_read_or_listed() -> None:
    def is_read(tool: Json) -> bool:
        return bool(read_converse_request({"toolConfig": {"tools": [tool]}}, None, streamed=False).tools)

    assert not_covered(shape_samples(shape("Tool")), is_read, NOT_READ["block"]) == []


def test_every_finish_word_has_a_label() -> None:
    words = shape("StopReason").enum
    assert words and not [word for word in words if word not in FINISH]


def agent_answer(events: list[Any]) -> object:
    draft = AgentDraft()
    for name, event in events:
        draft.add(name, event)
    return draft.answer("s", ended=True, error=None)


def is_agent_event_read(event: Any) -> bool:
    return agent_answer([event]) != agent_answer([])


def test_every_event_of_an_agent_and_of_a_knowledge_base_is_read_or_listed() -> None:
    streams = ("ResponseStream", "InlineAgentResponseStream", "RetrieveAndGenerateStreamResponseOutput")
    members = {name: one for stream in streams for name, one in shape(stream, "bedrock-agent-runtime").members.items()}
    plain: Any = {n: [(n, _spelled(shape_sample(one)))] for n, one in members.items() if not n.endswith("Exception")}

    assert len(plain) > 6
    assert not_covered(plain, is_agent_event_read, AGENT_NOT_READ["stream event"]) == []


def _spelled(sample: Json) -> Json:
    """The sample with a guardrail's action as the API has it when it stops an answer."""
    return {**sample, "action": "INTERVENED"} if "action" in sample else sample


def test_the_tokens_of_every_kind_of_trace_are_read_or_it_is_listed() -> None:
    kinds = shape("Trace", "bedrock-agent-runtime").members
    usage = {"modelInvocationOutput": {"metadata": {"usage": {"inputTokens": 1}}}}
    samples: Any = {
        kind: [("trace", {"trace": {kind: usage if "modelInvocationOutput" in one.members else {}}})]
        for kind, one in kinds.items()
    }

    assert not_covered(samples, is_agent_event_read, AGENT_NOT_READ["trace"]) == []


def test_every_kind_of_call_that_an_agent_hands_over_is_read() -> None:
    members = shape("InvocationInputMember", "bedrock-agent-runtime").members
    samples: Any = {
        kind: [("returnControl", {"invocationInputs": [{kind: shape_sample(one)}]})] for kind, one in members.items()
    }

    assert samples and not_covered(samples, is_agent_event_read, {}) == []
