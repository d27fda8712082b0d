"""Numbers with their noun."""

import pytest

from turntape.cassettes.counted import several


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (-1, "-1 turns"), (2000, "2,000 turns")]
)
def test_only_one_is_singular_and_thousands_are_separated(number: int, text: str) -> None:
    assert several(number, "turn") == text
