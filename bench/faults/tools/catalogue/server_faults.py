"""What tool servers do wrong."""

from copy import deepcopy

from ...recorded.catalogue.edits import pick
from ..wire import ToolLoop
from .edits import beside, chosen, mark, name_of, plain, renumber, returned, show, unanswer
from .table import Touched, fault


@fault("the server answers with an error", "tool", "tool-server-error")
def server_error(loop: ToolLoop) -> Touched:
    one = chosen(loop, "server error")
    if one is None:
        return None
    assert isinstance(one.sent, dict)
    one.got = {"jsonrpc": "2.0", "id": one.sent["id"], "error": {"code": -32603, "message": "no database"}}
    show(loop, one, "MCP error -32603: no database")
    return [one.turn]


@fault("the tool reports an error", "tool", "tool-reported-error")
def reported(loop: ToolLoop) -> Touched:
    one = chosen(loop, "reported")
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": "Error: the disk is full"}], "isError": True})
    show(loop, one, "Error: the disk is full")
    mark(loop, one, failed=True)
    return [one.turn]


@fault("the server never answers", "tool", "tool-server-silent")
def silent(loop: ToolLoop) -> Touched:
    one = chosen(loop, "silent")
    if one is None:
        return None
    unanswer(loop, one, "client")
    show(loop, one, "Error: no answer from the tool")
    return [one.turn]


@fault("the server ends during a call", "tool", "tool-server-died")
def died(loop: ToolLoop) -> Touched:
    one = chosen(loop, "died")
    if one is None:
        return None
    unanswer(loop, one, "server")
    show(loop, one, "MCP error -32000: Connection closed")
    return [one.turn]


@fault("a result breaks its schema", "tool", "tool-invalid-result")
def invalid(loop: ToolLoop) -> Touched:
    one = chosen(loop, "invalid", plain)
    if one is None or not isinstance(one.sent, dict):
        return None
    for tool in loop.stated(one.sent["params"]["name"]):
        tool["outputSchema"] = {"type": "object", "required": ["answer"]}
    for other in loop.calls:
        if other is not one and other.sent["params"]["name"] == one.sent["params"]["name"]:  # type: ignore[index]
            other.give(other.got["result"] | {"structuredContent": {"answer": returned(other)}})  # type: ignore[index]
    return [one.turn]


@fault("a definition changes during the run", "tool", "tool-definition-changed")
def redefined(loop: ToolLoop) -> Touched:
    first, tools = loop.lists[-1], deepcopy(loop.listed)
    one = pick(loop.loop, loop.calls, "redefined")
    tool = pick(loop.loop, tools, "redefined")
    if one is None or tool is None:
        return None
    tool["outputSchema"] = {"type": "object", "title": "new"}
    again = beside(one, deepcopy(first.sent), {"jsonrpc": "2.0", "id": 900, "result": {"tools": tools}})
    renumber(again, 900)
    last = [other for other in loop.exchanges if other.turn == len(loop.loop.turns) - 1] or loop.exchanges
    again.turn = last[-1].turn
    loop.exchanges.append(again)
    return [again]


@fault("garbage on stdout", "tool", "tool-garbage-on-stdout")
def garbage(loop: ToolLoop) -> Touched:
    made = beside(loop.exchanges[0], b"desk server 1.2 is ready", from_server=True)
    loop.exchanges.insert(1, made)
    return [made]


@fault("an image has no data", "tool", "tool-invalid-result")
def empty_image(loop: ToolLoop) -> Touched:
    one = chosen(loop, "empty image", plain)
    if one is None:
        return None
    image = {"type": "image", "data": "", "mimeType": "image/png"}
    one.give({"content": [{"type": "text", "text": returned(one)}, image]})
    return [one.turn]


@fault("a failure comes as an object", "tool", "tool-error-unmarked", given="client-tool-error-as-success")
def failure_as_object(loop: ToolLoop) -> Touched:
    one = chosen(loop, "failure as object")
    if one is None:
        return None
    said = '{"success": false, "error": "no parcel has this number"}'
    one.give({"content": [{"type": "text", "text": said}]})
    show(loop, one, said)
    return [one.turn]


@fault("a server does not know a tool that it lists", "tool", "tool-error-unmarked", also="client-offers-unknown-tool")
def denied(loop: ToolLoop) -> Touched:
    one = chosen(loop, "denied")
    if one is None:
        return None
    said = f"Node error: Unknown tool: {name_of(one)}. Is the node running?"
    one.give({"content": [{"type": "text", "text": said}]})
    show(loop, one, said)
    return [one.turn]
