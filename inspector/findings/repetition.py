"""Texts that a model could not end: the same words again and again, up to where the text breaks off."""

from turntape.cassettes.regex import regex

_LONGEST = 240
"""Characters of the piece that repeats."""
_TIMES = 8
_LEAST = 160
"""Characters that the copies must have together."""
_SINGLE = 200
"""So often a single sign must repeat: lines and tables hold shorter rows of one."""


def repeated_word(text: str) -> tuple[str, int] | None:
    """A word that is in a text many times in a row, with only white space between, and how often."""
    found = _WORD.search(text)
    return None if found is None else (found[1], len(found[0].split()))


_WORD = regex(r"(?<!\w)([^\W\d_]{3,40})\s{1,3}(?:\1\s{1,3}){28,}")
"""A word and at least 28 more of it: rows of data have signs between."""


def repeated_end(text: str) -> tuple[str, int] | None:
    """The piece with which a text ends many times in a row, and how often; None for any other text.

    The last copy may be cut off.
    """
    tail = text.rstrip()
    if len(tail) < _LEAST:
        return None
    for size in range(1, min(_LONGEST, len(tail) // 4) + 1):
        if tail[-1] != tail[-1 - size] or tail[-size:] != tail[-2 * size : -size]:
            continue
        same = _repeated(tail, size)
        count = same // size
        if size == 1 and not tail[-1].isalnum():
            if count >= _SINGLE:
                return tail[-1], count
            continue
        if not any(sign.isalnum() for sign in tail[-size:]):
            if same + size >= _LONGEST:
                return None  # A longer piece would have the same signs.
            continue
        if count >= _TIMES and same >= _LEAST:
            start = len(tail) - count * size
            return tail[start : start + size], count
    return None


def _repeated(tail: str, size: int) -> int:
    """How many characters at the end of a text are the same as those `size` after them, with the last `size`.

    Compared in steps that double and then halve, so that a long end costs no more than reading it.
    """
    start, step = len(tail) - size, 1
    while step <= start and tail[start - step : start] == tail[start - step + size : start + size]:
        start, step = start - step, step * 2
    while step:
        if step <= start and tail[start - step : start] == tail[start - step + size : start + size]:
            start -= step
        step //= 2
    return len(tail) - start


_COPY = 24
"""Characters that a text must have to be found twice."""
_WORDS = 4


def said_twice(text: str) -> str | None:
    """The half of a text that is only the same twice, with or without white space between; None for any other.

    A half that repeats one thing is a list or a chorus, and not what somebody put together twice.
    """
    whole = text.strip()
    for size in {len(whole) // 2, (len(whole) - 1) // 2, (len(whole) - 2) // 2}:
        half = whole[:size]
        if size < _COPY or not whole.endswith(half) or whole[size : len(whole) - size].strip():
            continue
        words = half.split()
        letters = "".join(words)
        if len(set(words)) >= _WORDS and letters not in (letters + letters)[1:-1]:
            return half.strip()
    return None


_PAIR = 120
"""Characters of a piece of a stream that comes twice."""
_DOUBLED = 40
"""Characters. A shorter text may consist of pairs by chance, as `papa` does."""


def pieces_twice(text: str) -> bool:
    """True for a text in which every piece comes twice in a row, as of a stream each of whose events came twice."""
    if len(text) < _DOUBLED or len(text) % 2 or len(set(text)) < _DOUBLED // 4:
        return False
    reached = {0}
    for at in range(0, len(text), 2):
        if at not in reached:
            continue
        reached.discard(at)
        for size in range(1, min(_PAIR, (len(text) - at) // 2) + 1):
            if (
                text[at + size - 1] == text[at + 2 * size - 1]
                and text[at : at + size] == text[at + size : at + 2 * size]
            ):
                reached.add(at + 2 * size)
        if not reached:
            return False
    return len(text) in reached
