"""Where two JSON values differ: RFC 6901 pointers, and the words on both sides.

Objects are compared by key, arrays aligned by their equal items, so that one inserted message is one difference
and not a thousand.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice
from os.path import commonprefix
from typing import Literal, cast

import orjson

from ..excerpts import cut
from ..frozen import frozen

CLIP = 80
"""How many characters of a value a difference shows."""
_ALIGNED = 400
"""Longer arrays are compared index by index after their common ends, because alignment takes quadratic time."""


@frozen
class Difference:
    pointer: str
    """A pointer into the recorded value, or into the new value if the recorded one has no such place."""
    kind: Literal["changed", "added", "removed"]
    recorded: object = None
    given: object = None

    def __str__(self) -> str:
        where = self.pointer or "the body"
        if self.kind == "added":
            return f"{where} is new: {shown(self.given)}"
        if self.kind == "removed":
            return f"{where} is missing: {shown(self.recorded)}"
        recorded, given = around(self.recorded, self.given)
        return f"{where} was {recorded} and is {given}"


def shown(value: object) -> str:
    """A value as JSON, shortened for messages."""
    try:
        text = orjson.dumps(value).decode()
    except (TypeError, ValueError):
        text = repr(value)
    return cut(text, CLIP)


def around(recorded: object, given: object) -> tuple[str, str]:
    """Two values, shown from a little before their first difference."""
    if not (isinstance(recorded, str) and isinstance(given, str)):
        return shown(recorded), shown(given)
    same = len(commonprefix([recorded, given]))
    start = max(0, same - 20) if max(len(recorded), len(given)) > CLIP - 2 else 0
    lead = "…" if start else ""
    return shown(lead + recorded[start:]), shown(lead + given[start:])


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def differences(recorded: object, given: object, limit: int = 10) -> list[Difference]:
    """The first `limit` differences, in the order of the recorded value."""
    found: list[Difference] = []
    _walk(recorded, given, "", found, limit)
    return found


def _walk(recorded: object, given: object, pointer: str, found: list[Difference], limit: int) -> None:
    if len(found) >= limit or (recorded is given) or _key(recorded) == _key(given):
        return
    if isinstance(recorded, dict) and isinstance(given, dict):
        old, new = cast(dict[str, object], recorded), cast(dict[str, object], given)
        for key in [*old, *(k for k in new if k not in old)]:
            if len(found) >= limit:
                return
            place = f"{pointer}/{_escaped(key)}"
            if key not in new:
                found.append(Difference(place, "removed", recorded=old[key]))
            elif key not in old:
                found.append(Difference(place, "added", given=new[key]))
            else:
                _walk(old[key], new[key], place, found, limit)
    elif isinstance(recorded, list) and isinstance(given, list):
        _align(cast(list[object], recorded), cast(list[object], given), pointer, found, limit)
    else:
        found.append(Difference(pointer, "changed", cast(object, recorded), given))


def _key(value: object) -> bytes:
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):
        return repr(value).encode()


def _common_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """How many first and how many last items are equal; no item counts twice."""
    most = min(len(old), len(new))
    start = next((n for n in range(most) if old[n] != new[n]), most)
    most -= start
    return start, next((n for n in range(most) if old[-1 - n] != new[-1 - n]), most)


def blocks(old: Sequence[str | bytes], new: Sequence[str | bytes]) -> Iterator[tuple[int, int, int, int]]:
    """Where two sequences differ after their equal items are aligned: from and to in `old`, from and to in `new`."""
    start, end = _common_ends(old, new)
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > _ALIGNED:
        found = [("replace", 0, len(old), 0, len(new))]
    else:
        found = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for tag, low, high, low_new, high_new in found:
        if tag != "equal":
            yield start + low, start + high, start + low_new, start + high_new


def _align(old: list[object], new: list[object], pointer: str, found: list[Difference], limit: int) -> None:
    # By their JSON: for Python `1`, `1.0` and `True` are equal.
    for low, high, low_new, high_new in blocks([_key(item) for item in old], [_key(item) for item in new]):
        paired = min(high - low, high_new - low_new)
        for step in range(paired):
            _walk(old[low + step], new[low_new + step], f"{pointer}/{low + step}", found, limit)
        for place in range(low + paired, high):
            if len(found) < limit:
                found.append(Difference(f"{pointer}/{place}", "removed", recorded=old[place]))
        for place in range(low_new + paired, high_new):
            if len(found) < limit:
                found.append(Difference(f"{pointer}/{place}", "added", given=new[place]))


def words(recorded: str, given: str, limit: int = 10) -> list[tuple[str, str]]:
    """The words that differ between two texts, as `(recorded, given)` pairs in order. One side is empty if words were
    only added or only removed."""
    old, new = recorded.split(), given.split()
    pairs = ((" ".join(old[a:b]), " ".join(new[c:d])) for a, b, c, d in blocks(old, new))
    return list(islice(pairs, limit))
