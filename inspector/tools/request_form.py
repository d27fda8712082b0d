"""Whether a request between a client and a tool server has the form that MCP gives it, and was allowed at all.

A request that breaks the form is the fault of the side that sent it, whatever the other side answers
(https://modelcontextprotocol.io/specification/2025-11-25/schema and `basic/lifecycle`, read 2026-11-23).
"""

from turntape.cassettes.excerpts import cut
from turntape.cassettes.regex import regex

from ..wire.json_value import as_object, as_text, compact, is_object
from ..wire.protocols.mcp.shape import CLIENT_REQUESTS, META, SERVER_REQUESTS
from .form import is_modern, wrong_envelope
from .message_forms import is_made_up, wrong_params
from .tool_messages import ToolMessage


def flaw_of_request(asked: ToolMessage, version: str | None) -> str | None:
    """How a request breaks MCP's form; None when it does not. The end of a sentence that begins with the request."""
    if (wrong := wrong_envelope(asked, version)) is not None:
        return wrong
    method = asked.method or ""
    if method.startswith("notifications/"):
        return "has an id, and a notification has none"
    fraction = isinstance(asked.id, float) and not asked.id.is_integer()
    if not isinstance(asked.id, str | int | float) or isinstance(asked.id, bool) or fraction:
        return f"has {compact(asked.id)} as its id, which must be a text or an integer"
    if is_made_up(method):
        return "has a method that MCP does not have"
    if asked.sender == "server" and method in SERVER_REQUESTS and method not in methods_of_servers(version):
        why = ": its servers send no requests" if is_modern(version) else ""
        return f"version {version} does not have{why}"
    params = asked.data.get("params", {})
    if not is_object(params):
        return f"has {cut(compact(params), 40)} as its `params`, which must be an object"
    if (lacking := _not_said(asked, version)) is not None:
        return f"does not say `{lacking}` in its `_meta`, which version {version} requires"
    if (uri := as_text(params.get("uri"))) is not None and _OPEN.search(uri) is not None:
        return f"has the template {cut(uri, 80)!r} as its `uri`, whose variables are not filled in"
    wrong = wrong_params(method, params, modern=asked.sender == "client" and is_modern(version))
    if wrong is None and version == _WITH_PAGES and params.get("mode") == "url" and "elicitationId" not in params:
        return f"has no `elicitationId`, which version {version} requires"
    return wrong


_OPEN = regex(r"\{[\w,*+#./;?&]+\}")
"""A variable in a template of addresses. An address itself has no braces."""
_WITH_FORMS = "2025-06-18"
"""From this version on, a server may ask for what a person fills in."""
_WITH_PAGES = "2025-11-25"
"""The only version in which a request to open a page has a separate id: later ones end with the call."""


def flaw_of_sent(message: ToolMessage) -> str | None:
    """How something that should be a request is none; None for everything else."""
    methods = CLIENT_REQUESTS if message.sender == "client" else SERVER_REQUESTS
    if message.method not in methods or message.is_request:
        return None
    how = "has null as its id" if "id" in message.data else "has no id"
    return f"{how}, so it is a notification, and nobody answers it"


def methods_of_servers(version: str | None) -> frozenset[str]:
    """What a server may ask a client. From 2026-07-28 on it is nothing: a question is the answer to a call."""
    if is_modern(version):
        return frozenset()
    return (
        SERVER_REQUESTS - {"elicitation/create"} if version is not None and version < _WITH_FORMS else SERVER_REQUESTS
    )


def _not_said(asked: ToolMessage, version: str | None) -> str | None:
    """The key that each request must have from 2026-07-28 on, where there is no handshake, and that this one lacks."""
    if asked.sender != "client" or not is_modern(version) or asked.method == "initialize":
        return None
    said = as_object(asked.params.get("_meta"))
    return next((key for key in _EVERY if key not in said), None)


_EVERY = (f"{META}protocolVersion", f"{META}clientCapabilities")
