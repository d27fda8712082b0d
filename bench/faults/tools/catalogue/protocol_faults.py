"""What clients and servers do against the rules of MCP, and with the definitions of tools."""

from copy import deepcopy

from turntape.inspector.findings.rules.results import READERS

from ...recorded.bodies import Json
from ...recorded.catalogue.edits import pick
from ..wire import ToolLoop
from .edits import beside, chosen, name_of, plain, renumber, returned, show
from .table import Touched, fault


@fault("a page of the list of tools is not read", "client", "client-tool-protocol-broken")
def page_unread(loop: ToolLoop) -> Touched:
    listed = loop.lists[-1]
    if listed.got is None or not loop.calls:
        return None
    listed.got["result"]["nextCursor"] = "page-2"
    return [listed, loop.calls[0]]


@fault("the list of tools never ends", "tool", "tool-protocol-broken")
def endless_list(loop: ToolLoop) -> Touched:
    listed = loop.lists[-1]
    again = beside(listed, deepcopy(listed.sent), deepcopy(listed.got))
    renumber(again, 910)
    for one in (listed, again):
        one.got["result"]["nextCursor"] = "page-2"  # type: ignore[index]
    again.sent["params"] = {"cursor": "page-2"}  # type: ignore[index]
    return [loop.add(listed, again)]


@fault("a tool is listed twice", "tool", "tool-protocol-broken")
def listed_twice(loop: ToolLoop) -> Touched:
    loop.listed.append({**deepcopy(loop.listed[0]), "description": "Another tool."})
    return [loop.lists[-1]]


@fault("a call is answered twice", "tool", "tool-protocol-broken")
def answered_twice(loop: ToolLoop) -> Touched:
    one = chosen(loop, "answered twice")
    if one is None or one.got is None:
        return None
    return [loop.add(one, beside(one, deepcopy(one.got), from_server=True))]


@fault("a result has no content", "tool", "tool-invalid-result")
def no_content(loop: ToolLoop) -> Touched:
    one = chosen(loop, "no content", plain)
    if one is None:
        return None
    one.give({"output": returned(one)})
    show(loop, one, "")
    return [one.turn]


@fault("an error comes as a result", "tool", "tool-error-unmarked", given="client-tool-error-as-success")
def unmarked(loop: ToolLoop) -> Touched:
    one = chosen(loop, "unmarked", lambda one, text: not READERS.search(name_of(one)))
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": "Error: no connection to the database"}]})
    show(loop, one, "Error: no connection to the database")
    return [one.turn]


@fault("a call goes to a server without the tool", "client", "client-tool-not-on-server")
def elsewhere(loop: ToolLoop) -> Touched:
    one = chosen(loop, "elsewhere")
    if one is None or not isinstance(one.sent, dict):
        return None
    begun = loop.another_start()
    begun[-1].got["result"]["tools"] = [{"name": "add_note", "inputSchema": {"type": "object"}}]  # type: ignore[index]
    loop.exchanges[:0] = begun
    said = f"Unknown tool: {name_of(one)}"
    one.got = {"jsonrpc": "2.0", "id": one.sent["id"], "error": {"code": -32602, "message": said}}
    for other in (*begun, one):
        other.session, other.server = "s2", "notes"
    show(loop, one, said)
    return [one.turn]


@fault("a tool has no schema", "tool", "tool-protocol-broken")
def no_schema(loop: ToolLoop) -> Touched:
    del loop.listed[0]["inputSchema"]
    return [loop.lists[-1]]


@fault("a page of the list of tools is not offered", "client", "client-tool-protocol-broken")
def page_not_offered(loop: ToolLoop) -> Touched:
    listed = loop.lists[-1]
    if listed.got is None:
        return None
    more = [{**deepcopy(loop.listed[0]), "name": f"archive_{word}"} for word in ("search", "purge")]
    listed.got["result"]["nextCursor"] = "page-2"
    request: Json = {"jsonrpc": "2.0", "id": 910, "method": "tools/list", "params": {"cursor": "page-2"}}
    second = beside(listed, request, {"jsonrpc": "2.0", "id": 910, "result": {"tools": more}})
    return [loop.add(listed, second), *range(len(loop.loop.turns))]


@fault("a definition loses what it refers to", "client", "client-tool-definition-differs")
def reference_lost(loop: ToolLoop) -> Touched:
    tool = pick(loop.loop, loop.listed, "reference lost")
    if tool is None:
        return None
    rows: Json = {"type": "array", "items": {"$ref": "#/$defs/row"}}
    for same in loop.stated(tool["name"]):
        same["inputSchema"].setdefault("properties", {})["rows"] = rows
        same["inputSchema"]["$defs"] = {"row": {"type": "object"}}
    offers = [t for turn in loop.loop.turns for t in loop.shape.tools(turn.request) if t.name.value == tool["name"]]
    for offer in offers:
        offer.schema.setdefault("properties", {})["rows"] = deepcopy(rows)
    return [*range(len(loop.loop.turns))] if offers else None


def _refused(loop: ToolLoop, salt: str, result: Json) -> Touched:
    """A result that clients refuse, and what they say."""
    one = chosen(loop, salt, plain)
    if one is None:
        return None
    one.give(result)
    show(loop, one, "MCP error: the answer is invalid")
    return [one.turn, one]


@fault("a block of a result has an unknown type", "tool", "tool-invalid-result")
def unknown_block(loop: ToolLoop) -> Touched:
    return _refused(loop, "unknown block", {"content": [{"type": "error", "text": "no such parcel"}]})


@fault("structured content is a list", "tool", "tool-invalid-result")
def structured_list(loop: ToolLoop) -> Touched:
    said: Json = {"type": "text", "text": "[4711, 4712]"}
    return _refused(loop, "structured list", {"content": [said], "structuredContent": [4711, 4712]})


@fault("an answer is a result and an error", "tool", "tool-invalid-result")
def both(loop: ToolLoop) -> Touched:
    one = chosen(loop, "both", plain)
    if one is None or one.got is None:
        return None
    one.got["error"] = {"code": -1, "message": "it broke"}
    show(loop, one, "MCP error: the answer is invalid")
    return [one.turn, one]


@fault("the list of tools cannot be had", "tool", "tool-server-error", also="model-unknown-tool")
def no_list(loop: ToolLoop) -> Touched:
    listed = loop.lists[-1]
    listed.got = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "it broke"}}
    loop.exchanges[:] = loop.exchanges[: loop.exchanges.index(listed) + 1]
    return [listed]


@fault("progress is reported that nobody asked for", "tool", "tool-protocol-broken")
def progress(loop: ToolLoop) -> Touched:
    one = chosen(loop, "progress")
    if one is None:
        return None
    said: Json = {"progressToken": "tool-call-17", "progress": 1}
    report: Json = {"jsonrpc": "2.0", "method": "notifications/progress", "params": said}
    return [loop.add(one, beside(one, report, from_server=True))]


@fault("a tool is listed no longer", "tool", "tool-definition-changed")
def gone(loop: ToolLoop) -> Touched:
    listed = loop.lists[-1]
    again = beside(listed, deepcopy(listed.sent), deepcopy(listed.got))
    renumber(again, 910)
    if len(loop.listed) < 2 or again.got is None:
        return None
    again.turn = 0
    del again.got["result"]["tools"][-1]
    loop.exchanges.append(again)
    loop.exchanges.sort(key=lambda one: one.turn)
    return [again]
