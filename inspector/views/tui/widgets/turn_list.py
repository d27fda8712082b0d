"""The list of turns: one line each, threads folded."""

from collections.abc import Callable
from decimal import Decimal
from typing import ClassVar, override

from textual.binding import Binding, BindingType
from textual.message import Message

from ....run.row import Row
from ....run.rows import Rows
from ..pages.blocks import Spans
from ..pages.help_page import HelpSection
from ..played_rows import played_row
from ..thread_tree import ThreadTree, TreeLine
from ..turn_lines import ALL, Known, other_line, thread_line, turn_line
from .header_footer import KeyHint
from .line_view import LineView

ORDERS: dict[str, Callable[[Row], float] | None] = {
    "as recorded": None,
    "by cost": lambda row: float(row.cost or 0),
    "by time": lambda row: row.duration_ms or 0.0,
    "by input": lambda row: float(row.usage.input or 0),
}
"""The orders of the list, the highest value first."""

MARKED = "m"
"""The sign of the marked turn."""


class TurnList(LineView):
    """Shows rows as a tree of threads. `Selected` when the cursor moves to a turn, `Entered` when it is opened."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("l,right", "open", "open", show=False),
        Binding("h,left", "fold", "fold", show=False),
    ]

    class Selected(Message):
        """The user moved the cursor to the round trip at `place`."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    class Entered(Message):
        """The user opened the round trip of the cursor."""

    class Passed(Message):
        """The user moved down from the last line, to one that may not be read yet."""

    class Folded(Message):
        """A thread was folded or unfolded, so the number of lines changed."""

    HELP_KEYS: ClassVar[HelpSection] = HelpSection(
        "the list of turns",
        (
            ("Enter l →", "read the turn; on a thread: fold or unfold it"),
            ("h ←", "fold the thread, or go to its head"),
            ("J K", "scroll the page"),
        ),
    )
    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("↵", "open", "screen.open"),
        ("/", "search", "screen.search"),
        ("n", "finding", "screen.jump('finding', 1)"),
        ("e", "error", "screen.jump('error', 1)"),
        ("c", "call", "screen.jump('call', 1)"),
        ("p", "play", "screen.play"),
        ("y", "copy", "app.copy"),
        ("?", "help", "app.help"),
        ("q", "quit", "app.quit"),
    )

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.rows = Rows()
        self.threads = ThreadTree(self.rows, {})
        self.playing: int | None = None
        """The place of the turn that is being played."""
        self._share = 1.0
        """How much of its answer has arrived."""
        self._folds: dict[str, bool] = {}
        """Whether a thread was unfolded or folded by the user."""
        self.marked: int | None = None
        """The place of the turn that others are compared with."""
        self._keep: Callable[[Row], bool] | None = None
        self.order = "as recorded"
        """One of `ORDERS`."""
        self._dearest = Decimal(0)
        """The cost of the most expensive turn, which has a full bar."""
        self.known = ALL
        """Which columns the lines have."""

    @property
    def places(self) -> list[int]:
        """The places of all rows that the filter keeps, also of those in folded threads."""
        return self.threads.places

    @property
    def on_turn(self) -> bool:
        """Whether the cursor is on a round trip, and not on the head of a thread."""
        line = self.at(self.cursor)
        return line is not None and line.thread is None

    @override
    def count(self) -> int:
        return len(self.threads)

    def show(self, rows: Rows, keep: Callable[[Row], bool] | None, place: int | None) -> None:
        """Show the rows for which `keep` is true, or all. The cursor keeps its line and its position on the screen."""
        self.rows, self._keep = rows, keep
        self.nothing = "nothing matches; Esc shows all" if keep is not None else ""
        self._dearest = max((row.cost for row in rows.all if row.cost is not None), default=Decimal(0))
        self.known = Known(any(row.duration_ms is not None for row in rows.all), self._dearest > 0)
        self._rebuild(place)

    def _rebuild(self, place: int | None) -> None:
        entry, old = self.at(self.cursor), self.cursor
        self.threads = ThreadTree(self.rows, self._folds, self._keep, ORDERS[self.order])
        if self._stays_first(old):
            self._go_to_first()
            return
        head = self.threads.head_of(entry.thread) if entry is not None and entry.thread is not None else None
        line = head if head is not None else self.threads.nearest(place) if place is not None else old
        top = round(self.scroll_offset.y)
        self.cursor = line
        self.fit()
        if line != old:
            # From the top, what comes above the cursor is shown too: the head of its thread.
            self.scroll_to(y=max(0, top + line - old) if top else 0, animate=False, immediate=True)
            self.reveal()

    def _stays_first(self, cursor: int) -> bool:
        """Whether the cursor is on the first turn of an order, which another one may be while more are read."""
        return self.order != "as recorded" and cursor == 0 and self.has_focus and not round(self.scroll_offset.y)

    def _go_to_first(self) -> None:
        self.cursor = 0
        self.fit()
        self.cursor_moved()

    def on_resize(self) -> None:
        self.reveal()

    def point_to(self, place: int) -> None:
        """Put the cursor on a round trip, or on the head of its thread when that is folded."""
        self.go(self.threads.nearest(place), quietly=True)

    def play(self, place: int | None, share: float = 1.0) -> None:
        """Show the run as it was when that share of the turn at `place` had arrived; None shows all of it."""
        moved = place != self.playing
        self.playing, self._share = place, share
        if place is not None and moved:
            self.point_to(place)
        self.refresh()

    def mark(self, place: int | None) -> None:
        """Show which turn is marked; None marks none."""
        self.marked = place
        self.refresh()

    def at(self, line: int) -> TreeLine | None:
        """What is on a line; None below the last one."""
        return self.threads.lines[line] if 0 <= line < len(self.threads.lines) else None

    def place_below(self) -> int | None:
        """The place of the line below the cursor; of the first turn when that is the head of a thread."""
        entry = self.at(self.cursor + 1)
        return None if entry is None else entry.place

    def beside(self, by: int) -> int | None:
        """The place of the next round trip below the cursor, or with `by` -1 above it."""
        line = self.cursor + by
        while (entry := self.at(line)) is not None and entry.thread is not None:
            line += by
        return entry.place if entry is not None else None

    def sort(self, place: int | None) -> str:
        """Take the next order while the round trip at `place` is selected; gives it in words."""
        names = list(ORDERS)
        self.order = names[(names.index(self.order) + 1) % len(names)]
        self._rebuild(place)
        self.scroll_to(y=0, animate=False, immediate=True)
        self.go(0)
        self.post_message(self.Folded())
        return self.order

    def in_fold(self, place: int) -> bool:
        """Whether the line of a round trip is not shown because its thread is folded."""
        line = self.threads.line_of(place)
        return line is not None and self.threads.lines[line].thread is not None

    def fold(self, thread: str, place: int | None, *, opened: bool) -> None:
        """Fold or unfold a thread while the round trip at `place` is selected."""
        self._folds[thread] = opened
        self._rebuild(place)
        self.post_message(self.Folded())

    @override
    def action_move(self, by: int) -> None:
        if by > 0 and self.cursor + by >= self.count():
            self.post_message(self.Passed())
        else:
            super().action_move(by)

    @override
    def cursor_moved(self) -> None:
        line = self.at(self.cursor)
        if line is not None:
            self.post_message(self.Selected(line.place))

    @override
    def chosen(self, line: int, *, clicked: bool) -> None:
        entry = self.at(line)
        if entry is not None and entry.thread is not None:
            self.fold(entry.thread, entry.place, opened=not entry.open)
        elif not clicked:
            self.post_message(self.Entered())

    def action_open(self) -> None:
        """Unfold the thread of the cursor, or read the turn."""
        line = self.at(self.cursor)
        if line is not None and line.thread is not None and not line.open:
            self.fold(line.thread, line.place, opened=True)
        else:
            self.post_message(self.Entered())

    def action_fold(self) -> None:
        """Fold the thread of the cursor, or go to its head."""
        line = self.at(self.cursor)
        if line is None:
            return
        if line.thread is not None:
            self.fold(line.thread, line.place, opened=False)
            return
        thread = self.rows.all[line.place].thread
        head = self.threads.head_of(thread) if thread is not None else None
        if head is not None:
            self.go(head)

    @override
    def line(self, y: int, width: int) -> Spans:
        entry = self.threads.lines[y]
        row = self.rows.all[entry.place]
        lead = "  " * entry.depth
        if self.playing is not None and entry.place > self.playing:
            # What is still to come is hidden.
            number = "" if entry.thread is not None or not row.is_turn else row.label
            return [(f"{lead}{number:>4}" if number else lead, "faint")]
        if entry.thread is not None:
            return thread_line(entry, self.rows, width, self.playing, self.known, self._share)
        if self.playing == entry.place:
            row = played_row(row, self._share)
        if self.order != "as recorded" and len(self.rows.threads) > 1 and row.thread:
            lead = f"{row.thread} "
        if not row.is_turn:
            return other_line(row, lead, width, self.known)
        spans = turn_line(row, lead, width, self._dearest, playing=entry.place == self.playing, known=self.known)
        return spans if entry.place != self.marked else _marked(spans)


def _marked(spans: Spans) -> Spans:
    """The line of the marked turn: the sign is in the place of its first blank."""
    at = next((number for number, (text, _) in enumerate(spans) if text.startswith(" ")), None)
    if at is None:
        return spans
    text, look = spans[at]
    return [*spans[:at], (MARKED, "accent"), (text[1:], look), *spans[at + 1 :]]
