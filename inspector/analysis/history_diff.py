"""How the next request changes the history and the answer that it continues.

The expected history is that of the previous request, then the answer. Everything after it is new. Each difference is
one `HistoryChange`, with pointers into both sides. `reasoning_diff` does the same for reasoning and signatures.
"""

from collections.abc import Sequence
from dataclasses import field
from difflib import SequenceMatcher
from typing import Literal

from turntape.cassettes.frozen import frozen, mutable

from ..wire.json_value import as_object
from ..wire.values import Part, RequestReading
from .conversation import Conversation, Unit, joined, new_messages, parted, units_emitted
from .reasoning_diff import LostReasoning, ReasoningState, diff_reasoning
from .turn import Turn

type ChangeKind = Literal[
    "args_changed",
    "args_respelled",
    "name_changed",
    "id_changed",
    "id_lost",
    "call_dropped",
    "text_changed",
    "text_dropped",
    "result_changed",
    "result_moved",
    "mark_changed",
    "spaces_lost",
    "removed",
    "inserted",
    "moved",
]

_MOST_UNITS = 1500
"""Longer remainders are not aligned, because that takes quadratic time; only the first difference is reported."""


@frozen
class HistoryChange:
    """One place at which a request differs from the history that it continues."""

    kind: ChangeKind
    emitted: bool
    """True when the last answer was changed, False when something that an earlier request had."""
    before: str | None
    """Pointer into the previous request, or into the answer when `emitted`."""
    now: str | None
    """Pointer into the next request."""
    was: str = ""
    became: str = ""
    call_id: str | None = None
    of: str = ""
    """For what was removed, its kind: `text`, `call` or `result`. For lost spaces, the role of the text."""


@frozen
class HistoryDiff:
    """How a request repeats the request and the answer before it."""

    state: Literal["verbatim", "respelled", "changed", "cut", "held"]
    """`respelled`: other JSON with the same meaning. `cut`: parts were left out, and nothing else changed.
    `held`: the API keeps the history, and the request brings only what is new."""
    changes: tuple[HistoryChange, ...] = ()
    reasoning: ReasoningState = "none"
    lost: tuple[LostReasoning, ...] = ()
    """Reasoning and signatures that did not come back unchanged."""
    new: tuple[Unit, ...] = ()
    """What the request adds after the answer."""
    inserted: tuple[Unit, ...] = ()
    """What the request adds before the answer."""
    beside: tuple[Unit, ...] = ()
    """What the request adds between the pieces of the answer, or as the assistant's right before them."""
    removed: tuple[Unit, ...] = ()
    """What the previous request had and this one has not, in any form."""


def diff_history(turn: Turn, following: Turn) -> HistoryDiff:
    """How the request of `following` repeats the request of `turn` and its answer."""
    request, after = turn.reading.request, following.reading.request
    old, now = turn.conversation, following.conversation
    if after.previous_id is not None:
        return HistoryDiff("held", new=tuple(joined(now.history)))
    if following.edge.kind == "rebuilt":
        # The prompt has the history and the answer as text, in fields or a scratchpad.
        return HistoryDiff("respelled", new=tuple(joined(now.units[max(following.shared, now.ends[now.leading]) :])))
    emission = turn.reading.emission
    resumed = after.continuation is not None and after.continuation in turn.reading.answer_ids
    emitted = units_emitted(emission) if emission and not resumed and not _several_answers(request) else []
    kept, first, behind = new_messages(old, now)
    if kept < first:
        then, sent = parted(old.history, now.history)
    else:
        start = _start(old, kept)
        then, sent = old.history[start:], now.history[start:]
    expected = joined([*_before_answer(then, emitted), *emitted])
    units = joined(sent)
    if request.continuation is not None:
        _merge_parts(expected, units, len(joined(then)))
    same = _common(expected, units)
    if same == len(expected):
        found = _Departures([], units[same:])
    else:
        found = _departures(expected[same:], units[same:])
    changes = _without_named(found.changes, turn, after) + _respelled(expected[:same], units[:same])
    if turn.reading.protocol != following.reading.protocol:
        # Another API writes the same history in other shapes.
        return HistoryDiff("respelled", new=tuple(found.new))
    lost, reasoning = diff_reasoning(turn, (*after.conversation[kept:first], *after.conversation[behind:]))
    return HistoryDiff(
        _state(changes),
        tuple(changes),
        reasoning,
        tuple(lost),
        tuple(found.new),
        tuple(found.inserted),
        tuple(found.beside),
        tuple(found.removed),
    )


def _merge_parts(expected: list[Unit], units: list[Unit], place: int) -> None:
    """Expect the whole of an answer that came in several parts, if the client sends it so; `expected` has the last."""
    if place < min(len(expected), len(units)):
        last, whole = expected[place], units[place]
        if last.kind == whole.kind == "text" and whole.role == "assistant" and whole.text.endswith(last.text):
            expected[place] = whole


def _state(changes: list[HistoryChange]) -> Literal["verbatim", "respelled", "changed", "cut"]:
    kinds = {change.kind for change in changes} - {"args_respelled"}
    if not changes:
        return "verbatim"
    if not kinds:
        return "respelled"
    return "cut" if kinds == {"removed"} else "changed"


_NAMED = ("text_dropped", "call_dropped")


def _without_named(changes: list[HistoryChange], turn: Turn, request: RequestReading) -> list[HistoryChange]:
    """Without the texts and calls of the answer that the request names by their ids instead of repeating them."""
    emission = turn.reading.emission
    if emission is None or not request.item_ids or not any(change.kind in _NAMED for change in changes):
        return changes
    named = {*request.item_ids}
    there = {part.pointer for part in emission.content if part.item_id in named}
    return [one for one in changes if not (one.emitted and one.kind in _NAMED and one.before in there)]


def _start(old: Conversation, kept: int) -> int:
    """The first unit of the history that must be compared; a text that may continue is not cut in two."""
    units = old.history
    start = old.ends[old.leading + kept] - old.ends[old.leading]
    while start and units[start - 1].kind == "text" and units[start - 1].role == "assistant":
        start -= 1
    return start


def _before_answer(history: Sequence[Unit], emitted: list[Unit]) -> Sequence[Unit]:
    """The history without a text that begins the answer, where the answer repeats it (Mistral's `prefix`)."""
    if not (history and emitted) or history[-1].kind != "text" or history[-1].role != "assistant":
        return history
    return history[:-1] if emitted[0].kind == "text" and emitted[0].text.startswith(history[-1].text) else history


def _several_answers(request: RequestReading) -> bool:
    """True when the request asks for several answers, of which the client keeps one."""
    asked = request.parameters.get("n")
    return isinstance(asked, int) and asked > 1


def _common(a: list[Unit], b: list[Unit]) -> int:
    count = 0
    for left, right in zip(a, b, strict=False):
        if left.meaning != right.meaning or _is_elsewhere(left, right, b):
            break
        count += 1
    return count


def _is_elsewhere(call: Unit, other: Unit, units: list[Unit]) -> bool:
    """True for an equal call under another id, where the call itself is in `units` under its own."""
    if call.kind != "call" or call.call_id is None or call.call_id == other.call_id:
        return False
    return (call.meaning, call.call_id) in _calls(units)


def _calls(units: list[Unit]) -> set[tuple[int, str]]:
    """The calls with an id, each by its meaning and its id."""
    return {(unit.meaning, unit.call_id) for unit in units if unit.kind == "call" and unit.call_id is not None}


@frozen
class _Departures:
    """How one list of units departs from another."""

    changes: list[HistoryChange]
    new: list[Unit]
    """What comes after the end of the old list."""
    inserted: list[Unit] = field(default_factory=list[Unit])
    beside: list[Unit] = field(default_factory=list[Unit])
    removed: list[Unit] = field(default_factory=list[Unit])


def _departures(old: list[Unit], new: list[Unit]) -> _Departures:
    """The departures of `new` from `old`, which differ in their first unit."""
    if len(old) > _MOST_UNITS or len(new) > _MOST_UNITS:
        first = HistoryChange("removed", old[0].emitted, old[0].pointer, new[0].pointer if new else None)
        return _Departures([first], [])
    new, behind = _behind_answer(old, new)
    aligned = _align(old, new)
    added = aligned.added + behind
    # Parts of a text that was split or joined are the same text.
    gone, inserted = _rejoined(aligned.gone, aligned.inserted)
    gone, added = _rejoined(gone, added)
    changes, removed = aligned.changes, list[Unit]()
    called = {unit.call_id for unit in old if unit.emitted and unit.kind == "call"} - {None}
    for unit in gone:
        # The result of a new call may have the words of an old one that was left out.
        others = (other for other in (*inserted, *added) if other.kind != "result" or other.call_id not in called)
        twin = next((other for other in others if other.meaning == unit.meaning), None)
        if twin is None:
            changes += _left_out(unit)
            removed += [] if unit.emitted else [unit]
            continue
        inserted = [other for other in inserted if other is not twin]
        changes.append(
            HistoryChange("moved", unit.emitted, unit.pointer, twin.pointer, unit.text, call_id=unit.call_id)
        )
    changes += [HistoryChange("inserted", False, None, unit.pointer, became=unit.text) for unit in inserted]
    in_answer = [unit for unit in inserted if any(unit is other for other in aligned.in_answer)]
    before_it = [unit for unit in inserted if not any(unit is other for other in in_answer)]
    return _Departures(changes, added, before_it, in_answer, removed)


@mutable
class _Alignment:
    """Two aligned lists of units."""

    changes: list[HistoryChange] = field(default_factory=list[HistoryChange])
    gone: list[Unit] = field(default_factory=list[Unit])
    """Units that exist only in the old list."""
    inserted: list[Unit] = field(default_factory=list[Unit])
    """Units that exist only in the new list."""
    in_answer: list[Unit] = field(default_factory=list[Unit])
    """Those of `inserted` that are in the place of the answer."""
    added: list[Unit] = field(default_factory=list[Unit])
    """New units after the end of the old list."""


def _align(old: list[Unit], new: list[Unit]) -> _Alignment:
    made = _Alignment()
    both = _calls(old) & _calls(new)
    # A call that is in both is not another one with equal arguments.
    old_keys, new_keys = (
        [(u.meaning, u.call_id if u.kind == "call" and (u.meaning, u.call_id) in both else None) for u in units]
        for units in (old, new)
    )
    matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        left, right = old[i1:i2], new[j1:j2]
        pairs = _paired(left, right)
        if i2 < len(old):
            pairs += _in_place(left, right, pairs)
        for before, now in pairs:
            made.changes += _change(before, now)
        made.gone += [unit for unit in left if not any(unit is before for before, _ in pairs)]
        rest = [unit for unit in right if not any(unit is now for _, now in pairs)]
        if i2 == len(old):
            made.added += rest
        else:
            made.inserted += rest
            made.in_answer += _in_answer(old, i1, i2, right, rest)
    return made


def _in_answer(old: list[Unit], start: int, end: int, right: list[Unit], rest: list[Unit]) -> list[Unit]:
    """Those of `rest` that are in the place of the answer, where `right` has come for `old[start:end]`."""
    answer = next((place for place, unit in enumerate(old) if unit.emitted), len(old))
    if end < answer:
        return []
    turned = next((place for place in range(len(right), 0, -1) if right[place - 1].role != "assistant"), 0)
    behind = right if start > answer else right[turned:]
    return [unit for unit in behind if any(unit is other for other in rest)]


def _left_out(unit: Unit) -> list[HistoryChange]:
    if not unit.emitted:
        return [HistoryChange("removed", False, unit.pointer, None, unit.text, "", unit.call_id, unit.kind)]
    if unit.kind == "call":
        return [HistoryChange("call_dropped", True, unit.pointer, None, unit.text, call_id=unit.call_id)]
    return [HistoryChange("text_dropped", True, unit.pointer, None, unit.text)] if unit.kind == "text" else []


def _behind_answer(old: list[Unit], new: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    """`new` up to the last call of the answer, by its id, and what comes after it.

    A new result may read like an earlier one; that must not make the answer look moved.
    """
    ids = {unit.call_id for unit in old if unit.emitted and unit.kind == "call" and unit.call_id is not None}
    last = next((i for i in range(len(new) - 1, -1, -1) if new[i].kind == "call" and new[i].call_id in ids), None)
    return (new, []) if last is None else (new[: last + 1], new[last + 1 :])


def _paired(left: list[Unit], right: list[Unit]) -> list[tuple[Unit, Unit]]:
    """Pairs of old and new units: by id, or else by kind and role in order."""
    pairs: list[tuple[Unit, Unit]] = []
    free = list(right)
    for fits in (_same_id, _near):
        for unit in left:
            if any(unit is before for before, _ in pairs):
                continue
            likely = [o for o in free if o.kind == unit.kind and o.role == unit.role and fits(unit, o)]
            found = next(
                (o for o in likely if _reads_alike(unit, o)), likely[-1 if unit.emitted else 0] if likely else None
            )
            if found is not None:
                pairs.append((unit, found))
                free = [other for other in free if other is not found]
    return pairs


def _in_place(left: list[Unit], right: list[Unit], pairs: list[tuple[Unit, Unit]]) -> list[tuple[Unit, Unit]]:
    """Texts of the assistant that were rewritten, between neighbours that are unchanged."""
    gone = [unit for unit in left if not any(unit is before for before, _ in pairs)]
    come = [unit for unit in right if not any(unit is now for _, now in pairs)]
    if len(gone) != len(come) or any(unit.kind != "text" or unit.role != "assistant" for unit in (*gone, *come)):
        return []
    return list(zip(gone, come, strict=True))


def _same_id(a: Unit, b: Unit) -> bool:
    return a.call_id is not None and a.call_id == b.call_id


def _near(a: Unit, b: Unit) -> bool:
    """Whether one may be a changed form of the other, if there are no ids."""
    if a.call_id is not None and b.call_id is not None:
        return False
    if a.part.result and b.part.result:
        return a.call_id is None and b.call_id is None and a.part.result.name == b.part.result.name
    if a.part.call and b.part.call:
        return a.part.call.name == b.part.call.name or a.part.call.arguments == b.part.call.arguments
    return a.emitted or _reads_alike(a, b)


def _reads_alike(a: Unit, b: Unit) -> bool:
    short, long = sorted((a.text, b.text), key=len)
    return bool(short) and (short[:24] == long[:24] or short[-24:] == long[-24:] or short[:200] in long)


def _rejoined(gone: list[Unit], come: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Without texts that were only split in another way."""
    for role in {unit.role for unit in gone}:
        old = [u for u in gone if u.kind == "text" and u.role == role]
        new = [u for u in come if u.kind == "text" and u.role == role]
        moved = {u.meaning for u in old} & {u.meaning for u in new}
        if old and new and not moved and _without_space(old) == _without_space(new):
            gone = [u for u in gone if not any(u is x for x in old)]
            come = [u for u in come if not any(u is x for x in new)]
    return gone, come


def _without_space(units: list[Unit]) -> str:
    return "".join("".join(unit.text.split()) for unit in units)


def _change(a: Unit, b: Unit) -> list[HistoryChange]:
    if a.part.call and b.part.call:
        kind: ChangeKind = "name_changed" if a.part.call.name != b.part.call.name else "args_changed"
        was, became = (a.part.call.name, b.part.call.name) if kind == "name_changed" else (a.text, b.text)
        return [HistoryChange(kind, a.emitted, a.pointer, b.pointer, was, became, a.call_id)]
    if _without_space([a]) == _without_space([b]):
        return _spaces_lost(a, b)
    kind = "result_changed" if a.kind == "result" else "text_changed"
    return [HistoryChange(kind, a.emitted, a.pointer, b.pointer, a.text, b.text, a.call_id)]


def _respelled(expected: list[Unit], units: list[Unit]) -> list[HistoryChange]:
    changes: list[HistoryChange] = []
    renamed: dict[str, str] = {}
    for a, b in zip(expected, units, strict=False):
        if a.kind != "call":
            changes += _spaces_lost(a, b) if a.spelling != b.spelling else []
            changes += _of_result(a, b, renamed)
            continue
        if a.call_id is not None and b.call_id is not None:
            renamed[a.call_id] = b.call_id
        if a.call_id is not None and b.call_id is None:
            changes.append(HistoryChange("id_lost", a.emitted, a.pointer, b.pointer, a.call_id, "", a.call_id))
        if a.call_id is not None and b.call_id is not None and a.call_id != b.call_id:
            pointers = (a.pointer, b.pointer)
            changes.append(HistoryChange("id_changed", a.emitted, *pointers, a.call_id, b.call_id, a.call_id))
        elif a.spelling != b.spelling and a.part.call and isinstance(_arguments(a.part), str):
            changes.append(HistoryChange("args_respelled", a.emitted, a.pointer, b.pointer, a.text, b.text, a.call_id))
    return changes


def _of_result(a: Unit, b: Unit, renamed: dict[str, str]) -> list[HistoryChange]:
    """What changed beside the text of a result: its call, or its mark as an error."""
    changes: list[HistoryChange] = []
    old, new = a.part.result, b.part.result
    if old is None or new is None:
        return changes
    if a.call_id and b.call_id and renamed.get(a.call_id, a.call_id) != b.call_id and a.call_id not in renamed:
        changes.append(HistoryChange("result_moved", False, a.pointer, b.pointer, a.call_id, b.call_id, a.call_id))
    if old.is_error != new.is_error:
        was, became = ("error", "") if old.is_error else ("", "error")
        changes.append(HistoryChange("mark_changed", False, a.pointer, b.pointer, was, became, a.call_id))
    return changes


def _spaces_lost(a: Unit, b: Unit) -> list[HistoryChange]:
    if a.emitted or not lost_space(a.text, b.text):
        return []
    return [HistoryChange("spaces_lost", False, a.pointer, b.pointer, a.text, b.text, a.call_id, a.role)]


def lost_space(was: str, became: str) -> Literal["spaces", "line breaks", "indents"] | None:
    """What a text lost that has the same letters: all spaces, all of many line breaks, or all of several indents."""
    old, new = was.strip(), became.strip()
    if old.count(" ") >= _WORDS - 1 and " " not in new and new.count("\n") <= old.count("\n"):
        return "spaces"
    if old.count("\n") >= _LINES and "\n" not in new:
        return "line breaks"
    return "indents" if old.count("\n") >= _LINES and _is_flat(old, new) else None


def _is_flat(old: str, new: str) -> bool:
    """Whether the lines are the same and all begin at one column, where several began further right. JSON and markup,
    in which an indent means nothing, are not compared."""
    if old[:1] in ("[", "{", "<"):
        return False
    was, now = ([line for line in text.splitlines() if line.strip()] for text in (old, new))
    if [line.split() for line in was] != [line.split() for line in now]:
        return False
    deep = [line for line in was if line[:1].isspace()]
    return len(deep) >= _DEEP and not any(line[:1].isspace() for line in now)


_DEEP = 2
"""Fewer indented lines may be a list that was written again."""


_WORDS = 4
"""Fewer words may be glued on purpose."""
_LINES = 3
"""Fewer line breaks may be folded on purpose."""


def _arguments(part: Part) -> object:
    """The arguments as sent: a string in some APIs; None in those that send an object."""
    raw = as_object(part.raw)
    function = as_object(raw.get("function")) or raw
    return function.get("arguments")
