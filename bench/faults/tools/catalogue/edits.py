"""Edits that several faults share: the choice of a call, what the model is shown, messages of a session."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Literal

from tests.clients.script import is_same_tool

from ...recorded.bodies import Json
from ...recorded.catalogue.edits import change_call, pick, write_text
from ..wire import Exchange, ToolLoop


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


def unanswer(loop: ToolLoop, one: Exchange, ended: Literal["client", "server"], lasts: float = 0.02) -> None:
    """No answer comes for so many seconds. Some clients send `cancelled` after every call; that goes too."""
    assert isinstance(one.sent, dict)
    number = one.sent["id"]
    one.got, one.ended, one.lasts = None, ended, lasts
    if one.turn + 1 < len(loop.loop.turns):
        loop.loop.turns[one.turn + 1].gap += lasts
    loop.exchanges[:] = [
        other for other in loop.exchanges if other.session != one.session or not _cancels(other, number)
    ]


def _cancels(one: Exchange, number: object) -> bool:
    said = one.sent if isinstance(one.sent, dict) else {}
    return said.get("method") == "notifications/cancelled" and said["params"].get("requestId") == number


def is_long(_one: Exchange, text: str) -> bool:
    return len(text) >= 300 and not text.lstrip().startswith(("{", "["))


def plain(_one: Exchange, text: str) -> bool:
    return len(text.strip()) >= 8


def beside(one: Exchange, sent: Json | bytes, got: Json | None = None, **fields: Any) -> Exchange:
    """A new message in the session of another one."""
    return Exchange(one.turn, sent, got, session=one.session, server=one.server, number=one.number, **fields)


def renumber(one: Exchange, number: int) -> None:
    for message in (one.sent, one.got):
        if isinstance(message, dict):
            message["id"] = number


def mark(loop: ToolLoop, one: Exchange, failed: bool) -> bool:
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


def name_of(one: Exchange) -> str:
    return one.sent["params"]["name"] if isinstance(one.sent, dict) else ""


def error(one: Exchange, code: int, said: str) -> str:
    """The server refuses a call; what clients show of that."""
    assert isinstance(one.sent, dict)
    one.got = {"jsonrpc": "2.0", "id": one.sent["id"], "error": {"code": code, "message": said}}
    return f"MCP error {code}: {said}"


def declare(loop: ToolLoop, one: Exchange, name: str, schema: Json) -> bool:
    """One more argument of a tool, in what its server states and in what the model is offered; False where no request
    offers the tool by its own schema."""
    tool, changed = name_of(one), False
    for stated in loop.stated(tool):
        stated["inputSchema"].setdefault("properties", {})[name] = schema
    for turn in loop.loop.turns:
        for offered in loop.shape.tools(turn.request):
            if is_same_tool(offered.name.value, tool) and isinstance(offered.schema, dict):
                offered.schema.setdefault("properties", {})[name] = schema
                changed = True
    return changed


def give_also(loop: ToolLoop, one: Exchange, **more: object) -> bool:
    """The model gives these arguments too, and the client sends them; False where the call is not in the history."""
    if not change_call(loop.loop, one.turn, one.number, lambda call: call.give({**call.known, **more})):
        return False
    one.arguments.update(deepcopy(more))
    return True
