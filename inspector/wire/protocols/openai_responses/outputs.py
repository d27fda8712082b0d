"""Results in OpenAI Responses: output items, and calls of the API's own tools that hold their result."""

from ...json_value import Object, as_object, as_text, objects_in
from ...values import Part, ToolCall, ToolResult
from ..shared.parts import text_of
from .session_items import tool_names

_SERVER_OUTPUTS = frozenset({"program_output", "multi_agent_call_output"})
"""Outputs of the API, which the client only sends back."""
_INSIDE = {"mcp_call": "output", "code_interpreter_call": "outputs", "file_search_call": "results"}
"""Calls that hold their result, and the field that has it."""
_FAILED = frozenset({"failed", "incomplete"})


def read_output(item: Object, kind: str, pointer: str, *, emitted: bool) -> Part:
    """An output item, or the answer to a request for approval."""
    if kind == "mcp_approval_response":
        text = "approved" if item.get("approve") is True else "not approved"
        text = f"{text}: {reason}" if (reason := as_text(item.get("reason"))) else text
        return _part(ToolResult(as_text(item.get("approval_request_id")), None, False, text), pointer, item)
    output = item.get("output", item.get("result"))
    chunks = objects_in(output)
    if kind == "tool_search_output":
        text = ", ".join(tool_names(item))
    elif kind == "shell_call_output" and chunks:
        text = "\n".join(filter(None, (text_of(c.get(key)) for c in chunks for key in ("stdout", "stderr"))))
    else:
        text = text_of(output)
    failed = as_text(item.get("status")) in _FAILED or any(map(_timed_out_or_failed, chunks))
    server = emitted or kind in _SERVER_OUTPUTS or item.get("execution") == "server"
    name = as_text(item.get("name")) or as_text(item.get("action"))
    return _part(ToolResult(as_text(item.get("call_id")), name, failed, text, server), pointer, item)


def _timed_out_or_failed(chunk: Object) -> bool:
    outcome = as_object(chunk.get("outcome"))
    return outcome.get("type") == "timeout" or outcome.get("exit_code") not in (None, 0)


def inner_result(item: Object, kind: str, pointer: str, call: ToolCall) -> list[Part]:
    """The result of a call of the API's own tool, or its failure, if the item itself has one."""
    if not call.server:
        return []
    key = _INSIDE.get(kind)
    value, error = item.get(key) if key else None, item.get("error")
    failed = error is not None or item.get("status") == "failed"
    if value is None and not failed:
        return []
    text = _error_text(error) if error is not None else _text(value)
    result = ToolResult(call.id, call.name, failed, text, True)
    return [_part(result, f"{pointer}/{key}" if key else pointer, item)]


def failed_listing(item: Object, kind: str, pointer: str) -> list[Part]:
    """The error of an MCP server that could not list its tools, as the result that the API got."""
    error = item.get("error")
    if kind != "mcp_list_tools" or not error:
        return []
    name = f"{as_text(item.get('server_label')) or 'mcp'} (list of tools)"
    return [_part(ToolResult(None, name, True, _error_text(error), True), f"{pointer}/error", item)]


def _text(value: object) -> str:
    """The text of a result: a text as it is, the texts of search results, the logs of a program."""
    if not objects_in(value):
        return text_of(value)
    lines = (as_text(one.get("logs")) or as_text(one.get("text")) or text_of(one) for one in objects_in(value))
    return "\n".join(filter(None, lines))


def _error_text(error: object) -> str:
    fields = as_object(error)
    return as_text(fields.get("message")) or text_of(fields.get("content")) or text_of(error)


def _part(result: ToolResult, pointer: str, item: Object) -> Part:
    return Part("result", pointer, text=result.text, result=result, raw=item)
