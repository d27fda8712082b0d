"""What the events of a Cohere v2 stream add up to."""

from collections.abc import Iterator

from ...exchange import Exchange
from ...json_value import Object, as_count, as_object, as_text
from ..shared.after_end import after_end
from ..shared.left_open import left_open


def assemble(events: list[tuple[str, Object]]) -> tuple[Object, bool]:
    """The answer that the events add up to, and whether `message-end` was among them."""
    contents: dict[int, Object] = {}
    calls: dict[int, Object] = {}
    body: Object = {}
    plan, ended = "", False
    for name, event in events:
        delta = as_object(event.get("delta"))
        message = as_object(delta.get("message"))
        index = as_count(event.get("index")) or 0
        match as_text(event.get("type")) or name:
            case "message-start":
                body["id"] = event.get("id")
            case "content-start" | "content-delta":
                _grow(contents.setdefault(index, {}), as_object(message.get("content")))
            case "tool-plan-delta":
                plan += as_text(message.get("tool_plan")) or ""
            case "tool-call-start":
                call = as_object(message.get("tool_calls"))
                calls[index] = {**call, "function": dict(as_object(call.get("function"))), "cut": True}
            case "tool-call-delta":
                piece = as_object(as_object(message.get("tool_calls")).get("function"))
                _grow(as_object(calls.setdefault(index, {"function": {}}).get("function")), piece)
            case "tool-call-end":
                calls.setdefault(index, {}).pop("cut", None)
            case "message-end":
                ended = True
                body.update(delta)
            case _:
                pass
    for call in calls.values() if ended else ():
        call.pop("cut", None)  # Some gateways leave out the end of a call but end the message.
    body["message"] = {
        "content": [content for _, content in sorted(contents.items())],
        "tool_plan": plan,
        "tool_calls": [call for _, call in sorted(calls.items())],
    }
    return body, ended


def contradictions(exchange: Exchange) -> Iterator[str]:
    """A sentence when pieces of the answer come after `message-end`, or one of them is never ended."""
    yield from after_end(exchange, _ends, lambda kind, _: kind.endswith("-delta"))
    yield from left_open(exchange, _opened, _closed, _ends)


def _ends(kind: str, _: Object) -> bool:
    return kind == "message-end"


def _opened(kind: str, event: Object) -> str | None:
    return _place(kind, event) if kind in ("content-start", "tool-call-start") else None


def _closed(kind: str, event: Object) -> str | None:
    return _place(kind, event) if kind in ("content-end", "tool-call-end") else None


def _place(kind: str, event: Object) -> str:
    return f"{kind.rpartition('-')[0]} {as_count(event.get('index')) or 0}"


def _grow(target: Object, piece: Object) -> None:
    for key, value in piece.items():
        old = target.get(key)
        grows = key in ("text", "thinking", "arguments") and isinstance(old, str) and isinstance(value, str)
        target[key] = f"{old}{value}" if grows else value
