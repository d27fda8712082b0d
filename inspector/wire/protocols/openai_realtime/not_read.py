"""What OpenAI's SDK knows of Realtime and nothing here reads, with what happens to it."""

_PROGRESS = "ignored: it only says how far the API is"
_SOUND = "kept raw: it is about the buffers of sound"
_ITEMS = "kept raw: the conversation is read from the events that bring its items"
_WHOLE_ITEM = "ignored: the whole item comes in `response.output_item.done`"

NOT_READ: dict[str, dict[str, str]] = {
    "session event": {
        "conversation.created": _PROGRESS,
        "conversation.item.create": _ITEMS,
        "conversation.item.delete": _ITEMS,
        "conversation.item.input_audio_transcription.delta": "ignored: the whole text comes when it is completed",
        "conversation.item.input_audio_transcription.segment": "ignored: the whole text comes when it is completed",
        "conversation.item.retrieve": _ITEMS,
        "conversation.item.retrieved": _ITEMS,
        "conversation.item.truncate": _ITEMS,
        "conversation.item.truncated": "kept raw: it says how much of the spoken answer was heard",
        "input_audio_buffer.append": _SOUND,
        "input_audio_buffer.clear": _SOUND,
        "input_audio_buffer.cleared": _SOUND,
        "input_audio_buffer.commit": _SOUND,
        "input_audio_buffer.dtmf_event_received": _SOUND,
        "input_audio_buffer.speech_started": _SOUND,
        "input_audio_buffer.timeout_triggered": _SOUND,
        "mcp_list_tools.completed": _PROGRESS,
        "mcp_list_tools.failed": "kept raw",
        "mcp_list_tools.in_progress": _PROGRESS,
        "output_audio_buffer.clear": _SOUND,
        "output_audio_buffer.cleared": _SOUND,
        "output_audio_buffer.started": _SOUND,
        "output_audio_buffer.stopped": _SOUND,
        "rate_limits.updated": "kept raw",
        "response.cancel": "read from the end of the response, which says that it was cancelled",
    },
    "response event": {
        "response.content_part.added": "ignored: the part's text comes in separate events",
        "response.content_part.done": "ignored: the part's text comes in separate events",
        "response.mcp_call.completed": _PROGRESS,
        "response.mcp_call.failed": _WHOLE_ITEM,
        "response.mcp_call.in_progress": _PROGRESS,
    },
}
"""By kind of member. A test compares the SDK's unions with this table and with what is read."""
