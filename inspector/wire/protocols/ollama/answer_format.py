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
_CHAT: Format = {
    **_HEAD,
    "message!": {
        "role": "text",
        "content": "text",
        "thinking?": "text",
        "tool_calls?": [{"id?": "text", "function!": {"name!": "name", "arguments": "any", "index?": "count"}}],
    },
}
_TEXT: Format = {**_HEAD, "response": "text", "thinking?": "text", "context?": ["count"]}

_NAMES = FieldNames(
    texts=frozenset({"content", "message", "response", "role", "thinking"}),
    calls=frozenset({"function", "name", "tool_calls"}),
    arguments=frozenset({"arguments"}),
    ids=frozenset({"id", "index"}),
    ends=frozenset({"done_reason"}),
)

CHAT = AnswerFormat(_CHAT, every=_CHAT, names=_NAMES)
GENERATE = AnswerFormat(_TEXT, every=_TEXT, names=_NAMES)
STEADY = {"the model": ("model",)}
