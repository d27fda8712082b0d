"""A turn that is being played."""

import pytest
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.run.stream_timeline import Arrivals
from turntape.inspector.views.tui.controllers.played_turn import SPEEDS, WAIT, PlayedTurn


@pytest.mark.parametrize("speed", range(len(SPEEDS)))
@pytest.mark.parametrize(("width", "gauge"), [(120, 30), (80, 20), (40, 0)])
def test_the_status_line_fits_and_names_its_keys(width: int, gauge: int, speed: int) -> None:
    row = Run.load(EXAMPLE).rows.all[0]
    turn = PlayedTurn(0, 3_307_000, speed, at=1_653_500)

    text = "".join(word for word, _ in turn.status(row, width))

    assert len(text.rstrip()) <= width
    assert text.startswith(" ▶ turn 1 of t1")
    between = text.partition("▕")[2].rpartition("▏")[0]
    assert len(between) >= gauge


SECOND = 1_000_000
SLOW = Arrivals((30 * SECOND, 31 * SECOND, 32 * SECOND), (10, 30, 40), 32 * SECOND)
"""Nothing for half a minute, then three chunks."""


def slow(at: int = 0) -> PlayedTurn:
    return PlayedTurn(0, SLOW.length, at=at, arrivals=SLOW)


def test_a_long_wait_is_shortened_and_the_rest_takes_as_long_as_it_took() -> None:
    turn = slow()

    turn.advance(WAIT / SECOND)
    assert turn.at == 30 * SECOND
    turn.advance(1.0)
    assert turn.at == 31 * SECOND
    turn.advance(1.0)
    assert turn.complete


def test_the_time_that_is_left_after_a_wait_is_not_lost() -> None:
    turn = slow()

    turn.advance(2.5)

    assert turn.at == pytest.approx(30.5 * SECOND, abs=10)


def test_a_shortened_wait_is_named() -> None:
    row = Run.load(EXAMPLE).rows.all[0]

    def status(turn: PlayedTurn) -> str:
        return "".join(word for word, _ in turn.status(row, 120))

    assert "a wait of 30.0 s, shortened" in status(slow())
    assert "shortened" not in status(slow(30_500_000))
    done = slow(SLOW.length)
    done.gap = 90
    assert "the client took 90.0 s, shortened" in status(done)
    done.gap = 1
    assert "shortened" not in status(done)


def test_the_share_is_that_of_the_bytes() -> None:
    assert [slow(at * SECOND).share for at in (0, 29, 30, 31, 32)] == [0.0, 0.0, 0.25, 0.75, 1.0]
    assert PlayedTurn(0, SECOND, at=500_000).share == 0.0


def test_a_pause_is_named() -> None:
    row = Run.load(EXAMPLE).rows.all[0]

    assert "paused" in "".join(word for word, _ in slow().status(row, 80, paused=True))
