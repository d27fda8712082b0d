"""The format of a message and of the events of its stream.

Source: `Message` and `RawMessageStreamEvent` of anthropic 2.12.0, read 2026-11-22.
"""

from ...answer_format import AnswerFormat, FieldNames, Format, Tagged, words
from ...stream_order import Piece, StreamOrder

_COUNTS: Format = {
    "input_tokens?": "count",
    "output_tokens": "count",
    "cache_creation_input_tokens?": "count",
    "cache_read_input_tokens?": "count",
    "cache_creation?": {"ephemeral_5m_input_tokens": "count", "ephemeral_1h_input_tokens": "count"},
    "server_tool_use?": {"web_search_requests?": "count", "web_fetch_requests?": "count"},
    "service_tier?": "text",
}


def _block(signature: str) -> Tagged:
    """A block of content; one that only begins has no signature yet."""
    return Tagged(
        "type",
        {
            "text": {"text!": "text", "citations?": "list"},
            "thinking": {"thinking!": "text", "signature": signature},
            "redacted_thinking": {"data": "name"},
            "tool_use": {"id": "name", "name!": "name", "input": "any"},
            "server_tool_use": {"id": "name", "name!": "name", "input": "any"},
            "web_search_tool_result": {"tool_use_id": "name", "content": "list|object"},
            "web_fetch_tool_result": {"tool_use_id": "name", "content": "object"},
        },
    )


_MESSAGE: dict[str, Format] = {
    "id": "name",
    "type": words("message"),
    "role": "text",
    "model": "name",
    "content!": [_block("name")],
    "stop_reason?": "text",
    "stop_sequence?": "text",
    "usage": {**_COUNTS, "input_tokens": "count"},
}

FORMAT = AnswerFormat(
    names=FieldNames(
        texts=frozenset({"content", "content_block", "delta", "message", "role", "text", "thinking"}),
        calls=frozenset({"name"}),
        arguments=frozenset({"input", "partial_json"}),
        ids=frozenset({"id", "index"}),
        ends=frozenset({"stop_reason", "usage"}),
    ),
    whole={**_MESSAGE, "stop_reason": "text"},
    every={"type": "name"},
    events={
        "message_start": {"message!": _MESSAGE},
        "content_block_start": {"index!": "count", "content_block!": _block("text")},
        "content_block_delta": {
            "index!": "count",
            "delta": Tagged(
                "type",
                {
                    "text_delta": {"text!": "text"},
                    "input_json_delta": {"partial_json!": "text"},
                    "thinking_delta": {"thinking": "text"},
                    "signature_delta": {"signature": "name"},
                    "citations_delta": {"citation": "object"},
                },
            ),
        },
        "content_block_stop": {"index!": "count"},
        "message_delta": {"delta": {"stop_reason?": "text", "stop_sequence?": "text"}, "usage": _COUNTS},
    },
)

ORDER = StreamOrder(
    first="message_start",
    last="message_stop",
    once=("message_start", "message_delta", "message_stop"),
    pieces=(Piece("content_block_start", ("content_block_delta",), "content_block_stop"),),
)
