"""Emitted against echoed: what the next request made of the history and of the answer that it continues.

The expected history is the previous request's and then the answer. What follows it is new. Where the next request
departs from it, each departure is one `HistoryChange`, with the place on both sides.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from ..wire.json_value import as_object
from ..wire.values import Message, Part, RequestReading
from .threads import Turn
from .units import History, Unit, call_meaning, joined, reasoning_of, units_emitted

type ChangeKind = Literal[
    "args_changed",
    "args_respelled",
    "name_changed",
    "id_changed",
    "call_dropped",
    "text_changed",
    "text_dropped",
    "result_changed",
    "removed",
    "inserted",
    "moved",
]

_MOST = 1500
"""Beyond so many units a departure is not aligned, only placed."""


@dataclass(frozen=True, slots=True)
class HistoryChange:
    kind: ChangeKind
    emitted: bool
    """True when it is the last answer that was changed, and not what had been sent before."""
    before: str | None
    """Pointer into the previous request, or into the answer when `emitted`."""
    now: str | None
    """Pointer into the next request."""
    was: str = ""
    became: str = ""
    call_id: str | None = None
    of: str = ""
    """For what was removed, its kind: `text`, `call` or `result`."""


@dataclass(frozen=True, slots=True)
class LostReasoning:
    """Reasoning or a signature of the answer that did not come back as it was."""

    kind: Literal["dropped", "altered"]
    before: str
    now: str | None


@dataclass(frozen=True, slots=True)
class HistoryDiff:
    state: Literal["verbatim", "respelled", "changed", "cut", "held"]
    """`held`: the API keeps the history; the request brings only what is new."""
    changes: tuple[HistoryChange, ...] = ()
    reasoning: Literal["none", "kept", "dropped", "altered"] = "none"
    lost: tuple[LostReasoning, ...] = ()
    new: tuple[Unit, ...] = ()
    """What the request adds behind the answer."""


def diff_history(turn: Turn, following: Turn) -> HistoryDiff:
    """How the request of `following` repeats the request of `turn` and its answer."""
    request, after = turn.reading.request, following.reading.request
    old, new_history = turn.units(), following.units(turn)
    if after.previous_id is not None:
        return HistoryDiff("held", new=tuple(joined(new_history.units)))
    emission = turn.reading.emission
    emitted = units_emitted(emission) if emission and not _several(request) else []
    start = _start(old, new_history)
    expected = joined([*old.units[start:], *emitted])
    units = joined(new_history.units[start:])
    kept = _common(expected, units)
    if kept == len(expected):
        changes, new = [], units[kept:]
    else:
        changes, new = _departures(expected, units, kept)
    changes = _without_referenced(changes, after) + _respelled(expected[:kept], units[:kept])
    if turn.reading.protocol != following.reading.protocol:
        # Another API has other shapes for the same history.
        return HistoryDiff("respelled", new=tuple(new))
    lost, reasoning = _reasoning(turn, after.conversation[new_history.kept :])
    removed = sum(change.kind == "removed" for change in changes)
    hard = [change for change in changes if change.kind != "args_respelled"]
    state = "verbatim"
    if changes:
        state = "respelled" if not hard else "cut" if removed and removed == len(hard) else "changed"
    return HistoryDiff(state, tuple(changes), reasoning, tuple(lost), tuple(new))


def _without_referenced(changes: list[HistoryChange], request: RequestReading) -> list[HistoryChange]:
    """Without the texts that a Responses request names by `item_reference` instead of repeating them."""
    references = sum(as_object(message.raw).get("type") == "item_reference" for message in request.messages)
    left: list[HistoryChange] = []
    for change in changes:
        if references and change.emitted and change.kind == "text_dropped":
            references -= 1
        else:
            left.append(change)
    return left


def _start(old: History, new: History) -> int:
    """From which unit on the two must be compared; a text that may go on behind it is not cut in two."""
    start = old.ends[new.kept]
    while start and old.units[start - 1].kind == "text" and old.units[start - 1].role == "assistant":
        start -= 1
    return start


def _several(request: RequestReading) -> bool:
    """True when several answers were asked for, of which the client keeps one."""
    asked = request.parameters.get("n")
    return isinstance(asked, int) and asked > 1


def _common(a: list[Unit], b: list[Unit]) -> int:
    count = 0
    for left, right in zip(a, b, strict=False):
        if left.said != right.said:
            break
        count += 1
    return count


def _departures(expected: list[Unit], units: list[Unit], kept: int) -> tuple[list[HistoryChange], list[Unit]]:
    old, new = expected[kept:], units[kept:]
    if len(old) > _MOST or len(new) > _MOST:
        first = HistoryChange("removed", old[0].emitted, old[0].pointer, new[0].pointer if new else None)
        return [first], []
    changes: list[HistoryChange] = []
    new, behind = _behind_answer(old, new)
    added: list[Unit] = []
    gone: list[Unit] = []
    come: list[Unit] = []
    matcher = SequenceMatcher(None, [u.said for u in old], [u.said for u in new], autojunk=False)
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag == "equal":
            continue
        at_end = i2 == len(old)
        left, right = old[i1:i2], new[j1:j2]
        pairs = _paired(left, right)
        for a, b in pairs:
            changes += _change(a, b)
        gone += [a for a in left if not any(a is x for x, _ in pairs)]
        rest = [b for b in right if not any(b is y for _, y in pairs)]
        if at_end:
            added += rest
        else:
            come += rest
    added += behind
    # Pieces of a text that was split over several parts or joined out of several are the same text.
    gone, come = _joined(gone, come)
    gone, added = _joined(gone, added)
    for unit in gone:
        twin = next((b for b in (*come, *added) if b.said == unit.said), None)
        if twin is not None:
            come = [b for b in come if b is not twin]
            changes.append(HistoryChange("moved", unit.emitted, unit.pointer, twin.pointer, call_id=unit.key))
        elif unit.emitted and unit.kind == "call":
            changes.append(HistoryChange("call_dropped", True, unit.pointer, None, unit.text, call_id=unit.key))
        elif unit.emitted and unit.kind == "text":
            changes.append(HistoryChange("text_dropped", True, unit.pointer, None, unit.text))
        elif not unit.emitted:
            changes.append(HistoryChange("removed", False, unit.pointer, None, unit.text, "", unit.key, unit.kind))
    changes += [HistoryChange("inserted", False, None, unit.pointer, became=unit.text) for unit in come]
    return changes, added


def _behind_answer(old: list[Unit], new: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    """`new` up to the last call of the answer, by its id, and what stands behind it.

    A new result may read like an earlier one; that must not make the answer look moved.
    """
    ids = {unit.key for unit in old if unit.emitted and unit.kind == "call" and unit.key is not None}
    last = next((i for i in range(len(new) - 1, -1, -1) if new[i].kind == "call" and new[i].key in ids), None)
    return (new, []) if last is None else (new[: last + 1], new[last + 1 :])


def _paired(left: list[Unit], right: list[Unit]) -> list[tuple[Unit, Unit]]:
    """Which unit became which: by id, else by kind and role in order."""
    pairs: list[tuple[Unit, Unit]] = []
    free = list(right)
    for by_key in (True, False):
        for a in left:
            if any(a is x for x, _ in pairs):
                continue
            for b in free:
                if a.kind != b.kind or a.role != b.role:
                    continue
                same = a.key is not None and a.key == b.key
                near = (a.key is None or b.key is None) and _near(a, b)
                if same if by_key else near:
                    pairs.append((a, b))
                    free = [x for x in free if x is not b]
                    break
    return pairs


def _near(a: Unit, b: Unit) -> bool:
    """True when one text or call may have become the other."""
    if a.part.result and b.part.result:
        return a.key is None and b.key is None and a.part.result.name == b.part.result.name
    if a.part.call and b.part.call:
        return a.part.call.name == b.part.call.name or a.part.call.arguments == b.part.call.arguments
    if a.emitted:
        return True
    short, long = sorted((a.text, b.text), key=len)
    return bool(short) and (short[:24] == long[:24] or short[-24:] == long[-24:] or short[:200] in long)


def _joined(gone: list[Unit], come: list[Unit]) -> tuple[list[Unit], list[Unit]]:
    """Without the texts that were only cut into parts otherwise."""
    for role in {unit.role for unit in gone}:
        old = [u for u in gone if u.kind == "text" and u.role == role]
        new = [u for u in come if u.kind == "text" and u.role == role]
        if old and new and _squeezed(old) == _squeezed(new):
            gone = [u for u in gone if not any(u is x for x in old)]
            come = [u for u in come if not any(u is x for x in new)]
    return gone, come


def _squeezed(units: list[Unit]) -> str:
    return "".join("".join(unit.text.split()) for unit in units)


def _change(a: Unit, b: Unit) -> list[HistoryChange]:
    if a.part.call and b.part.call:
        kind: ChangeKind = "name_changed" if a.part.call.name != b.part.call.name else "args_changed"
        was, became = (a.part.call.name, b.part.call.name) if kind == "name_changed" else (a.text, b.text)
        return [HistoryChange(kind, a.emitted, a.pointer, b.pointer, was, became, a.key)]
    if _squeezed([a]) == _squeezed([b]):
        return []
    kind = "result_changed" if a.kind == "result" else "text_changed"
    return [HistoryChange(kind, a.emitted, a.pointer, b.pointer, a.text, b.text, a.key)]


def _respelled(expected: list[Unit], units: list[Unit]) -> list[HistoryChange]:
    changes: list[HistoryChange] = []
    for a, b in zip(expected, units, strict=False):
        if a.kind != "call":
            continue
        if a.key is not None and b.key is not None and a.key != b.key:
            changes.append(HistoryChange("id_changed", a.emitted, a.pointer, b.pointer, a.key, b.key, a.key))
        elif a.spelled != b.spelled and a.part.call and isinstance(_arguments(a.part), str):
            changes.append(HistoryChange("args_respelled", a.emitted, a.pointer, b.pointer, a.text, b.text, a.key))
    return changes


def _arguments(part: Part) -> object:
    """The arguments as the wire had them: a string in some APIs, an object in others, which has no spelling."""
    raw = as_object(part.raw)
    function = as_object(raw.get("function")) or raw
    return function.get("arguments")


def _reasoning(
    turn: Turn, messages: tuple[Message, ...]
) -> tuple[list[LostReasoning], Literal["none", "kept", "dropped", "altered"]]:
    emission = turn.reading.emission
    given = [p for p in emission.content if p.signature or p.kind == "reasoning"] if emission else []
    opaque = [part for part in given if part.signature]
    plain = [part for part in given if not part.signature and part.text.strip()]
    if not given:
        return [], "none"
    there = reasoning_of(messages)
    ids = _ids(messages)
    by_signature = {_same_bytes(part.signature): part for part in there if part.signature}
    texts = {part.text.strip(): part for part in there if part.text.strip()}
    lost: list[LostReasoning] = []
    for part in opaque:
        found = by_signature.get(_same_bytes(part.signature or ""))
        if found is None and (item := as_object(part.raw).get("id")) in ids:
            twin = next((p for p in there if p.signature and item and as_object(p.raw).get("id") == item), None)
            # A stream may hold the same item more than once, each time sealed anew.
            if twin is not None and not _came(turn, twin.signature or ""):
                lost.append(LostReasoning("altered", part.pointer, twin.pointer))
            continue
        if found is None:
            twin = texts.get(part.text.strip()) if part.text.strip() and part.kind == "reasoning" else None
            kind: Literal["dropped", "altered"] = "altered" if twin is not None else "dropped"
            lost.append(LostReasoning(kind, part.pointer, twin.pointer if twin else None))
        elif _misplaced(part, found, messages) or _edited(part, found):
            lost.append(LostReasoning("altered", part.pointer, found.pointer))
    for part in plain:
        if part.text.strip() not in texts and as_object(part.raw).get("id") not in ids:
            lost.append(LostReasoning("dropped", part.pointer, None))
    if not lost:
        return [], "kept"
    return lost, "altered" if any(one.kind == "altered" for one in lost) else "dropped"


def _misplaced(part: Part, found: Part, messages: tuple[Message, ...]) -> bool:
    """True when the signature of a call came back on something else, although the call came back too."""
    if part.call is None or found.call is not None:
        return False
    meaning = call_meaning(part.call)
    return any(p.call is not None and call_meaning(p.call) == meaning for m in messages for p in m.parts)


def _edited(part: Part, found: Part) -> bool:
    return part.kind == found.kind == "reasoning" and part.text.strip() not in ("", found.text.strip())


def _came(turn: Turn, signature: str) -> bool:
    response = turn.round_trip.response
    return response is not None and signature.encode() in response.body


def _same_bytes(signature: str) -> str:
    """A signature whatever alphabet of base64 the client writes it in."""
    return signature.translate(_ALPHABET).rstrip("=")


_ALPHABET = str.maketrans("-_", "+/")


def _ids(messages: tuple[Message, ...]) -> frozenset[object]:
    """Ids of items that came back, whole or as a reference."""
    parts = (part for message in messages for part in message.parts)
    return frozenset(found for part in parts if (found := as_object(part.raw).get("id")) is not None)
