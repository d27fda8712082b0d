"""Expressions for `ignore_text` that cover a text which has no name, by the words around it: `container [\\w-]+`."""

import re
from collections.abc import Sequence

from .ignored_fields import blanked
from .json_diff import blocks

_MOST = 4
"""A text that differs in more places has no short expression."""
_CLOSE = 8
"""Places with this many signs and words between them, or fewer, are one."""
_CONTEXT = 6
"""This many signs and words on each side are taken."""
_LONGEST = 120
_TOKEN = re.compile(r"\w+|\n|[^\S\n]+|[^\w\s]")
_ANYTHING = r"[^\n]+?"
_INNER = (r"\w+", r"[\w-]+", r"[\w.:/+-]+", r"\S+", _ANYTHING)
"""What may be between the words, narrowest first."""
_LINE = "(?m:^)"
_WORD = re.compile(r"[^\W\d_]{2}")


def expressions_for(recorded: str, given: str) -> list[str]:
    """Expressions after which two texts are equal; empty when there are no short ones."""
    old, new = _TOKEN.findall(recorded), _TOKEN.findall(given)
    places = _joined(old, list(blocks(old, new)))
    if not 0 < len(places) <= _MOST:
        return []
    found: list[str] = []
    least = 0
    for number, (low, high, low_new, high_new) in enumerate(places):
        most = places[number + 1][0] if number + 1 < len(places) else len(old)
        before = _line_end(old[max(least, low - _CONTEXT) : low])
        after = _line_start(old[high : min(most, high + _CONTEXT)])
        one = _expression(before, "".join(old[low:high]), "".join(new[low_new:high_new]), after)
        if one is None:
            return []
        found.append(one)
        least = high
    found = list(dict.fromkeys(found))
    compiled = tuple(map(re.compile, found))
    return found if blanked(recorded, compiled) == blanked(given, compiled) else []


def _joined(old: Sequence[str], places: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """The places that differ, those of one line that are close to each other as one."""
    found: list[tuple[int, int, int, int]] = []
    for low, high, low_new, high_new in places:
        if found and low - found[-1][1] <= _CLOSE and "\n" not in old[found[-1][1] : low]:
            found[-1] = (found[-1][0], high, found[-1][2], high_new)
        else:
            found.append((low, high, low_new, high_new))
    return found


def _line_end(tokens: Sequence[str]) -> str:
    return "".join(tokens).rpartition("\n")[2].lstrip(" \t,;:.)]}")


def _line_start(tokens: Sequence[str]) -> str:
    return "".join(tokens).partition("\n")[0].rstrip(" \t")


def _expression(before: str, recorded: str, given: str, after: str) -> str | None:
    """The narrowest expression for a place, with the words before it, or else those behind it."""
    for lead, tail in ((before, ""), ("", after), (before, after)):
        if not _WORD.search(lead + tail):
            continue
        start = _literal(lead) if before else _LINE
        for inner in _INNER:
            written = f"{start if lead or inner == _ANYTHING else ''}{inner}{_literal(tail)}"
            if (
                (inner != _ANYTHING or (tail and lead == before))
                and all(re.fullmatch(inner, value) for value in (recorded, given))
                and len(written) <= _LONGEST
            ):
                return written
    return None


def _literal(text: str) -> str:
    return re.escape(text).replace("\\ ", " ").replace("\\-", "-")
