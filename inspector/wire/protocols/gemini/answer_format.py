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
_ANSWER: Format = {
    "candidates?": [
        {
            "index?": "count",
            "content?": {"role?": "text", "parts?": [_PART]},
            "finishReason?": "text|count",
            "finishMessage?": "text",
            "safetyRatings?": "list",
            "groundingMetadata?": "object",
            "avgLogprobs?": "number",
            "tokenCount?": "count",
        }
    ],
    "promptFeedback?": {"blockReason?": "text", "safetyRatings?": "list"},
    "usageMetadata?": {
        "promptTokenCount?": "count",
        "candidatesTokenCount?": "count",
        "totalTokenCount?": "count",
        "thoughtsTokenCount?": "count",
        "cachedContentTokenCount?": "count",
        "toolUsePromptTokenCount?": "count",
        "promptTokensDetails?": [{"modality?": "text|count", "tokenCount?": "count"}],
        "candidatesTokensDetails?": [{"modality?": "text|count", "tokenCount?": "count"}],
    },
    "modelVersion?": "name",
    "responseId?": "name",
    "createTime?": "text",
}

_NAMES = FieldNames(
    texts=frozenset({"candidates", "content", "parts", "role", "text"}),
    calls=frozenset({"functionCall", "name"}),
    arguments=frozenset({"args"}),
    ids=frozenset({"id", "index"}),
    ends=frozenset({"finishReason", "functionCall", "usageMetadata"}),
)

FORMAT = AnswerFormat(_ANSWER, every=_ANSWER, names=_NAMES, within="response")
STEADY = {
    "the id": ("responseId",),
    "the model": ("modelVersion",),
    "the id of the response": ("response", "responseId"),
    "the model of the response": ("response", "modelVersion"),
}
