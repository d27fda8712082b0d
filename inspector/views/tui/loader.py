"""The thread that reads: rows of the file as they come, and the page that was asked for last."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from turntape.cassettes.errors import TurntapeError

from ...run.growth import GrowthStep
from ...run.row import Row
from ...run.run_index import Run
from .pages.page import Page

type Made = Page | tuple[GrowthStep, ...]
"""What a desk makes: a page, or the steps of the growth."""

BATCH = 0.04
"""How long rows are gathered before they are handed over, in seconds."""
POLL = 0.25
"""How often a growing file is looked at."""
DRAWN = 0.06
"""In so many seconds a page is on the screen."""
LAST_LOOKS = 6
"""How often it is looked at after the command has ended: what it did last may not be written yet."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A page that is wanted."""

    place: int
    view: str
    width: int
    make: Callable[[], Made]
    anchor: str = ""
    top: bool = False


class Feeder(threading.Thread):
    """Reads the rows of a run and hands them over in batches.

    With `follow` it goes on until it is stopped, or until `follow` says that nothing more will come.
    """

    def __init__(
        self,
        run: Run,
        follow: Callable[[], bool] | None,
        hand_over: Callable[[list[Row]], None],
        ended: Callable[[str | None, bool], None],
    ) -> None:
        super().__init__(name="turntape-rows", daemon=True)
        self._run, self._follow, self._hand_over, self._ended = run, follow, hand_over, ended
        self._stop = threading.Event()

    def stop(self) -> None:
        self._stop.set()

    def run(self) -> None:
        try:
            self._once()
            if self._follow is None:
                self._run.check()
            else:
                # What there was is read; now the rest, as it comes.
                self._ended(None, False)
                looks = 0
                while looks < LAST_LOOKS and not self._stop.wait(POLL):
                    looks = 0 if self._follow() else looks + 1
                    self._once()
            if not self._stop.is_set():
                self._hand_over(self._run.close())
                self._ended(None, True)
        except TurntapeError as error:
            self._ended(str(error), True)

    def _once(self) -> None:
        batch: list[Row] = []
        since = time.monotonic()
        for rows in self._run.read():
            batch += rows
            if self._stop.is_set():
                return
            if time.monotonic() - since > BATCH:
                self._hand_over(batch)
                # The first ones were shown at once; now there is time for the prices.
                batch = self._run.price()
                # The screen is to be drawn now; it waits for this thread to let go.
                time.sleep(0.001)
                since = time.monotonic()
        batch += self._run.price()
        if batch:
            self._hand_over(batch)


class Desk(threading.Thread):
    """Makes the page that was wished for last; wishes that were overtaken are dropped."""

    def __init__(self, done: Callable[[Wish, Made | str], None]) -> None:
        super().__init__(name="turntape-pages", daemon=True)
        self._done = done
        self._wish: Wish | None = None
        self._ahead: Callable[[], object] | None = None
        self._changed = threading.Condition()
        self._over = False
        self.busy = False

    def wish(self, wish: Wish, ahead: Callable[[], object] | None = None) -> None:
        """Ask for a page; `ahead` is done after it when nothing else is asked for."""
        with self._changed:
            self._wish, self._ahead = wish, ahead
            self.busy = True
            self._changed.notify()

    def _idle(self) -> bool:
        """True when nothing was wished for while the page was drawn: reading ahead must not hold that up."""
        with self._changed:
            return not self._changed.wait_for(lambda: self._wish is not None or self._over, DRAWN)

    def stop(self) -> None:
        with self._changed:
            self._over = True
            self._changed.notify()

    def run(self) -> None:
        while True:
            with self._changed:
                while self._wish is None and not self._over:
                    self.busy = False
                    self._changed.wait()
                if self._over:
                    return
                wish, ahead = self._wish, self._ahead
                self._wish = self._ahead = None
            assert wish is not None
            try:
                page = wish.make()
                if isinstance(page, Page):
                    page.laid_out(wish.width, {})
            except TurntapeError as error:
                self._done(wish, str(error))
            except Exception as error:  # noqa: BLE001 - one strange body must not end the view of all others
                self._done(wish, f"this could not be shown: {type(error).__name__}: {error}")
            else:
                self._done(wish, page)
            if ahead is not None and self._idle():
                try:
                    ahead()
                except Exception:  # noqa: BLE001 - reading ahead is only for speed; the wish itself will tell
                    continue
