"""Two texts compared word by word."""

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

from turntape.cassettes.regex import regex

type Change = Literal["equal", "removed", "added"]

MOST = 3_000
"""Words of each side that are aligned; of longer texts the whole middle is one change."""
AROUND = 6
"""Equal words that are shown before and after a change."""
_WORD = regex(r"\s*\S+|\s+$")


def word_changes(old: str, new: str) -> Iterator[tuple[Change, str]]:
    """The pieces of both texts in order. A long equal piece is shortened in its middle to an ellipsis."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    first, last = before[:start], before[len(before) - end :]
    yield from _equal(first, first=True, last=len(first) == len(before) == len(after))
    yield from _middle(before[start : len(before) - end], after[start : len(after) - end])
    if last:
        yield from _equal(last, first=False, last=True)


def _common(one: list[str], other: list[str]) -> int:
    shorter = min(len(one), len(other))
    return next((at for at in range(shorter) if one[at] != other[at]), shorter)


def _middle(old: list[str], new: list[str]) -> Iterator[tuple[Change, str]]:
    if len(old) > MOST or len(new) > MOST:
        yield from _both(old, new)
        return
    for kind, low, high, begin, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield from _equal(old[low:high], first=False, last=False)
        else:
            yield from _both(old[low:high], new[begin:end])


def _both(old: list[str], new: list[str]) -> Iterator[tuple[Change, str]]:
    if old:
        yield "removed", "".join(old)
    if new:
        yield "added", "".join(new)


def _equal(words: list[str], *, first: bool, last: bool) -> Iterator[tuple[Change, str]]:
    if not words:
        return
    head, tail = (0 if first else AROUND), (0 if last else AROUND)
    if len(words) <= head + tail + 2:
        yield "equal", "".join(words)
        return
    begin, end = "".join(words[:head]), "".join(words[len(words) - tail :] if tail else [])
    yield "equal", f"{begin} …{'' if end[:1].isspace() or not end else ' '}{end}"
