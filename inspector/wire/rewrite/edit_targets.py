"""Where an answer holds what an edit can aim at: a literal table by protocol.

A pattern is a JSON pointer into the answer as the API gives it unstreamed, in which `*` stands for any place of a list.
"""

from dataclasses import dataclass, field
from typing import Literal

type Aim = Literal["text", "tool", "arguments", "finish"]

AIMS: tuple[Aim, ...] = ("text", "tool", "arguments", "finish")


@dataclass(frozen=True, slots=True)
class Places:
    """One protocol."""

    text: str
    tool: str
    arguments: str
    finish: str
    arguments_as_text: bool = False
    """True when arguments are a string, in which anything can stand."""
    aside: str = ""
    """A field beside a text that says it is no answer but a thought."""
    words: dict[str, dict[str, object]] = field(default_factory=dict[str, dict[str, object]])
    """Finish words that are no single field: what stands at which pointers instead. Empty: the word stands itself."""

    def of(self, aim: Aim) -> str:
        return {"text": self.text, "tool": self.tool, "arguments": self.arguments, "finish": self.finish}[aim]


_CHAT_CALL = "/choices/*/message/tool_calls/*/function"
_CHAT = Places(
    "/choices/*/message/content",
    f"{_CHAT_CALL}/name",
    f"{_CHAT_CALL}/arguments",
    "/choices/*/finish_reason",
    arguments_as_text=True,
)
_GEMINI_PART = "/candidates/*/content/parts/*"
_CONVERSE_PART = "/output/message/content/*"

PLACES: dict[str, Places] = {
    "openai-chat": _CHAT,
    "mistral-chat": _CHAT,
    "anthropic-messages": Places("/content/*/text", "/content/*/name", "/content/*/input", "/stop_reason"),
    "openai-responses": Places(
        "/output/*/content/*/text",
        "/output/*/name",
        "/output/*/arguments",
        "/status",
        arguments_as_text=True,
        words={
            "completed": {"/status": "completed", "/incomplete_details": None},
            "failed": {"/status": "failed", "/incomplete_details": None},
            "max_output_tokens": {
                "/status": "incomplete",
                "/incomplete_details": {"reason": "max_output_tokens"},
            },
            "content_filter": {"/status": "incomplete", "/incomplete_details": {"reason": "content_filter"}},
        },
    ),
    "gemini-generate": Places(
        f"{_GEMINI_PART}/text",
        f"{_GEMINI_PART}/functionCall/name",
        f"{_GEMINI_PART}/functionCall/args",
        "/candidates/*/finishReason",
        aside="thought",
    ),
    "bedrock-converse": Places(
        f"{_CONVERSE_PART}/text", f"{_CONVERSE_PART}/toolUse/name", f"{_CONVERSE_PART}/toolUse/input", "/stopReason"
    ),
    "ollama-chat": Places(
        "/message/content",
        "/message/tool_calls/*/function/name",
        "/message/tool_calls/*/function/arguments",
        "/done_reason",
    ),
    "cohere-v2": Places(
        "/message/content/*/text",
        "/message/tool_calls/*/function/name",
        "/message/tool_calls/*/function/arguments",
        "/finish_reason",
        arguments_as_text=True,
    ),
}
"""By protocol; others are edited by JSON pointer, or whole."""
