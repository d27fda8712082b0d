"""Texts in which a client hides parts, and writes a mark in the place of each: secrets, names of people."""

import re

from turntape.cassettes.regex import regex

_MARK = regex(
    r"[\[<(][^\]>)\n]{0,40}(?:redact|mask|hidden|filtered|removed|secret|\bpii\b)[^\]>)\n]{0,40}[\]>)]"
    r"|\b(?:redacted|masked)\b|\*{3,}|•{3,}|█+",
    re.IGNORECASE,
)
_LONGEST = 400
"""Characters. A longer part is content, and no secret."""


def is_masked(returned: str, seen: str) -> bool:
    """Whether a text differs only by short parts that are hidden behind marks which it did not have itself."""
    was, now = (" ".join(text.split()) for text in (returned, seen))
    kept = _MARK.split(now)
    if len(kept) < 2 or len(_MARK.findall(was)) >= len(kept) - 1 or not was.startswith(kept[0]):
        return False
    place = len(kept[0])
    for part in kept[1:-1]:
        found = was.find(part, place) if part.strip() else place
        if not 0 <= found - place <= _LONGEST:
            return False
        place = found + len(part)
    return was.endswith(kept[-1]) and 0 < len(was) - len(kept[-1]) - place <= _LONGEST
