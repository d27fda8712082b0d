"""Whole numbers in text that somebody else wrote."""

MOST_DIGITS = 18
"""So many fit into 64 bits. `int` refuses a text of more than 4,300 digits, with a ValueError."""


def whole_number(text: str) -> int | None:
    """The number that is written as 1 to 18 ASCII digits; None for all other text.

    `str.isdigit` is not enough before `int`: it also accepts signs such as `²`, which `int` refuses.
    """
    return int(text) if len(text) <= MOST_DIGITS and text.isascii() and text.isdigit() else None
