"""A conversation as a row of units, so that requests can be compared piece by piece, whatever their JSON.

Threads, the history diff, dispatch and the rules all compare conversations by the units that this module makes.
Each unit is one part of a message: a text, a call, a result, a file. `Unit.meaning` is equal for two parts with equal
content, whatever their shape (`"text"` or `[{"type": "text"}]`), their white space, the order of keys, ids and
cache markers. `Unit.spelling` is equal only for parts that are written in the same way.

Reasoning makes no unit, because a client may drop or keep it. Calls and results of the API's own tools make none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from threading import Lock
from typing import Literal, cast

from turntape.cassettes.frozen import frozen, mutable

from ..wire.json_value import MOST, as_object, compact, is_array, is_object
from ..wire.per_message import PerMessage
from ..wire.shared_tuple import Apart, SharedTuple, Stem, in_both, shared, sharing
from ..wire.values import Emission, Message, Part, ToolCall, ToolResult
from .prefix_hashes import NOTHING, PrefixHashes, Shifted, with_next

type UnitKind = Literal["text", "call", "result", "media", "refusal", "other"]

MARKERS = frozenset({"cache_control", "cachePoint", "prompt_cache_breakpoint"})


@frozen
class Unit:
    """One part of a conversation."""

    kind: UnitKind
    role: str
    call_id: str | None
    """The id of a call, or of the call that a result answers."""
    meaning: int
    """A hash of its content, without ids; comparable within one process."""
    spelling: int
    """A hash of how it is written."""
    pointer: str
    """JSON pointer into the request, or into the answer if it was `emitted`."""
    part: Part
    emitted: bool = False
    """True for a piece of an answer."""

    @property
    def text(self) -> str:
        """Its text; for a call, the arguments as they were sent."""
        return self.part.call.arguments_raw if self.part.call else self.part.text


def unmarked(value: object) -> object:
    """A JSON value without cache markers."""
    if is_object(value):
        fields = as_object(value)
        return {key: unmarked(item) for key, item in fields.items() if key not in MARKERS}
    return [unmarked(item) for item in value] if is_array(value) else value


def sorted_json(value: object) -> str:
    """`value` as JSON with sorted keys. A number without a fraction is an integer: JavaScript writes 1.0 as 1."""
    return compact(_ordered(value))


def _ordered(value: object) -> object:
    if is_object(value):
        return {key: _ordered(item) for key, item in sorted(as_object(value).items())}
    if is_array(value):
        return [_ordered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) <= MOST else value


def call_meaning(call: ToolCall) -> int:
    """A hash of a call's name and arguments, whatever the white space and the order of keys in them."""
    spelling = (call.name, call.arguments_raw, call.arguments is None)
    meaning = _meanings.get(spelling)
    if meaning is None:
        arguments = sorted_json(call.arguments) if call.arguments is not None else call.arguments_raw.strip() or "{}"
        meaning = hash(("call", call.name, arguments))
        if len(_meanings) >= _MOST_MEANINGS:
            _meanings.clear()
        _meanings[spelling] = meaning
    return meaning


_meanings: dict[tuple[str, str, bool], int] = {}
"""By name and arguments as sent, because every request repeats the calls of the history."""
_MOST_MEANINGS = 4096


def _unit(role: str, part: Part, emitted: bool) -> Unit | None:
    if part.call is not None:
        return None if part.call.server else _call_unit(part, part.call, emitted)
    if part.result is not None:
        return None if role == "assistant" or part.result.server else _result_unit(part, part.result, emitted)
    if part.kind == "text" or part.kind == "refusal":
        if not part.text.strip():
            return None
        meaning, spelling = text_meaning(role, part.text), hash((role, part.text))
        return Unit(part.kind, role, None, meaning, spelling, part.pointer, part, emitted)
    if part.kind == "media":
        meaning = hash((role, "media", sorted_json(unmarked(part.raw))))
        return Unit("media", role, None, meaning, meaning, part.pointer, part, emitted)
    return None


def _call_unit(part: Part, call: ToolCall, emitted: bool) -> Unit:
    spelling = hash((call.name, call.arguments_raw))
    return Unit("call", "assistant", call.id, call_meaning(call), spelling, part.pointer, part, emitted)


def _result_unit(part: Part, result: ToolResult, emitted: bool) -> Unit:
    meaning = hash(("result", result.text.strip()))
    return Unit("result", "tool", result.call_id, meaning, hash(result.text), part.pointer, part, emitted)


def text_meaning(role: str, text: str) -> int:
    """The meaning of a text of this role, whatever its white space."""
    return hash((role, without_space(text)))


def without_space(text: str) -> str:
    """Some clients trim or fold white space, which does not change the meaning of a text."""
    if len(text) <= _BLOCK:
        return "".join(text.split())
    # A string for each word of a large text would take many times its memory.
    blocks = (text[at : at + _BLOCK] for at in range(0, len(text), _BLOCK))
    return "".join("".join(block.split()) for block in blocks)


_BLOCK = 1 << 18
"""Characters of a text that are divided into words at a time."""


def joined(units: Iterable[Unit]) -> list[Unit]:
    """`units` with consecutive texts of the assistant joined, because streams and clients split them differently."""
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


@frozen
class Conversation:
    """The messages of one request as units."""

    messages: SharedTuple[Message]
    leading: int
    """How many system messages it begins with. They are not part of the `history`."""
    units: SharedTuple[Unit]
    """A text in several parts is several units, see `joined`."""
    ends: Shifted
    """`ends[n]` is how many units the first `n` messages have."""
    prefixes: PrefixHashes
    """`prefixes[n]` is a hash of the meanings of the first `n` units."""

    @property
    def history(self) -> SharedTuple[Unit]:
        """The units after the system messages at the front."""
        return self.units.since(self.ends[self.leading])

    @property
    def meanings(self) -> list[int]:
        """The meaning of each unit."""
        return [unit.meaning for unit in self.units]


def conversation_of(messages: Sequence[Message], earlier: Iterable[Conversation] = ()) -> Conversation:
    """The conversation of a request.

    Messages at the front that one of the `earlier` conversations also has are taken from there and not read again.
    """
    known, kept = None, 0
    for other in earlier:
        same = _same(other.messages, messages)
        if same > kept:
            known, kept = other, same
    if known is not None and shared(known.messages, messages) < kept:
        # The messages of the earlier one, so that comparing both again takes no time.
        messages = known.messages.continued(kept, messages[kept:])
    elif not isinstance(messages, SharedTuple):
        messages = sharing(messages)
    leading = next((place for place, message in enumerate(messages) if message.role != "system"), len(messages))
    return Conversation(messages, leading, *_rows_of(messages))


def _units_of(message: Message) -> list[Unit]:
    return [unit for part in message.parts if (unit := _unit(message.role, part, False)) is not None]


_units = PerMessage(_units_of)


@mutable(eq=False)
class _Rows:
    """What a `Conversation` has of the messages of a stem, as far as it was read."""

    units: Stem[Unit]
    ends: list[int]
    prefixes: list[int]

    def add(self, units: Sequence[Unit]) -> None:
        """The units of the next message."""
        self.units.items += units
        self.ends.append(len(self.units.items))
        for unit in units:
            self.prefixes.append(with_next(self.prefixes[-1], unit.meaning))

    def branch(self, end: int) -> "_Rows":
        """Those of the first messages."""
        ends = self.ends[: end + 1]
        return _Rows(self.units.branch(ends[-1]), ends, self.prefixes[: ends[-1] + 1])


_adding = Lock()


def _rows_of(messages: SharedTuple[Message]) -> tuple[SharedTuple[Unit], Shifted, PrefixHashes]:
    """The units of all messages, the `ends` and the `prefixes`."""
    each = _units.of(messages)
    assert isinstance(each, SharedTuple)
    made, end = each.stem, each.end
    with _adding:
        rows = cast("_Rows | None", made.derived.get(_Rows))
        if rows is None:
            rows = made.derived[_Rows] = _Rows(Stem[Unit]([]), [0], [NOTHING])
        for units in made.items[len(rows.ends) - 1 : end]:
            rows.add(units)
    first, last = rows.ends[each.start], rows.ends[end]
    front, tail = (tuple(chain.from_iterable(apart.items)) for apart in (each.front, each.tail))
    front_ends = [0, *accumulate(map(len, each.front.items))]
    tail_ends = accumulate(map(len, each.tail.items), initial=len(front) + last - first)
    return (
        SharedTuple(rows.units, first, last, Apart(tail), Apart(front)),
        Shifted(front_ends, rows.ends, each.start, end, [*tail_ends][1:]),
        PrefixHashes([unit.meaning for unit in front], rows.prefixes, first, last, [unit.meaning for unit in tail]),
    )


def same_messages(before: Conversation, now: Conversation) -> int:
    """How many messages at the front of both histories are the same, byte for byte as JSON."""
    return _same(before.messages.since(before.leading), now.messages.since(now.leading))


def new_messages(before: Conversation, now: Conversation) -> tuple[int, int, int]:
    """Which messages of a history the one before does not have: from the first number up to the second, and from the
    third on. Messages that both have at one place are the same, byte for byte as JSON.
    """
    kept = same_messages(before, now)
    old, new = before.messages.since(before.leading), now.messages.since(now.leading)
    _, place, count = in_both(old, new)
    return (kept, place, place + count) if kept < place and count else (kept, kept, kept)


GAP = Unit("other", "", None, 0, 0, "", Part("other", ""))
"""In place of the pieces that two histories have in common between those in which they differ."""
_LONG = 8
"""Fewer pieces in common are compared as others are."""


def parted(old: SharedTuple[Unit], new: SharedTuple[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Two histories without the pieces with which both begin, and with `GAP` for many others that both have.

    A text of several parts is not cut in two.
    """
    same = shared(old, new)
    first, place, count = in_both(old, new)
    count = count if same < min(first, place) else 0
    while count and _is_said(old[first]):
        first, place, count = first + 1, place + 1, count - 1
    while count and _is_said(old[first + count - 1]):
        count -= 1
    while same and _is_said(old[same - 1]):
        same -= 1
    if count < _LONG:
        return list(old[same:]), list(new[same:])
    return (
        [*old[same:first], GAP, *old[first + count :]],
        [*new[same:place], GAP, *new[place + count :]],
    )


def _is_said(unit: Unit) -> bool:
    return unit.kind == "text" and unit.role == "assistant"


def _same(before: SharedTuple[Message], now: Sequence[Message]) -> int:
    count = shared(before, now)
    for old, new in zip(before[count:], now[count:], strict=False):
        if old is not new and (new.raw is None or old.raw != new.raw or old.pointer != new.pointer):
            break
        count += 1
    return count


def common_units(before: Conversation, now: Conversation) -> int:
    """How many units at the front of both conversations have the same meaning."""
    same = shared(before.units, now.units)
    pairs = enumerate(zip(before.units.since(same), now.units.since(same), strict=False), same)
    return next((place for place, (a, b) in pairs if a.meaning != b.meaning), min(len(before.units), len(now.units)))


def units_emitted(emission: Emission) -> list[Unit]:
    """The units that a client appends to the history when it keeps the whole answer."""
    parts = emission.content
    if not parts:
        made = [Part("text", "", emission.text)] if emission.text else []
        parts = (*made, *(Part("call", "", call=call) for call in emission.calls))
    return [unit for part in parts if (unit := _unit("assistant", part, True)) is not None]


def meanings_emitted(emission: Emission) -> frozenset[int]:
    """The meanings of an answer, piece by piece; its text also as one, because clients split it differently."""
    units = units_emitted(emission)
    return frozenset(unit.meaning for unit in (*units, *joined(units)))


def reasoning_of(messages: Iterable[Message]) -> list[Part]:
    """The parts of a history that have reasoning or a signature."""
    return [part for message in messages for part in message.parts if part.kind == "reasoning" or part.signature]
