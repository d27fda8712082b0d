"""What the events of a stream of Mistral's conversations add up to."""

from ...json_value import Object, add_text, as_array, as_count, as_object, as_text, is_object

_KINDS = {
    "message.output.delta": "message.output",
    "function.call.delta": "function.call",
    "tool.execution.started": "tool.execution",
    "tool.execution.delta": "tool.execution",
    "tool.execution.done": "tool.execution",
    "agent.handoff.started": "agent.handoff",
    "agent.handoff.done": "agent.handoff",
}
"""The entry that each event belongs to."""


def assemble(events: list[tuple[str, Object]]) -> tuple[Object, bool]:
    """The answer that the events add up to, and whether its end was among them."""
    body: Object = {}
    entries: dict[tuple[int, str], Object] = {}
    ended = False
    for name, event in events:
        kind = as_text(event.get("type")) or name
        if kind == "conversation.response.started":
            body["conversation_id"] = event.get("conversation_id")
        elif kind == "conversation.response.done":
            body["usage"] = event.get("usage")
            ended = True
        elif kind == "conversation.response.error":
            body["error"] = {"message": event.get("message"), "code": event.get("code")}
            ended = True
        elif kind in _KINDS:
            place = as_count(event.get("output_index")) or 0, as_text(event.get("id")) or ""
            entry = entries.setdefault(place, {"type": _KINDS[kind], "cut": True})
            _grow(entry, kind, event)
    for entry in entries.values():
        if ended and not entry.pop("runs", False):
            entry.pop("cut", None)
    body["outputs"] = [entry for _, entry in sorted(entries.items(), key=lambda pair: pair[0][0])]
    return body, ended


def _grow(entry: Object, kind: str, event: Object) -> None:
    if kind == "message.output.delta":
        _grow_content(entry, event)
    elif "arguments" in event:
        add_text(entry, "arguments", as_text(event.get("arguments")))
    if kind.startswith("tool.execution"):
        entry["runs"] = kind != "tool.execution.done"
    for key, value in event.items():
        if key not in ("type", "content", "arguments", "output_index", "content_index") and value is not None:
            entry[key] = value


def _grow_content(entry: Object, event: Object) -> None:
    """Add a piece of a message: a text or one chunk. Texts and thoughts grow at their place."""
    piece = event.get("content")
    chunk: Object = as_object(piece) if is_object(piece) else {"type": "text", "text": as_text(piece) or ""}
    place = as_count(event.get("content_index"))
    content = [*as_array(entry.get("content"))]
    last = as_object(content[-1]) if content else {}
    same = last.get("type") == chunk.get("type") and place == entry.get("place")
    if same and chunk.get("type") == "text":
        content[-1] = {**last, "text": f"{as_text(last.get('text')) or ''}{as_text(chunk.get('text')) or ''}"}
    elif same and chunk.get("type") == "thinking":
        content[-1] = {**last, "thinking": [*as_array(last.get("thinking")), *as_array(chunk.get("thinking"))]}
    else:
        content.append(chunk)
    entry["content"], entry["place"] = content, place
