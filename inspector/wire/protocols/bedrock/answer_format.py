"""The format of a Converse answer and of the events of its stream.

Source: the service model of botocore 1.44.5, read 2026-11-22.
"""

from ...answer_format import AnswerFormat, FieldNames, Format, OneOf
from ...stream_order import Piece, StreamOrder

_CALL: Format = {"toolUseId": "name", "name!": "name"}
_REASONING: Format = OneOf({"reasoningText?": {"text": "text", "signature?": "text"}, "redactedContent?": "text"})
_COUNTS: dict[str, Format] = {
    "inputTokens": "count",
    "outputTokens": "count",
    "totalTokens": "count",
    "cacheReadInputTokens?": "count",
    "cacheWriteInputTokens?": "count",
    "cacheDetails?": [{"ttl": "text", "inputTokens": "count"}],
}
_BLOCK: Format = OneOf(
    {
        "text?": "text",
        "toolUse?": {**_CALL, "input": "any"},
        "reasoningContent?": _REASONING,
        "citationsContent?": {"content?": [{"text?": "text"}], "citations?": "list"},
    }
)
_AT: dict[str, Format] = {"contentBlockIndex!": "count"}


def _format(counts: Format, metrics: str, times: Format) -> AnswerFormat:
    """The format with the counts and the times of a dialect; `metrics` is the key of the times."""
    ends: dict[str, Format] = {"usage": counts, metrics: times}
    return AnswerFormat(
        whole={"output": {"message?": {"role": "text", "content": [_BLOCK]}}, "stopReason": "name", **ends},
        events={
            "messageStart": {"role": "text"},
            "contentBlockStart": {**_AT, "start": OneOf({"toolUse?": _CALL})},
            "contentBlockDelta": {
                **_AT,
                "delta!": OneOf(
                    {
                        "text?": "text",
                        "toolUse?": {"input": "text"},
                        "reasoningContent?": OneOf({"text?": "text", "signature?": "text", "redactedContent?": "text"}),
                    }
                ),
            },
            "contentBlockStop": _AT,
            "messageStop": {"stopReason": "name"},
            "metadata": ends,
        },
        kind=lambda name, _: name,
        nulls=False,
        names=FieldNames(
            texts=frozenset({"content", "delta", "message", "output", "role", "text"}),
            calls=frozenset({"name", "toolUse"}),
            arguments=frozenset({"input"}),
            ids=frozenset({"contentBlockIndex", "toolUseId"}),
            ends=frozenset({"stopReason", "usage"}),
            unread=frozenset({metrics.rstrip("?"), "usage"}),
        ),
    )


FORMAT = _format(_COUNTS, "metrics", {"latencyMs": "number"})
NOVA = _format({f"{name.removesuffix('?')}?": "count" for name in _COUNTS}, "metrics?", "object")
ORDER = StreamOrder(
    first="messageStart",
    last="metadata",
    once=("messageStart", "messageStop", "metadata"),
    pieces=(
        Piece(
            "contentBlockStart",
            ("contentBlockDelta",),
            "contentBlockStop",
            ("contentBlockIndex",),
            counted=False,
            implied=True,
        ),
    ),
    anywhere=frozenset({"amazon-bedrock-guardrailAction", "amazon-bedrock-invocationMetrics", "amazon-bedrock-trace"}),
    kind=lambda name, _: name,
)
