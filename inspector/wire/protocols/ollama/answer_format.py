"""The format of an answer of Ollama, whole or as a piece of a stream.

Source: `ChatResponse` and `GenerateResponse` of ollama 0.6.3 and https://docs.ollama.com/api, read 2026-11-22.
"""

from ...answer_format import AnswerFormat, FieldNames, Format

_HEAD: dict[str, Format] = {
    "model": "name",
    "created_at": "name",
    "done": "flag",
    "done_reason?": "text",
    "total_duration?": "count",
    "load_duration?": "count",
    "prompt_eval_count?": "count",
    "prompt_eval_duration?": "count",
    "eval_count?": "count",
    "eval_duration?": "count",
}
_END: dict[str, Format] = dict.fromkeys(
    ("total_duration", "prompt_eval_duration", "eval_count", "eval_duration"), "count"
)
"""What only the last piece has; the count of a prompt is left out where it was in the cache."""
_CHAT: dict[str, Format] = {
    **_HEAD,
    "message!": {
        "role": "name",
        "content": "text",
        "thinking?": "text",
        "tool_calls?": [{"id?": "text", "function!": {"name!": "name", "arguments": "any", "index?": "count"}}],
    },
}
_TEXT: dict[str, Format] = {**_HEAD, "response": "text", "thinking?": "text", "context?": ["count"]}

_NAMES = FieldNames(
    texts=frozenset({"content", "message", "response", "role", "thinking"}),
    calls=frozenset({"function", "name", "tool_calls"}),
    arguments=frozenset({"arguments"}),
    ids=frozenset({"id", "index"}),
    ends=frozenset({"done_reason"}),
    unread=frozenset({"created_at"}),
)


def _format(piece: dict[str, Format]) -> AnswerFormat:
    return AnswerFormat(
        {**piece, **_END},
        events={"end": _END},
        every=piece,
        kind=lambda _, body: "end" if body.get("done") and body.get("done_reason") not in _UNSPOKEN else "",
        names=_NAMES,
        nulls=False,
    )


_UNSPOKEN = ("load", "unload")
"""Ends of an answer for which the model was not run."""

CHAT, GENERATE = _format(_CHAT), _format(_TEXT)
STEADY = {"the model": ("model",)}
