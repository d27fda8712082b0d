"""Signs for terminals without Unicode."""

import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.cells import cell_len

from turntape.inspector import views
from turntape.inspector.views.vocabulary.ascii_signs import TABLE, in_ascii
from turntape.inspector.views.vocabulary.pieces import SHORT_FIGURES
from turntape.inspector.views.vocabulary.signs import MARKS

FOLDER = Path(views.__file__).parent


def drawn() -> Iterator[str]:
    """The signs in the program text of the views for terminals."""
    for folder in ("tui", "text", "vocabulary"):
        for path in (FOLDER / folder).rglob("*.py"):
            yield from path.read_text("utf-8")


def test_each_sign_that_a_view_draws_has_an_ascii_character() -> None:
    signs = {one for one in drawn() if not one.isascii() and not unicodedata.category(one).startswith("L")}
    assert len(signs) > 40
    assert signs - TABLE.keys() == set()
    assert all(other.isascii() and len(other) == 1 for other in TABLE.values())


def test_the_marks_of_the_strip_stay_different() -> None:
    marks = [in_ascii(mark.glyph) for mark in MARKS.values()]
    assert len(set(marks)) == len(marks)


def test_the_kinds_of_figures_stay_different() -> None:
    kinds = SHORT_FIGURES.split(", ")[1:]
    assert len({in_ascii(words)[0] for words in kinds[:2]}) == 2
    assert in_ascii("1,204±56") == "1,204+56" and in_ascii("≈1,200") == "~1,200"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("◆ model → bash", "* model > bash"),
        ("▁▂▃▄▅▆▇█", "__--==##"),
        ("Zürich 東京", "Z?rich ????"),
        ("e\u0301", "e"),
    ],
)
def test_the_width_stays(text: str, shown: str) -> None:
    assert in_ascii(text) == shown
    assert cell_len(text) == len(shown)
