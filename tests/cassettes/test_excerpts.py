"""Texts and lists that are too long for a sentence."""

import pytest

from turntape.cassettes.excerpts import around, cut, listed


@pytest.mark.parametrize(("text", "shown"), [("", ""), ("abcde", "abcde"), ("abcdef", "abcd…"), ("ab\n" * 9, "ab\na…")])
def test_a_text_that_is_cut_ends_with_an_ellipsis(text: str, shown: str) -> None:
    assert cut(text, 5) == shown
    assert len(cut(text, 5)) <= 5


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [(0, 6, "abcdef"), (-3, 9, "abcdef"), (0, 3, "abc…"), (2, 6, "…cdef"), (2, 4, "…cd…"), (6, 9, "…")],
)
def test_a_part_of_a_text_says_on_which_side_there_is_more(start: int, end: int, shown: str) -> None:
    assert around("abcdef", start, end) == shown


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, ""), (1, "w0"), (3, "w0, w1, w2"), (4, "w0, w1, w2 and 1 more"), (2003, "w0, w1, w2 and 2,000 more")],
)
def test_a_list_that_is_cut_says_how_many_more_there_are(number: int, text: str) -> None:
    assert listed([f"w{n}" for n in range(number)], 3) == text
    assert listed(["a", "b", "c"], 2, "; ") == "a; b and 1 more"
