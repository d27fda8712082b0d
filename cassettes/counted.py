"""Numbers with their noun, and lists that say how much longer they are, for every sentence that counts."""

from collections.abc import Sequence


def several(number: int, noun: str) -> str:
    """A number with its noun: `1 turn`, `2,000 turns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(words: Sequence[str], most: int, between: str = ", ") -> str:
    """The first `most` of them, and how many more there are: `a, b and 3 more`."""
    more = len(words) - most
    return between.join(words[:most]) + (f" and {more:,} more" if more > 0 else "")
