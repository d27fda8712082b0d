"""The event stream of OpenAI Responses, joined into one response."""

from dataclasses import field

from turntape.cassettes.framing import Event
from turntape.cassettes.frozen import mutable

from ...exchange import Exchange
from ...json_value import Object, add_text, as_array, as_count, as_object, as_text
from ...values import ApiError
from ..shared.answers import objects
from ..shared.errors import error_in
from ..shared.piece_names import PieceNames
from ..shared.stated_cost import merge_stated
from .shell_stream import grow_command, grow_output

_CODEX = "/codex/"
"""A part of the path of Codex's API (read from recorded requests)."""
TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed", "response.cancelled"})

_DELTAS: dict[str, str] = {
    "response.function_call_arguments": "arguments",
    "response.mcp_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
    "response.code_interpreter_call_code": "code",
}
"""Events that extend a field of an item, without `.delta` or `.done`."""

_TEXTS: dict[str, tuple[str, str, str]] = {
    "response.output_text": ("content", "output_text", "text"),
    "response.refusal": ("content", "refusal", "refusal"),
    "response.reasoning_text": ("content", "reasoning_text", "text"),
    "response.reasoning_summary_text": ("summary", "summary_text", "text"),
    "response.audio": ("content", "output_audio", "data"),
    "response.output_audio": ("content", "output_audio", "audio"),
    "response.output_audio_transcript": ("content", "output_audio", "transcript"),
    "response.audio.transcript": ("content", "output_audio", "transcript"),
}
"""Events that grow a part of an item: the item's list, the part's type, the part's field."""


@mutable
class ResponseDraft:
    """What the events so far add up to."""

    body: Object = field(default_factory=dict[str, object])
    """The newest `response` object that an event carried."""
    items: dict[object, Object] = field(default_factory=dict[object, Object])
    earlier: list[tuple[object, Object]] = field(default_factory=list[tuple[object, Object]])
    """The items whose key is that of a later one."""
    ended: bool = False
    error: ApiError | None = None
    problems: list[str] = field(default_factory=list[str])
    _last: int | None = None
    names: dict[object, PieceNames] = field(default_factory=dict[object, PieceNames])
    """The ids under which the pieces of each item came."""

    def add(self, name: str, event: Object) -> None:
        """Take one event in."""
        kind = as_text(event.get("type")) or name
        self._count(as_count(event.get("sequence_number")))
        # Something else in the session failed, such as an input that came too late; the response continues.
        if kind == "error" or (event.get("error") and "response" not in event and not kind.startswith("response.")):
            self.error = self.error or error_in(event, in_stream=True)
            return
        merge_stated(self.body, event)
        if response := as_object(event.get("response")):
            self.body = {**self.body, **response}
            if kind == "response.completed":
                self._compare(as_array(response.get("output")))
            self.ended = self.ended or kind in TERMINAL
            return
        stem, _, verb = kind.rpartition(".")
        if verb == "delta":
            self.names.setdefault(_key(event), PieceNames()).add({"the id of the item": event.get("item_id")})
        if stem == "response.output_item":
            if verb == "added":
                self._keep(_key(event), as_object(event.get("item")))
            self.items[_key(event)] = dict(as_object(event.get("item")))
            if verb == "added":
                # Some gateways announce an item as completed before its first delta.
                self.items[_key(event)]["status"] = "in_progress"
        elif stem in _DELTAS:
            item = self._item(event)
            self._grow(item, _DELTAS[stem], event, verb)
            if verb == "done":
                item["status"] = "completed"
        elif stem in _TEXTS:
            where, part_type, key = _TEXTS[stem]
            self._grow(_part(self._item(event), where, part_type, event), key, event, verb)
        elif stem == "response.shell_call_command":
            grow_command(self._item(event), event, verb)
        elif stem == "response.shell_call_output_content":
            grow_output(self._item(event), event, verb)

    def _keep(self, key: object, item: Object) -> None:
        """Keep the item that was under this key before another one: some gateways give all items one index."""
        before = self.items.get(key)
        if before is not None and before.get("id") and item.get("id") and before["id"] != item["id"]:
            self.earlier.append((key, before))

    def whole(self) -> Object:
        """The response. Its `output` is its own if that has items (Codex sends none), else the items of the events."""
        items = [item for _, item in self._in_order()]
        return self.body if as_array(self.body.get("output")) else {**self.body, "output": items}

    def _item(self, event: Object) -> Object:
        return self.items.setdefault(_key(event), {"status": "in_progress", "type": _item_type(event)})

    def _grow(self, target: Object, key: str, event: Object, verb: str) -> None:
        if verb == "delta":
            add_text(target, key, as_text(event.get("delta")))
        elif (value := event.get(key)) is not None:
            streamed = as_text(target.get(key))
            if streamed and isinstance(value, str) and value != streamed:
                self.problems.append(f"The final {key!r} of item {_key(event)} is not the sum of the pieces before it.")
            target[key] = value

    def _compare(self, final: list[object]) -> None:
        """Note what the final items lack of those in the stream, or have otherwise; none at all is another matter."""
        streamed = [item for _, item in self._in_order() if item.get("status") != "in_progress"]
        if not final or not streamed:
            return
        if len(final) < len(streamed):
            missing = len(streamed) - len(final)
            self.problems.append(f"The final response lacks {missing} of the {len(streamed)} items of the stream.")
        elif len(final) == len(streamed):
            for place, (item, last) in enumerate(zip(streamed, map(as_object, final), strict=True)):
                if _said(item) != _said(last):
                    self.problems.append(f"The final response has another item {place} than the stream.")

    def _in_order(self) -> list[tuple[object, Object]]:
        return sorted([*self.earlier, *self.items.items()], key=lambda pair: _order(pair[0]))

    def _count(self, number: int | None) -> None:
        if number is None:
            return
        if self._last is not None and number > self._last + 1:
            missing = number - self._last - 1
            self.problems.append(
                f"{missing} event(s) are missing: the sequence numbers jump from {self._last} to {number}."
            )
        self._last = number


def draft(events: list[Event]) -> ResponseDraft:
    """The response that the events of a stream add up to."""
    result = ResponseDraft()
    for name, event in objects(events, result.problems):
        result.add(name.removeprefix("!"), event)
    result.problems += [problem for names in result.names.values() for problem in names.problems]
    return result


def final_without_items(exchange: Exchange) -> bool:
    """Whether the event that completes the answer has no items. Codex's API sends none on purpose."""
    if exchange.framing != "sse" or _CODEX in exchange.path:
        return False
    for event in reversed(exchange.events):
        fields = as_object(event.value)
        if (as_text(fields.get("type")) or event.name) in ("response.completed", "response.done"):
            return not as_array(as_object(fields.get("response")).get("output"))
    return False


def _key(event: Object) -> object:
    index = as_count(event.get("output_index"))
    return (
        index if index is not None else as_text(event.get("item_id")) or as_text(as_object(event.get("item")).get("id"))
    )


def _order(key: object) -> int:
    return key if isinstance(key, int) else 1 << 30


def _said(item: Object) -> tuple[object, ...]:
    """What an item says: its type, its call, its text."""
    texts = [as_text(as_object(part).get("text")) or "" for part in as_array(item.get("content"))]
    return item.get("type"), item.get("name"), item.get("arguments"), item.get("input"), "".join(texts)


def _part(item: Object, where: str, part_type: str, event: Object) -> Object:
    index = as_count(event.get("summary_index" if where == "summary" else "content_index")) or 0
    index = max(index, 0)
    parts = as_array(item.get(where))
    item[where] = parts
    while len(parts) <= min(index, 1000):
        parts.append({"type": part_type})
    slot = parts[min(index, len(parts) - 1)]
    part = as_object(slot)
    if part is not slot:
        parts[min(index, len(parts) - 1)] = part
    return part


def _item_type(event: Object) -> str:
    kind = as_text(event.get("type")) or ""
    if "function_call" in kind:
        return "function_call"
    if "custom_tool" in kind:
        return "custom_tool_call"
    if "mcp_call" in kind:
        return "mcp_call"
    if "code_interpreter" in kind:
        return "code_interpreter_call"
    if "shell_call" in kind:
        return "shell_call_output" if "output" in kind else "shell_call"
    return "reasoning" if "reasoning" in kind else "message"
