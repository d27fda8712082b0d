"""What clients and tool servers do wrong, as edits of a loop with its tool wire."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import wraps
from typing import Any, Literal

from turntape.inspector.findings.rules.results import READERS

from ..dialects.dialect import compact
from ..recorded.bodies import Json
from ..recorded.catalogue.edits import pick, write_text
from ..recorded.catalogue.table import CACHE, Fault, Places, Table
from .wire import Exchange, ToolLoop, text_of

type Touched = list[int | Exchange] | None
"""The turns and exchanges at which the finding may be; None when the loop has nothing to break there."""

_TABLE = Table()
FOLLOWS = f"{CACHE} client-tool-error-as-success client-empty-tool-result model-repeated-call api-answer-replayed"
IMAGE: Json = {"type": "image", "data": "iVBORw0KGgo" + "A" * 400, "mimeType": "image/png"}
AUDIO: Json = {"type": "audio", "data": "UklGRiQAAABX" + "B" * 400, "mimeType": "audio/wav"}
LINK: Json = {"type": "resource_link", "uri": "desk://notes/4711", "name": "notes"}


def fault(name: str, layers: str, finds: str, *, given: str = "", also: str = "") -> Callable[..., Any]:
    """A row of the table over an injector that says what it touched."""

    def add(inject: Callable[[ToolLoop], Touched]) -> Callable[..., Any]:
        @wraps(inject)
        def numbered(loop: Any) -> Places:
            touched = inject(loop)
            if touched is None:
                return None
            loop.trips()
            return {loop.at[one if isinstance(one, int) else id(one)] for one in touched}

        _TABLE(name, layers, finds, given=given, also=f"{also} {FOLLOWS}")(numbered)
        return numbered

    return add


def _any(_one: Exchange, _text: str) -> bool:
    return True


def chosen(loop: ToolLoop, salt: str, wanted: Callable[[Exchange, str], bool] = _any) -> Exchange | None:
    """A call that succeeded, the same for the same loop."""
    fits = [one for one in loop.calls if succeeded(one) and loop.shown(one) and wanted(one, returned(one))]
    return pick(loop.loop, fits, salt)


def succeeded(one: Exchange) -> bool:
    return one.got is not None and not one.got["result"].get("isError")


def returned(one: Exchange) -> str:
    if one.got is None or not one.got["result"]["content"]:
        return ""
    first = one.got["result"]["content"][0]
    return first.get("text") or first.get("resource", {}).get("text") or ""


def show(loop: ToolLoop, one: Exchange, text: str) -> None:
    """Another text in all later requests, in place of all parts of the result."""
    for result in loop.shown(one):
        value = result.text.value
        result.text.value = write_text(value[:1] if isinstance(value, list) else value, text)


def unanswer(loop: ToolLoop, one: Exchange, ended: Literal["client", "server"]) -> None:
    """No answer comes. Some clients send `cancelled` after every call; that goes too."""
    assert isinstance(one.sent, dict)
    number = one.sent["id"]
    one.got, one.ended = None, ended
    loop.exchanges[:] = [
        other for other in loop.exchanges if other.session != one.session or not _cancels(other, number)
    ]


def _cancels(one: Exchange, number: object) -> bool:
    said = one.sent if isinstance(one.sent, dict) else {}
    return said.get("method") == "notifications/cancelled" and said["params"].get("requestId") == number


def _long(_one: Exchange, text: str) -> bool:
    return len(text) >= 300 and not text.lstrip().startswith(("{", "["))


def _plain(_one: Exchange, text: str) -> bool:
    return len(text.strip()) >= 8


# Results


@fault("a result is cut", "client", "client-tool-result-cut")
def cut(loop: ToolLoop) -> Touched:
    one = chosen(loop, "cut", _long)
    if one is None:
        return None
    text = returned(one)
    show(loop, one, text[: max(220, len(text) * 2 // 3)])
    return [one.turn]


@fault("a result is cut, and the client says so", "client", "client-tool-result-cut")
def cut_and_said(loop: ToolLoop) -> Touched:
    one = chosen(loop, "cut and said")
    if one is None:
        return None
    long = "".join(f"row {number}: the parcel is on its way\n" for number in range(900))
    one.give({"content": [{"type": "text", "text": long}]})
    show(loop, one, f"{long[:1500]}\n[27,000 characters truncated]\n{long[-800:]}")
    return [one.turn]


@fault("a result becomes a file", "client", "client-tool-result-as-file")
def to_file(loop: ToolLoop) -> Touched:
    one = chosen(loop, "file", _plain)
    if one is None:
        return None
    show(loop, one, "The output is too large. It was saved to /home/me/.agent/tool-results/r-17.txt")
    return [one.turn]


@fault("structured content beside a text is left out", "client", "client-tool-structured-lost")
def structured(loop: ToolLoop) -> Touched:
    one = chosen(loop, "structured", _plain)
    if one is None:
        return None
    one.give(one.got["result"] | {"structuredContent": {"parcels": [{"id": 4711, "late": True}]}})  # type: ignore[index]
    return [one.turn]


@fault("structured content alone is left out", "client", "client-tool-structured-lost")
def only_structured(loop: ToolLoop) -> Touched:
    one = chosen(loop, "only structured")
    if one is None:
        return None
    one.give({"content": [], "structuredContent": {"parcels": [{"id": 4711, "late": True}]}})
    show(loop, one, "")
    return [one.turn]


@fault("the text beside structured content is left out", "client", "client-tool-text-lost")
def text_lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "text lost")
    if one is None:
        return None
    value = {"parcels": [{"id": 4711, "late": True}]}
    one.give({"content": [{"type": "text", "text": "One parcel is late."}], "structuredContent": value})
    show(loop, one, json.dumps(value))
    return [one.turn]


def _with_block(loop: ToolLoop, salt: str, block: Json) -> Touched:
    one = chosen(loop, salt, _plain)
    if one is None or _shows_media(loop, one):
        return None
    one.give({"content": [{"type": "text", "text": returned(one)}, block]})
    return [one.turn]


def _shows_media(loop: ToolLoop, one: Exchange) -> bool:
    """Whether the next request holds an image or a file: it may be what the client made of the block."""
    following = loop.loop.turns[one.turn + 1 :][:1]
    return any(word in compact(turn.request) for turn in following for word in _MEDIA)


_MEDIA = ('"image', '"input_image', '"inlineData', '"inline_data', '"fileData', '"file', '"document', '"media')


@fault("an image is left out", "client", "client-tool-image-lost")
def image(loop: ToolLoop) -> Touched:
    return _with_block(loop, "image", IMAGE)


@fault("audio is left out", "client", "client-tool-audio-lost")
def audio(loop: ToolLoop) -> Touched:
    return _with_block(loop, "audio", AUDIO)


@fault("a link to a resource is left out", "client", "client-tool-resource-lost")
def resource(loop: ToolLoop) -> Touched:
    return _with_block(loop, "resource", LINK)


@fault("nothing of a result is shown", "client", "client-tool-result-lost client-tool-resource-lost")
def lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "lost", _plain)
    if one is None:
        return None
    show(loop, one, "")
    return [one.turn]


@fault("another text than the tool returned", "client",
       "client-tool-result-changed client-tool-result-stale client-tool-results-swapped")  # fmt: skip
def changed(loop: ToolLoop) -> Touched:
    one = chosen(loop, "changed", _plain)
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": "Parcel 4711 is late and waits in Turin."}]})
    return [one.turn]


def _mark(loop: ToolLoop, one: Exchange, failed: bool) -> bool:
    """Mark a result as failed, or not; False where the API has no mark."""
    marked = False
    for result in loop.shown(one):
        node = result.node
        inner = node.get("toolResult") if isinstance(node, dict) else None
        if isinstance(inner, dict):
            inner["status"], marked = "error" if failed else "success", True
        elif isinstance(node, dict) and node.get("type") == "tool_result":
            node["is_error"], marked = failed, True
    return marked


@fault("the mark of an error is lost", "client", "client-tool-error-mark-lost", given="tool-reported-error")
def mark_lost(loop: ToolLoop) -> Touched:
    one = chosen(loop, "mark lost", _plain)
    if one is None or not _mark(loop, one, failed=False):
        return None
    one.give(one.got["result"] | {"isError": True})  # type: ignore[index]
    return [one.turn]


@fault("an error is invented", "client", "client-tool-error-invented")
def invented(loop: ToolLoop) -> Touched:
    one = chosen(loop, "invented", _plain)
    return [one.turn] if one is not None and _mark(loop, one, failed=True) else None


@fault("two results are swapped", "client", "client-tool-results-swapped")
def swapped(loop: ToolLoop) -> Touched:
    by_turn: dict[int, list[Exchange]] = {}
    for one in loop.calls:
        by_turn.setdefault(one.turn, []).append(one)
    pairs = [found[:2] for found in by_turn.values() if len(found) > 1]
    pair = pick(loop.loop, pairs, "swapped")
    if pair is None:
        return None
    first, second = pair
    first.give({"content": [{"type": "text", "text": "Parcel 4711 waits in Turin."}]})
    second.give({"content": [{"type": "text", "text": "Parcel 4712 is at the door."}]})
    show(loop, first, returned(second))
    show(loop, second, returned(first))
    return [first.turn]


@fault("an earlier result is shown again", "client", "client-tool-result-stale")
def stale(loop: ToolLoop) -> Touched:
    later = [(a, b) for a in loop.calls for b in loop.calls if a.turn < b.turn and loop.shown(b)]
    pair = pick(loop.loop, later, "stale")
    if pair is None or not _plain(pair[0], returned(pair[0])):
        return None
    earlier, one = pair
    show(loop, one, text_of(loop.shown(earlier)[0].text.value))
    one.give({"content": [{"type": "text", "text": "Parcel 4711 waits in Turin."}]})
    return [one.turn]


# Calls


def beside(one: Exchange, sent: Json | bytes, got: Json | None = None, **fields: Any) -> Exchange:
    """A new message in the session of another one."""
    return Exchange(one.turn, sent, got, session=one.session, server=one.server, number=one.number, **fields)


def _remove(loop: ToolLoop, salt: str) -> Exchange | None:
    one = chosen(loop, salt, _plain)
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
    _renumber(again, 900)
    loop.add(one, again)
    return [one.turn, again]


def _renumber(one: Exchange, number: int) -> None:
    for message in (one.sent, one.got):
        if isinstance(message, dict):
            message["id"] = number


@fault("a tool is called that no answer asks for", "client", "client-tool-call-unasked")
def unasked(loop: ToolLoop) -> Touched:
    one = chosen(loop, "unasked")
    if one is None:
        return None
    extra = beside(one, deepcopy(one.sent), deepcopy(one.got))
    _renumber(extra, 900)
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


# Servers


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
    _mark(loop, one, failed=True)
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
    one = chosen(loop, "invalid", _plain)
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
    _renumber(again, 900)
    last = [other for other in loop.exchanges if other.turn == len(loop.loop.turns) - 1] or loop.exchanges
    again.turn = last[-1].turn
    loop.exchanges.append(again)
    return [again]


@fault("garbage on stdout", "tool", "tool-garbage-on-stdout")
def garbage(loop: ToolLoop) -> Touched:
    made = beside(loop.exchanges[0], b"desk server 1.2 is ready", from_server=True)
    loop.exchanges.insert(1, made)
    return [made]


# What breaks the rules of MCP


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
    _renumber(again, 910)
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
    one = chosen(loop, "no content", _plain)
    if one is None:
        return None
    one.give({"output": returned(one)})
    show(loop, one, "")
    return [one.turn]


@fault("an error comes as a result", "tool", "tool-error-unmarked", given="client-tool-error-as-success")
def unmarked(loop: ToolLoop) -> Touched:
    one = chosen(loop, "unmarked", lambda one, text: not READERS.search(_name(one)))
    if one is None:
        return None
    one.give({"content": [{"type": "text", "text": "Error: no connection to the database"}]})
    show(loop, one, "Error: no connection to the database")
    return [one.turn]


def _name(one: Exchange) -> str:
    return one.sent["params"]["name"] if isinstance(one.sent, dict) else ""


@fault("a call goes to a server without the tool", "client", "client-tool-not-on-server")
def elsewhere(loop: ToolLoop) -> Touched:
    one = chosen(loop, "elsewhere")
    if one is None or not isinstance(one.sent, dict):
        return None
    start, listed = (deepcopy(loop.exchanges[0]), deepcopy(loop.lists[-1]))
    listed.got["result"]["tools"] = [{"name": "add_note", "inputSchema": {"type": "object"}}]  # type: ignore[index]
    loop.exchanges[:0] = [start, listed]
    said = f"Unknown tool: {_name(one)}"
    one.got = {"jsonrpc": "2.0", "id": one.sent["id"], "error": {"code": -32602, "message": said}}
    for other in (start, listed, one):
        other.session, other.server = "s2", "notes"
    show(loop, one, said)
    return [one.turn]


@fault("a result is joined to another one", "client", "client-tool-results-swapped")
def joined(loop: ToolLoop) -> Touched:
    pairs = [(a, b) for a in loop.calls for b in loop.calls if a.turn == b.turn and a is not b and loop.shown(a)]
    pair = pick(loop.loop, pairs, "joined")
    if pair is None:
        return None
    one, other = pair
    one.give({"content": [{"type": "text", "text": "Parcel 4711 waits in Turin."}]})
    other.give({"content": [{"type": "text", "text": "Parcel 4712 is at the door."}]})
    show(loop, other, returned(other))
    show(loop, one, returned(one) + returned(other))
    return [one.turn]


FAULTS: tuple[Fault, ...] = tuple(_TABLE.rows)
