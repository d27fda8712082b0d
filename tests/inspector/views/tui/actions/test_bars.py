"""The one-line bars around the panes."""

from pathlib import Path

from viewer_parts import parts, shown

from turntape.inspector.views.tui.actions.bars import playing


def test_the_title_has_the_file_and_the_totals() -> None:
    made = parts()

    made.bars.refresh()
    title = shown(made.bars.title._make(100))
    assert title.startswith(" turntape  memory ") and "3 turns" in title and "1 error" in title
    made.state.reading = True
    made.bars.refresh()
    assert "labelling" in shown(made.bars.title._make(100))


def test_the_totals_are_computed_again_only_when_asked() -> None:
    made = parts()
    rows = made.state.run.rows
    rows.all.pop()
    rows.threads.pop("t2")

    made.bars.refresh()
    assert "3 turns" in shown(made.bars.title._make(100))
    made.bars.summarize()
    made.bars.refresh()
    assert "2 turns" in shown(made.bars.title._make(100))


def test_the_tabs_show_the_view_the_problems_and_the_output() -> None:
    made = parts()
    made.bars.refresh()
    assert made.panes.tabs.shown == ("turn", 1, False)

    with_output = parts(output=Path("x"))
    with_output.selection.show_view("output")
    assert with_output.panes.tabs.shown == ("output", 1, True)


def test_the_status_line_is_hidden_when_it_is_empty_or_the_box_is_open() -> None:
    made = parts()
    made.bars.refresh()
    assert not made.bars.status.has_class("shown")

    made.bars.say("hello", "dim")
    assert made.bars.status.has_class("shown") and made.status == " hello"
    made.box.opened = True
    made.bars.refresh()
    assert not made.bars.status.has_class("shown")


def test_a_notice_is_removed_by_the_next_key() -> None:
    made = parts()
    made.bars.say("hello")

    made.bars.forget_notice()
    assert made.status == "" and not made.bars.status.has_class("shown")
    assert made.bars.status._make(80) == ()


def test_the_status_line_has_the_most_urgent_of_what_there_is() -> None:
    made = parts(live=True)
    made.state.follow.behind = 2
    made.bars.refresh()
    assert made.status == " 2 newer turns below  G goes there"

    made.searching.filter("re")
    assert made.status.startswith(" filter re  2 of 3")
    made.bars.say("hello")
    assert made.status == " hello"
    made.playing.toggle()
    assert made.status not in ("", " hello")


def test_what_is_behind_counts_only_while_the_run_is_followed() -> None:
    made = parts(live=True)
    made.state.follow.toggle()
    made.state.follow.behind = 2

    made.bars.refresh()
    assert made.status == ""


def test_the_keys_are_those_of_the_pane() -> None:
    made = parts()

    made.bars.refresh()
    assert made.bars.keys._hints == made.panes.hints
    made.searching.filter("tape")
    assert made.bars.keys._hints == (("↵", "open", "open"), ("n", "match", "match(1)"), ("q", "quit", "app.quit"))
    made.state.navigation.view = "growth"
    made.bars.refresh()
    assert made.bars.keys._hints == made.panes.hints


def test_the_bars_are_found_by_the_names_in_the_style_sheet() -> None:
    bars = parts().bars

    assert [bar.id for bar in (bars.title, bars.status, bars.keys)] == ["title", "status", "keys"]


def test_while_playing_the_keys_say_what_they_do_now() -> None:
    assert ("$", "tokens", "screen.unit") in playing(paused=False, unit="dollars")
    assert ("$", "dollars", "screen.unit") in playing(paused=True, unit="tokens")
