"""Whether a request between a client and a tool server has the form that MCP gives it, and was allowed at all.

A request that breaks the form is the fault of the side that sent it, whatever the other side answers
(https://modelcontextprotocol.io/specification/2025-11-25/schema and `basic/lifecycle`, read 2026-11-23).
"""

from ..wire.json_value import compact, is_object
from .form import wrong_envelope
from .message_forms import is_made_up, wrong_params
from .tool_messages import ToolMessage


def flaw_of_request(asked: ToolMessage, version: str | None) -> str | None:
    """How a request breaks MCP's form; None when it does not. The end of a sentence that begins with the request."""
    if (wrong := wrong_envelope(asked, version)) is not None:
        return wrong
    method = asked.method or ""
    if method.startswith("notifications/"):
        return "has an id, and a notification has none"
    if not isinstance(asked.id, str | int | float) or isinstance(asked.id, bool):
        return f"has {compact(asked.id)} as its id, which must be a text or an integer"
    if is_made_up(method):
        return "has a method that MCP does not have"
    params = asked.data.get("params", {})
    if not is_object(params):
        return f"has {compact(params)[:40]} as its `params`, which must be an object"
    return wrong_params(method, params)
