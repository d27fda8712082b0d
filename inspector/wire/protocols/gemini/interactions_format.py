"""The format of an interaction and of the events of its stream.

Source: `Interaction` and `InteractionSSEEvent` of google-genai 3.6.1, read 2026-11-29.
"""

from ...answer_format import AnswerFormat, FieldNames, Format, Tagged, words
from ...json_value import Object, as_text
from ...stream_order import Piece, StreamOrder

_CONTENT = Tagged(
    "type",
    {
        "text": {"text!": "text"},
        "function_call": {"id": "name", "name!": "name", "arguments": "object"},
        "thought": {"signature?": "text", "summary?": "any"},
        "model_output": {"content?": "list"},
    },
)
_INTERACTION: Format = {
    "id": "name",
    "status": "name",
    "model?": "name",
    "role?": "text",
    "object?": words("interaction"),
    "created?": "text",
    "updated?": "text",
    "steps?": [_CONTENT],
    "outputs?": [_CONTENT],
    "usage?": {
        "total_input_tokens?": "count",
        "total_output_tokens?": "count",
        "total_tokens?": "count",
        "total_thought_tokens?": "count",
        "total_cached_tokens?": "count",
        "total_tool_use_tokens?": "count",
    },
}
_AT: dict[str, Format] = {"index!": "count"}
_DELTA = Tagged(
    "type",
    {
        "text": {"text!": "text"},
        "arguments_delta": {"arguments!": "text"},
        "thought_signature": {"signature": "text"},
        "thought_summary": {"content?": "object"},
    },
)


def _kind(name: str, body: Object) -> str:
    return as_text(body.get("event_type")) or name


FORMAT = AnswerFormat(
    whole=_INTERACTION,
    every={"event_type": "name"},
    events={
        **{
            f"interaction.{kind}": {"interaction": _INTERACTION}
            for kind in ("created", "start", "completed", "complete")
        },
        **{f"{piece}.start": _AT for piece in ("step", "content")},
        **{f"{piece}.delta": {**_AT, "delta": _DELTA} for piece in ("step", "content")},
        **{f"{piece}.stop": _AT for piece in ("step", "content")},
    },
    kind=_kind,
    names=FieldNames(
        texts=frozenset({"content", "delta", "outputs", "role", "steps", "text"}),
        calls=frozenset({"name"}),
        arguments=frozenset({"arguments"}),
        ids=frozenset({"id", "index"}),
        ends=frozenset({"usage"}),
    ),
)

ORDER = StreamOrder(
    pieces=(
        Piece("step.start", ("step.delta",), "step.stop"),
        Piece("content.start", ("content.delta",), "content.stop"),
    ),
    kind=_kind,
)
STEADY = {"the id": ("interaction", "id"), "the model": ("interaction", "model")}
