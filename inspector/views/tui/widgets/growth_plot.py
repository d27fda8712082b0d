"""Token growth: a stacked bar for each turn, the cost so far as a line, the numbers of the turn under the cursor."""

from collections.abc import Sequence
from typing import ClassVar, override

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from ....run.growth import GrowthStep, Tokens, summed
from ..formatting import clipped
from ..growth_lines import AXIS, Column, axis, columns, cost_line, figures, highest, kinds, layout, legend, scale
from ..pages.blocks import Spans
from ..pages.help_page import HelpSection
from ..theme import SHADES
from .header_footer import KeyHint
from .line_view import strip
from .themed import Themed


class GrowthPlot(Themed, can_focus=True):
    """`show(steps, place)`; Left and Right, or the mouse, move the turn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h,k,up", "step(-1)", "turn before", show=False),
        Binding("right,l,j,down", "step(1)", "next turn", show=False),
        Binding("home,g", "step(-1000000)", "first", show=False),
        Binding("end,G", "step(1000000)", "last", show=False),
        Binding("enter", "screen.open_turn", "open", show=False),
    ]

    class Picked(Message):
        """A turn was picked in the plot."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    HELP_KEYS: ClassVar[HelpSection] = HelpSection(
        "the growth plot",
        (
            ("← → h l", "previous, next turn; the mouse shows the numbers of a turn"),
            ("Enter", "read the turn"),
        ),
    )
    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("← →", "turn", ""),
        ("↵", "open", "screen.open_turn"),
        ("Esc", "list", "screen.out"),
        ("z", "zoom", "screen.zoom"),
        ("x", "save", "app.save"),
        ("?", "help", "app.help"),
        ("q", "quit", "app.quit"),
    )

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.steps: Sequence[GrowthStep] = ()
        self.at = 0
        """The step of the cursor, as an index."""
        self.under: int | None = None
        """The step under the mouse, as an index."""
        self.columns: list[Column] = []
        self._total = Tokens()
        self._drawn: tuple[object, ...] = ()
        """The size for which the columns were made."""

    def show(self, steps: Sequence[GrowthStep], place: int) -> None:
        """Show these steps, with the cursor on the one at `place`, or the last one before it."""
        if steps is not self.steps:
            self._total = summed(steps)
        self.steps = steps
        self.under = None
        self.at = max((n for n, step in enumerate(steps) if step.place <= place), default=0)
        self.refresh()

    def action_step(self, by: int) -> None:
        if self.steps:
            self._pick(self.at + by)

    def _pick(self, at: int) -> None:
        self.at = max(0, min(at, len(self.steps) - 1))
        self.under = None
        self.refresh()
        self.post_message(self.Picked(self.steps[self.at].place))

    @property
    def shown_step(self) -> GrowthStep:
        """The step whose numbers are shown: the one under the mouse, or else the one of the cursor."""
        return self.steps[self.at if self.under is None else self.under]

    def on_click(self, event: events.Click) -> None:
        step = self._step_at(event.x)
        if step is not None:
            self._pick(step)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        self._hover(self._step_at(event.x))

    def on_leave(self, event: events.Leave) -> None:
        del event
        self._hover(None)

    def _hover(self, step: int | None) -> None:
        if step != self.under:
            self.under = step
            self.refresh()

    def _step_at(self, x: int) -> int | None:
        """The step of the column in that cell; of a column of several the cursor's own, or the middle one."""
        column = next((c for c in self.columns if c.x <= x < c.x + c.width), None)
        if column is None:
            return None
        return self.at if column.shows(self.at) else (column.first + column.last) // 2

    @override
    def render_line(self, y: int) -> Strip:
        if not self.steps:
            return self._spans([("no turns yet", "dim")] if y == 0 else [])
        self._lay_out()
        if y < 3:
            return self._spans(self._head(y))
        parts = layout(self.size.height)
        if y < 3 + parts.bars:
            return self._bars(y - 3, parts.bars)
        if y == 3 + parts.bars:
            return self._spans(axis(self.steps, self.columns, self.at))
        return self._spans(cost_line(self.steps, self.columns, y - 4 - parts.bars, parts.cost))

    def _lay_out(self) -> None:
        key = (id(self.steps), len(self.steps), self.size.width)
        if key != self._drawn:
            self.columns = columns(self.steps, self.size.width - AXIS)
            self._drawn = key

    def _head(self, y: int) -> Spans:
        step, width = self.shown_step, self.size.width
        if y == 0:
            return figures(step, width)
        return kinds(step.tokens, width) if y == 1 else legend(self._total, width, colour=self.palette.coloured)

    def _spans(self, spans: Spans) -> Strip:
        return strip(clipped(spans, self.size.width), self.size.width, self.palette, self.palette.background)

    def _bars(self, y: int, height: int) -> Strip:
        """Line `y` of the bars."""
        ground = Style(bgcolor=self.palette.background)
        segments = [Segment(scale(self.columns, y, height), ground + self.palette["dim"])]
        cell = highest(self.columns) / (2 * height)
        for column in self.columns:
            segments.append(self._cell(column, 2 * (height - y) - 2, cell))
            if column.width > column.filled:
                segments.append(Segment(" " * (column.width - column.filled), ground))
        return Strip(segments).adjust_cell_length(self.size.width, ground)

    def _cell(self, column: Column, half: int, cell: float) -> Segment:
        """A column in one line, which is two half cells high: `half` and the one above, each `cell` tokens high."""
        under = self.palette.background
        if column.shows(self.at):
            under = self.palette.cursor
        elif column.shows(self.under):
            under = self.palette.trail
        low, high = column.at((half + 0.5) * cell), column.at((half + 1.5) * cell)
        if not self.palette.coloured:
            return Segment((SHADES[low] if low else " ") * column.filled, Style(bgcolor=under))
        style = Style(color=self._colour(high, under), bgcolor=self._colour(low, under))
        return Segment(("▀" if low or high else " ") * column.filled, style)

    def _colour(self, kind: str | None, otherwise: str) -> Color:
        found = self.palette[kind].color if kind else None
        return found or Color.parse(otherwise)
