"""The format of Cohere's answers and of the events of their streams.

Source: `V2ChatResponse`, `V2ChatStreamResponse` and `NonStreamedChatResponse` of cohere 7.3.1, read 2026-11-22.
"""

from ...answer_format import AnswerFormat, FieldNames, Format, Tagged, words
from ...json_value import Object, as_text
from ...stream_order import Piece, StreamOrder

_COUNTS: Format = {
    "billed_units": {"input_tokens": "count", "output_tokens": "count", "search_units?": "number"},
    "tokens": {"input_tokens": "count", "output_tokens": "count"},
    "cached_tokens?": "count",
}
_CALL: Format = {"id": "name", "type": words("function"), "function!": {"name!": "name", "arguments": "any"}}
_PIECE = Tagged("type", {"text": {"text!": "text"}, "thinking": {"thinking": "text"}})
_V1_CALL: Format = {"name": "name", "parameters": "object"}
_V1_ANSWER: Format = {
    "text?": "text",
    "generation_id?": "name",
    "response_id?": "name",
    "finish_reason?": "text",
    "tool_calls?": [_V1_CALL],
    "citations?": "list",
    "chat_history?": "list",
    "meta?": "object",
}
_AT: dict[str, Format] = {"index!": "count"}

_NAMES = FieldNames(
    texts=frozenset({"content", "delta", "message", "role", "text", "thinking", "tool_plan"}),
    calls=frozenset({"function", "name", "tool_calls"}),
    arguments=frozenset({"arguments", "parameters"}),
    ids=frozenset({"id", "index"}),
    ends=frozenset({"finish_reason", "usage"}),
)

V2 = AnswerFormat(
    names=_NAMES,
    whole={
        "id": "name",
        "finish_reason": "name",
        "message": {
            "role": "text",
            "content?": [_PIECE],
            "tool_calls?": [_CALL],
            "tool_plan?": "text",
            "citations?": [{"start": "count", "end": "count", "text": "text", "sources": "list"}],
        },
        "usage?": _COUNTS,
    },
    every={"type": "name"},
    events={
        "message-start": {"id": "name", "delta": {"message": {"role": "text"}}},
        "content-start": {**_AT, "delta": {"message": {"content": _PIECE}}},
        "content-delta": {**_AT, "delta": {"message": {"content": {"text?": "text", "thinking?": "text"}}}},
        "content-end": _AT,
        "tool-plan-delta": {"delta": {"message": {"tool_plan": "text"}}},
        "tool-call-start": {**_AT, "delta": {"message": {"tool_calls": _CALL}}},
        "tool-call-delta": {**_AT, "delta": {"message": {"tool_calls": {"function": {"arguments": "text"}}}}},
        "tool-call-end": _AT,
        "message-end": {"delta": {"finish_reason": "name", "usage?": _COUNTS}},
    },
)


def _kind(name: str, body: Object) -> str:
    return as_text(body.get("event_type")) or name


V1 = AnswerFormat(
    names=_NAMES,
    whole=_V1_ANSWER,
    every={"event_type": "name"},
    events={
        "stream-start": {"generation_id": "name"},
        "text-generation": {"text": "text"},
        "tool-calls-generation": {"tool_calls": [_V1_CALL]},
        "stream-end": {"finish_reason": "name", "response": _V1_ANSWER},
    },
    kind=_kind,
)

V2_ORDER = StreamOrder(
    first="message-start",
    last="message-end",
    once=("message-start", "message-end"),
    pieces=(
        Piece("content-start", ("content-delta",), "content-end"),
        Piece("tool-call-start", ("tool-call-delta",), "tool-call-end"),
    ),
)
V1_ORDER = StreamOrder(last="stream-end", kind=_kind)
"""`chat` begins with `stream-start`, and `generate`, which has the same events, with its first text."""
