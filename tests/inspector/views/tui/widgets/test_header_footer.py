"""One-line bars: what is left out when there is little room."""

from functools import partial
from typing import Any

import pytest

from turntape.inspector.views.tui.pages.blocks import Spans
from turntape.inspector.views.tui.widgets.header_footer import Bar, KeyHint, Keys, cells_of
from turntape.inspector.views.tui.widgets.page_view import PageView
from turntape.inspector.views.tui.widgets.search_box import SearchBox
from turntape.inspector.views.tui.widgets.turn_list import TurnList

HINTS: tuple[KeyHint, ...] = (("a", "one", "x"), ("b", "two", "y"), ("?", "help", "h"), ("q", "quit", "q"))


@pytest.mark.parametrize(("width", "keys"), [(30, "ab?q"), (29, "a?q"), (23, "a?q"), (22, "?q"), (16, "?q"), (3, "?q")])
def test_keys_before_the_last_two_are_left_out_first(width: int, keys: str) -> None:
    assert cells_of(HINTS) == 30
    hints, behind = Keys().fitted(HINTS, width)
    assert "".join(key for key, _, _ in hints) == keys and behind == " "


@pytest.mark.parametrize("widget", [TurnList, PageView, SearchBox])
def test_the_keys_of_each_pane_fit_into_eighty_cells(widget: type[TurnList | PageView | SearchBox]) -> None:
    assert cells_of(widget.HINTS) <= 80


def test_a_line_that_is_shown_already_is_not_drawn_again() -> None:
    drawn: list[int] = []

    class Counted(Bar):
        def refresh(self, *regions: Any, **fields: Any) -> Any:
            drawn.append(1)
            return self

    def line(words: tuple[str, ...], width: int) -> Spans:
        return [(word[:width], "plain") for word in words]

    bar = Counted()
    drawn.clear()
    bar.show(partial(line, ("a", "b")))
    bar.show(partial(line, ("a", "b")))
    assert len(drawn) == 1
    bar.show(partial(line, ("a", "c")))
    bar.show(lambda width: [("a", "plain")])
    bar.show(lambda width: [("a", "plain")])
    assert len(drawn) == 4, "of functions that are not the same, nobody knows"


def test_a_line_of_something_that_changes_is_drawn_each_time() -> None:
    drawn: list[int] = []

    class Counted(Bar):
        def refresh(self, *regions: Any, **fields: Any) -> Any:
            drawn.append(1)
            return self

    class Played:
        def status(self, paused: bool, width: int) -> Spans:
            return [(f"{len(drawn)} {paused}", "plain")]

    bar, played = Counted(), Played()
    drawn.clear()
    bar.show(partial(played.status, True))
    bar.show(partial(played.status, True))
    assert len(drawn) == 2
