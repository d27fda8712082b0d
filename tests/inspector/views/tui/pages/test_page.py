"""Pages: blocks that fold."""

from turntape.inspector.views.tui.pages.blocks import Block
from turntape.inspector.views.tui.pages.page import Page
from turntape.inspector.views.tui.pages.text_lines import lines, prose


def text(page: Page, width: int = 40, **folds: bool) -> list[str]:
    return list(page.laid_out(width, folds).text())


def test_a_shut_block_shows_its_preview_and_how_much_is_left() -> None:
    page = Page("p", [Block("a", [("title", "bold")], prose("1\n2\n3\n4"), open=False, preview=2)])

    assert text(page) == ["▸ title", "1", "2", "… 2 more lines, Enter opens them"]
    assert text(page, a=True) == ["▾ title", "1", "2", "3", "4"]


def test_what_has_no_title_cannot_be_folded_away() -> None:
    layout = Page("p", [Block("bar", (), lines([("always", "plain")])), Block("b", [("B", "bold")])]).laid_out(40, {})
    found = layout.at(0)
    assert found is not None and not found[0].foldable


def test_what_hangs_on_a_shut_group_is_shut_with_it() -> None:
    page = Page(
        "p",
        [
            Block("g", [("group", "bold")], group=True, open=False),
            Block("a", [("inner", "bold")], group=True, parent="g"),
            Block("b", (), lines([("leaf", "plain")]), parent="a"),
            Block("c", (), lines([("after", "plain")])),
        ],
    )

    assert text(page) == ["▸ group", "after"]
    assert text(page, g=True) == ["▾ group", "▾ inner", "leaf", "after"]


def test_an_anchor_opens_all_that_hides_it() -> None:
    page = Page(
        "p",
        [
            Block("g", [("group", "bold")], group=True, open=False),
            Block("a", [("a", "bold")], prose("x"), open=False, parent="g", anchors=("/messages/4",)),
            Block("b", [("b", "bold")], prose("y"), open=False, anchors=("/messages",)),
        ],
    )

    assert page.opening("/messages/4/content/1") == ["a", "g"]
    assert page.opening("/messages/5") == ["b"]
    assert page.opening("/elsewhere") == []


def test_every_line_of_a_layout_is_found_again() -> None:
    page = Page("p", [Block(str(n), [(f"title {n}", "bold")], prose("a\nb"), open=n % 2 == 0) for n in range(5)])
    layout = page.laid_out(20, {})

    assert len(layout) == len(list(layout.text())) == 5 + 3 * 2
    assert [layout.find(str(n)) for n in range(5)] == layout.heads() == [0, 3, 4, 7, 8]
    assert layout.at(99) is None
