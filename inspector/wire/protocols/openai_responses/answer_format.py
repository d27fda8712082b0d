"""The format of a response and of the events of its stream.

Source: `Response` and `ResponseStreamEvent` of openai 3.54.0, read 2026-11-22.
"""

from ...answer_format import AnswerFormat, FieldNames, Format, Tagged, words
from ...stream_order import Piece, StreamOrder

_STATUS = words(
    "in_progress", "completed", "incomplete", "searching", "calling", "failed", "interpreting", "generating"
)
_PART = Tagged(
    "type",
    {
        "output_text": {"text!": "text", "annotations": "list", "logprobs?": "list"},
        "refusal": {"refusal": "text"},
        "reasoning_text": {"text!": "text"},
        "summary_text": {"text!": "text"},
    },
)
_ITEM = Tagged(
    "type",
    {
        "message": {"id": "name", "role": words("assistant"), "status": _STATUS, "content": [_PART]},
        "function_call": {"call_id!": "name", "name!": "name", "arguments!": "any", "id": "name", "status?": _STATUS},
        "custom_tool_call": {"call_id!": "name", "name!": "name", "input": "text", "id?": "name"},
        "reasoning": {
            "id": "name",
            "summary": [_PART],
            "content?": [_PART],
            "encrypted_content?": "text",
            "status?": _STATUS,
        },
        "web_search_call": {"id": "name", "status": _STATUS},
        "file_search_call": {"id": "name", "status": _STATUS, "queries?": "list"},
        "code_interpreter_call": {"id": "name", "status": _STATUS, "container_id": "name"},
        "mcp_call": {"id": "name", "name!": "name", "arguments": "text", "server_label": "name"},
        "mcp_list_tools": {"id": "name", "server_label": "name", "tools": "list"},
        "image_generation_call": {"id": "name", "status": _STATUS},
    },
)
_RESPONSE: Format = {
    "id": "name",
    "object": words("response"),
    "created_at": "number",
    "model": "name",
    "status": "text",
    "output": [_ITEM],
    "incomplete_details?": "object",
    "parallel_tool_calls": "flag",
    "tools": [Tagged("type", {"function": {"name": "name", "parameters": "object|null"}}, otherwise="object")],
    "tool_choice": "name|object",
    "temperature?": "number",
    "top_p?": "number",
    "metadata?": "object",
    "previous_response_id?": "text",
    "reasoning?": "~object",
    "text?": {"format?": {"type": "name"}},
    "truncation?": "text",
    "service_tier?": "text",
    "max_output_tokens?": "count",
    "store?": "flag",
    "usage?": {
        "input_tokens": "count",
        "output_tokens": "count",
        "total_tokens": "count",
        "input_tokens_details?": {"cached_tokens": "count", "cache_write_tokens?": "count"},
        "output_tokens_details?": {"reasoning_tokens": "count"},
    },
}
_AT: dict[str, Format] = {"item_id": "name", "output_index": "count"}
_IN: dict[str, Format] = {**_AT, "content_index": "count"}
_SUMMARY: dict[str, Format] = {**_AT, "summary_index": "count"}
_BEGUN = words("in_progress", "queued", lenient=True)
_WHOLE = ("created", "in_progress", "completed", "incomplete", "failed", "queued")

FORMAT = AnswerFormat(
    names=FieldNames(
        texts=frozenset({"content", "delta", "item", "output", "part", "response", "role", "text"}),
        calls=frozenset({"name"}),
        arguments=frozenset({"arguments", "input"}),
        unread=frozenset({"created_at", "object", "parallel_tool_calls", "tool_choice", "tools"}),
        ids=frozenset({"call_id", "id", "item_id", "output_index"}),
        ends=frozenset({"usage"}),
    ),
    # A compaction keeps messages of the user.
    whole=Tagged(
        "object",
        {"response.compaction": {"id": "name", "created_at": "number", "output!": "list"}},
        otherwise={**_RESPONSE, "output!": [_ITEM]},
    ),
    every={"type": "name", "sequence_number": "count"},
    events={
        **{f"response.{kind}": {"response!": _RESPONSE} for kind in _WHOLE},
        **{f"response.{kind}": {"response!": {**_RESPONSE, "status": _BEGUN}} for kind in ("created", "in_progress")},
        "response.output_item.added": {"output_index": "count", "item!": _ITEM},
        "response.output_item.done": {"output_index": "count", "item!": _ITEM},
        "response.content_part.added": {**_IN, "part!": _PART},
        "response.content_part.done": {**_IN, "part!": _PART},
        "response.output_text.delta": {**_IN, "delta!": "text", "logprobs?": "list"},
        "response.output_text.done": {**_IN, "text": "text", "logprobs?": "list"},
        "response.output_text.annotation.added": {**_IN, "annotation_index": "count"},
        "response.refusal.delta": {**_IN, "delta!": "text"},
        "response.refusal.done": {**_IN, "refusal": "text"},
        "response.reasoning_text.delta": {**_IN, "delta!": "text"},
        "response.reasoning_text.done": {**_IN, "text": "text"},
        "response.reasoning_summary_part.added": {**_SUMMARY, "part!": _PART},
        "response.reasoning_summary_part.done": {**_SUMMARY, "part!": _PART},
        "response.reasoning_summary_text.delta": {**_SUMMARY, "delta!": "text"},
        "response.reasoning_summary_text.done": {**_SUMMARY, "text": "text"},
        "response.function_call_arguments.delta": {**_AT, "delta!": "text"},
        "response.function_call_arguments.done": {**_AT, "arguments": "text"},
        "response.custom_tool_call_input.delta": {**_AT, "delta!": "text"},
        "response.custom_tool_call_input.done": {**_AT, "input": "text"},
        "response.mcp_call_arguments.delta": {**_AT, "delta!": "text"},
        "response.mcp_call_arguments.done": {**_AT, "arguments": "text"},
        **{
            f"response.{tool}.{state}": _AT
            for tool in ("web_search_call", "file_search_call", "code_interpreter_call", "mcp_call", "mcp_list_tools")
            for state in ("in_progress", "searching", "interpreting", "completed", "failed")
        },
    },
)

_OUTPUT = ("output_index",)
ORDER = StreamOrder(
    first="response.created",
    last="response.completed",
    once=("response.created",),
    pieces=(
        Piece("response.output_item.added", (), "response.output_item.done", _OUTPUT),
        Piece(
            "response.content_part.added",
            ("response.output_text.*",),
            "response.content_part.done",
            (*_OUTPUT, "content_index"),
        ),
        Piece(
            "response.reasoning_summary_part.added",
            ("response.reasoning_summary_text.*",),
            "response.reasoning_summary_part.done",
            (*_OUTPUT, "summary_index"),
        ),
        *(
            Piece("", (f"response.{what}.delta",), f"response.{what}.done", keys, ended=True, implied=True)
            for what, keys in (
                ("output_text", (*_OUTPUT, "content_index")),
                ("refusal", (*_OUTPUT, "content_index")),
                ("reasoning_text", (*_OUTPUT, "content_index")),
                ("reasoning_summary_text", (*_OUTPUT, "summary_index")),
                ("function_call_arguments", _OUTPUT),
                ("custom_tool_call_input", _OUTPUT),
            )
        ),
    ),
    number="sequence_number",
)
STEADY = {"the id": ("response", "id"), "the model": ("response", "model")}
