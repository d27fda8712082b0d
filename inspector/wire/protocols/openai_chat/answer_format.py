"""The format of a chat completion and of its chunks.

Source: `ChatCompletion` and `ChatCompletionChunk` of openai 3.54.0, and the same of mistralai 3.7.0, read 2026-11-22;
what compatible servers leave out or write otherwise is marked.
"""

from ...answer_format import AnswerFormat, FieldNames, Format, words
from ...json_value import Object, as_array, as_object

COUNTS: Format = {
    "prompt_tokens": "count",
    "completion_tokens": "count",
    "total_tokens": "count",
    "prompt_tokens_details?": {"cached_tokens?": "count", "audio_tokens?": "count"},
    "completion_tokens_details?": {
        "reasoning_tokens?": "count",
        "audio_tokens?": "count",
        "accepted_prediction_tokens?": "count",
        "rejected_prediction_tokens?": "count",
    },
}
_HEAD: dict[str, Format] = {
    "id": "name",
    "created": "count",
    "model": "name",
    "system_fingerprint?": "text",
    "service_tier?": "text",
    "usage?": COUNTS,
}
_THOUGHTS: dict[str, Format] = {"refusal?": "text", "reasoning?": "~text", "reasoning_content?": "~text"}
_PIECE: dict[str, Format] = {"id?": "text", "function?": {"name?": "text", "arguments?": "any"}}
_CHOICE: dict[str, Format] = {"index": "count", "finish_reason?": "text"}


NAMES = FieldNames(
    texts=frozenset({"choices", "content", "delta", "message", "reasoning", "reasoning_content", "role"}),
    calls=frozenset({"function", "name", "tool_calls"}),
    arguments=frozenset({"arguments"}),
    ids=frozenset({"id", "index"}),
    ends=frozenset({"finish_reason", "usage"}),
    unread=frozenset({"created", "object", "usage"}),
)


def _format(kind: str, content: str, index: str) -> AnswerFormat:
    """The format of a completion.

    `kind` and `index` are the keys of a call's type and of the number of its piece, `content` is the type of the text.
    """
    kinds: dict[str, Format] = {"type?": words("function", "custom")}
    pieces: dict[str, Format] = {**_THOUGHTS, "role?": "text", "tool_calls?": [{index: "count", **kinds, **_PIECE}]}
    call: Format = {
        "id": "text",
        kind: words("function", "custom"),
        "function?": {"name!": "name", "arguments": "any"},
        "index?": "count",
    }
    message: Format = {**_THOUGHTS, "role": "name", "content": f"{content}|null", "tool_calls?": [call]}
    return AnswerFormat(
        whole={
            **_HEAD,
            "object": words("chat.completion"),
            "choices": [{**_CHOICE, "finish_reason": "text", "message!": message}],
        },
        every={"choices": "list", "usage?": COUNTS},
        events={
            "chunk": {
                **_HEAD,
                "object": words("chat.completion.chunk", lenient=True),
                "choices": [{**_CHOICE, "delta!": {**pieces, "content?": content}}],
            }
        },
        kind=_kind,
        names=NAMES,
    )


def _kind(_: str, body: Object) -> str:
    """`chunk`, or nothing for a chunk without choices, or with the notes of Azure's asynchronous filter alone.

    Source: https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-streaming, read 2026-11-23.
    """
    choices = as_array(body.get("choices"))
    filtered = all("content_filter_offsets" in (one := as_object(choice)) and "delta" not in one for choice in choices)
    return "" if filtered else "chunk"


FORMAT = _format("type", "text", "index!")
MISTRAL = _format("type?", "text|list", "index")
WORDS = frozenset(
    {
        *("stop", "length", "tool_calls", "content_filter", "function_call"),
        *("eos", "eos_token", "stop_sequence", "model_length", "error"),
        *("insufficient_system_resource", "model_context_window_exceeded", "sensitive", "network_error"),
    }
)
"""OpenAI's finish words, then those that Together, Text Generation Inference, Mistral, OpenRouter, DeepSeek and Z.ai
document as their own, read 2026-11-23."""
MARK = b"[DONE]"
STEADY = {"the id": ("id",), "the model": ("model",)}
