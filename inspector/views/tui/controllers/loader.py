"""Loads the content of the viewer on three threads: they read the rows of the file, make pages, and make the growth
strip."""

import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ....run.row import Row
from ....run.run_index import LARGE, Run
from ..pages.page import Page
from ..pages.page_table import PAGES, compare, costs, output
from .growth_maker import GrowthMaker
from .messages import (
    FirstRowRead,
    GrowthReady,
    LedgerReady,
    Notice,
    PageFailed,
    PageReady,
    Post,
    ReadingEnded,
    RowsRead,
)
from .pace import Pace
from .page_maker import Failure, Made, PageMaker, PageRequest
from .played_turn import PlayedTurn
from .row_reader import RowReader

if TYPE_CHECKING:
    from ....ledger import Ledger
    from ....run.strip import Strip


class Loader:
    """Posts `FirstRowRead`, `RowsRead`, `ReadingEnded` and then `LedgerReady`, and for each page `PageReady` or
    `PageFailed`, for each growth strip `GrowthReady`.

    `more` says whether the file may still grow; None reads it once.
    """

    def __init__(self, run: Run, post: Post, more: Callable[[], bool] | None = None) -> None:
        self._run, self._post = run, post
        self._pages = PageMaker(self._made)
        self._pace = Pace()
        self._growth = GrowthMaker(self._grown, self._pace.rest)
        self._rows = RowReader(run, more, self._read, self._ended, self._pace.rest, self._first)

    def start(self) -> None:
        self._pages.start()
        self._growth.start()
        self._rows.start()

    def stop(self) -> None:
        self._rows.stop()
        self._pages.stop()
        self._growth.stop()
        self._pace.stop()

    @property
    def busy(self) -> bool:
        """True while a page or the growth strip is being made."""
        return self._pages.busy or self._growth.busy

    def moving(self) -> None:
        """The user moves to another turn: what is read and made meanwhile can wait a little."""
        self._pace.moving()

    def page_shown(self) -> None:
        """A page is on the screen."""
        self._rows.page_shown()

    def growth(self, rows: Sequence[Row], ledger: "Ledger | None", *, final: bool) -> None:
        """Request the growth strip of these rows; `final` when no more are expected soon."""
        self._growth.request(rows, ledger, final=final)

    def page(self, view: str, place: int, width: int, anchor: str = "", *, top: bool = False) -> None:
        """Request the page of a view; then the next turn of the thread is read ahead."""
        run, make = self._run, PAGES[view]
        ahead = self._ahead(place)
        self._pages.request(PageRequest(place, view, width, lambda: make(run, place), anchor, top), ahead)

    def costs(self, order: str, place: int, width: int, anchor: str = "", *, top: bool = False) -> None:
        """Request the page of costs, its pieces in an order."""
        run = self._run
        self._pages.request(PageRequest(place, "costs", width, lambda: costs(run, order), anchor, top))

    def compared(self, marked: int | None, place: int, width: int, anchor: str = "", *, top: bool = False) -> None:
        """Request the page that compares a round trip with the marked one."""
        run = self._run
        self._pages.request(PageRequest(place, "compare", width, lambda: compare(run, marked, place), anchor, top))

    def output(self, path: Path, place: int, width: int) -> None:
        """Request the page with the output of the recorded command."""
        self._pages.request(PageRequest(place, "output", width, lambda: output(path)))

    def played(self, turn: PlayedTurn, width: int) -> None:
        """Request the page of a turn that is being played."""
        run, place, at = self._run, turn.place, turn.at

        def make() -> Page:
            from ....run.stream_timeline import arrivals
            from ..pages.play_page import play_page

            detail = run.detail(place)
            turn.arrivals = turn.arrivals or arrivals(detail)
            return play_page(detail, run.rows, place, at)

        ahead = self._ahead(place)
        self._pages.request(PageRequest(place, "play", width, make), ahead)

    def _ahead(self, place: int) -> Callable[[], object] | None:
        """What reads the next turn of the thread; None for a large one, beside which this one could not be held."""
        run, following = self._run, self._run.rows.after(place)
        if following is None:
            return None
        row = run.rows.all[following]
        return None if row.request_bytes + row.response_bytes > LARGE // 2 else lambda: run.detail(following)

    def _first(self, row: Row) -> None:
        self._post(FirstRowRead(row))

    def _read(self, rows: list[Row]) -> None:
        self._post(RowsRead(rows))

    def _ended(self, problem: str | None, final: bool) -> None:
        self._post(ReadingEnded(problem, final))
        if final and problem is None:
            self._post(LedgerReady(self._ledger()))

    def _ledger(self) -> "Ledger | None":
        """The ledger; None when it cannot be made, which is said.

        It lasts as long as the viewer: the garbage collector, which stops the screen, leaves it out. Of a run of 5,000
        turns it would take 0.1 s to look through, again and again.
        """
        gc.disable()
        try:
            return self._run.made_ledger(self._pace.rest)
        except Exception as error:  # noqa: BLE001 - the turns must be shown, whatever is wrong with their bill
            self._post(Notice(f"the ledger could not be made: {type(error).__name__}: {error}", "bad"))
            return None
        finally:
            gc.freeze()
            gc.enable()

    def _grown(self, made: "Strip | Failure") -> None:
        self._post(Notice(made.message, "bad") if isinstance(made, Failure) else GrowthReady(made))

    def _made(self, request: PageRequest, made: Made | Failure) -> None:
        if isinstance(made, Failure):
            self._post(PageFailed(request, made.message))
        else:
            self._post(PageReady(request, made))
