"""Selecting a round trip and a view, and the page of both."""

from pathlib import Path

import pytest
from viewer_parts import Parts, parts

from turntape.inspector.views.tui.controllers.messages import PageFailed, PageReady
from turntape.inspector.views.tui.controllers.page_maker import PageRequest
from turntape.inspector.views.tui.pages.page import Page

PAGE = Page("turn", [])


def ready(made: Parts, view: str, place: int, anchor: str = "", *, top: bool = False) -> bool:
    request = PageRequest(place, view, 80, lambda: PAGE, anchor, top)
    return made.selection.page_ready(PageReady(request, PAGE))


def test_a_new_round_trip_is_shown_from_its_top_and_the_cursor_goes_to_it() -> None:
    made = parts()
    made.state.search.match = "match 1 of 2"

    made.selection.select(1, "answer")
    assert made.did("point") == [(1,)] and made.did("request") == [("turn", 1, 80, "answer", True)]
    assert made.state.search.match == ""
    made.state.search.match = "match 1 of 2"
    made.selection.select(1, "new")
    assert made.did("request") == [("turn", 1, 80, "new", False)]
    assert made.state.search.match == "match 1 of 2"


def test_the_cursor_is_not_moved_to_where_it_is() -> None:
    made = parts()

    made.selection.select(1, listed=True)
    assert made.did("point") == [] and made.state.place == 1


def test_another_view_is_shown_only_when_it_is_another() -> None:
    made = parts()

    made.selection.select(1, "", "turn")
    assert made.did("view") == []
    made.selection.select(1, "", "wire")
    assert made.did("view") == [("wire",)] and made.state.view == "wire"
    assert made.did("request")[-1][0] == "wire"


def test_a_selected_turn_sets_how_many_are_behind() -> None:
    made = parts(live=True)

    made.selection.select(1)
    assert made.state.follow.behind == 1
    made.selection.select(2)
    assert made.state.follow.behind == 0


def test_pages_are_made_for_the_width_of_the_pane() -> None:
    made = parts()

    made.panes.page.room = 15
    assert made.selection.width == 16
    made.panes.page.room = 17
    made.selection.request_page()
    assert made.did("request") == [("turn", 0, 17, "", False)]


def test_for_the_growth_nothing_is_requested() -> None:
    made = parts()
    made.state.navigation.view = "growth"

    made.selection.request_page()
    assert made.did("request") == []


def test_the_output_is_read_again_only_while_it_is_shown() -> None:
    made = parts(output=Path("out.txt"))

    made.selection.refresh_output()
    assert made.calls == []
    made.selection.show_view("output")
    made.selection.refresh_output()
    assert made.did("request output") == [(Path("out.txt"), 0, 80)] and made.did("request") == []


def test_nothing_is_requested_before_the_first_row() -> None:
    made = parts(empty=True)

    made.selection.request_page()
    assert made.calls == []


def test_the_list_is_filtered_only_by_a_query() -> None:
    made = parts()

    made.selection.refresh_list()
    made.state.search.change("reel")
    made.selection.refresh_list()
    assert made.did("list") == [((0, 1, 2), 0), ((2,), 0)]


def test_a_page_that_is_still_wanted_is_shown() -> None:
    made = parts()
    made.state.search.change("tape")

    assert ready(made, "turn", 0, "answer", top=True)
    assert made.did("page shown") == [(PAGE, "answer", True, False)] and made.panes.page.needle == ("tape",)


def test_a_page_that_is_no_longer_wanted_is_dropped() -> None:
    made = parts()

    assert not ready(made, "wire", 0) and not ready(made, "turn", 1)
    assert made.did("page shown") == []
    made.state.navigation.view = "findings"
    assert ready(made, "findings", 1)


def test_the_page_of_a_played_turn_stays_at_its_end_while_it_is_played() -> None:
    made = parts()

    assert not ready(made, "play", 0) and made.did("page shown") == []
    made.playing.toggle()
    made.calls.clear()
    assert not ready(made, "play", 0)
    assert made.did("page shown") == [(PAGE, "", False, True)]


@pytest.mark.parametrize("at_end", [True, False])
def test_the_output_stays_at_its_end_if_it_was_there(at_end: bool) -> None:
    made = parts(output=Path("out.txt"))
    made.state.navigation.view = "output"
    made.panes.page.at_end = at_end

    assert ready(made, "output", 0)
    assert made.did("page shown") == [(PAGE, "", False, at_end)]
    made.state.navigation.view = "turn"
    assert ready(made, "turn", 0)
    assert made.did("page shown") == [(PAGE, "", False, False)]


@pytest.mark.parametrize(("view", "shows"), [("turn", True), ("play", True), ("wire", False)])
def test_a_page_that_failed_says_why_if_it_is_the_one_shown(view: str, shows: bool) -> None:
    made = parts()

    made.selection.page_failed(PageFailed(PageRequest(0, view, 80, lambda: PAGE), "it broke"))
    assert (made.notice == " it broke") == shows


def test_the_threads_rest_while_the_user_moves_unless_the_page_needs_them() -> None:
    made = parts()

    made.selection.select(1)
    made.selection.select(1)
    assert made.did("moving") == [()], "the second one does not move"
    for view in ("context", "costs", "compare"):
        made.selection.select(2, "", view)
        made.selection.select(1)
        assert made.did("moving") == []


def test_a_move_is_drawn_with_its_page() -> None:
    made = parts()

    made.selection.select(1)
    assert [call[0] for call in made.calls if call[0] in ("hold", "request", "release")] == ["hold", "request"]
    assert made.did("hold") == [()] and ready(made, "turn", 1) and made.did("release") == [()]
    made.selection.select(2)
    made.selection.page_failed(PageFailed(PageRequest(2, "turn", 80, lambda: PAGE), "no"))
    assert made.did("release") == [()]
    made.did("hold")
    made.selection.select(1, "", "growth")
    assert made.did("hold") == [], "which has no page"
