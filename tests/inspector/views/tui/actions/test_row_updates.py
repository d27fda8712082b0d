"""Rows as they are read."""

from pathlib import Path
from typing import Any

import pytest
import tool_tapes
from viewer_parts import Parts, parts, trips

from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.actions.row_updates import LONGEST, PAUSE, REFRESH
from turntape.inspector.views.tui.controllers.messages import ReadingEnded, RowsRead

ROWS: list[Row] = Run.of(trips()).rows.all


def read(made: Parts, *rows: Row) -> None:
    made.updates.rows_read(RowsRead(list(rows)))


def end(made: Parts, problem: str | None = None, *, final: bool = True) -> None:
    made.updates.reading_ended(ReadingEnded(problem, final))


def test_the_first_rows_are_drawn_at_once_and_the_first_turn_selected() -> None:
    made = parts(empty=True, reading=True)

    read(made, *ROWS[:2])
    assert made.state.place == 0
    assert made.did("list") == [((0, 1), None)]
    assert made.did("request") == [("turn", 0, 80, "", True)]
    assert not made.updates.stale


def test_a_run_that_is_followed_begins_at_the_last_turn_of_its_first_thread() -> None:
    made = parts(empty=True, live=True)

    read(made, *ROWS)
    assert made.state.place == 1


def test_more_rows_are_drawn_after_a_while_and_only_once() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.updates._drawn = float("inf")
    made.calls.clear()

    read(made, ROWS[1])
    read(made, ROWS[2])
    assert made.updates.stale and made.did("list") == [] and made.delays == [REFRESH, REFRESH]
    for call in made.waiting:
        call()
    assert made.did("list") == [((0, 1, 2), 0)] and not made.updates.stale


def test_drawing_takes_a_tenth_of_the_time_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    now, worked = 100.0, 0.0
    monkeypatch.setattr("turntape.inspector.views.tui.actions.row_updates.time.monotonic", lambda: now)
    monkeypatch.setattr("turntape.inspector.views.tui.actions.row_updates.time.thread_time", lambda: worked)
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    show = made.panes.turns.show

    def slowly(*given: Any) -> None:
        nonlocal now, worked
        now, worked = now + 3.0, worked + 0.5  # the reader had the processor for the rest of it
        show(*given)

    monkeypatch.setattr(made.panes.turns, "show", slowly)
    read(made, ROWS[1])
    now += 4.0
    read(made, ROWS[2])
    assert made.updates.stale and made.delays == [PAUSE * 0.5]
    now += 0.6
    read(made, ROWS[2])
    assert not made.updates.stale


def test_rows_after_a_pause_are_drawn_at_once() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.updates._drawn = float("-inf")

    read(made, ROWS[1])
    assert not made.updates.stale and made.delays == []


def test_the_page_is_made_again_when_its_turn_got_a_next_turn() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.calls.clear()

    read(made, ROWS[2])
    assert made.did("request") == []
    read(made, ROWS[1])
    assert made.did("request") == [("turn", 0, 80, "", False)]


def test_the_page_is_made_again_when_its_own_row_changed() -> None:
    made = parts(empty=True, reading=True)
    read(made, *ROWS)
    made.calls.clear()

    read(made, ROWS[1])
    assert made.did("request") == []
    read(made, ROWS[0])
    assert len(made.did("request")) == 1


@pytest.mark.parametrize(("view", "again"), [("findings", 1), ("growth", 0), ("wire", 0)])
def test_a_page_of_the_whole_run_is_made_again_with_every_row(view: str, again: int) -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.selection.show_view(view)
    made.calls.clear()

    read(made, ROWS[2])
    assert len(made.did("request")) == again


def test_nothing_is_requested_while_a_turn_is_played() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.playing.toggle()
    made.calls.clear()

    read(made, ROWS[1])
    assert made.did("request") == []


def test_the_cursor_follows_only_from_the_last_turn_of_its_thread() -> None:
    made = parts(empty=True, live=True)
    read(made, ROWS[0])
    made.updates._drawn = float("-inf")
    read(made, ROWS[1])
    assert made.state.place == 1

    made.select(0)
    made.updates._drawn = float("-inf")
    read(made, ROWS[2])
    assert made.state.place == 0 and made.state.follow.behind == 2
    assert made.status == " 2 newer turns below  G goes there"


def test_the_cursor_stays_while_a_turn_is_played() -> None:
    made = parts(empty=True, live=True)
    read(made, ROWS[0])
    made.playing.toggle()
    made.updates._drawn = float("-inf")

    read(made, ROWS[1])
    assert made.state.place == 0


@pytest.mark.parametrize(
    ("live", "final", "recorded", "output", "notice"),
    [
        (True, True, True, False, "the recording has ended"),
        (True, True, True, True, "the command has ended; q quits and prints its output"),
        (True, True, False, False, "the recording has ended, and nothing was recorded"),
        (True, False, True, False, ""),
        (False, True, True, False, ""),
        (False, True, False, False, ""),
        (True, False, False, False, ""),
    ],
)
def test_the_end_of_the_file_says_what_one_should_know(
    live: bool, final: bool, recorded: bool, output: bool, notice: str
) -> None:
    made = parts(empty=True, live=live, reading=True, output=Path("out.txt") if output else None)
    if recorded:
        read(made, ROWS[0])

    end(made, final=final)
    assert made.notice.strip() == notice
    assert not made.state.reading
    assert made.state.follow.live == (live and not final)


@pytest.mark.parametrize(("live", "shown"), [(False, True), (True, False)])
def test_the_page_of_a_file_without_round_trips_says_so_until_more_may_come(live: bool, shown: bool) -> None:
    made = parts(empty=True, live=live, reading=True)

    end(made, final=not live)
    pages = [page for page, *_ in made.did("page shown")]
    assert ["".join(page.laid_out(80, {}).text()) for page in pages] == ["nothing was recorded in this file"] * shown


def test_a_file_that_cannot_be_read_says_why() -> None:
    made = parts(empty=True, reading=True)

    end(made, "the file is not a cassette")
    assert made.notice.strip() == "the file is not a cassette"


def test_what_was_wrong_in_the_file_is_said_at_its_end() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])
    made.state.run.problems.extend(["line 3 is torn", "line 5 is torn"])

    end(made)
    assert made.notice.strip() == "line 3 is torn (and 1 more)"


def test_the_wanted_turn_is_selected_as_soon_as_it_is_there() -> None:
    made = parts(empty=True, reading=True, turn=2)
    read(made, ROWS[0])
    assert made.state.place == 0 and made.state.navigation.wanted_turn == 2

    made.updates._drawn = float("-inf")
    read(made, ROWS[1])
    assert made.state.place == 1 and made.state.navigation.wanted_turn is None


def test_a_wanted_turn_that_never_comes_is_said_at_the_end() -> None:
    made = parts(empty=True, reading=True, turn=9)
    read(made, *ROWS)
    assert made.notice == ""

    end(made)
    assert made.notice.strip() == "there is no turn 9 in this run"
    assert made.state.navigation.wanted_turn is None and made.state.place == 0


TOOLS: list[Row] = Run.of(tool_tapes.story().trips).rows.all


def test_the_first_turn_is_selected_and_not_a_message_of_a_tool_server() -> None:
    made = parts(empty=True, reading=True)

    read(made, *TOOLS[:2])
    assert made.state.place is None
    read(made, TOOLS[2])
    assert made.state.place == 2


def test_a_file_with_only_messages_of_tool_servers_shows_the_first_one_at_its_end() -> None:
    made = parts(empty=True, reading=True)

    read(made, *TOOLS[:2])
    end(made)
    assert made.state.place == 0


def test_the_strip_grows_with_the_rows() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])

    assert made.did("strip") == [(1, None)]


def test_a_slow_first_drawing_of_the_strip_does_not_keep_it_from_growing(monkeypatch: pytest.MonkeyPatch) -> None:
    now, worked = 100.0, 0.0
    monkeypatch.setattr("turntape.inspector.views.tui.actions.row_updates.time.monotonic", lambda: now)
    monkeypatch.setattr("turntape.inspector.views.tui.actions.row_updates.time.thread_time", lambda: worked)
    made = parts(empty=True, reading=True)
    show = made.panes.strip.show

    def slowly(*given: Any) -> None:
        nonlocal now, worked
        now, worked = now + 5.0, worked + 1.0
        show(*given)

    monkeypatch.setattr(made.panes.strip, "show", slowly)
    read(made, ROWS[0])
    now += LONGEST - 0.1
    read(made, ROWS[1])
    assert made.did("strip") == [(1, None)]
    now += 0.2
    read(made, ROWS[2])
    assert made.did("strip") == [(3, 0)]
