"""The threads behind the screen do nothing while the user moves, and continue afterwards."""

from collections.abc import Callable
from threading import Event
from typing import Any

import pytest
from viewer_parts import trips

from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import strip_of
from turntape.inspector.views.tui.controllers import pace
from turntape.inspector.views.tui.controllers.pace import Pace
from turntape.inspector.views.tui.controllers.row_reader import RowReader

SOON = 20


class Later:
    """Timers that a test ends by hand."""

    def __init__(self) -> None:
        self.waiting: list[Callable[[], None]] = []

    def __call__(self, seconds: float, call: Callable[[], None]) -> Any:
        assert seconds > 0
        self.waiting.append(call)
        return self

    def cancel(self) -> None:
        self.waiting.clear()


def test_nobody_waits_before_the_first_move_and_after_the_last() -> None:
    later = Later()
    made = Pace(later)

    made.rest()
    made.moving()
    made.moving()
    assert len(later.waiting) == 1, "the time counts from the last move"
    later.waiting.pop()()
    made.rest()
    made.moving()
    made.stop()
    made.rest()


def test_rows_are_read_one_by_one_while_the_user_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "MOST", 1000)
    later, resting = Later(), Event()
    made = Pace(later)
    rows: list[Row] = []
    read: list[int] = []
    run = Run.of(trips())

    def counted() -> Any:
        for number in range(3):
            read.append(number)
            yield [run.rows.all[number]]

    def rest() -> None:
        resting.set()
        made.rest()

    monkeypatch.setattr(run, "read", counted)
    made.moving()
    reader = RowReader(run, None, rows.extend, lambda problem, final: None, rest)
    reader.start()

    assert resting.wait(SOON)
    assert read == [0] and rows == []
    later.waiting.pop()()
    reader.join(SOON)
    assert read == [0, 1, 2]


def test_the_strip_and_the_ledger_rest_between_turns() -> None:
    run = Run.of(trips())
    rests: list[int] = []

    ledger = run.made_ledger(lambda: rests.append(1))
    assert len(rests) >= len(ledger.turns) > 1
    assert run.ledger is ledger, "made once"
    rests.clear()
    strip = strip_of(run.rows.all, ledger, lambda: rests.append(1))
    assert len(rests) == strip.turns > 1
