"""Playback on the screen."""

from dataclasses import replace

from round_trips import exchanged
from viewer_parts import parts, shown

from turntape.inspector.views.tui.controllers.messages import PlaybackAdvanced
from turntape.inspector.views.tui.controllers.played_turn import PlayedTurn


def test_play_shows_the_turn_as_it_arrives_and_marks_it_in_the_list() -> None:
    made = parts()
    made.state.navigation.view = "findings"

    made.playing.toggle()
    assert made.state.view == "turn" and made.panes.turns.playing == 0
    assert made.did("request played") == [(0, 80)]
    assert made.status.startswith(" ▶ turn 1 of t1  as recorded")


def test_play_again_stops_and_shows_the_whole_turn() -> None:
    made = parts()
    made.playing.toggle()
    made.calls.clear()

    made.playing.toggle()
    assert made.state.playback.turn is None and made.panes.turns.playing is None
    assert made.did("request") == [("turn", 0, 80, "", True)] and made.status == ""


def test_without_a_turn_ahead_play_says_so() -> None:
    models = replace(exchanged("https://api.openai.com/v1/models", b"", {"data": []}, method="GET"), index=0)
    made = parts([models])

    made.playing.toggle()
    assert made.notice == " there is no turn to play from here" and made.did("request played") == []
    nothing = parts(empty=True)
    nothing.playing.toggle()
    assert (nothing.notice, nothing.calls) == ("", [])


def test_stop_leaves_the_page_and_removes_the_mark_once() -> None:
    made = parts()
    made.playing.toggle()
    made.calls.clear()

    made.playing.stop()
    made.playing.stop()
    assert made.did("mark") == [(None,)] and made.did("request") == []


def test_time_that_passes_is_drawn_for_the_turn_that_is_played() -> None:
    made = parts()
    made.playing.toggle()
    turn = made.state.playback.turn
    assert turn is not None
    made.calls.clear()

    made.playing.advanced(PlaybackAdvanced(turn, False))
    made.playing.advanced(PlaybackAdvanced(PlayedTurn(1, 0, 0), True))
    assert made.did("request played") == []
    made.playing.advanced(PlaybackAdvanced(turn, True))
    assert made.did("request played") == [(0, 80)] and made.did("mark") == []


def test_the_next_turn_is_marked_and_becomes_the_place() -> None:
    made = parts()
    made.playing.toggle()
    made.state.playback.turn = PlayedTurn(1, 0, 0)

    made.playing.show()
    assert made.state.place == 1 and made.panes.turns.playing == 1


def test_the_folded_thread_of_a_turn_is_unfolded_once_when_it_is_played() -> None:
    made = parts()
    made.panes.turns.folded = [2]
    made.playing.toggle()
    assert made.did("fold") == []

    made.playing.seek(1)
    made.playing.seek(1)
    place = made.panes.turns.playing
    assert place == 2 and made.did("fold") == [("t2", 2, True)]
    made.playing.show()
    assert made.did("fold") == []


def test_the_strip_and_the_totals_show_the_run_up_to_what_is_played() -> None:
    made = parts()
    made.playing.toggle()
    turn = made.state.playback.turn
    assert turn is not None
    assert made.did("strip plays") == [(0, 0.0)]
    assert "1 turn " in shown(made.bars.title._make(100))

    turn.at = turn.length
    made.playing.show()
    assert made.did("strip plays") == [(0, 1.0)]
    made.playing.stop()
    assert made.did("strip plays") == [(None, 1.0)]


def test_pause_and_seek() -> None:
    made = parts()
    made.playing.toggle()

    assert made.bars._hints()[0][:2] == ("space", "pause")
    made.playing.pause()
    assert made.status.startswith(" ⏸ turn 1 of t1  paused")
    assert made.bars._hints()[0][:2] == ("space", "continue")
    made.playing.seek(1)
    assert made.state.place == 1 and made.panes.turns.playing == 1
    assert [hint[0] for hint in made.bars._hints()][0] == "space"


def test_at_the_end_the_whole_turn_is_shown_and_said() -> None:
    made = parts()
    made.playing.toggle()
    made.calls.clear()

    made.playing.ended()
    assert made.state.playback.turn is None and made.notice == " played to the end"
    assert made.did("request") == [("turn", 0, 80, "", True)]


def test_nothing_is_shown_when_nothing_is_played() -> None:
    made = parts()

    made.playing.show()
    assert made.calls == []


def test_the_speed_is_said_unless_the_status_line_has_it() -> None:
    made = parts()

    made.playing.change_speed(1)
    assert made.notice.strip().startswith("plays at 2×")
    made.bars.forget_notice()
    made.playing.toggle()
    assert "2×" in made.status
    made.playing.change_speed(-1)
    assert "as recorded" in made.status
    assert made.notice == "" and made.state.playback.turn is not None
    assert made.state.playback.turn.speed == made.state.playback.speed
