"""How figures and states are written in a few cells."""

import pytest

from turntape.inspector.views.tui.formatting import clipped


def text(spans: object) -> str:
    return "".join(word for word, _ in spans)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("words", "cells", "shown"),
    [
        (["one ", "two"], 7, "one two"),
        (["one ", "two"], 6, "one t…"),
        (["one ", "two"], 5, "one …"),
        (["one ", "two"], 4, "one…"),
        (["one", "   "], 4, "one   "),
        (["日本", "語"], 6, "日本語"),
        (["日本", "語"], 5, "日本…"),
        (["日本", "語"], 4, "日…"),
        (["one"], 1, "…"),
        (["one"], 0, ""),
    ],
)
def test_a_line_that_is_cut_ends_in_an_ellipsis(words: list[str], cells: int, shown: str) -> None:
    assert text(clipped([(word, "plain") for word in words], cells)) == shown


def test_the_looks_are_kept() -> None:
    assert clipped([("one ", "bad"), ("two", "good")], 6) == [("one ", "bad"), ("t", "good"), ("…", "dim")]
