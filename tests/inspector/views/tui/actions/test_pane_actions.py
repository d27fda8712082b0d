"""Moving between the list and the page, between views, and out of what is open."""

from pathlib import Path

import pytest
from viewer_parts import parts

from turntape.inspector.views.tui.pages.blocks import Goto


def test_out_closes_one_thing_at_a_time() -> None:
    made = parts()
    made.searching.filter("look")
    made.moving.enter_page()
    made.playing.toggle()
    made.searching.open()

    made.moving.out()
    assert not made.box.opened and made.state.playback.turn is not None
    made.searching.filter("look")
    made.panes.in_list = False
    made.moving.out()
    assert made.state.playback.turn is None and not made.panes.in_list
    made.moving.out()
    assert made.panes.in_list and made.state.search.filter.text == "look"
    made.moving.out()
    assert made.state.search.filter.text == ""
    made.calls.clear()
    made.moving.out()
    assert made.calls == []


def test_tab_goes_to_the_other_pane() -> None:
    made = parts()

    made.moving.other()
    assert made.did("enter page") == [("turn",)] and made.bars.keys._hints[0] == ("Esc", "list", "out")
    made.moving.other()
    assert made.did("enter list") == [()] and made.did("enter page") == []
    assert made.bars.keys._hints[0] == ("↵", "open", "open")


def test_tab_keeps_the_query_that_is_typed() -> None:
    made = parts()
    made.searching.open()
    made.panes.in_list = False
    made.searching.filter("look")

    made.moving.other()
    assert not made.box.opened and made.state.search.filter.text == "look"


def test_a_view_is_shown_from_its_top_and_the_focus_stays() -> None:
    made = parts()

    made.moving.view("wire")
    assert made.state.view == "wire" and made.panes.in_list
    assert made.did("request") == [("wire", 0, 80, "", True)] and made.did("page pane") == [()]
    made.panes.in_list = False
    made.moving.view("diff")
    assert made.did("enter page") == [("diff",)]


def test_the_view_that_is_shown_is_entered() -> None:
    made = parts()

    made.moving.view("turn")
    assert made.did("enter page") == [("turn",)] and made.did("request") == []
    made.moving.view("turn")
    assert made.did("enter page") == [] and made.did("request") == []


@pytest.mark.parametrize("output", [None, Path("out.txt")])
def test_the_output_is_a_view_only_of_a_command(output: Path | None) -> None:
    made = parts(output=output)

    made.moving.view("output")
    assert made.state.view == ("turn" if output is None else "output")
    assert ("no output of a command is here" in made.notice) == (output is None)


def test_a_view_ends_the_playback() -> None:
    made = parts()
    made.playing.toggle()

    made.moving.view("wire")
    assert made.state.playback.turn is None


def test_raw_goes_to_the_bodies_and_back() -> None:
    made = parts()

    made.moving.raw()
    assert made.state.view == "wire"
    made.moving.raw()
    assert made.state.view == "turn"


def test_the_cursor_of_the_list_selects_without_being_moved_again() -> None:
    made = parts()
    made.playing.toggle()
    made.calls.clear()

    made.moving.turn_selected(0)
    assert made.state.playback.turn is not None and made.calls == []
    made.moving.turn_selected(1)
    assert made.state.place == 1 and made.state.playback.turn is None and made.did("point") == []


def test_a_bar_of_the_plot_selects_its_turn() -> None:
    made = parts()

    made.moving.bar_picked(0)
    assert made.calls == []
    made.moving.bar_picked(2)
    assert made.state.place == 2 and made.did("point") == [(2,)]


def test_a_line_leads_to_its_place_and_the_page_is_entered() -> None:
    made = parts()
    made.playing.toggle()
    made.calls.clear()

    made.moving.follow_line(Goto(2, "answer", "wire"))
    assert (made.state.place, made.state.view, made.state.navigation.anchor) == (2, "wire", "answer")
    assert made.state.playback.turn is None and made.did("enter page") == [("turn",)]


def test_s_sorts_the_list_and_on_the_page_of_costs_its_pieces() -> None:
    made = parts()
    made.moving.sort()
    assert made.did("sort") == [(0,)] and made.notice == " turns by cost; s changes the order"

    made.moving.view("costs")
    made.moving.sort()
    assert made.did("sort") == [(0,)]
    made.moving.enter_page()
    made.calls.clear()
    made.moving.sort()
    assert made.did("request costs") == [("tokens", 0, 80, "pieces", False)] and made.notice == " pieces by tokens"
    for _ in range(4):
        made.moving.sort()
    assert made.state.cost_order == "cost"


def test_m_marks_a_turn_and_on_another_one_compares_both() -> None:
    made = parts()
    made.moving.mark()
    assert made.did("marked") == [(0,)] and made.notice.startswith(" turn 1 of t1 is marked; m on another turn")
    assert made.state.view == "turn"

    made.select(1)
    made.moving.mark()
    assert made.state.view == "compare" and made.did("request compared") == [(0, 1, True)]
    made.selection.select(2)
    assert made.did("request compared") == [(0, 2, True)]


def test_m_on_the_marked_turn_removes_the_mark() -> None:
    made = parts()
    made.moving.mark()
    made.select(1)
    made.moving.mark()
    made.select(0)

    made.moving.mark()
    assert made.state.marked is None and made.state.view == "turn" and made.did("marked")[-1] == (None,)


def test_a_line_that_leads_to_a_row_which_is_not_read_yet_stays_where_it_is() -> None:
    made = parts()
    before, count = made.state.place, len(made.state.run.rows.all)

    made.moving.follow_line(Goto(count, "head"))
    assert made.state.place == before and made.panes.in_list
    made.moving.follow_line(Goto(count - 1, "head"))
    assert made.state.place == count - 1 and not made.panes.in_list
