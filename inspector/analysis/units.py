"""A conversation as a row of units, so that two requests can be compared piece by piece, whatever their spelling.

Each unit is one part of a message: a text, a call, a result, something else. Its `said` is what it says, whatever
the shape (`"text"` or `[{"type": "text"}]`); its `spelled` is its exact JSON. Markers of caching count for neither.
Reasoning is kept apart: a client may rightly drop or keep it. So are the API's own tools, with their results.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ..wire.json_value import as_object, compact, is_array, is_object
from ..wire.values import Emission, Message, Part, ToolCall

type UnitKind = Literal["text", "call", "result", "media", "refusal", "other"]

MARKERS = frozenset({"cache_control", "cachePoint"})


@dataclass(frozen=True, slots=True)
class Unit:
    kind: UnitKind
    role: str
    key: str | None
    """The id of the call, where there is one."""
    said: int
    """A hash of what it says, without ids."""
    spelled: int
    """A hash of its JSON as sent."""
    pointer: str
    part: Part
    emitted: bool = False
    """True for a piece of an answer; its pointer is into the response."""

    @property
    def text(self) -> str:
        return self.part.call.arguments_raw if self.part.call else self.part.text


def unmarked(value: object) -> object:
    """A JSON value without markers of caching."""
    if is_object(value):
        fields = as_object(value)
        return {key: unmarked(item) for key, item in fields.items() if key not in MARKERS}
    return [unmarked(item) for item in value] if is_array(value) else value


def sorted_json(value: object) -> str:
    """`value` as JSON whose key order says nothing."""
    return compact(_ordered(value))


def _ordered(value: object) -> object:
    if is_object(value):
        return {key: _ordered(item) for key, item in sorted(as_object(value).items())}
    return [_ordered(item) for item in value] if is_array(value) else value


def call_meaning(call: ToolCall) -> int:
    """A hash of a call: name and arguments, however they are spelled."""
    spelled = (call.name, call.arguments_raw, call.arguments is None)
    meaning = _meanings.get(spelled)
    if meaning is None:
        arguments = sorted_json(call.arguments) if call.arguments is not None else call.arguments_raw.strip() or "{}"
        meaning = hash(("call", call.name, arguments))
        if len(_meanings) >= _MOST_MEANINGS:
            _meanings.clear()
        _meanings[spelled] = meaning
    return meaning


_meanings: dict[tuple[str, str, bool], int] = {}
"""A history repeats its calls in every request."""
_MOST_MEANINGS = 4096


def _unit(role: str, part: Part, emitted: bool) -> Unit | None:
    pointer = part.pointer
    if part.call is not None and part.call.server:
        return None
    if part.call is not None:
        spelled = hash((part.call.name, part.call.arguments_raw))
        return Unit("call", "assistant", part.call.id, call_meaning(part.call), spelled, pointer, part, emitted)
    if part.result is not None and role == "assistant":
        return None
    if part.result is not None:
        said = hash(("result", part.result.text.strip()))
        return Unit("result", "tool", part.result.call_id, said, hash(part.result.text), pointer, part, emitted)
    if part.kind == "text" or part.kind == "refusal":
        if not part.text.strip():
            return None
        said = hash((role, _squeezed(part.text)))
        return Unit(part.kind, role, None, said, hash((role, part.text)), pointer, part, emitted)
    if part.kind == "media":
        said = hash((role, "media", sorted_json(unmarked(part.raw))))
        return Unit("media", role, None, said, said, pointer, part, emitted)
    return None


def _squeezed(text: str) -> str:
    """Some clients trim or fold white space, which says nothing."""
    return "".join(text.split())


def joined(units: Iterable[Unit]) -> list[Unit]:
    """`units` with the texts that the assistant said in a row as one: streams and clients cut them as they like."""
    made: list[Unit] = []
    run: list[Unit] = []
    for unit in units:
        if unit.kind == "text" and unit.role == "assistant":
            run.append(unit)
            continue
        made += _one(run)
        run = []
        made.append(unit)
    return made + _one(run)


def _one(run: list[Unit]) -> list[Unit]:
    if len(run) < 2:
        return run
    text = "".join(unit.part.text for unit in run)
    made = _unit("assistant", replace(run[0].part, text=text), any(unit.emitted for unit in run))
    return [made] if made is not None else []


@dataclass(frozen=True, slots=True)
class History:
    """The conversation of one request as units."""

    messages: tuple[Message, ...]
    units: list[Unit]
    """A text in several parts is several units, see `joined`."""
    ends: list[int]
    """How many units the first messages hold: none, the first, the first two, and so on."""
    kept: int = 0
    """How many messages from the start are, byte for byte as JSON, those of the request before."""


def history_of(messages: tuple[Message, ...], before: History | None = None) -> History:
    """The units of a request's history; what stood in the request before is not read again."""
    kept = 0
    if before is not None:
        for old, new in zip(before.messages, messages, strict=False):
            if new.raw is None or old.raw != new.raw or old.pointer != new.pointer:
                break
            kept += 1
    units = before.units[: before.ends[kept]] if before is not None else []
    ends = before.ends[: kept + 1] if before is not None else [0]
    for message in messages[kept:]:
        units += [unit for part in message.parts if (unit := _unit(message.role, part, False)) is not None]
        ends.append(len(units))
    return History(messages, units, ends, kept)


def units_emitted(emission: Emission) -> list[Unit]:
    """The units that a client appends when it keeps an answer whole."""
    parts = emission.content
    if not parts:
        made = [Part("text", "", emission.text)] if emission.text else []
        parts = (*made, *(Part("call", "", call=call) for call in emission.calls))
    return [unit for part in parts if (unit := _unit("assistant", part, True)) is not None]


def reasoning_of(messages: Iterable[Message]) -> list[Part]:
    """Everything in a history that carries reasoning or a signature."""
    return [part for message in messages for part in message.parts if part.kind == "reasoning" or part.signature]
