"""The format of an answer of `generateContent`, whole or as a chunk of a stream.

Source: `GenerateContentResponse` of google-genai 3.4.0 (which makes every field optional) and
https://ai.google.dev/api/generate-content, read 2026-11-22.
"""

from ...answer_format import AnswerFormat, FieldNames, Format

_PART: Format = {
    "text?": "text",
    "thought?": "flag",
    "thoughtSignature?": "text",
    "functionCall?": {"name!": "name", "args?": "object|text", "id?": "text"},
    "inlineData?": {"mimeType": "name", "data": "text"},
    "fileData?": {"fileUri": "name"},
    "executableCode?": {"language?": "text", "code": "text"},
    "codeExecutionResult?": {"outcome": "text", "output?": "text"},
}
_CANDIDATE: dict[str, Format] = {
    "index?": "count",
    "content?": {"role": "name", "parts?": [_PART]},
    "finishReason?": "text|count",
    "finishMessage?": "text",
    "safetyRatings?": "list",
    "groundingMetadata?": "object",
    "avgLogprobs?": "number",
    "tokenCount?": "count",
}
_COUNTS: dict[str, Format] = {
    "promptTokenCount?": "count",
    "candidatesTokenCount?": "count",
    "totalTokenCount?": "count",
    "thoughtsTokenCount?": "count",
    "cachedContentTokenCount?": "count",
    "toolUsePromptTokenCount?": "count",
    "promptTokensDetails?": [{"modality?": "text|count", "tokenCount?": "count"}],
    "candidatesTokensDetails?": [{"modality?": "text|count", "tokenCount?": "count"}],
}
_CHUNK: dict[str, Format] = {
    "candidates?": [_CANDIDATE],
    "promptFeedback?": {"blockReason?": "text", "safetyRatings?": "list"},
    "usageMetadata?": _COUNTS,
    "modelVersion?": "name",
    "responseId?": "name",
    "createTime?": "text",
}
_WHOLE: Format = {
    **_CHUNK,
    "usageMetadata?": {**_COUNTS, "promptTokenCount": "count", "totalTokenCount": "count"},
    "modelVersion": "name",
}

_NAMES = FieldNames(
    texts=frozenset({"candidates", "content", "parts", "role", "text"}),
    calls=frozenset({"functionCall", "name"}),
    arguments=frozenset({"args"}),
    ids=frozenset({"id", "index"}),
    ends=frozenset({"finishReason", "functionCall", "usageMetadata"}),
    unread=frozenset({"modelVersion"}),
)

FORMAT = AnswerFormat(_WHOLE, every=_CHUNK, names=_NAMES, nulls=False, within="response")
STEADY = {
    "the id": ("responseId",),
    "the model": ("modelVersion",),
    "the id of the response": ("response", "responseId"),
    "the model of the response": ("response", "modelVersion"),
}
