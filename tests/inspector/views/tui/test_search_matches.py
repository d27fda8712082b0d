"""Where the words of a search occur on a page."""

from turntape.inspector.views.tui.pages.blocks import Block
from turntape.inspector.views.tui.pages.page import Page
from turntape.inspector.views.tui.pages.text_lines import prose
from turntape.inspector.views.tui.search_matches import BEFORE, TITLE, marked, matches


def test_words_that_were_searched_are_marked_across_spans() -> None:
    spans = [("The piv", "plain"), ("ot year", "bold")]

    assert [s for s in marked(spans, ["pivot"]) if s[0]] == [
        ("The ", "plain"),
        ("piv", "mark"),
        ("ot", "mark"),
        (" year", "bold"),
    ]
    assert marked(spans, ["nowhere"]) is spans


def page() -> Page:
    return Page(
        "p",
        [
            Block("a", [("A pivot", "bold")], prose("none\nthe PIVOT here"), open=False),
            Block("b", [("other", "bold")], prose("pivot")),
        ],
    )


def test_titles_and_folded_lines_match() -> None:
    assert matches(page(), 40, ["pivot"]).places == ((0, TITLE), (0, 1), (1, 0))
    assert matches(page(), 40, ["nowhere"]).places == ()


def test_the_match_beside_a_line_is_before_or_after_it() -> None:
    found = matches(page(), 40, ["pivot"])

    assert [found.beside(BEFORE, 1), found.beside((0, TITLE), 1), found.beside((0, 0), 1)] == [0, 1, 1]
    assert [found.beside((1, 0), 1), found.beside((1, 0), -1), found.beside(BEFORE, -1)] == [None, 1, None]


def test_matches_are_those_of_one_page_width_and_query() -> None:
    own = page()
    found = matches(own, 40, ["pivot"])

    assert found.fits(own, 40, ["pivot"])
    assert not found.fits(page(), 40, ["pivot"])
    assert not found.fits(own, 41, ["pivot"])
    assert not found.fits(own, 40, ["other"])
