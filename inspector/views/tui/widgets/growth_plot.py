"""Token growth: a stacked bar for each turn, the cost so far as a line, the figures of the turn under the cursor."""

from collections.abc import Sequence
from typing import ClassVar, override

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from ....run.growth import KINDS, GrowthStep, Tokens, summed
from ..formatting import bar, count, dollars, full
from ..pages.page import Spans
from ..theme import PALETTES, SHADES, Palette
from .line_view import strip

_DOTS = ((0x40, 0x80), (0x04, 0x20), (0x02, 0x10), (0x01, 0x08))
"""Braille dots from the bottom up: left and right column."""
AXIS = 7


class GrowthPlot(Widget, can_focus=True):
    """`show(steps, place)`; Left and Right, or the mouse, move the turn."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h,k,up", "step(-1)", "turn before", show=False),
        Binding("right,l,j,down", "step(1)", "next turn", show=False),
        Binding("home,g", "step(-1000000)", "first", show=False),
        Binding("end,G", "step(1000000)", "last", show=False),
    ]

    class Picked(Message):
        """A turn was picked in the plot."""

        def __init__(self, place: int) -> None:
            super().__init__()
            self.place = place

    palette: Palette = PALETTES["dark"]

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.steps: Sequence[GrowthStep] = ()
        self.at = 0
        self.under: int | None = None
        """The step under the mouse: its figures are told while it is there."""
        self.total = Tokens()
        self._columns: list[_Column] = []
        self._drawn: tuple[object, ...] = ()

    def use(self, palette: Palette) -> None:
        self.palette = palette
        self.refresh()

    def show(self, steps: Sequence[GrowthStep], place: int) -> None:
        """These steps, with the one at `place`, or the last before it, under the cursor."""
        if steps is not self.steps:
            self.total = summed(steps)
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
    def told(self) -> GrowthStep:
        """The step whose figures are told: the one under the mouse, else the one under the cursor."""
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
        """The step of the column at that cell; of a column of several the middle one, or the cursor's own."""
        column = next((c for c in self._columns if c.x <= x < c.x + c.width), None)
        if column is None:
            return None
        return self.at if column.first <= self.at <= column.last else (column.first + column.last) // 2

    @override
    def render_line(self, y: int) -> Strip:
        width, height = self.size.width, self.size.height
        if not self.steps:
            return self._spans([("no turns yet", "dim")] if y == 0 else [])
        if y == 0:
            return self._spans(self._figures(width))
        if y == 1:
            return self._spans(self._split(width))
        lower = 3 if height >= 14 else 2 if height >= 10 else 0
        plot = height - 4 - lower
        key = (id(self.steps), len(self.steps), width)
        if key != self._drawn:
            self._columns = _columns(self.steps, width - AXIS)
            self._drawn = key
        if y == 2:
            return self._spans(self._legend())
        if 3 <= y < 3 + plot:
            return self._bars(y - 3, plot)
        if y == 3 + plot:
            return self._axis()
        return self._line(y - 4 - plot, lower)

    def _spans(self, spans: Spans) -> Strip:
        return strip(spans, self.size.width, self.palette, self.palette.background)

    def _figures(self, width: int) -> Spans:
        step = self.told
        row = step.row
        spans: list[tuple[str, str]] = [
            (f"turn {row.turn}", "title"),
            (f" of {row.thread}  ", "dim"),
            (f"{full(row.usage.input)} in ", "plain"),
            (f"{full(row.usage.output)} out  ", "plain"),
            (dollars(row.cost), "money"),
            (f"  so far {dollars(step.cumulative)}  ", "dim"),
        ]
        if step.fill is not None and step.window is not None:
            look = "bad" if step.fill > 0.9 else "warn" if step.fill > 0.7 else "good"
            told = f"{100 * step.fill:.0f} % of {count(step.window)}"
            room = width - sum(len(text) for text, _ in spans)
            if room >= len(told) + 16:
                spans += [("window ", "dim"), (f"{bar(step.fill, 8)} ", look), (told, look)]
            elif room >= len(told):
                spans.append((told, look))
        return spans

    def _split(self, width: int) -> Spans:
        tokens = self.told.tokens
        if tokens is None:
            return [("the API did not say its tokens", "dim")]
        spans: list[tuple[str, str]] = []
        for name, word in KINDS:
            value: int = getattr(tokens, name)
            spans += [(f"{word} ", "dim"), (f"{full(value)}  ", name if value else "dim")]
        return (
            spans
            if sum(len(text) for text, _ in spans) <= width
            else [
                (f"{text.replace('cache ', 'c.').replace('reasoning', 'think').replace('new input', 'new')}", look)
                for text, look in spans
            ]
        )

    def _legend(self) -> Spans:
        whole = self.total.total or 1
        colour = self.palette.name != "no-colour"
        spans: list[tuple[str, str]] = [("run".ljust(AXIS), "dim")]
        for name, word in KINDS:
            value: int = getattr(self.total, name)
            if value:
                spans += [
                    ("█ " if colour else f"{SHADES[name]} ", name),
                    (f"{word} {100 * value / whole:.0f} %  ", "dim"),
                ]
        return spans

    def _bars(self, y: int, height: int) -> Strip:
        top = max(1, round(max(column.total for column in self._columns)))
        spans = (
            (count(top).rjust(AXIS - 1) + " ")
            if y == 0
            else ("0".rjust(AXIS - 1) + " ")
            if y == height - 1
            else " " * AXIS
        )
        background = self.palette.background
        segments = [Segment(spans, Style(bgcolor=background) + self.palette["dim"])]
        upper, lower = 2 * (height - y) - 1, 2 * (height - y) - 2
        cell = top / (2 * height)
        x = AXIS
        plain = self.palette.name == "no-colour"
        for column in self._columns:
            here = column.first <= self.at <= column.last
            hovered = self.under is not None and column.first <= self.under <= column.last
            under = self.palette.cursor if here else self.palette.trail if hovered else background
            if plain:
                kind = column.at((lower + 0.5) * cell)
                text = SHADES[kind] if kind else " "
                segments.append(Segment(text * column.filled, Style(bgcolor=under)))
            else:
                kinds = column.at((upper + 0.5) * cell), column.at((lower + 0.5) * cell)
                high, low = (self._colour(kind, under) for kind in kinds)
                text = "▀" if any(kinds) else " "
                segments.append(Segment(text * column.filled, Style(color=high, bgcolor=low)))
            gap = column.width - column.filled
            if gap:
                segments.append(Segment(" " * gap, Style(bgcolor=background)))
            x += column.width
        return Strip(segments).adjust_cell_length(self.size.width, Style(bgcolor=background))

    def _colour(self, kind: str | None, otherwise: str) -> Color:
        found = self.palette[kind].color if kind else None
        return found or Color.parse(otherwise)

    def _axis(self) -> Strip:
        first, last = self._columns[0], self._columns[-1]
        end = last.x + last.width - AXIS
        line = list(" " * max(end, 1))
        if first.width >= 4:
            for column in self._columns:
                told = str(self.steps[column.first].row.turn)
                self._write(line, column.x - AXIS + max(0, (column.filled - len(told)) // 2), told)
        else:
            self._write(line, 0, str(self.steps[first.first].row.turn))
            told = str(self.steps[-1].row.turn)
            self._write(line, max(0, end - len(told)), told)
        column = next(c for c in self._columns if c.first <= self.at <= c.last)
        mark = f"▲{self.steps[self.at].row.turn}"
        middle = max(0, (column.filled - len(mark) + 1) // 2) - (1 if column.filled > 3 else 0)
        self._write(line, max(0, min(column.x - AXIS + middle, end - len(mark))), mark)
        each = last.last - last.first + 1
        note = f"  a column is {each} turns" if each > 1 else ""
        return self._spans([("turn".ljust(AXIS), "dim"), ("".join(line), "plain"), (note, "dim")])

    @staticmethod
    def _write(line: list[str], at: int, text: str) -> None:
        for offset, character in enumerate(text):
            if 0 <= at + offset < len(line):
                line[at + offset] = character

    def _line(self, y: int, height: int) -> Strip:
        """The cost so far, in braille dots."""
        top = float(self.steps[-1].cumulative) or 1.0
        label = dollars(self.steps[-1].cumulative) if y == 0 else "cost" if y == height - 1 else ""
        spans: list[tuple[str, str]] = [(label[: AXIS - 1].rjust(AXIS - 1) + " ", "money" if label else "dim")]
        dots = height * 4
        text: list[str] = []
        for column in self._columns:
            share = float(self.steps[column.last].cumulative) / top
            level = round(share * (dots - 1))
            own = level - 4 * (height - 1 - y)
            if 0 <= own < 4:
                left, right = _DOTS[own]
                text.append(chr(0x2800 + left + right) * column.width)
            else:
                text.append(" " * column.width)
        return self._spans([*spans, ("".join(text), "money")])


class _Column:
    """One or more turns as one bar: the mean of what they have."""

    def __init__(self, steps: Sequence[GrowthStep], first: int, last: int, x: int, width: int) -> None:
        self.first, self.last, self.x, self.width = first, last, x, width
        self.filled = width if width <= 2 else width - 1
        told = [step.tokens for step in steps[first : last + 1] if step.tokens is not None]
        self._levels: list[tuple[float, str]] = []
        level = 0.0
        for name, _ in KINDS:
            level += sum(getattr(tokens, name) for tokens in told) / (len(told) or 1)
            self._levels.append((level, name))
        self.total = level

    def at(self, height: float) -> str | None:
        """The kind of tokens at that height of the bar."""
        return next((name for level, name in self._levels if height < level), None)


def _columns(steps: Sequence[GrowthStep], room: int) -> list[_Column]:
    """Bars over the room there is: several cells a turn, or several turns a cell."""
    count_ = len(steps)
    each = -(-count_ // max(1, room))
    number = -(-count_ // each)
    width = max(1, min(12, room // number))
    return [
        _Column(steps, at * each, min((at + 1) * each, count_) - 1, AXIS + at * width, width) for at in range(number)
    ]
