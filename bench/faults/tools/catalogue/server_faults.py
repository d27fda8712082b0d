"""What tool servers do wrong."""

import json
from copy import deepcopy

from ...recorded.catalogue.edits import fails, pick, stop_after
from ..wire import Exchange, ToolLoop
from .edits import beside, chosen, declare, give_also, mark, name_of, plain, renumber, returned, show, unanswer
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
    unanswer(loop, one, "client", lasts=60)
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


def _under(loop: ToolLoop, salt: str, number: object) -> Touched:
    """The answer to a call comes under this id, and the client waits for a minute."""
    one = chosen(loop, salt)
    if one is None or one.got is None:
        return None
    answer = one.got | {"id": str(one.got["id"]) if number is str else number}
    unanswer(loop, one, "client", lasts=60)
    late = loop.add(one, beside(one, answer, from_server=True, gap=0.1))
    show(loop, one, "MCP error -32001: Request timed out")
    return [one.turn, one, late]


@fault("the id of a request comes back as a text", "tool", "tool-server-silent", given="tool-protocol-broken")
def id_as_text(loop: ToolLoop) -> Touched:
    return _under(loop, "id as text", str)


@fault("an answer comes under the id 0", "tool", "tool-server-silent", given="tool-protocol-broken")
def id_zero(loop: ToolLoop) -> Touched:
    return _under(loop, "id zero", 0)


@fault("an answer goes over several lines", "tool", "tool-server-silent", given="tool-garbage-on-stdout")
def several_lines(loop: ToolLoop) -> Touched:
    one = chosen(loop, "several lines")
    if one is None or one.got is None:
        return None
    lines = json.dumps(one.got, indent=1).encode().split(b"\n")
    unanswer(loop, one, "client", lasts=60)
    last, made = one, list[Exchange]()
    for line in lines[:4]:
        made.append(last := loop.add(last, beside(one, line, from_server=True, gap=0.001)))
    show(loop, one, "MCP error -32001: Request timed out")
    return [one.turn, one, *made]


@fault("an error says nothing", "tool", "tool-reported-error")
def wordless(loop: ToolLoop) -> Touched:
    one = chosen(loop, "wordless")
    if one is None:
        return None
    one.give({"content": [], "isError": True})
    show(loop, one, "")
    mark(loop, one, failed=True)
    return [one.turn]


@fault("a result names a resource that the server does not have", "tool", "tool-protocol-broken")
def broken_link(loop: ToolLoop) -> Touched:
    one = chosen(loop, "broken link")
    if one is None:
        return None
    one.give({"content": [{"type": "resource_link", "uri": "report://7", "name": "report 7"}]})
    show(loop, one, "report 7 (report://7) could not be read")
    read = {"jsonrpc": "2.0", "id": 6001, "method": "resources/read", "params": {"uri": "report://7"}}
    refused = {"jsonrpc": "2.0", "id": 6001, "error": {"code": -32002, "message": "Resource not found"}}
    return [one.turn, loop.add(one, beside(one, read, refused, gap=0.2))]


@fault("a server speaks a version that does not exist", "tool", "tool-protocol-broken")
def no_version(loop: ToolLoop) -> Touched:
    starts = [one for one in loop.exchanges if one.got and "protocolVersion" in one.got.get("result", {})]
    for one in starts:
        assert one.got is not None
        one.got["result"]["protocolVersion"] = "1.0.0"
    return [*starts] or None


@fault("the API rejects a definition of a server", "tool", "tool-definition-rejected",
       given="client-bad-tool-schema request-rejected client-tool-definition-differs")  # fmt: skip
def rejected(loop: ToolLoop) -> Touched:
    one = chosen(loop, "rejected")
    if one is None:
        return None
    name = name_of(one)
    for stated in loop.stated(name):
        stated["inputSchema"] = {"type": "string", "description": "the number of a parcel"}
    offers = [tool for tool in loop.shape.tools(loop.loop.turns[0].request) if tool.name.value == name]
    if len(offers) != 1 or not isinstance(offers[0].schema, dict):
        return None
    offers[0].schema.clear()
    offers[0].schema.update({"type": "string", "description": "the number of a parcel"})
    fails(loop.loop, loop.loop.turns[0], 400, f"Invalid schema for function '{name}': 'string' is not 'object'")
    stop_after(loop.loop, 0)
    loop.exchanges[:] = [other for other in loop.exchanges if other.turn < 0]
    return [0]


@fault("the tool itself returns an image as text", "tool", "tool-result-unreadable", given="client-media-as-text")
def image_as_text(loop: ToolLoop) -> Touched:
    one = chosen(loop, "tool's image as text")
    if one is None:
        return None
    said = json.dumps({"chart": "iVBORw0KGgo" + "A" * 1_200})
    one.give({"content": [{"type": "text", "text": said}]})
    show(loop, one, said)
    return [one.turn, one.turn + 1]


def _sent_so(loop: ToolLoop, salt: str, said: str, **more: object) -> Touched:
    """The tool returns this text, and the client shows it as it is."""
    one = chosen(loop, salt)
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": said}], **more})
    show(loop, one, said)
    mark(loop, one, failed=bool(more.get("isError")))
    return [one.turn, one.turn + 1]


@fault("the tool itself returns an object by its name", "tool", "tool-result-unreadable",
       given="client-unserialized-result")  # fmt: skip
def object_of_tool(loop: ToolLoop) -> Touched:
    return _sent_so(loop, "object of tool", "[object Object]")


@fault("the tool does not take its own result", "tool", "tool-reported-error", also="call-result-refused")
def own_result(loop: ToolLoop) -> Touched:
    return _sent_so(loop, "refuses its own", "Output validation error: {} is not of type 'array'", isError=True)


@fault("the server misses an argument that it was given", "tool", "tool-reported-error", also="call-args-not-taken")
def argument_missed(loop: ToolLoop) -> Touched:
    one = chosen(loop, "argument missed")
    if one is None:
        return None
    declare(loop, one, "parcel", {"type": "string"})
    if not give_also(loop, one, parcel="P-4711"):
        return None
    said = "Input validation error: 'parcel' is a required property"
    one.give({"content": [{"type": "text", "text": said}], "isError": True})
    show(loop, one, said)
    mark(loop, one, failed=True)
    return [one.turn]


@fault("a value of a result is NaN", "tool", "tool-invalid-result")
def not_a_number(loop: ToolLoop) -> Touched:
    one = chosen(loop, "not a number", plain)
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": returned(one)}], "structuredContent": {"mean": float("nan")}})
    show(loop, one, "MCP error -32001: Request timed out")
    return [one.turn]


FORM = {"message": "Which depot?", "requestedSchema": {"type": "object", "properties": {"depot": {"type": "string"}}}}


def _refused(loop: ToolLoop, salt: str, declared: dict[str, object]) -> Touched:
    """The server asks for input, and a client with these capabilities does not know the method."""
    one = chosen(loop, salt)
    if one is None:
        return None
    for start in loop.exchanges:
        if isinstance(start.sent, dict) and start.sent.get("method") == "initialize":
            start.sent["params"]["capabilities"] = declared
    ask = {"jsonrpc": "2.0", "id": 3, "method": "elicitation/create", "params": deepcopy(FORM)}
    unknown = {"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "Method not found"}}
    return [loop.add(one, beside(one, ask, unknown, from_server=True, gap=0.1))]


@fault("the server asks for input that the client has not declared", "tool", "tool-protocol-broken")
def undeclared(loop: ToolLoop) -> Touched:
    return _refused(loop, "undeclared", {})


@fault("input is declared and then not known", "client", "client-tool-input-unanswered")
def declared_only(loop: ToolLoop) -> Touched:
    return _refused(loop, "declared only", {"elicitation": {}})
