"""What the events of a stream of DashScope add up to.

With `incremental_output` each event brings a piece. Without it, each event brings the whole text so far, unless the
model can stream in pieces only; then the texts themselves show it.
"""

from dataclasses import field
from itertools import pairwise

from turntape.cassettes.frozen import mutable

from ...json_value import Object, as_array, as_object, as_text, objects_in
from ..openai_chat.deltas import index_of

_RUNNING = (None, "", "null")
_TEXTS = ("content", "reasoning_content", "reasoning_signature")


@mutable
class _Texts:
    """The pieces of one text."""

    pieces: list[str] = field(default_factory=list[str])

    def add(self, value: object) -> None:
        if isinstance(value, str) and value:
            self.pieces.append(value)

    def whole(self, in_pieces: bool) -> str:
        if in_pieces or not all(later.startswith(earlier) for earlier, later in pairwise(self.pieces)):
            return "".join(self.pieces)
        return self.pieces[-1] if self.pieces else ""


@mutable
class _Choice:
    """A choice so far. Texts that grow are kept separately, by their place."""

    fields: Object = field(default_factory=dict[str, object])
    message: Object = field(default_factory=dict[str, object])
    content: dict[int, Object] = field(default_factory=dict[int, Object])
    """Content that is a list, by place."""
    calls: dict[int, Object] = field(default_factory=dict[int, Object])
    texts: dict[tuple[str, int], _Texts] = field(default_factory=dict[tuple[str, int], _Texts])

    def add(self, choice: Object) -> None:
        self.fields.update({key: value for key, value in choice.items() if key != "message" and value is not None})
        message = as_object(choice.get("message"))
        for key, value in message.items():
            if key not in (*_TEXTS, "tool_calls") and value is not None:
                self.message[key] = value
        for key in _TEXTS:
            self._text(key, 0).add(message.get(key))
        for place, piece in enumerate(objects_in(message.get("content"))):
            self.content.setdefault(place, {}).update(piece)
            self._text("piece", place).add(piece.get("text"))
        for number, call in enumerate(objects_in(message.get("tool_calls"))):
            self._add_call(call, number)

    def _add_call(self, call: Object, number: int) -> None:
        place = index if isinstance(index := call.get("index"), int) else number
        known = self.calls.setdefault(place, {})
        known.update({key: value for key, value in call.items() if key != "function" and value not in (None, "")})
        function = as_object(call.get("function"))
        for key in ("name", "arguments"):
            self._text(key, place).add(function.get(key))

    def _text(self, name: str, place: int) -> _Texts:
        return self.texts.setdefault((name, place), _Texts())

    def whole(self, in_pieces: bool) -> Object:
        """The choice as an answer in one body has it."""
        said = {key: whole for key in _TEXTS if (whole := self._text(key, 0).whole(in_pieces))}
        message: Object = {**self.message, **said}
        if self.content:
            message["content"] = [
                {**piece, "text": self._text("piece", place).whole(in_pieces)} if "text" in piece else piece
                for place, piece in sorted(self.content.items())
            ]
        if self.calls:
            message["tool_calls"] = [
                {**call, "function": {key: self._text(key, at).whole(in_pieces) for key in ("name", "arguments")}}
                for at, call in sorted(self.calls.items())
            ]
        return {**self.fields, "message": message}

    @property
    def ended(self) -> bool:
        return self.fields.get("finish_reason") not in _RUNNING


def assemble(events: list[tuple[str, Object]], *, in_pieces: bool) -> tuple[Object, bool]:
    """The answer that the events add up to, and whether its end was among them."""
    body: Object = {}
    output: Object = {}
    choices: dict[int, _Choice] = {}
    text = _Texts()
    for name, event in events:
        given = as_object(event.get("output"))
        if name == "error" or not given:
            continue
        body.update({key: value for key, value in event.items() if key != "output" and value is not None})
        output.update({key: value for key, value in given.items() if key != "choices" and value is not None})
        text.add(as_text(given.get("text")))
        for choice in map(as_object, as_array(given.get("choices"))):
            choices.setdefault(index_of(choice), _Choice()).add(choice)
    if text.pieces:
        output["text"] = text.whole(in_pieces)
    if choices:
        output["choices"] = [choice.whole(in_pieces) for _, choice in sorted(choices.items())]
    ended = all(choice.ended for choice in choices.values()) if choices else output.get("finish_reason") not in _RUNNING
    return {**body, "output": output}, ended
