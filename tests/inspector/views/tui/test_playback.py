"""Playing: what the clock makes of the recorded times."""

from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.playback import PAUSE, RECORDED, SPEEDS, Player

ROWS = Run.load(EXAMPLE).rows


def player() -> Player:
    made = Player(ROWS, lambda row: row.thread == "t1")
    assert made.start(0)
    return made


def test_it_takes_as_long_as_it_took() -> None:
    made = player()
    on = made.on
    assert on is not None

    assert made.tick(on.length / 2e6) == "more"
    assert not on.whole
    assert made.tick(on.length / 2e6) == "more"
    assert on.whole
    assert made.tick(PAUSE) == "next"
    assert made.on is not None and made.on.place == 2


def test_twice_the_speed_takes_half_the_time() -> None:
    made = player()
    made.faster(1)
    on = made.on
    assert on is not None and on.times == 2.0

    made.tick(on.length / 2e6)

    assert on.whole


def test_without_timing_an_answer_is_whole_at_once() -> None:
    made = player()
    told = made.faster(len(SPEEDS))
    on = made.on
    assert on is not None

    assert told == "plays without timing"
    assert made.tick(0.001) == "more" and on.whole
    assert made.tick(0.01) == "same"


def test_a_long_pause_between_two_turns_is_shortened() -> None:
    made = player()
    on = made.on
    assert on is not None
    on.gap = 3600.0
    on.at = on.length

    assert made.tick(PAUSE - 0.1) == "same"
    assert made.tick(0.2) == "next"


def test_after_the_last_turn_it_is_over() -> None:
    made = Player(ROWS, lambda row: True)
    assert made.start(11)
    made.faster(len(SPEEDS))

    assert [made.tick(1.0), made.tick(1.0)][-1] == "end"
    assert made.on is None


def test_the_speed_stays_within_its_table() -> None:
    made = player()

    assert made.faster(-100) == "plays at 0.25× the recorded pace"
    assert made.faster(RECORDED) == "plays at 1× the recorded pace"
