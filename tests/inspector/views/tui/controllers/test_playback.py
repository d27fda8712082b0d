"""Playback: what the clock makes of the recorded times."""

from collections.abc import Callable

from textual.message import Message
from viewing import EXAMPLE

from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.controllers.messages import PlaybackAdvanced, PlaybackEnded
from turntape.inspector.views.tui.controllers.playback import TICK, Playback
from turntape.inspector.views.tui.controllers.played_turn import PAUSE, RECORDED, REST, SPEEDS, PlayedTurn

ROWS = Run.load(EXAMPLE).rows


class Timer:
    """A timer that a test fires by hand."""

    def __init__(self) -> None:
        self.fire: Callable[[], None] = lambda: None
        self.interval = 0.0
        self.running = False
        self.now = 0.0
        self.messages: list[Message] = []

    def every(self, interval: float, call: Callable[[], None]) -> "Timer":
        self.interval, self.fire, self.running = interval, call, True
        return self

    def stop(self) -> None:
        self.running = False


def main_thread(row: Row) -> bool:
    return row.thread == "t1"


def started(place: int = 0, visible: Callable[[Row], bool] = main_thread) -> tuple[Playback, PlayedTurn, Timer]:
    timer = Timer()
    playback = Playback(ROWS, visible, timer.messages.append, timer.every, lambda: timer.now)
    assert playback.start(place)
    assert playback.turn is not None
    return playback, playback.turn, timer


def test_it_takes_as_long_as_it_took() -> None:
    playback, turn, _ = started()

    assert playback.tick(turn.length / 2e6) == "more"
    assert not turn.complete
    assert playback.tick(turn.length / 2e6) == "more"
    assert turn.complete
    assert playback.tick(PAUSE) == "next"
    assert playback.turn is not None and playback.turn.place == 2


def test_twice_the_speed_takes_half_the_time() -> None:
    playback, turn, _ = started()
    playback.faster(1)
    assert turn.times == 2.0

    playback.tick(turn.length / 2e6)

    assert turn.complete


def test_without_timing_an_answer_is_complete_at_once() -> None:
    playback, turn, _ = started()

    assert playback.faster(len(SPEEDS)) == "plays without timing"
    assert playback.tick(0.001) == "more" and turn.complete
    assert playback.tick(REST - 0.01) == "same"
    assert playback.tick(0.02) == "next"


def test_a_long_pause_between_two_turns_is_shortened() -> None:
    playback, turn, _ = started()
    turn.gap = 3600.0
    turn.at = turn.length

    assert playback.tick(PAUSE - 0.1) == "same"
    assert playback.tick(0.2) == "next"


def test_a_short_pause_is_kept() -> None:
    playback, turn, _ = started()
    turn.gap = 1.0
    turn.at = turn.length

    assert playback.tick(0.9) == "same"
    assert playback.tick(0.2) == "next"


def test_a_turn_rests_long_enough_to_be_read_at_every_speed() -> None:
    for speed in range(len(SPEEDS)):
        playback, turn, _ = started()
        playback.faster(speed - RECORDED)
        turn.gap, turn.at = 0.0, turn.length

        assert playback.tick(0.79) == "same"
        assert playback.tick(0.02) == "next"


def test_a_pause_stops_the_time_and_continues() -> None:
    playback, turn, timer = started()

    playback.pause()
    timer.now += 100
    timer.fire()
    assert turn.at == 0 and timer.messages == []
    playback.pause()
    timer.now += 0.1
    timer.fire()
    assert turn.at == 100_000


def test_seeking_goes_to_the_next_turn_and_back() -> None:
    playback, turn, _ = started()

    def place() -> int | None:
        return playback.turn.place if playback.turn is not None else None

    playback.seek(1)
    assert place() == 2
    playback.seek(-1)
    assert place() == 0
    playback.seek(-1)
    assert place() == 0
    playback.seek(1)
    assert playback.turn is not None
    playback.turn.at = 1_500_000
    playback.seek(-1)
    assert (place(), playback.turn.at) == (2, 0)


def test_seeking_beyond_the_last_turn_shows_all_of_it_and_pauses() -> None:
    playback, turn, _ = started(11, lambda row: True)

    playback.seek(1)

    assert playback.turn is turn and turn.complete and playback.paused
    playback.seek(-1)
    assert playback.turn is not None and playback.turn.at == 0


def test_seeking_while_nothing_is_played_does_nothing() -> None:
    playback, _, _ = started()
    playback.stop()

    playback.seek(1)

    assert playback.turn is None


def test_the_gap_is_from_the_end_of_an_answer_to_the_next_turn() -> None:
    _, turn, _ = started()
    following = ROWS.all[2]

    assert turn.length == round((ROWS.all[0].duration_ms or 0) * 1000)
    assert abs(turn.gap - (following.started_at - ROWS.all[0].started_at - turn.length / 1e6)) < 1e-6
    assert turn.gap > 1


def test_after_the_last_turn_it_has_ended() -> None:
    playback, _, timer = started(11, lambda row: True)
    playback.faster(len(SPEEDS))

    assert [playback.tick(1.0), playback.tick(1.0)][-1] == "end"
    assert playback.turn is None and not timer.running


def test_it_starts_with_the_next_visible_turn_or_not_at_all() -> None:
    rows = Run.load(EXAMPLE).rows
    playback = Playback(rows, lambda row: False, lambda message: None, Timer().every)

    assert playback.start(0) and playback.turn is not None and playback.turn.place == 0
    assert playback.tick(100) == "more" and playback.tick(100) == "end"


def test_the_speed_stays_within_its_table() -> None:
    playback, _, _ = started()

    assert playback.faster(-100) == "plays at 0.25× the recorded pace"
    assert playback.faster(RECORDED) == "plays at 1× the recorded pace"


def test_the_timer_posts_what_changed_and_the_end() -> None:
    playback, turn, timer = started(11, lambda row: True)
    assert timer.running and timer.interval == TICK

    timer.now += turn.length / 1e6
    timer.fire()
    timer.now += 0.1
    timer.fire()
    timer.now += PAUSE
    timer.fire()

    more, same, end = timer.messages
    assert isinstance(more, PlaybackAdvanced) and more.turn is turn and more.redraw
    assert isinstance(same, PlaybackAdvanced) and not same.redraw
    assert isinstance(end, PlaybackEnded)
    assert not timer.running


def test_stopping_stops_the_timer() -> None:
    playback, _, timer = started()

    assert playback.stop()
    assert not timer.running and not playback.stop()
