"""Numbers with their noun, for every sentence that counts."""


def several(number: int, noun: str) -> str:
    """A number with its noun: `1 turn`, `2,000 turns`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
