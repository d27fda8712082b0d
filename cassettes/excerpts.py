"""Texts and lists that are too long for a sentence: their beginning, and that there is more."""

from collections.abc import Sequence


def cut(text: str, most: int) -> str:
    """`text` in at most `most` characters, with an ellipsis as the last one where it was cut."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def around(text: str, start: int, end: int) -> str:
    """The characters of `text` from `start` up to `end`, with an ellipsis on each side where there are more."""
    return f"{'…' if start > 0 else ''}{text[max(start, 0) : end]}{'…' if end < len(text) else ''}"


def listed(words: Sequence[str], most: int, between: str = ", ") -> str:
    """The first `most` words, and how many more there are: `a, b and 3 more`."""
    more = len(words) - most
    return between.join(words[:most]) + (f" and {more:,} more" if more > 0 else "")
