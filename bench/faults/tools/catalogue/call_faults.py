"""What clients do with the calls of the model."""

from copy import deepcopy

from ...recorded.bodies import Json
from ...recorded.catalogue.edits import pick
from ..wire import Exchange, ToolLoop
from .edits import beside, chosen, plain, renumber, show, succeeded, unanswer
from .table import Touched, fault


def _remove(loop: ToolLoop, salt: str) -> Exchange | None:
    one = chosen(loop, salt, plain)
    if one is not None:
        loop.exchanges.remove(one)
    return one


@fault("a result that no tool returned", "client", "client-tool-result-forged client-tool-result-stale")
def forged(loop: ToolLoop) -> Touched:
    one = _remove(loop, "forged")
    if one is None:
        return None
    show(loop, one, "Parcel 4711 waits in Turin.")
    return [one.turn]


@fault("a call is not executed", "client", "client-tool-never-executed")
def never(loop: ToolLoop) -> Touched:
    one = _remove(loop, "never")
    if one is None:
        return None
    show(loop, one, "")
    return [one.turn]


@fault("a call is executed twice", "client", "client-tool-executed-twice")
def twice(loop: ToolLoop) -> Touched:
    one = chosen(loop, "twice")
    if one is None:
        return None
    again = beside(one, deepcopy(one.sent), deepcopy(one.got))
    renumber(again, 900)
    loop.add(one, again)
    return [one.turn, again]


@fault("a tool is called that no answer asks for", "client", "client-tool-call-unasked")
def unasked(loop: ToolLoop) -> Touched:
    one = chosen(loop, "unasked")
    if one is None:
        return None
    extra = beside(one, deepcopy(one.sent), deepcopy(one.got))
    renumber(extra, 900)
    assert isinstance(extra.sent, dict)
    extra.sent["params"].pop("_meta", None)
    extra.sent["params"]["arguments"] = {"reason": "a hook"}
    loop.add(one, extra)
    return [extra]


@fault("arguments are changed on the way", "client", "client-tool-arguments-changed")
def arguments(loop: ToolLoop) -> Touched:
    one = chosen(loop, "arguments", lambda one, text: bool(one.arguments))
    if one is None:
        return None
    key = next(iter(one.arguments))
    one.arguments[key] = "something else"
    return [one.turn, one]


@fault("the client gives up on a call", "client", "client-tool-gave-up")
def gave_up(loop: ToolLoop) -> Touched:
    one = chosen(loop, "gave up")
    if one is None:
        return None
    assert isinstance(one.sent, dict)
    said: Json = {"requestId": one.sent["id"], "reason": "Request timed out"}
    cancel: Json = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": said}
    unanswer(loop, one, "client")
    loop.add(one, beside(one, cancel))
    show(loop, one, "Error: the request timed out")
    return [one.turn, one]


@fault("another definition is offered than the server states", "client", "client-tool-definition-differs")
def definition(loop: ToolLoop) -> Touched:
    tool = pick(loop.loop, [one for one in loop.listed if one["inputSchema"].get("properties")], "definition")
    if tool is None:
        return None
    for same in loop.stated(tool["name"]):
        same["inputSchema"]["properties"]["urgent_parcels_only"] = {"type": "boolean"}
    return [*range(len(loop.loop.turns))]


@fault("a request for input is not answered", "client", "client-tool-input-unanswered")
def unanswered(loop: ToolLoop) -> Touched:
    one = chosen(loop, "unanswered")
    if one is None:
        return None
    ask: Json = {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {"message": "Sure?"}}
    made = loop.add(one, beside(one, ask, from_server=True, ended="server"))
    return [made]


@fault("a number is sent as a text", "client", "client-tool-arguments-changed")
def number_as_text(loop: ToolLoop) -> Touched:
    options = [
        (one, key)
        for one in loop.calls
        if succeeded(one) and loop.shown(one)
        for key, value in one.arguments.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    found = pick(loop.loop, options, "number as text")
    if found is None:
        return None
    one, key = found
    one.arguments[key] = str(one.arguments[key])
    return [one.turn, one]


@fault("the arguments of a call are left out", "client", "client-tool-arguments-changed")
def without_arguments(loop: ToolLoop) -> Touched:
    one = chosen(loop, "without arguments", lambda one, text: bool(one.arguments))
    if one is None or not isinstance(one.sent, dict):
        return None
    del one.sent["params"]["arguments"]
    return [one.turn, one]
