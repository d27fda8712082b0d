"""Whether a request between a client and a tool server has the form that MCP gives it, and was allowed at all.

A request that breaks the form is the fault of the side that sent it, whatever the other side answers
(https://modelcontextprotocol.io/specification/2025-11-25/schema and `basic/lifecycle`, read 2026-11-23).
"""

from ..wire.json_value import Object, as_object, as_text, compact, is_array, is_object
from .form import wrong_envelope
from .tool_messages import ToolMessage

_CAPABILITY = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling"}
"""What a client declares when it can answer such a request."""


def flaw_of_request(asked: ToolMessage, version: str | None) -> str | None:
    """How a request breaks MCP's form; None when it does not. The end of a sentence that begins with the request."""
    if (wrong := wrong_envelope(asked, version)) is not None:
        return wrong
    method = asked.method or ""
    if method.startswith("notifications/"):
        return "has an id, and a notification has none"
    if not isinstance(asked.id, str | int | float) or isinstance(asked.id, bool):
        return f"has {compact(asked.id)} as its id, which must be a text or an integer"
    params = asked.data.get("params", {})
    if not is_object(params):
        return f"has {compact(params)[:40]} as its `params`, which must be an object"
    return _FORMS[method](params) if method in _FORMS else None


def _of_call(params: Object) -> str | None:
    if as_text(params.get("name")) is None:
        return "names no tool"
    if not is_object(params.get("arguments", {})):
        return f"has {compact(params['arguments'])[:40]} as its `arguments`, which must be an object"
    return None


def _of_list(params: Object) -> str | None:
    cursor = params.get("cursor", "")
    return None if isinstance(cursor, str) else f"has {compact(cursor)[:40]} as its `cursor`, which must be a text"


def _of_sampling(params: Object) -> str | None:
    said = params.get("messages")
    if not is_array(said):
        return "has no list of messages"
    if not isinstance(params.get("maxTokens"), int):
        return "has no `maxTokens`, which MCP requires"
    whole = all(is_object(content) or is_array(content) for content in (as_object(one).get("content") for one in said))
    return None if whole else "has a message whose content is not a block"


def _of_elicitation(params: Object) -> str | None:
    if as_text(params.get("message")) is None:
        return "has no message for the user"
    if params.get("mode") == "url":
        return None if as_text(params.get("url")) else "has no `url`, and its mode is 'url'"
    wanted = params.get("requestedSchema")
    if not is_object(wanted):
        return "has no `requestedSchema`"
    return None if wanted.get("type") == "object" else "has a `requestedSchema` that is not of an object"


_FORMS = {
    "tools/call": _of_call,
    "tools/list": _of_list,
    "sampling/createMessage": _of_sampling,
    "elicitation/create": _of_elicitation,
}


def declares(method: str | None, capabilities: Object | None) -> bool | None:
    """Whether a client has declared that it can answer such a request; None where that is not known or not needed."""
    name = _CAPABILITY.get(method or "")
    return None if name is None or capabilities is None else name in capabilities
