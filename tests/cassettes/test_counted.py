"""Numbers with their noun, and lists that are cut."""

import pytest

from turntape.cassettes.counted import listed, several


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (-1, "-1 turns"), (2000, "2,000 turns")]
)
def test_only_one_is_singular_and_thousands_are_separated(number: int, text: str) -> None:
    assert several(number, "turn") == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, ""), (1, "w0"), (3, "w0, w1, w2"), (4, "w0, w1, w2 and 1 more"), (2003, "w0, w1, w2 and 2,000 more")],
)
def test_a_list_that_is_cut_says_how_many_more_there_are(number: int, text: str) -> None:
    assert listed([f"w{n}" for n in range(number)], 3) == text
    assert listed(["a", "b", "c"], 2, "; ") == "a; b and 1 more"
