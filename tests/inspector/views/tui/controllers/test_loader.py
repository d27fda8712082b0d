"""What the loader posts at the end of a file."""

import gc
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.message import Message
from viewing import EXAMPLE

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.controllers import loader
from turntape.inspector.views.tui.controllers.loader import Loader
from turntape.inspector.views.tui.controllers.messages import GrowthReady, LedgerReady, Notice, ReadingEnded
from turntape.inspector.views.tui.controllers.page_maker import PageMaker


def loaded(path: Path) -> list[Message]:
    """All messages up to the one with the ledger."""
    posted: list[Message] = []
    done = threading.Event()

    def post(message: Message) -> None:
        posted.append(message)
        if isinstance(message, LedgerReady):
            done.set()

    made = Loader(Run(path, priced=True), post)
    made.start()
    try:
        assert done.wait(60)
    finally:
        made.stop()
    return posted


def test_the_ledger_comes_last_and_is_left_out_by_the_garbage_collector() -> None:
    posted = loaded(EXAMPLE)

    *_, ended, last = posted
    assert isinstance(ended, ReadingEnded) and ended.final and ended.problem is None
    assert isinstance(last, LedgerReady) and last.ledger is not None and last.ledger.turns
    assert gc.isenabled()
    looked_through = {id(one) for one in gc.get_objects()}
    assert not looked_through & {id(turn) for turn in last.ledger.turns}


def test_a_ledger_that_cannot_be_made_is_said_and_the_turns_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(run: Run, rest: Any) -> Any:
        raise ZeroDivisionError("no tokens")

    monkeypatch.setattr(Run, "made_ledger", broken)
    *_, notice, last = loaded(EXAMPLE)

    assert isinstance(notice, Notice) and notice.text == "the ledger could not be made: ZeroDivisionError: no tokens"
    assert isinstance(last, LedgerReady) and last.ledger is None and gc.isenabled()


def test_a_strip_that_cannot_be_drawn_is_said() -> None:
    posted: list[Message] = []
    done = threading.Event()
    made = Loader(Run(EXAMPLE), lambda message: (posted.append(message), done.set()))
    made._growth.start()
    try:
        broken: Any = [object()]
        made.growth(broken, None, final=True)
        assert made.busy and done.wait(20)
        (notice,) = posted
        assert isinstance(notice, Notice) and "growth strip could not be drawn" in notice.text
        done.clear()
        made.growth((), None, final=True)
        assert done.wait(20) and isinstance(posted[1], GrowthReady)
    finally:
        made.stop()


def test_the_next_turn_is_read_ahead_unless_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.load(EXAMPLE)
    place = next(place for place in range(len(run.rows.all)) if run.rows.after(place) is not None)

    def ahead_of(limit: int) -> list[int | None]:
        """What was read after the page of the turn, with bodies of that many bytes as the limit."""
        read: list[int | None] = []
        monkeypatch.setattr(loader, "LARGE", limit)
        monkeypatch.setattr(Run, "detail", lambda run, at: read.append(at))
        monkeypatch.setattr(PageMaker, "request", lambda maker, page, ahead=None: ahead and ahead())
        Loader(run, lambda message: None).page("turn", place, 80)
        return read

    assert ahead_of(10_000_000) == [run.rows.after(place)]
    assert ahead_of(10) == []
