"""The thread that makes the growth strip."""

import queue
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from viewer_parts import trips

from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import Strip
from turntape.inspector.views.tui.controllers import growth_maker
from turntape.inspector.views.tui.controllers.growth_maker import GrowthMaker
from turntape.inspector.views.tui.controllers.page_maker import Failure

ROWS = Run.of(trips()).rows.all
SOON = 20
"""Seconds after which a strip will not come any more."""


@contextmanager
def making() -> Iterator[tuple[GrowthMaker, "queue.Queue[Strip | Failure]"]]:
    made: queue.Queue[Strip | Failure] = queue.Queue()
    maker = GrowthMaker(made.put)
    maker.start()
    try:
        yield maker, made
    finally:
        maker.stop()
        maker.join(SOON)
        assert not maker.is_alive()


def turns(made: Strip | Failure) -> int:
    assert isinstance(made, Strip)
    return made.turns


def test_it_makes_the_strip_of_the_rows() -> None:
    with making() as (maker, made):
        maker.request(ROWS, None, final=True)
        assert maker.busy and turns(made.get(timeout=SOON)) == len(ROWS)


def test_while_rows_are_read_it_rests_and_only_the_last_request_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_maker, "REST", 1e9)
    monkeypatch.setattr(growth_maker, "LONGEST", 1e6)
    with making() as (maker, made):
        maker.request(ROWS[:1], None, final=False)
        assert turns(made.get(timeout=SOON)) == 1
        maker.request(ROWS[:2], None, final=False)
        with pytest.raises(queue.Empty):
            made.get(timeout=0.2)
        assert maker.busy
        maker.request(ROWS, None, final=True)
        assert turns(made.get(timeout=SOON)) == len(ROWS)
        with pytest.raises(queue.Empty):
            made.get(timeout=0.1)
        assert not maker.busy


def test_the_strips_of_a_run_that_is_read_share_what_has_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth_maker, "REST", 0)
    with making() as (maker, made):
        maker.request(ROWS[:1], None, final=False)
        first = made.get(timeout=SOON)
        maker.request(ROWS, None, final=True)
        second = made.get(timeout=SOON)
    assert isinstance(first, Strip) and isinstance(second, Strip)
    assert second.lanes[0].turns[0] is first.lanes[0].turns[0]


def test_rows_that_cannot_be_drawn_give_a_sentence_and_the_thread_continues() -> None:
    broken: Any = [object()]
    with making() as (maker, made):
        maker.request(broken, None, final=True)
        failure = made.get(timeout=SOON)
        assert isinstance(failure, Failure) and failure.message.startswith("the growth strip could not be drawn: ")
        maker.request(ROWS, None, final=True)
        assert turns(made.get(timeout=SOON)) == len(ROWS)
