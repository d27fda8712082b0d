"""Joins streamed chat completions into the answer that one body would have had.

Calls join by `index`, as the API says; but real servers leave it out, start at 1 or -1, or give every parallel
call the same one, repeat the id in each delta, or leave that out too.
"""

from dataclasses import field

from turntape.cassettes.frozen import mutable

from ...json_value import Object, add_text, as_array, as_object, as_text, is_array, is_json, is_object
from ..shared.piece_names import grow
from .executed_tools import executed_once
from .request import REASONING_FIELDS

_LONG = 20
"""A model may say less than this many characters twice."""


@mutable
class CallDraft:
    index: int | None
    id: str | None
    type: str = "function"
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    value: object = None
    """The arguments when the server sends them as an object."""

    @property
    def raw(self) -> str:
        return "".join(self.arguments)

    def whole(self) -> Object:
        """The call as `tool_calls` of an answer in one body has it."""
        body: Object = {"name": self.name}
        body["input" if self.type == "custom" else "arguments"] = self.raw if self.value is None else self.value
        return {"id": self.id, "type": self.type, self.type: body}


@mutable
class ChoiceDraft:
    """One choice of which some deltas have come."""

    text: list[str] = field(default_factory=list[str])
    parts: list[object] = field(default_factory=list[object])
    reasoning: list[str] = field(default_factory=list[str])
    details: list[object] = field(default_factory=list[object])
    refusal: list[str] = field(default_factory=list[str])
    calls: list[CallDraft] = field(default_factory=list[CallDraft])
    function_call: CallDraft | None = None
    rest: Object = field(default_factory=dict[str, object])
    choice: Object = field(default_factory=dict[str, object])
    problems: list[str] = field(default_factory=list[str])
    _by_id: dict[str, CallDraft] = field(default_factory=dict[str, CallDraft])
    """The last call of each id."""
    _by_index: dict[int, CallDraft] = field(default_factory=dict[int, CallDraft])
    """The last call of each index."""

    def add(self, choice: Object) -> None:
        """Take in one entry of `choices` of a chunk."""
        for key, value in choice.items():
            if key not in ("delta", "message", "index") and (value or key not in self.choice):
                self.choice[key] = value
        delta = as_object(choice.get("delta"))
        message = as_object(choice.get("message"))
        # Some servers send the whole message so far beside each delta, and some only that.
        if delta or not message:
            self._add_delta(delta)
        elif message:
            self._replace(message)

    def _replace(self, message: Object) -> None:
        self.text, self.parts, self.reasoning, self.refusal, self.calls = [], [], [], [], []
        self.details, self.function_call = [], None
        self._by_id, self._by_index = {}, {}
        self._add_delta(message)

    def _add_delta(self, delta: Object) -> None:
        content = delta.get("content")
        if isinstance(content, str):
            self.text.append(content)
        else:
            self.parts += as_array(content)
        for name in REASONING_FIELDS:
            if isinstance(piece := delta.get(name), str) and piece:
                self.reasoning.append(piece)
                break
        self.details += as_array(delta.get("reasoning_details"))
        if isinstance(refusal := delta.get("refusal"), str):
            self.refusal.append(refusal)
        for item in as_array(delta.get("tool_calls")):
            self._add_call(as_object(item))
        if old := as_object(delta.get("function_call")):
            if self.function_call is None:
                self.function_call = CallDraft(None, None)
            _extend(self.function_call, old)
        for key in ("audio", "images", "reasoning_opaque"):
            if value := delta.get(key):
                self.rest[key] = _merged(self.rest.get(key), value)
        if executed := as_array(delta.get("executed_tools")):
            self.rest["executed_tools"] = executed_once([*as_array(self.rest.get("executed_tools")), *executed])

    def _add_call(self, item: Object) -> None:
        kind = "custom" if item.get("custom") else "function"
        body = as_object(item.get(kind))
        draft = self._open_call(item, as_text(body.get("name")) or "")
        if draft is None:
            index = item.get("index")
            draft = CallDraft(index if isinstance(index, int) else None, None)
            self.calls.append(draft)
            if draft.index is not None:
                self._by_index[draft.index] = draft
        if (call_id := _id(item)) and not draft.id:
            draft.id = call_id
            self._by_id[call_id] = draft
        if kind == "custom":
            draft.type = "custom"
        _extend(draft, body)

    def _open_call(self, item: Object, name: str) -> CallDraft | None:
        """The call that this delta continues, or None when it begins one."""
        call_id, index = _id(item), item.get("index")
        same = self._by_id.get(call_id) if call_id else None
        if same is not None and not _another(same, index, name):
            return same
        if isinstance(index, int):
            found = self._by_index.get(index)
        else:
            found = self.calls[-1] if self.calls else None
        if found is None or not name or not found.name:
            return found
        if call_id:
            begins = found.id is not None and call_id != found.id
        else:
            begins = found.value is not None or is_json(found.raw)
        if not begins and (isinstance(index, int) or name == found.name):
            return found
        if isinstance(index, int):
            self.problems.append(f"Two tool calls share index {index} in the stream; they were separated.")
        return None

    def _is_sent_twice(self, text: str) -> bool:
        pieces = [piece for piece in self.text if piece]
        last = pieces[-1] if len(pieces) > 2 else ""
        return len(last) >= _LONG and text == last + last

    def whole(self) -> Object:
        """The choice as an answer in one body has it."""
        message: Object = {"role": "assistant", **self.rest}
        text = "".join(self.text)
        if grow(self.text):
            self.problems.append("Each piece of the text repeats all pieces before it.")
        elif self._is_sent_twice(text):
            self.problems.append("The last piece of the text repeats all pieces before it.")
        if any(grow(call.arguments) for call in self.calls):
            self.problems.append("Each piece of a call's arguments repeats all pieces before it.")
        if self.parts:
            message["content"] = [*_joined_parts(self.parts), *([{"type": "text", "text": text}] if text else [])]
        else:
            message["content"] = text
        if self.reasoning:
            message["reasoning_content"] = "".join(self.reasoning)
        if self.details:
            message["reasoning_details"] = _joined_parts(self.details)
        if any(self.refusal):
            message["refusal"] = "".join(self.refusal)
        if self.calls:
            message["tool_calls"] = [call.whole() for call in self.calls]
        if self.function_call:
            message["function_call"] = self.function_call.whole()["function"]
        return {**self.choice, "message": message}


def _another(first: CallDraft, index: object, name: str) -> bool:
    """True when a second call has the id of a call that is already complete."""
    fresh = isinstance(index, int) and first.index is not None and index != first.index
    return fresh and bool(name) and (first.value is not None or is_json(first.raw))


def _id(item: Object) -> str | None:
    value = as_text(item.get("id"))
    return None if value in ("", "null") else value


def _extend(draft: CallDraft, body: Object) -> None:
    name = as_text(body.get("name")) or ""
    if not draft.name:
        draft.name = name
    elif name and name != draft.name and not draft.arguments:
        draft.name += name
    value = body.get("arguments", body.get("input"))
    if isinstance(value, str):
        draft.arguments.append(value)
    elif value is not None:
        draft.value = value


def _merged(old: object, new: object) -> object:
    """Join pieces of audio and similar: strings and lists are appended, objects are merged, the rest is replaced."""
    if isinstance(old, str) and isinstance(new, str):
        return old + new
    if is_array(old) and is_array(new):
        return [*as_array(old), *as_array(new)]
    if is_object(old) and is_object(new):
        fields = as_object(old)
        return {**fields, **{k: _merged(fields.get(k), v) for k, v in as_object(new).items()}}
    return new


_PIECES = ("text", "thinking", "summary", "data", "signature")


def _joined_parts(parts: list[object]) -> list[object]:
    """Consecutive parts of one type (and index) as one, their texts joined."""
    joined: list[Object] = []
    for part in parts:
        fields = dict(as_object(part))
        if is_array(fields.get("thinking")):
            fields["thinking"] = "".join(
                as_text(as_object(item).get("text")) or "" for item in as_array(fields["thinking"])
            )
        last = joined[-1] if joined else None
        if last is None or any(last.get(k) != fields.get(k) for k in ("type", "index")):
            joined.append(fields)
            continue
        for key, value in fields.items():
            if key in _PIECES and isinstance(last.get(key), str) and isinstance(value, str):
                add_text(last, key, value)
            elif value is not None:
                last[key] = value
    return list(joined)


def index_of(choice: Object) -> int:
    """The number of a choice; 0 when the server leaves it out."""
    index = choice.get("index")
    return index if isinstance(index, int) and not isinstance(index, bool) else 0
