"""Where an answer holds what an edit can aim at: a literal table by protocol.

A pattern is a JSON pointer into one document of the answer (the body, or the data of one event) in which `*` stands
for any place of a list. `parts` say which text or call a place belongs to: pointers whose stars stand for the same
places, or `*1`, `*2` for the places themselves.
"""

from dataclasses import dataclass
from typing import Literal

type Aim = Literal["text", "tool", "arguments", "finish"]
type Holds = Literal["delta", "whole", "object"]
"""A piece of a string that is spread over events, a whole string, or a JSON value that is no string."""

AIMS: tuple[Aim, ...] = ("text", "tool", "arguments", "finish")


@dataclass(frozen=True, slots=True)
class Place:
    aim: Aim
    pattern: str
    holds: Holds = "whole"
    parts: tuple[str, ...] = ()
    when: tuple[str, object] | None = None
    """A pointer into the document and what must stand there (None: nothing)."""


_CHAT_CALL = "/choices/*/delta/tool_calls/*"
_CHAT = (
    Place("text", "/choices/*/delta/content", "delta", ("/choices/*/index",)),
    Place("tool", f"{_CHAT_CALL}/function/name", "whole", ("/choices/*/index", f"{_CHAT_CALL}/index")),
    Place("arguments", f"{_CHAT_CALL}/function/arguments", "delta", ("/choices/*/index", f"{_CHAT_CALL}/index")),
    Place("text", "/choices/*/message/content"),
    Place("tool", "/choices/*/message/tool_calls/*/function/name"),
    Place("arguments", "/choices/*/message/tool_calls/*/function/arguments"),
    Place("finish", "/choices/*/finish_reason"),
)
_ANTHROPIC = (
    Place("text", "/delta/text", "delta", ("/index",)),
    Place("tool", "/content_block/name", "whole", ("/index",)),
    Place("arguments", "/delta/partial_json", "delta", ("/index",)),
    Place("finish", "/delta/stop_reason"),
    Place("text", "/content/*/text", "whole", ("*1",)),
    Place("tool", "/content/*/name", "whole", ("*1",)),
    Place("arguments", "/content/*/input", "object", ("*1",)),
    Place("finish", "/stop_reason"),
)
_TEXT_OF = ("/output_index", "/content_index")
_CALL_OF = ("/output_index",)
_RESPONSES = (
    Place("text", "/delta", "delta", _TEXT_OF, ("/type", "response.output_text.delta")),
    Place("text", "/text", "whole", _TEXT_OF, ("/type", "response.output_text.done")),
    Place("text", "/part/text", "whole", _TEXT_OF, ("/type", "response.content_part.done")),
    Place("text", "/item/content/*/text", "whole", ("/output_index", "*1"), ("/item/type", "message")),
    Place("text", "/response/output/*/content/*/text", "whole", ("*1", "*2"), ("/response/output/*/type", "message")),
    Place("text", "/output/*/content/*/text", "whole", ("*1", "*2"), ("/output/*/type", "message")),
    Place("tool", "/item/name", "whole", _CALL_OF, ("/item/type", "function_call")),
    Place("tool", "/response/output/*/name", "whole", ("*1",), ("/response/output/*/type", "function_call")),
    Place("tool", "/output/*/name", "whole", ("*1",), ("/output/*/type", "function_call")),
    Place("arguments", "/delta", "delta", _CALL_OF, ("/type", "response.function_call_arguments.delta")),
    Place("arguments", "/arguments", "whole", _CALL_OF, ("/type", "response.function_call_arguments.done")),
    Place("arguments", "/item/arguments", "whole", _CALL_OF, ("/type", "response.output_item.done")),
    Place("arguments", "/response/output/*/arguments", "whole", ("*1",)),
    Place("arguments", "/output/*/arguments", "whole", ("*1",)),
)
_GEMINI_PART = "/candidates/*/content/parts/*"
_GEMINI = (
    Place("text", f"{_GEMINI_PART}/text", "delta", ("/candidates/*/index",), (f"{_GEMINI_PART}/thought", None)),
    Place("tool", f"{_GEMINI_PART}/functionCall/name", "whole", ("document", "*1", "*2")),
    Place("arguments", f"{_GEMINI_PART}/functionCall/args", "object", ("document", "*1", "*2")),
    Place("finish", "/candidates/*/finishReason"),
)
_CONVERSE = (
    Place("text", "/delta/text", "delta", ("/contentBlockIndex",)),
    Place("tool", "/start/toolUse/name", "whole", ("/contentBlockIndex",)),
    Place("arguments", "/delta/toolUse/input", "delta", ("/contentBlockIndex",)),
    Place("text", "/output/message/content/*/text"),
    Place("tool", "/output/message/content/*/toolUse/name"),
    Place("arguments", "/output/message/content/*/toolUse/input", "object"),
    Place("finish", "/stopReason"),
)
_OLLAMA = (
    Place("text", "/message/content", "delta", ()),
    Place("tool", "/message/tool_calls/*/function/name", "whole", ("document", "*1")),
    Place("arguments", "/message/tool_calls/*/function/arguments", "object", ("document", "*1")),
    Place("finish", "/done_reason"),
)
_COHERE = (
    Place("text", "/delta/message/content/text", "delta", ("/index",)),
    Place("tool", "/delta/message/tool_calls/function/name", "whole", ("/index",)),
    Place("arguments", "/delta/message/tool_calls/function/arguments", "delta", ("/index",)),
    Place("finish", "/delta/finish_reason"),
    Place("text", "/message/content/*/text"),
    Place("tool", "/message/tool_calls/*/function/name"),
    Place("arguments", "/message/tool_calls/*/function/arguments"),
    Place("finish", "/finish_reason"),
)

PLACES: dict[str, tuple[Place, ...]] = {
    "openai-chat": _CHAT,
    "mistral-chat": _CHAT,
    "anthropic-messages": _ANTHROPIC,
    "openai-responses": _RESPONSES,
    "gemini-generate": _GEMINI,
    "bedrock-converse": _CONVERSE,
    "ollama-chat": _OLLAMA,
    "cohere-v2": _COHERE,
}
"""By protocol; others are edited by JSON pointer, or whole."""
