"""Where two JSON values differ: RFC 6901 pointers, and the words on both sides.

Objects are compared by key, arrays aligned by their equal items, so that one inserted message is one difference
and not a thousand.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, cast

import orjson

CLIP = 80
"""How many characters of a value a difference shows."""
_ALIGNED = 400
"""Arrays longer than this are compared place by place after their common ends: alignment is quadratic."""


@dataclass(frozen=True, slots=True)
class Difference:
    pointer: str
    """Where, in the recorded value; in the new one where the recording has nothing."""
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
    """A value as JSON, clipped for people."""
    try:
        text = orjson.dumps(value).decode()
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= CLIP else f"{text[: CLIP - 1]}…"


def around(recorded: object, given: object) -> tuple[str, str]:
    """Two values, shown from a little before the place where they part."""
    if not (isinstance(recorded, str) and isinstance(given, str)):
        return shown(recorded), shown(given)
    same = next((i for i, (a, b) in enumerate(zip(recorded, given, strict=False)) if a != b), None)
    if same is None:
        same = min(len(recorded), len(given))
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


def _align(old: list[object], new: list[object], pointer: str, found: list[Difference], limit: int) -> None:
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    middle_old, middle_new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(middle_old), len(middle_new)) > _ALIGNED:
        blocks = [("replace", 0, len(middle_old), 0, len(middle_new))]
    else:
        matcher = SequenceMatcher(None, [_key(v) for v in middle_old], [_key(v) for v in middle_new], autojunk=False)
        blocks = matcher.get_opcodes()
    for tag, low, high, low_new, high_new in blocks:
        if tag == "equal":
            continue
        paired = min(high - low, high_new - low_new)
        for step in range(paired):
            _walk(middle_old[low + step], middle_new[low_new + step], f"{pointer}/{start + low + step}", found, limit)
        for step in range(low + paired, high):
            if len(found) < limit:
                found.append(Difference(f"{pointer}/{start + step}", "removed", recorded=middle_old[step]))
        for step in range(low_new + paired, high_new):
            if len(found) < limit:
                found.append(Difference(f"{pointer}/{start + step}", "added", given=middle_new[step]))


def words(recorded: str, given: str, limit: int = 10) -> list[tuple[str, str]]:
    """The words that differ between two texts, as `(recorded, given)` pairs in order; one side is empty where words
    were only added or only taken away."""
    old, new = recorded.split(), given.split()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old, new = old[start : len(old) - end], new[start : len(new) - end]
    if max(len(old), len(new)) > _ALIGNED:
        return [(" ".join(old), " ".join(new))]
    pairs = [
        (" ".join(old[low:high]), " ".join(new[low_new:high_new]))
        for tag, low, high, low_new, high_new in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]
    return pairs[:limit]
