"""Messages between a client and a tool server in another form than MCP gives them, and questions and replies."""

from collections.abc import Callable
from copy import deepcopy

from ...recorded.bodies import Json
from ..wire import Exchange, ToolLoop
from .edits import beside, chosen, error, plain, show
from .table import Touched, fault

REFUSED = "MCP error -32602: Invalid tools/call result: Invalid input"
"""What clients show in place of a result that their SDK does not take."""
SAMPLE: Json = {"messages": [{"role": "user", "content": {"type": "text", "text": "Sum it up."}}], "maxTokens": 100}
TAKEN: Json = {"role": "assistant", "content": {"type": "text", "text": "Short."}, "model": "m"}


def _answered(name: str, change: Callable[[Json], object]) -> None:
    """The result of a call is changed, and the client refuses it."""

    @fault(name, "tool", "tool-invalid-result")
    def put(loop: ToolLoop) -> Touched:
        one = chosen(loop, name, plain)
        if one is None or one.got is None:
            return None
        change(one.got)
        show(loop, one, REFUSED)
        return [one.turn]


_answered("structured content is null", lambda got: got["result"].update(structuredContent=None))
_answered("the annotations of a block are null", lambda got: got["result"]["content"][0].update(annotations=None))
_answered("a result is a text", lambda got: got.update(result=got["result"]["content"][0].get("text", "")))
_answered("a result is wrapped once more", lambda got: got.update(result={"toolResult": got["result"]}))
_answered("whether a result is an error is said in a text", lambda got: got["result"].update(isError="false"))


def _started(name: str, change: Callable[[ToolLoop], object]) -> None:
    """The server's answer to `initialize` or its list of tools is changed, and the client takes it."""

    @fault(name, "tool", "tool-protocol-broken")
    def put(loop: ToolLoop) -> Touched:
        change(loop)
        return [loop.exchanges[0], loop.lists[-1]]


def _handshake(loop: ToolLoop) -> Json:
    starts = (one.got for one in loop.exchanges if one.got and "serverInfo" in one.got.get("result", {}))
    return next(starts)["result"]


_started("a server does not say its name", lambda loop: _handshake(loop).pop("serverInfo"))
_started("a capability is not an object", lambda loop: _handshake(loop)["capabilities"].update(tools=True))
_started("the next page is null", lambda loop: loop.lists[-1].got["result"].update(nextCursor=None))  # type: ignore[index]
_started("a hint about a tool is a text", lambda loop: loop.listed[0].update(annotations={"readOnlyHint": "true"}))
_started("a tool has no name", lambda loop: loop.listed.append({"inputSchema": {"type": "object"}}))


def _says(name: str, method: str, params: Json) -> None:
    """The server sends a notification."""

    @fault(name, "tool", "tool-protocol-broken")
    def put(loop: ToolLoop) -> Touched:
        one = chosen(loop, name)
        if one is None or not isinstance(one.sent, dict):
            return None
        token = one.sent["params"].setdefault("_meta", {}).setdefault("progressToken", 71)
        said = {"progressToken": token, **params} if method == "notifications/progress" else params
        message = {"jsonrpc": "2.0", "method": method, "params": said}
        return [loop.add(one, beside(one, message, from_server=True))]


_says("progress is a text", "notifications/progress", {"progress": "50%"})
_says("a level of log messages does not exist", "notifications/message", {"level": "warn", "data": "slow"})


@fault("a notification has an id", "tool", "tool-protocol-broken")
def with_id(loop: ToolLoop) -> Touched:
    one = chosen(loop, "notification with id")
    if one is None:
        return None
    said = {"jsonrpc": "2.0", "id": 55, "method": "notifications/message", "params": {"level": "info", "data": "one"}}
    unknown = {"jsonrpc": "2.0", "id": 55, "error": {"code": -32601, "message": "Method not found"}}
    return [loop.add(one, beside(one, said, unknown, from_server=True))]


@fault("a server refuses the handshake", "tool", "tool-server-error")
def no_handshake(loop: ToolLoop) -> Touched:
    return [_other(loop, deepcopy(loop.exchanges[0].sent), -32601, "Method not found: initialize")]


@fault("a client does not begin with a handshake", "client", "client-tool-protocol-broken")
def no_start(loop: ToolLoop) -> Touched:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    return [_other(loop, asked, -32601, 'The first message from the client must be "initialize": tools/list')]


def _other(loop: ToolLoop, sent: Json | bytes, code: int, said: str) -> Exchange:
    """A second server, which refuses the first message that it gets."""
    assert isinstance(sent, dict)
    got = {"jsonrpc": "2.0", "id": sent.get("id"), "error": {"code": code, "message": said}}
    first = Exchange(loop.exchanges[0].turn, sent, got, session="other", server="other")
    loop.exchanges.insert(0, first)
    return first


@fault("a call has no id", "client", "client-tool-protocol-broken", also="client-tool-never-executed")
def no_id(loop: ToolLoop) -> Touched:
    one = chosen(loop, "no id")
    if one is None or not isinstance(one.sent, dict):
        return None
    one.sent["id"], one.got = None, None
    show(loop, one, "MCP error -32001: Request timed out")
    return [one]


@fault("an argument that the model left out is null, and the server refuses it", "client",
       "client-tool-arguments-changed", given="tool-server-error", also="call-args-not-taken")  # fmt: skip
def added_null(loop: ToolLoop) -> Touched:
    one = chosen(loop, "added null", lambda one, _: None not in one.arguments.values())
    if one is None or not isinstance(one.sent, dict):
        return None
    one.arguments["cursor"] = None
    show(loop, one, error(one, -32602, "Invalid arguments: expected string, received null"))
    return [one.turn]


def _asked(loop: ToolLoop, salt: str, capability: str, method: str, params: Json, reply: Json) -> Touched:
    """The server asks its client during a call, and then fails the call."""
    one = chosen(loop, salt)
    if one is None:
        return None
    for start in loop.exchanges:
        if isinstance(start.sent, dict) and start.sent.get("method") == "initialize" and capability:
            start.sent["params"]["capabilities"] = {capability: {}}
    one.lasts = 1.0
    ask = {"jsonrpc": "2.0", "id": 31, "method": method, "params": deepcopy(params)}
    show(loop, one, error(one, -32603, "Invalid response of the client"))
    return [one.turn, loop.add(one, beside(one, ask, {"jsonrpc": "2.0", "id": 31, **reply}, from_server=True, gap=0.1))]


@fault("a reply is a result and an error", "client", "client-tool-protocol-broken", given="tool-server-error")
def both(loop: ToolLoop) -> Touched:
    reply = {"result": {}, "error": {"code": -1, "message": "rejected"}}
    return _asked(loop, "both", "sampling", "sampling/createMessage", SAMPLE, reply)


@fault("a sample has no model", "client", "client-tool-protocol-broken", given="tool-server-error")
def no_model(loop: ToolLoop) -> Touched:
    reply = {"result": {key: value for key, value in TAKEN.items() if key != "model"}}
    return _asked(loop, "no model", "sampling", "sampling/createMessage", SAMPLE, reply)


@fault("a client does not know a ping, and the call fails for it", "client", "tool-server-error")
def no_ping(loop: ToolLoop) -> Touched:
    return _asked(loop, "no ping", "", "ping", {}, {"error": {"code": -32601, "message": "Method not found"}})


META: Json = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}  # fmt: skip
QUESTION: Json = {"method": "elicitation/create",
                  "params": {"message": "Who?", "requestedSchema": {"type": "object", "properties": {}}}}  # fmt: skip


def _modern(loop: ToolLoop, salt: str, waits: Json) -> tuple[Exchange, Exchange] | None:
    """A session in version 2026-07-28, with a call whose first answer is `waits`: both of its exchanges."""
    one = chosen(loop, salt)
    if one is None or not isinstance(one.sent, dict):
        return None
    for each in loop.exchanges:
        said = each.sent if isinstance(each.sent, dict) else {}
        if each.session == one.session and said.get("id") is not None and isinstance(said.get("params"), dict):
            said["params"].setdefault("_meta", {}).update(deepcopy(META))
    asked = beside(one, deepcopy(one.sent), gap=0.1)
    asked.sent["id"] = 7_000  # type: ignore[index]
    asked.got = {"jsonrpc": "2.0", "id": 7_000, "result": {"resultType": "input_required", **deepcopy(waits)}}
    loop.exchanges.insert(loop.exchanges.index(one), asked)
    return asked, one


@fault("a server asks for input without a question", "tool", "tool-invalid-result")
def no_question(loop: ToolLoop) -> Touched:
    made = _modern(loop, "no question", {})
    if made is None:
        return None
    loop.exchanges.remove(made[1])
    show(loop, made[1], "Protocol error: input_required without inputRequests")
    return [made[0].turn]


@fault("an answer has another name than the question", "client", "client-tool-protocol-broken",
       given="tool-server-error")  # fmt: skip
def other_name(loop: ToolLoop) -> Touched:
    made = _modern(loop, "other name", {"inputRequests": {"who": QUESTION}, "requestState": "s"})
    if made is None or not isinstance(made[1].sent, dict):
        return None
    made[1].sent["params"].update(requestState="s", inputResponses={"0": {"action": "accept", "content": {}}})
    show(loop, made[1], error(made[1], -32602, "Invalid params: inputResponses.who is missing"))
    return [made[1], made[1].turn]


LINES = "the first line\nthe second line\n\tand a third one"


@fault("words of a result run together", "client", "client-tool-result-changed")
def glued(loop: ToolLoop) -> Touched:
    one = chosen(loop, "glued")
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": LINES}]})
    show(loop, one, LINES.replace("\n", ""))
    return [one.turn]


@fault("a question has no method", "tool", "tool-invalid-result")
def no_method(loop: ToolLoop) -> Touched:
    question = {key: value for key, value in QUESTION.items() if key != "method"}
    made = _modern(loop, "no method", {"inputRequests": {"who": question}})
    if made is None:
        return None
    loop.exchanges.remove(made[1])
    show(loop, made[1], "Invalid result: inputRequests.who.method")
    return [made[0].turn]


@fault("an answer to a question has a wrong form", "client", "client-tool-protocol-broken", given="tool-server-error")
def wrong_answer(loop: ToolLoop) -> Touched:
    made = _modern(loop, "wrong answer", {"inputRequests": {"who": QUESTION}, "requestState": "s"})
    if made is None or not isinstance(made[1].sent, dict):
        return None
    made[1].sent["params"].update(requestState="s", inputResponses={"who": {"action": "ok"}})
    show(loop, made[1], error(made[1], -32602, "Invalid params: inputResponses.who.action"))
    return [made[1], made[1].turn]


@fault("a type in a schema does not exist", "tool", "tool-protocol-broken")
def no_type(loop: ToolLoop) -> Touched:
    schema = {"type": "object", "properties": {"path": {"type": "str"}}}
    loop.listed.append({"name": "extra_tool", "description": "One more.", "inputSchema": schema})
    return [loop.lists[-1]]


@fault("a second handshake is refused", "client", "client-tool-protocol-broken")
def started_twice(loop: ToolLoop) -> Touched:
    first, listed = loop.exchanges[0], loop.lists[-1]
    if not isinstance(first.sent, dict) or first.sent.get("method") != "initialize":
        return None
    again = {**deepcopy(first.sent), "id": 90}
    refused = {"jsonrpc": "2.0", "id": 90, "error": {"code": -32600, "message": "already initialized"}}
    return [loop.add(listed, beside(listed, again, refused))]


@fault("a level of log messages is set that does not exist", "client", "client-tool-protocol-broken")
def wrong_level(loop: ToolLoop) -> Touched:
    listed = loop.lists[-1]
    sent = {"jsonrpc": "2.0", "id": 92, "method": "logging/setLevel", "params": {"level": "warn"}}
    refused = {"jsonrpc": "2.0", "id": 92, "error": {"code": -32602, "message": "Invalid enum value"}}
    return [loop.add(listed, beside(listed, sent, refused))]


@fault("a root is a path", "client", "client-tool-protocol-broken", given="tool-server-error")
def root_path(loop: ToolLoop) -> Touched:
    reply = {"result": {"roots": [{"uri": "/home/ada/project"}]}}
    return _asked(loop, "root path", "roots", "roots/list", {}, reply)


@fault("the address of a resource is a path", "tool", "tool-invalid-result")
def no_scheme(loop: ToolLoop) -> Touched:
    one = chosen(loop, "no scheme", plain)
    if one is None or one.got is None:
        return None
    one.got["result"]["content"].append({"type": "resource", "resource": {"uri": "notes/today.md", "text": "x"}})
    show(loop, one, "Input should be a valid URL, relative URL without a base")
    return [one.turn]
