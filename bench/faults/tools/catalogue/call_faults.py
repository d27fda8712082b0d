"""What clients do with the calls of the model."""

from copy import deepcopy

from ...recorded.bodies import Json
from ...recorded.catalogue.edits import change_call, pick, stop_after
from ..wire import Exchange, ToolLoop
from .edits import (
    beside,
    chosen,
    declare,
    error,
    give_also,
    mark,
    name_of,
    plain,
    renumber,
    show,
    succeeded,
    unanswer,
)
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


@fault("another tool is run than the model called", "client", "client-tool-misrouted")
def misrouted(loop: ToolLoop) -> Touched:
    names = [tool["name"] for tool in loop.listed]
    one = chosen(loop, "misrouted", lambda one, text: bool(one.arguments)) if len(names) > 1 else None
    if one is None or not isinstance(one.sent, dict):
        return None
    said = one.sent["params"]
    said["name"] = next(name for name in reversed(names) if name != said["name"])
    return [one.turn, one]


@fault("the tool of another server is run", "client", "client-tool-misrouted", given="tool-reported-error")
def other_server(loop: ToolLoop) -> Touched:
    one = chosen(loop, "other server")
    if one is None:
        return None
    begun = loop.another_start()
    schema: Json = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
    tool: Json = {"name": name_of(one), "description": "Ask the archive.", "inputSchema": schema}
    begun[-1].got["result"]["tools"] = [tool]  # type: ignore[index]
    loop.exchanges[3:3] = begun
    for other in (*begun, one):
        other.session, other.server = "s2", "archive"
    one.give({"content": [{"type": "text", "text": "the archive has no such order"}], "isError": True})
    show(loop, one, "the archive has no such order")
    mark(loop, one, True)
    return [one.turn, one]


@fault("the failure of a tool ends the run", "client", "client-tool-error-ends-run")
def ends_run(loop: ToolLoop) -> Touched:
    one = chosen(loop, "ends run")
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": "no forecast for this city"}], "isError": True})
    stop_after(loop.loop, one.turn)
    loop.exchanges[:] = [other for other in loop.exchanges if other.turn <= one.turn]
    return [one.turn, one]


@fault("the run ends with a result that the model never reads", "client", "client-tool-result-unread")
def result_unread(loop: ToolLoop) -> Touched:
    one = chosen(loop, "result unread")
    if one is None:
        return None
    stop_after(loop.loop, one.turn)
    loop.exchanges[:] = [other for other in loop.exchanges if other.turn <= one.turn]
    return [one.turn, one]


@fault("the client refuses arguments that the schema allows", "client", "client-tool-never-executed")
def refused_by_client(loop: ToolLoop) -> Touched:
    one = _remove(loop, "refused by client")
    if one is None:
        return None
    show(loop, one, f"Invalid arguments for tool {name_of(one)}: expected nonoptional, received undefined")
    return [one.turn]


@fault("an argument is added that the tool refuses", "client", "client-tool-arguments-changed")
def added(loop: ToolLoop) -> Touched:
    one = chosen(loop, "added")
    if one is None:
        return None
    one.arguments["toolCallId"] = "call_4711"
    said = "toolCallId: unexpected keyword argument"
    one.give({"content": [{"type": "text", "text": said}], "isError": True})
    show(loop, one, said)
    mark(loop, one, True)
    return [one.turn, one]


@fault("the client gives up while progress comes", "client", "client-tool-gave-up")
def gave_up_early(loop: ToolLoop) -> Touched:
    one = chosen(loop, "gave up early")
    if one is None or not isinstance(one.sent, dict):
        return None
    number = one.sent["id"]
    one.sent["params"].setdefault("_meta", {})["progressToken"] = number
    unanswer(loop, one, "client")
    last = one
    for step in (1, 2, 3):
        said: Json = {"progressToken": number, "progress": step}
        report: Json = {"jsonrpc": "2.0", "method": "notifications/progress", "params": said}
        last = loop.add(last, beside(one, report, from_server=True, gap=8.0))
    cancel: Json = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
    loop.add(last, beside(one, cancel))
    show(loop, one, "Error: the request timed out")
    return [one.turn, one]


@fault("two open calls have one id", "client", "client-tool-protocol-broken")
def one_id(loop: ToolLoop) -> Touched:
    one = chosen(loop, "one id")
    if one is None:
        return None
    ping: Json = {"jsonrpc": "2.0", "id": one.sent["id"], "method": "ping"}  # type: ignore[index]
    answer: Json = {"jsonrpc": "2.0", "id": ping["id"], "result": {}}
    return [one, loop.add(one, beside(one, ping, answer, gap=0.001))]


@fault("a large number of a call is rounded", "client", "client-tool-arguments-changed")
def rounded(loop: ToolLoop) -> Touched:
    one = chosen(loop, "rounded")
    if one is None:
        return None
    number = 1_763_900_000_123_456_789
    if not change_call(loop.loop, one.turn, one.number, lambda call: call.give({**call.known, "order": number})):
        return None
    one.arguments["order"] = 1_763_900_000_123_456_800
    return [one.turn, one]


def _rewritten(loop: ToolLoop, salt: str, schema: Json, written: object, sent: object, said: str = "") -> Touched:
    """The model writes one argument, and the client sends another value for it, or leaves it out (`None`)."""
    one = chosen(loop, salt)
    if one is None:
        return None
    declare(loop, one, "extra", schema)
    if not give_also(loop, one, extra=written):
        return None
    if sent is None:
        del one.arguments["extra"]
    else:
        one.arguments["extra"] = sent
    if said:
        show(loop, one, error(one, -32602, said))
    return [one.turn, one]


@fault("an object is sent as a text", "client", "client-tool-arguments-changed", also="tool-server-error")
def object_as_text(loop: ToolLoop) -> Touched:
    said = "failed to deserialize parameters: invalid type: string, expected a map"
    return _rewritten(loop, "object as text", {"type": "object"}, {"tags": ["a"]}, '{"tags": ["a"]}', said)


@fault("the items of a list become null", "client", "client-tool-arguments-changed")
def null_items(loop: ToolLoop) -> Touched:
    return _rewritten(loop, "null items", {"type": "array"}, [{"id": 1}, {"id": 2}], [None, None])


@fault("white space of an argument is trimmed", "client", "client-tool-arguments-changed")
def trimmed(loop: ToolLoop) -> Touched:
    text = "    if late:\n        retry()\n"
    return _rewritten(loop, "trimmed", {"type": "string"}, text, text.strip())


@fault("an argument that is false is left out", "client", "client-tool-arguments-changed")
def without_false(loop: ToolLoop) -> Touched:
    return _rewritten(loop, "without false", {"type": "boolean"}, False, None)


@fault("a call is repeated after an error of the tool", "client", "client-tool-executed-twice",
       also="tool-reported-error")  # fmt: skip
def repeated_after_error(loop: ToolLoop) -> Touched:
    one = chosen(loop, "repeated after error")
    if one is None:
        return None
    first = beside(one, deepcopy(one.sent))
    renumber(first, 900)
    first.give({"content": [{"type": "text", "text": "the depot must be a number"}], "isError": True})
    loop.exchanges.insert(loop.exchanges.index(one), first)
    return [one.turn, first]


@fault("the connection is closed under a call", "client", "client-tool-gave-up")
def closed_early(loop: ToolLoop) -> Touched:
    one = chosen(loop, "closed early")
    if one is None:
        return None
    unanswer(loop, one, "client", lasts=0.4)
    show(loop, one, "RuntimeError: Session is closed")
    return [one.turn, one]


@fault("the result of a task is not fetched", "client", "client-tool-gave-up")
def task_left(loop: ToolLoop) -> Touched:
    one = chosen(loop, "task left")
    if one is None:
        return None
    task = {"taskId": "786512e2", "status": "working", "ttl": 60000}
    one.give({"task": task})
    show(loop, one, f"task {task['taskId']} is working")
    return [one.turn, one]


@fault("a reply to the server breaks the schema that it gave", "client", "client-tool-protocol-broken")
def wrong_reply(loop: ToolLoop) -> Touched:
    one = chosen(loop, "wrong reply")
    if one is None:
        return None
    schema: Json = {"type": "object", "properties": {"branch": {"type": "string"}}, "required": ["branch"]}
    params: Json = {"message": "Which branch?", "requestedSchema": schema}
    asked: Json = {"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": params}
    reply: Json = {"jsonrpc": "2.0", "id": 0, "result": {"action": "accept", "content": {}}}
    return [loop.add(one, beside(one, asked, reply, from_server=True, gap=0.1))]


@fault("what the server requires is not offered, and it refuses the call", "client", "client-tool-definition-differs",
       given="tool-server-error", also="call-args-not-taken")  # fmt: skip
def requirement_lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "requirement lost")
    if one is None:
        return None
    declare(loop, one, "depot", {"type": "string"})
    for stated in loop.stated(name_of(one)):
        stated["inputSchema"].setdefault("required", []).append("depot")
    said = error(one, -32602, "Input validation error: 'depot' is a required property")
    show(loop, one, said)
    mark(loop, one, True)
    return [one.turn]


@fault("the model writes a value that the schema does not allow", "model", "model-args-break-schema",
       given="tool-server-error", also="client-tool-definition-differs")  # fmt: skip
def value_not_allowed(loop: ToolLoop) -> Touched:
    one = chosen(loop, "value not allowed")
    if one is None:
        return None
    declare(loop, one, "state", {"type": "string", "enum": ["late", "open"]})
    if not give_also(loop, one, state="delayed"):
        return None
    show(loop, one, error(one, -32602, "state: Input should be 'late' or 'open'"))
    mark(loop, one, True)
    return [one.turn]
