"""Failed calls whose fault lies at another hop than the one that fails, and the rules of a session."""

from typing import Literal

from tests.clients.script import is_same_tool

from ...recorded.bodies import Json
from ...recorded.catalogue.edits import change_call
from ..wire import Exchange, ToolLoop
from .edits import beside, chosen, declare, error, give_also, mark, name_of, plain, returned, show, unanswer
from .table import Touched, fault

_INVALID = -32602


def _refused(loop: ToolLoop, one: Exchange, said: str) -> Touched:
    show(loop, one, error(one, _INVALID, said))
    mark(loop, one, failed=True)
    return [one.turn]


@fault("the client renames the keys of arguments, and the server refuses them", "client",
       "client-tool-arguments-changed", given="tool-server-error", also="call-args-not-taken")  # fmt: skip
def renamed(loop: ToolLoop) -> Touched:
    one = chosen(loop, "renamed")
    if one is None or not declare(loop, one, "depot_name", {"type": "string"}):
        return None
    if not give_also(loop, one, depot_name="Ghent"):
        return None
    one.arguments["depotName"] = one.arguments.pop("depot_name")
    return _refused(loop, one, "depot_name: unexpected keyword argument 'depotName'")


@fault("another type is offered than the server states, and it refuses the call", "client",
       "client-tool-definition-differs", given="tool-server-error")  # fmt: skip
def other_type(loop: ToolLoop) -> Touched:
    one = chosen(loop, "other type")
    if one is None or not declare(loop, one, "limit", {"type": "string"}):
        return None
    if not give_also(loop, one, limit="7"):
        return None
    for stated in loop.stated(name_of(one)):
        stated["inputSchema"]["properties"]["limit"] = {"type": "integer"}
    return _refused(loop, one, "limit: Input should be a valid integer")


@fault("the model writes a key that the schema does not have, and leaves out the one that it requires", "model",
       "model-args-break-schema", given="tool-server-error",
       also="client-tool-definition-differs call-args-not-taken")  # fmt: skip
def other_key(loop: ToolLoop) -> Touched:
    one = chosen(loop, "other key")
    if one is None or not declare(loop, one, "depotId", {"type": "string"}):
        return None
    name = name_of(one)
    every = [offer for turn in loop.loop.turns for offer in loop.shape.tools(turn.request)]
    offers = [offer.schema for offer in every if is_same_tool(offer.name.value, name)]
    for schema in (*(stated["inputSchema"] for stated in loop.stated(name)), *offers):
        if isinstance(schema, dict):
            schema["required"] = [*(schema.get("required") or []), "depotId"]
    others = [other for other in loop.calls if other is not one and name_of(other) == name]
    if not offers or not all(give_also(loop, other, depotId="D9") for other in others):
        return None
    if not give_also(loop, one, depot_id="D7"):
        return None
    return _refused(loop, one, "'depotId' is a required property")


@fault("the server refuses a call that follows its own schema", "tool", "tool-server-error", also="call-args-not-taken")
def own_schema(loop: ToolLoop) -> Touched:
    one = chosen(loop, "own schema")
    if one is None or not declare(loop, one, "late", {"type": "string"}):
        return None
    if not give_also(loop, one, late="true"):
        return None
    return _refused(loop, one, "late: Expected boolean, received string")


def _asked(loop: ToolLoop, salt: str, method: str, got: Json | None, ended: Literal["", "server"] = "") -> Touched:
    """The server asks during a call, and the call fails for what the client answers."""
    one = chosen(loop, salt)
    if one is None:
        return None
    ask: Json = {"jsonrpc": "2.0", "id": 3, "method": method}
    if ended:
        unanswer(loop, one, ended, lasts=30.2)
        said = "MCP error -32000: Connection closed"
    else:
        said = "Error: the list of roots has a wrong form"
        one.give({"content": [{"type": "text", "text": said}], "isError": True})
        one.lasts = 1.0
    show(loop, one, said)
    mark(loop, one, failed=True)
    lasts = 30.0 if ended else 0.02
    made = loop.add(one, beside(one, ask, got, from_server=True, ended=ended, gap=0.01, lasts=lasts))
    return [one.turn, made]


@fault("the client does not answer a ping, and the server closes", "client", "tool-server-died",
       given="client-tool-input-unanswered")  # fmt: skip
def ping(loop: ToolLoop) -> Touched:
    return _asked(loop, "ping", "ping", None, "server")


@fault("the list of roots has a wrong form, and the tool fails for it", "client", "client-tool-protocol-broken",
       also="tool-reported-error")  # fmt: skip
def roots(loop: ToolLoop) -> Touched:
    return _asked(loop, "roots", "roots/list", {"jsonrpc": "2.0", "id": 3, "result": {"roots": "file:///desk"}})


@fault("the token of progress is an object, and the server refuses the call", "client", "client-tool-protocol-broken",
       also="tool-server-error")  # fmt: skip
def token(loop: ToolLoop) -> Touched:
    one = chosen(loop, "token")
    if one is None or not isinstance(one.sent, dict):
        return None
    one.sent["params"]["_meta"] = {"progressToken": {"id": 1}}
    return [*(_refused(loop, one, "Invalid params") or []), one]


@fault("a server does not know what it has declared", "tool", "tool-protocol-broken")
def not_known(loop: ToolLoop) -> Touched:
    start = next((one for one in loop.exchanges if one.got and "capabilities" in one.got.get("result", {})), None)
    if start is None or start.got is None:
        return None
    if not isinstance(start.sent, dict) or start.sent.get("method") != "initialize":
        return None
    start.got["result"]["capabilities"]["logging"] = {}
    request: Json = {"jsonrpc": "2.0", "id": 6200, "method": "logging/setLevel", "params": {"level": "info"}}
    unknown: Json = {"jsonrpc": "2.0", "id": 6200, "error": {"code": -32601, "message": "Method not found"}}
    return [loop.add(start, beside(start, request, unknown))]


@fault("a resource in a result has no address", "tool", "tool-invalid-result")
def no_address(loop: ToolLoop) -> Touched:
    one = chosen(loop, "no address", plain)
    if one is None:
        return None
    one.give({"content": [{"type": "resource", "resource": {"text": returned(one)}}]})
    show(loop, one, "MCP error: the answer is invalid")
    mark(loop, one, failed=True)
    return [one.turn]


@fault("the model writes the name of a tool in other letters", "model", "model-unknown-tool",
       given="client-tool-not-on-server")  # fmt: skip
def other_letters(loop: ToolLoop) -> Touched:
    one = chosen(loop, "other letters", lambda one, text: name_of(one).upper() != name_of(one))
    if one is None or not isinstance(one.sent, dict):
        return None
    name = name_of(one)
    shown = loop.shape.answered(loop.loop.turns[one.turn].answer)[one.number].name.get()
    new = shown.replace(name, name.upper())
    offered = {tool.name.value for tool in loop.shape.tools(loop.loop.turns[one.turn].request)}
    if (
        new == shown
        or shown not in offered
        or not change_call(loop.loop, one.turn, one.number, lambda call: call.name.set(new))
    ):
        return None
    for result in loop.shown(one):
        if result.name is not None:
            result.name.value = new
    one.sent["params"]["name"] = name.upper()
    return _refused(loop, one, f"Unknown tool: {name.upper()}")
