"""Results of tools in the shape of Anthropic Messages: what the client gave, and what the API's own tools gave."""

from dataclasses import replace

from ...json_value import Object, as_array, as_object, as_text, is_array, is_object
from ...values import Part, ToolResult
from ..shared.parts import text_of

_TEXTS: dict[str, tuple[str, ...]] = {
    "advisor_result": ("text",),
    "bash_code_execution_result": ("stdout", "stderr", "content"),
    "browser_state": ("tabs", "state_changes"),
    "code_execution_result": ("stdout", "stderr", "content"),
    "document": ("title", "source"),
    "download_completed": ("url", "path"),
    "download_failed": ("url", "error"),
    "download_started": ("url",),
    "encrypted_code_execution_result": ("stderr", "content"),
    "search_result": ("title", "source", "content"),
    "tab_opened": ("tab_id",),
    "text_editor_code_execution_str_replace_result": ("lines",),
    "text_editor_code_execution_view_result": ("content",),
    "tool_reference": ("tool_name",),
    "tool_search_tool_search_result": ("tool_references",),
    "web_fetch_result": ("url", "content"),
    "web_search_result": ("title", "url"),
}
"""The fields of a block that hold its text, in the order in which they are read."""
_SOURCES = {"text": "data", "content": "content", "url": "url"}
"""Where the source of a document has its text or its address, by the type of the source."""


def client_result(block: Object, pointer: str) -> Part:
    """A `tool_result`."""
    return _part(block, pointer, block.get("is_error") is True, server=False)


def server_result(block: Object, pointer: str) -> Part:
    """A `…_tool_result` of a tool that the API ran; failed when it says so, or when its program did."""
    content = as_object(block.get("content"))
    code = content.get("return_code")
    failed = block.get("is_error") is True or "error_code" in content
    part = _part(block, pointer, failed or code not in (None, 0), server=True)
    program = not failed and code not in (None, 0)
    return replace(part, result=replace(part.result, program_failed=program)) if part.result else part


def _part(block: Object, pointer: str, failed: bool, *, server: bool) -> Part:
    text = result_text(block.get("content"))
    result = ToolResult(as_text(block.get("tool_use_id")), None, failed, text, server)
    return Part("result", pointer, text=text, result=result, raw=block)


def result_text(content: object) -> str:
    """The text of a result's content. Content without a text is named in brackets."""
    if is_array(content):
        return "\n".join(filter(None, (result_text(item) for item in as_array(content))))
    if not is_object(content):
        return text_of(content)
    fields = as_object(content)
    kind = as_text(fields.get("type")) or ""
    if code := as_text(fields.get("error_code")):
        return ": ".join(filter(None, (code, as_text(fields.get("error_message")))))
    if kind not in _TEXTS:
        return text_of(content)
    lines = (_text(fields.get(key)) for key in _TEXTS[kind])
    return "\n".join(filter(None, lines)) or f"[{kind}]"


def _text(value: object) -> str:
    """The text of one field: a text, lines, blocks, an open tab, or the source of a document."""
    if is_array(value):
        return "\n".join(filter(None, (_text(item) for item in as_array(value))))
    fields = as_object(value)
    if "tab_id" in fields and "type" not in fields:
        return " ".join(filter(None, (as_text(fields.get("title")), as_text(fields.get("url")))))
    if key := _SOURCES.get(as_text(fields.get("type")) or ""):
        return result_text(fields.get(key)) or text_of(value)
    return "" if fields.get("type") in ("base64", "file") else result_text(value)
