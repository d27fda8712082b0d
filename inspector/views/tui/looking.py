"""What of the run is looked at: rows come in from one thread, pages from another, and the place stays."""

import asyncio
import signal
import sys
import time
from collections.abc import Sequence
from typing import Unpack

from textual.message import Message

from ...run.growth import GrowthStep, steps
from ...run.row import Row
from ...run.run_index import Run
from .headings import OUTPUT
from .loader import Desk, Feeder, Wish
from .messages import FileEnded, PageMade, RowsCame
from .pages.page import Page
from .pages.page_table import PAGES, output
from .surface import Options, Surface
from .thread_tree import Outline

REFRESH = 0.12
"""At most this often, in seconds, a run that is being read is drawn anew."""
OUTPUT_SEEN = 0.5
"""How often what the command writes is looked at, in seconds."""
SWITCH = 0.0005
"""How long a thread that reads may keep the one that draws waiting, in seconds."""

OF_THE_RUN = frozenset({"findings", "growth"})
"""The views that show the same wherever the run is looked at."""


class Looking(Surface):
    """`select(place)` looks at a round trip; while following, the place goes with what is recorded."""

    _tail: int | None = None
    """The last turn of the thread that was looked at, when it was last looked at."""
    _anchor = ""
    _stale = False
    """True when more was read than is drawn."""
    _drawn = 0.0
    _before_growth = 0

    def __init__(self, run: Run, **options: Unpack[Options]) -> None:
        super().__init__(run, **options)
        self._turn = options.get("turn")
        self._desk = Desk(lambda wish, made: self._send(PageMade(wish, made)))
        self._feeder = Feeder(
            run,
            options.get("goes_on", lambda: True) if self.live else None,
            lambda rows: self._send(RowsCame(rows)),
            lambda problem, over: self._send(FileEnded(problem, over)),
        )

    @property
    def settled(self) -> bool:
        """True when all that was asked for has come, for whoever looks at the screen by a program."""
        return not (self._reading or self._stale or self._desk.busy or self._page.seeking)

    def on_mount(self) -> None:
        self.theme = self._palette.name
        self._use_palette()
        self._list.focus()
        self._show_view()
        # The threads that read take turns with the one that draws; it must not wait long for its own.
        sys.setswitchinterval(SWITCH)
        if self.output is not None:
            self.set_interval(OUTPUT_SEEN, lambda: self.view == OUTPUT[2] and self._wish(keep=True))
        self._desk.start()
        self._feeder.start()

        if not self.is_headless:
            # The terminal is put right before the end, whoever asks for it.
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self.exit)

    def on_unmount(self) -> None:
        self._feeder.stop()
        self._desk.stop()

    def _send(self, message: Message) -> None:
        """From the other threads; the screen may be gone already."""
        if self.is_running:
            self.post_message(message)

    def on_rows_came(self, message: RowsCame) -> None:
        rows = self.run_.rows
        change = rows.put(message.rows)
        if self.place is None and rows.all:
            self._sum_up()
            self._begin()
            return
        self._stale = True
        if self.place is not None and self._touched(change.first, change.again):
            self._wish(keep=True)
        if time.monotonic() - self._drawn > REFRESH:
            self._redraw()
        else:
            self.set_timer(REFRESH, self._redraw)

    def _touched(self, first: int, again: Sequence[int]) -> bool:
        """True when what came changes the page that is shown."""
        if self.player.on is not None or self.place is None:
            return False
        if self.view in OF_THE_RUN:
            return True
        after = self.run_.rows.after(self.place)
        return self.place in again or (after is not None and after >= first)

    def _begin(self) -> None:
        """The first rows are there; while following, the last of them is looked at."""
        rows = self.run_.rows
        thread = rows.all[0].thread
        self._refresh_list()
        self.select(rows.threads[thread][-1] if self.following and thread is not None else 0)

    def _redraw(self) -> None:
        if not self._stale:
            return
        self._stale = False
        self._drawn = time.monotonic()
        tail = self._at_tail()
        self._sum_up()
        self._refresh_list()
        if self._turn is not None:
            self._go_to_turn()
        elif self.following and tail is not None and tail != self.place and self.player.on is None:
            self.select(tail)
        elif self.following:
            self._behind = sum(place > (self.place or 0) for place in self._list.outline.places)
        self._bars()

    def _at_tail(self) -> int | None:
        """Where to go while following: the last turn of the thread that is looked at, if its last known one was.

        A subagent that begins meanwhile does not take the cursor away.
        """
        rows, place = self.run_.rows, self.place
        if place is None or rows.all[place].thread is None:
            return None
        line = self._list.at(self._list.cursor)
        if line is None or line.thread is not None or place != self._tail:
            return None
        return rows.threads[rows.all[place].thread or ""][-1]

    def _go_to_turn(self) -> None:
        """To the turn that the command line asked for, once it is there."""
        place = next((p for p, row in enumerate(self.run_.rows.all) if row.turn == self._turn), None)
        if place is not None:
            self._turn = None
            self.select(place)
        elif not self._reading:
            self.say(f"there is no turn {self._turn} in this run", "warn")
            self._turn = None

    def on_file_ended(self, message: FileEnded) -> None:
        self._reading = False
        self._stale = True
        if self.live and message.over:
            self.live = self.following = False
            what, then = ("command", "; q leaves and shows what it wrote") if self.output else ("recording", "")
            nothing = "" if self.run_.rows.all else ", and nothing was recorded"
            self.say(f"the {what} has ended{nothing}{then}", "accent")
        self._redraw()
        if message.problem is not None:
            self.say(message.problem, "bad")
        elif problems := self.run_.problems:
            self.say(f"{problems[0]}{f' (and {len(problems) - 1} more)' if len(problems) > 1 else ''}", "warn")
        if not self.run_.rows.all and not self.live and not self._said:
            self.say("nothing was recorded in this file", "warn")

    def _refresh_list(self) -> None:
        keep = self.filter if self.filter else None
        self._list.show(self.run_.rows, Outline(self.run_.rows, self.list_folds, keep), self.place)
        self._arrange()

    def shown(self, row: Row) -> bool:
        """Whether the filter lets a row through."""
        return self.filter(row)

    def select(self, place: int, anchor: str = "", view: str | None = None, *, listed: bool = False) -> None:
        """Look at a round trip, and at a part of it; `listed` when the list's cursor stands where it should."""
        rows = self.run_.rows
        moved = place != self.place
        if moved:
            self._match = ""
        self.place, self._anchor = place, anchor
        thread = rows.all[place].thread
        self._tail = rows.threads[thread][-1] if thread is not None else None
        if not listed:
            self._list.stand_on(place)
        if self.following:
            self._behind = sum(own > place for own in self._list.outline.places)
        if view is not None and view != self.view:
            self.view = view
            self._show_view()
        self._wish(anchor=anchor, keep=not moved)
        self._bars()

    def _wish(self, anchor: str = "", keep: bool = False) -> None:
        """Ask the desk for the page of what is looked at."""
        if self.place is None:
            return
        run, place, view, width = self.run_, self.place, self.view, max(16, self._page.room)
        if view == "growth":
            known = len(run.rows.all)
            if self._plot.steps and known == self._before_growth and not self._stale:
                self._plot.show(self._plot.steps, place)
                return
            self._before_growth = known
            self._desk.wish(Wish(place, view, width, lambda: tuple(steps(enumerate(list(run.rows.all))))))
            return
        if view == "output" and (written := self.output) is not None:
            self._desk.wish(Wish(place, view, width, lambda: output(written)))
            return
        make = PAGES[view]
        beside = run.rows.after(place)
        ahead = None if beside is None else lambda: run.detail(beside)
        self._desk.wish(Wish(place, view, width, lambda: make(run, place), anchor, not keep), ahead)

    def on_page_made(self, message: PageMade) -> None:
        wish, made = message.wish, message.made
        if wish.view == "play":
            if self.player.on is not None and isinstance(made, Page):
                self._page.show(made, end=True)
            return
        if wish.view != self.view or (wish.place != self.place and wish.view not in OF_THE_RUN):
            return
        if isinstance(made, Page):
            self._page.needle = self.filter.words
            end = wish.view == "output" and self._page.at_end
            self._page.show(made, wish.anchor, top=wish.top, end=end)
        elif isinstance(made, tuple):
            found: tuple[GrowthStep, ...] = made  # pyright: ignore[reportUnknownVariableType]
            self._plot.show(found, wish.place if self.place is None else self.place)
        else:
            self.say(str(made), "bad")

    def action_follow(self) -> None:
        if not self.live:
            self.say(
                "this recording is over: there is nothing to follow (turntape view --follow waits for more)", "dim"
            )
            return
        self.following = not self.following
        self._behind = 0
        if self.following and self.place is not None and (thread := self.run_.rows.all[self.place].thread) is not None:
            self.select(self.run_.rows.threads[thread][-1])
        self._bars()
