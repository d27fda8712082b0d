"""One-line bars: what is left out when there is little room."""

import pytest

from turntape.inspector.views.tui.widgets.header_footer import KeyHint, Keys, cells_of
from turntape.inspector.views.tui.widgets.page_view import PageView
from turntape.inspector.views.tui.widgets.search_box import SearchBox
from turntape.inspector.views.tui.widgets.turn_list import TurnList

HINTS: tuple[KeyHint, ...] = (("a", "one", "x"), ("b", "two", "y"), ("?", "help", "h"), ("q", "quit", "q"))


@pytest.mark.parametrize(("width", "keys"), [(30, "ab?q"), (29, "a?q"), (23, "a?q"), (22, "?q"), (16, "?q"), (3, "?q")])
def test_keys_before_the_last_two_are_left_out_first(width: int, keys: str) -> None:
    assert cells_of(HINTS) == 30
    assert "".join(key for key, _, _ in Keys().fitted(HINTS, width)) == keys


@pytest.mark.parametrize("widget", [TurnList, PageView, SearchBox])
def test_the_keys_of_each_pane_fit_into_eighty_cells(widget: type[TurnList | PageView | SearchBox]) -> None:
    assert cells_of(widget.HINTS) <= 80
