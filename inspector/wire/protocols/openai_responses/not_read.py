"""What OpenAI's SDK knows of Responses and nothing here reads, with what happens to it."""

_PROGRESS = "ignored: it only says how far the API is"
_WHOLE_ITEM = "ignored: the whole item comes in `response.output_item.done`"
_SESSION = "kept raw: the WebSocket reader makes turns of `response.create` alone"

NOT_READ: dict[str, dict[str, str]] = {
    "stream event": {
        "response.code_interpreter_call.completed": _PROGRESS,
        "response.code_interpreter_call.in_progress": _PROGRESS,
        "response.code_interpreter_call.interpreting": _PROGRESS,
        "response.compaction.compacting": _PROGRESS,
        "response.content_part.added": "ignored: the part's text comes in separate events",
        "response.content_part.done": "ignored: the part's text comes in separate events",
        "response.file_search_call.completed": _PROGRESS,
        "response.file_search_call.in_progress": _PROGRESS,
        "response.file_search_call.searching": _PROGRESS,
        "response.image_generation_call.completed": _PROGRESS,
        "response.image_generation_call.generating": _PROGRESS,
        "response.image_generation_call.in_progress": _PROGRESS,
        "response.image_generation_call.partial_image": _WHOLE_ITEM,
        "response.inject": _SESSION,
        "response.inject.created": _SESSION,
        "response.inject.failed": _SESSION,
        "response.mcp_call.completed": _PROGRESS,
        "response.mcp_call.failed": _WHOLE_ITEM,
        "response.mcp_call.in_progress": _PROGRESS,
        "response.mcp_list_tools.completed": _PROGRESS,
        "response.mcp_list_tools.failed": _WHOLE_ITEM,
        "response.mcp_list_tools.in_progress": _PROGRESS,
        "response.output_text.annotation.added": _WHOLE_ITEM,
        "response.reasoning_summary_part.added": "ignored: the part's text comes in separate events",
        "response.reasoning_summary_part.done": "ignored: the part's text comes in separate events",
        "response.steer": _SESSION,
        "response.steer.accepted": _SESSION,
        "response.steer.failed": _SESSION,
        "response.steer.pending": _SESSION,
        "response.web_search_call.completed": _PROGRESS,
        "response.web_search_call.in_progress": _PROGRESS,
        "response.web_search_call.searching": _PROGRESS,
    },
}
"""By kind of member. A test compares the SDK's unions with this table and with what is read."""
