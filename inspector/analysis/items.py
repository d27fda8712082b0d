"""A conversation as a row of items, so that two requests can be compared whatever their spelling.

Markers of caching, ids and the shape of a message (`"text"` or `[{"type": "text"}]`) do not count; what was said,
called and answered does. Reasoning is left out: a client may drop or keep it.
"""

from collections.abc import Iterable

from ..wire.json_value import compact
from ..wire.values import Emission, Message, Part, ToolCall

type Item = int
"""The hash of one piece of a conversation, within this process."""


def _call(call: ToolCall) -> Item:
    arguments = compact(call.arguments) if call.arguments is not None else call.arguments_raw
    return hash(("assistant", "call", call.name, arguments))


def _part(role: str, part: Part) -> Item | None:
    if part.call is not None:
        return _call(part.call)
    if part.result is not None:
        return hash(("result", part.result.text))
    if part.kind == "text":
        return hash((role, part.text)) if part.text else None
    if part.kind in ("reasoning", "other"):
        return None
    return hash((role, part.kind, compact(part.raw)))


def items_of(messages: Iterable[Message]) -> list[Item]:
    """The items of a request's history, in order."""
    return [item for message in messages for part in message.parts if (item := _part(message.role, part)) is not None]


def emitted_items(emission: Emission) -> list[Item]:
    """What a client appends when it keeps an answer: its text and its calls."""
    items = [hash(("assistant", emission.text))] if emission.text else []
    return items + [_call(call) for call in emission.calls]


def rolling(items: Iterable[Item]) -> list[int]:
    """For each length, a hash of that many first items; `rolling(x)[n]` stands for `x[:n]`."""
    sums = [0]
    for item in items:
        sums.append(hash((sums[-1], item)))
    return sums
