"""Pages: blocks that fold, and texts that are cut into lines as they are shown."""

import time

from turntape.inspector.views.tui.pages.page import Block, Page, Prose, fields_of, json_line, lines, pretty, prose
from turntape.inspector.views.tui.widgets.page_view import marked


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


def test_a_line_breaks_at_words_and_keeps_its_indentation() -> None:
    wrapped = ["".join(part for part, _ in line) for line in Prose("    one two three four", 12)]

    assert wrapped == ["    one two", "    three", "    four"]
    assert all(len(line) <= 12 for line in wrapped)


def test_wide_characters_take_two_cells() -> None:
    assert ["".join(part for part, _ in line) for line in Prose("漢字漢字", 4)] == ["漢字", "漢字"]


def test_control_characters_never_reach_the_terminal() -> None:
    shown = "".join(part for line in Prose("a\x1b[31mb\x07", 80) for part, _ in line)

    assert "\x1b" not in shown and "\x07" not in shown


def test_twenty_megabytes_are_cut_where_they_are_looked_at() -> None:
    begun = time.process_time()
    told = Prose("x" * 20_000_000, 80)
    line = told[100_000]
    spent = time.process_time() - begun

    assert len(told) == 250_000 and len(line[0][0]) == 80
    assert spent < 5, "the whole text was wrapped"


def test_json_has_keys_and_values_in_their_looks() -> None:
    assert json_line('  "a": "b",') == [("  ", "plain"), ('"a"', "key"), (": ", "dim"), ('"b",', "string")]
    assert pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert "NaN" in pretty({"a": float("nan")}) or "null" in pretty({"a": float("nan")})


def test_an_object_is_told_as_people_write_it() -> None:
    assert list(fields_of({"a": {"b": 1}, "c": ["x", {"d": None}]})) == [
        ("", "a", ""),
        ("  ", "b", "1"),
        ("", "c", ""),
        ("  - ", "", "x"),
        ("  - ", "d", "null"),
    ]


def test_words_that_were_searched_are_marked_across_spans() -> None:
    spans = [("The piv", "plain"), ("ot year", "bold")]

    assert [s for s in marked(spans, ["pivot"]) if s[0]] == [
        ("The ", "plain"),
        ("piv", "mark"),
        ("ot", "mark"),
        (" year", "bold"),
    ]
    assert marked(spans, ["nowhere"]) is spans
