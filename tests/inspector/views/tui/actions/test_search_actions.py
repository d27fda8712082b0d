"""The search on the screen."""

import pytest
from conversations import loop
from viewer_parts import Parts, parts

from turntape.inspector.views.tui.controllers.messages import SentSearched
from turntape.inspector.views.tui.widgets.page_view import PageView


def opened(text: str = "", **more: bool) -> Parts:
    made = parts()
    made.searching.open()
    if text:
        made.searching.typed(text)
    return made


def unmatched(by: int, edge: bool) -> PageView.Unmatched:
    message = object.__new__(PageView.Unmatched)
    message.by, message.edge = by, edge
    return message


def test_the_box_opens_with_the_query_to_edit() -> None:
    made = parts()
    made.searching.filter("tape")

    made.searching.open()
    assert made.searching.opened and made.searching.typing and made.box.value == "tape"
    assert made.bars.keys._hints == made.box.hints


def test_what_is_typed_filters_the_list_and_moves_to_the_nearest_match() -> None:
    made = opened("reel")

    assert made.did("list") == [((2,), 0)] and made.state.place == 2
    assert made.panes.page.needle == ("reel",) and made.did("page refreshed") == [()]
    made.searching.typed("reel ")
    assert made.did("list") == []


def test_a_text_that_comes_after_the_box_was_closed_changes_nothing() -> None:
    made = parts()

    made.searching.typed("reel")
    assert made.state.search.filter.text == "" and made.did("list") == []


def test_the_cursor_stays_where_its_turn_matches_or_nothing_does() -> None:
    made = opened("tape")
    assert made.state.place == 0 and made.did("request") == []

    made.searching.typed("nothing has this")
    assert made.panes.turns.places == [] and made.state.place == 0


def test_escape_shows_all_and_goes_back_to_where_the_search_began() -> None:
    made = opened("reel")
    assert made.state.place == 2

    made.searching.end(keep=False)
    assert made.state.place == 0 and made.state.search.filter.text == ""
    assert not made.searching.opened and made.panes.in_list and made.status == ""


def test_after_the_search_the_list_has_the_focus_and_the_status_line_is_back() -> None:
    made = opened("tape")
    made.panes.in_list = False
    assert made.status == ""

    made.searching.end(keep=True)
    assert made.panes.in_list and made.status.startswith(" filter tape")


def test_enter_keeps_the_query_and_looks_for_the_first_match() -> None:
    made = opened()

    made.searching.submitted("reel")
    assert made.state.search.filter.text == "reel" and made.state.place == 2 and not made.searching.opened
    assert len(made.waiting) == 1
    made.waiting[0]()
    assert made.did("seek") == [(1, True)]
    assert made.status.startswith(" filter reel  1 of 3")


@pytest.mark.parametrize("text", ["is:error", "nothing has this"])
def test_without_a_word_or_a_match_there_is_nothing_to_look_for(text: str) -> None:
    made = opened()

    made.searching.submitted(text)
    assert made.waiting == []


def test_while_a_page_is_made_the_match_is_looked_for_later() -> None:
    made = opened()
    made.loader.busy = True

    made.searching.submitted("reel")
    assert made.waiting == [] and made.state.search.seek_when_ready == 1
    made.searching.page_shown(0)
    assert made.waiting == [] and made.state.search.seek_when_ready == 1


def test_the_match_is_looked_for_when_the_page_of_its_turn_is_there() -> None:
    made = opened()
    made.loader.busy = True
    made.searching.submitted("reel")

    made.searching.page_shown(2)
    made.waiting[0]()
    assert made.did("seek") == [(1, True)] and made.state.search.seek_when_ready == 0
    made.waiting.clear()
    made.searching.page_shown(2)
    assert made.waiting == []


def test_the_next_match_is_requested_once_at_a_time() -> None:
    made = opened("tape")

    made.searching.match(-1)
    assert made.waiting == []
    made.panes.page.seeking = True
    made.searching.match(-1)
    assert made.did("seek") == [(-1, False)]


def test_which_match_is_shown_is_in_the_status_line() -> None:
    made = opened("tape")
    made.searching.end(keep=True)
    message = object.__new__(PageView.Matched)
    message.number, message.of = 2, 3

    made.searching.matched(message)
    assert "match 2 of 3 on this page" in made.status


def test_after_the_last_match_comes_the_next_turn_of_the_list() -> None:
    made = opened("re")
    assert (made.panes.turns.places, made.state.place) == ([1, 2], 1)

    made.searching.unmatched(unmatched(1, edge=False))
    assert made.state.place == 2 and len(made.waiting) == 1
    made.waiting[0]()
    assert made.did("seek") == [(1, True)]
    made.searching.unmatched(unmatched(1, edge=False))
    assert made.state.place == 2 and made.notice == " no match after this one"
    made.searching.unmatched(unmatched(-1, edge=False))
    assert made.state.place == 1
    made.searching.unmatched(unmatched(-1, edge=False))
    assert made.notice == " no match before this one"


def test_on_a_page_of_the_whole_run_the_search_ends_with_the_page() -> None:
    made = opened("tape")
    made.state.navigation.view = "findings"

    made.searching.unmatched(unmatched(1, edge=False))
    notice = " no match after this one on this page; 1 shows those of the turns"
    assert made.state.place == 0 and made.notice == notice
    more = opened("re")
    more.state.navigation.view = "findings"
    more.searching.unmatched(unmatched(1, edge=False))
    assert more.state.place == 1 and more.notice == notice


def test_a_page_without_a_match_names_another_view() -> None:
    made = opened("tape")
    made.searching.end(keep=True)

    made.searching.unmatched(unmatched(1, edge=True))
    assert "not on this page, but perhaps in 2 Wire" in made.status
    made.state.navigation.view = "wire"
    made.searching.unmatched(unmatched(1, edge=True))
    assert made.state.search.match == "not on this page"


@pytest.mark.parametrize(
    ("text", "view", "on_page"), [("tape", "turn", True), ("tape", "growth", False), ("is:error", "turn", False)]
)
def test_words_are_searched_on_pages_of_text(text: str, view: str, on_page: bool) -> None:
    made = opened(text)
    made.state.navigation.view = view

    assert made.searching.on_page == on_page
    made.box.has_focus = False
    made.bars.refresh()
    assert (("n", "match", "match(1)") in made.bars.keys._hints) == on_page


def test_errors_only_are_shown_and_then_all_again() -> None:
    made = parts()

    made.searching.errors()
    assert made.state.search.filter.text == "is:error" and made.panes.turns.places == [2]
    made.searching.errors()
    assert made.state.search.filter.text == "" and made.panes.turns.places == [0, 1, 2]


def test_a_run_without_errors_stays_as_it_is() -> None:
    made = parts(loop())

    made.searching.errors()
    assert made.panes.turns.places == [0, 1] and made.notice == " no errors in this run"


def test_a_word_of_a_tool_definition_is_found_at_the_first_turn_that_sent_it() -> None:
    made = opened()
    made.searching.submitted('"look a word up."')
    assert made.panes.turns.places == [] and made.waiting == []

    assert [message.ended for message in made.posted if isinstance(message, SentSearched)][-1]
    made.searching.searched(ended=True)
    assert made.panes.turns.places == [0]
    made.searching.unmatched(unmatched(1, edge=True))
    assert "see 2 Wire: in request /tools/0/function/description" in made.status


def test_everything_is_searched_once_nothing_more_is_typed() -> None:
    made = opened("function")
    assert made.panes.turns.places == [] and not made.posted

    made.pauses[0]()
    made.searching.searched(ended=True)
    assert made.panes.turns.places == [0]
    made.searching.typed("functional")
    made.pauses[0]()
    assert not made.state.search.where(made.state.run.rows.all[0])


def test_while_everything_is_searched_the_status_line_says_how_far(monkeypatch: pytest.MonkeyPatch) -> None:
    made = opened("function")
    made.searching.end(keep=True)
    monkeypatch.setattr(type(made.state.search), "share", 0.42)
    made.bars.refresh()

    assert "searching everything sent, 42 %" in made.status
