"""The keys that go to another turn."""

import pytest
from conversations import chat, said, user
from viewer_parts import Parts, parts, trips

from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.actions.jumps import NOT_LIVE
from turntape.inspector.views.tui.controllers.messages import RowsRead

ROWS: list[Row] = Run.of(trips()).rows.all


def read(made: Parts, *rows: Row) -> None:
    made.updates.rows_read(RowsRead(list(rows)))


def test_a_jump_goes_to_the_part_and_opens_the_turn() -> None:
    made = parts()
    made.state.navigation.view = "wire"

    made.jumps.jump("call", 1)
    assert (made.state.place, made.state.navigation.anchor, made.state.view) == (0, "answer/call/0", "turn")
    made.jumps.jump("finding", 1)
    assert (made.state.place, made.state.navigation.anchor) == (2, "finding:0")
    made.jumps.jump("call", -1)
    assert (made.state.place, made.state.navigation.anchor) == (0, "answer/call/0")
    assert made.notice == ""


@pytest.mark.parametrize(
    ("by", "live", "reading", "said_"),
    [
        (1, False, False, "no call in this run"),
        (-1, False, False, "no call in this run"),
        (1, False, True, "no call after this one, but not all turns are read yet"),
        (1, True, False, "no call after this one, but not all turns are read yet"),
        (-1, True, True, "no call before this one"),
    ],
)
def test_a_jump_without_a_target_says_so_and_whether_more_may_come(
    by: int, live: bool, reading: bool, said_: str
) -> None:
    made = parts([chat([user("hi")], said("x"))], live=live, reading=reading)

    made.jumps.jump("call", by)
    assert made.notice.strip() == said_
    assert made.state.place == 0 and made.did("request") == []


def test_a_jump_says_when_the_whole_run_has_no_target() -> None:
    alone = parts([chat([user("hi")], said("x"))])
    alone.jumps.jump("error", 1)
    assert alone.notice.strip() == "no error in this run"
    alone.jumps.thread(1)
    assert alone.notice.strip() == "no other thread in this run"

    failed = chat([user("hi")], status=529, error={"error": {"message": "Overloaded"}})
    overloaded = parts([failed, chat([user("hi")], said("x"), index=1)])
    overloaded.jumps.jump("error", 1)
    assert overloaded.notice.strip() == "no error in this run; n goes to the next finding"


def test_before_the_first_row_no_key_moves_anything() -> None:
    made = parts(empty=True, reading=True)

    made.panes.turns.places, made.panes.turns.below = [0], 0
    made.jumps.jump("finding", 1)
    made.jumps.step(1)
    assert (made.notice, made.calls, made.state.place) == ("", [], None)


def test_the_next_thread_is_unfolded_and_its_first_turn_selected() -> None:
    made = parts()
    made.select(1)

    made.jumps.thread(1)
    assert made.did("fold") == [("t2", 1, True)]
    assert made.state.place == 2
    made.jumps.thread(1)
    assert made.notice.strip() == "no other thread after this one"
    made.jumps.thread(-1)
    assert made.did("fold") == [("t1", 2, True)] and made.state.place == 0


def test_a_step_goes_to_the_line_beside() -> None:
    made = parts()
    made.panes.turns.below = 1

    made.jumps.step(-1)
    assert made.did("beside") == [(-1,)] and made.state.place == 1
    made.panes.turns.below = None
    made.jumps.step(1)
    assert made.state.place == 1
    made.panes.turns.below, made.panes.turns.places = 2, []
    made.jumps.step(1)
    assert made.state.place == 1


@pytest.mark.parametrize("key", ["jump", "thread", "step"])
def test_a_key_that_goes_elsewhere_ends_the_playback(key: str) -> None:
    made = parts()
    made.playing.toggle()
    assert made.state.playback.turn is not None

    {"jump": lambda: made.jumps.jump("call", 1), "thread": lambda: made.jumps.thread(1)}.get(
        key, lambda: made.jumps.step(1)
    )()
    assert made.state.playback.turn is None and made.panes.turns.playing is None


def test_a_recording_that_is_over_cannot_be_followed() -> None:
    made = parts()

    made.jumps.toggle_follow()
    assert made.notice.strip() == NOT_LIVE and not made.state.follow.on


def test_following_goes_to_the_last_turn_of_the_thread() -> None:
    made = parts(live=True)

    assert made.status == " 2 newer turns below  G goes there"
    made.jumps.toggle_follow()
    assert not made.state.follow.on and made.state.place == 0 and made.status == ""
    made.jumps.toggle_follow()
    assert made.state.follow.on and made.state.place == 1
    assert made.notice == ""


def test_a_live_run_without_a_row_can_be_followed_later() -> None:
    made = parts(empty=True, live=True)

    made.jumps.toggle_follow()
    made.jumps.toggle_follow()
    assert made.state.follow.on and made.state.place is None


def test_a_turn_that_is_not_read_yet_is_shown_when_it_is() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])

    made.jumps.turn(2)
    assert made.state.place == 0 and "turn 2 is not read yet" in made.notice
    made.updates._drawn = float("-inf")
    read(made, ROWS[1])
    assert made.state.place == 1 and made.notice == ""


def test_who_moves_meanwhile_is_not_taken_away() -> None:
    made = parts(empty=True, reading=True)
    read(made, ROWS[0])

    made.jumps.turn(2)
    made.select(0)
    made.updates._drawn = float("-inf")
    read(made, ROWS[1])
    assert made.state.place == 0


@pytest.mark.parametrize(
    ("live", "said_"), [(False, "there is no turn 9 in this run"), (True, "there is no turn 9 in this run so far")]
)
def test_a_turn_that_is_not_there_is_said(live: bool, said_: str) -> None:
    made = parts(live=live)

    made.jumps.turn(9)
    assert made.notice.strip() == said_
