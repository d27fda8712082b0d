"""The growth plot as text: the numbers of a turn, the bars, the axis, and the line of the cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from ...run.growth import KINDS, GrowthStep, Tokens
from .formatting import bar, count, dollars, full
from .pages.blocks import Spans
from .theme import SHADES

AXIS = 7
"""Cells at the left of the bars."""
WIDEST = 12
"""Cells of a bar at most."""
_DOTS = ((0x40, 0x80), (0x04, 0x20), (0x02, 0x10), (0x01, 0x08))
"""Braille dots from the bottom up: left and right column."""


class Column:
    """One or more turns as one bar: the mean of their tokens."""

    def __init__(self, steps: Sequence[GrowthStep], first: int, last: int, x: int, width: int) -> None:
        self.first, self.last = first, last
        """The steps that it shows, as indexes."""
        self.x, self.width = x, width
        self.filled = width if width <= 2 else width - 1
        """Cells without the gap to the next bar."""
        known = [step.tokens for step in steps[first : last + 1] if step.tokens is not None]
        self._levels: list[tuple[float, str]] = []
        level = 0.0
        for name, _ in KINDS:
            level += sum(getattr(tokens, name) for tokens in known) / (len(known) or 1)
            self._levels.append((level, name))
        self.total = level

    def at(self, height: float) -> str | None:
        """The kind of tokens at a height of the bar, in tokens; None above it."""
        return next((name for level, name in self._levels if height < level), None)

    def shows(self, step: int | None) -> bool:
        """Whether it shows the step at that index."""
        return step is not None and self.first <= step <= self.last


def columns(steps: Sequence[GrowthStep], room: int) -> list[Column]:
    """Bars for `room` cells: several cells for a turn, or several turns in a cell."""
    each = -(-len(steps) // max(1, room))
    number = -(-len(steps) // each)
    width = max(1, min(WIDEST, room // number))
    return [
        Column(steps, at * each, min((at + 1) * each, len(steps)) - 1, AXIS + at * width, width) for at in range(number)
    ]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of the plot for a height in lines."""

    bars: int
    """Lines of the bars. Above them are the numbers, the kinds of tokens, and the legend; below them is the axis."""
    cost: int
    """Lines of the cost."""


def layout(height: int) -> Layout:
    """The layout for this many lines."""
    cost = 3 if height >= 14 else 2 if height >= 10 else 0
    return Layout(height - 4 - cost, cost)


def figures(step: GrowthStep, width: int) -> Spans:
    """The numbers of a turn: tokens, cost, and how full the context window is."""
    row = step.row
    spans: list[tuple[str, str]] = [
        (f"turn {row.turn}", "title"),
        (f" of {row.thread}  ", "dim"),
        (f"{full(row.usage.input)} in ", "plain"),
        (f"{full(row.usage.output)} out  ", "plain"),
        (dollars(row.cost), "money"),
        (f"  so far {dollars(step.cumulative)}  ", "dim"),
    ]
    if step.fill is None or step.window is None:
        return spans
    look = "bad" if step.fill > 0.9 else "warn" if step.fill > 0.7 else "good"
    share = f"{100 * step.fill:.0f} % of {count(step.window)}"
    fills: list[list[tuple[str, str]]] = [
        [("window ", "dim"), (f"{bar(step.fill, 8)} ", look), (share, look)],
        [("window ", "dim"), (share, look)],
        [(share, look)],
    ]
    room = width - sum(len(text) for text, _ in spans)
    fitting = [fill for fill in fills if _cells(fill) <= room]
    return [*spans, *fitting[0]] if fitting else spans


_SHORT = {"cache ": "c.", "reasoning": "think", "new input": "new"}


def kinds(tokens: Tokens | None, width: int) -> Spans:
    """The tokens of a turn by kind; with shorter words when there is little room."""
    if tokens is None:
        return [("the API did not report its tokens", "dim")]
    spans: list[tuple[str, str]] = []
    for name, word in KINDS:
        value: int = getattr(tokens, name)
        spans += [(f"{word} ", "dim"), (f"{full(value)}  ", name if value else "dim")]
    return spans if _cells(spans) <= width else [(_shortened(text), look) for text, look in spans]


def _cells(spans: Spans) -> int:
    """The cells of a line, without the blanks at its end."""
    return len("".join(text for text, _ in spans).rstrip())


def _shortened(text: str) -> str:
    for word, short in _SHORT.items():
        text = text.replace(word, short)
    return text


def legend(total: Tokens, width: int, *, colour: bool) -> Spans:
    """What the colours mean, or without colour the characters, and the share of each kind in the run.

    With little room the words are short; with less, the shares are left out.
    """
    spans: list[tuple[str, str]] = [("run".ljust(AXIS), "dim")]
    bare: list[tuple[str, str]] = []
    for name, word in KINDS:
        value: int = getattr(total, name)
        if value:
            sign = "█ " if colour else f"{SHADES[name]} "
            spans += [(sign, name), (f"{word} {100 * value / (total.total or 1):.0f} %  ", "dim")]
            bare += [(sign, name), (f"{_shortened(word)} ", "dim")]
    short = [(_shortened(text), look) for text, look in spans]
    return next((line for line in (spans, short) if _cells(line) <= width), bare)


def axis(steps: Sequence[GrowthStep], bars: Sequence[Column], at: int) -> Spans:
    """The numbers of the turns, and a mark under the step at index `at`."""
    first, last = bars[0], bars[-1]
    end = last.x + last.width - AXIS
    line = list(" " * max(end, 1))
    if first.width >= 4:
        for column in bars:
            number = str(steps[column.first].row.turn)
            _write(line, column.x - AXIS + max(0, (column.filled - len(number)) // 2), number)
    else:
        number = str(steps[-1].row.turn)
        _write(line, 0, str(steps[first.first].row.turn))
        _write(line, max(0, end - len(number)), number)
    _mark(line, next(column for column in bars if column.shows(at)), f"▲{steps[at].row.turn}", end)
    each = last.last - last.first + 1
    note = f"  a column is {each} turns" if each > 1 else ""
    return [("turn".ljust(AXIS), "dim"), ("".join(line), "plain"), (note, "dim")]


def _mark(line: list[str], column: Column, mark: str, end: int) -> None:
    middle = max(0, (column.filled - len(mark) + 1) // 2) - (1 if column.filled > 3 else 0)
    _write(line, max(0, min(column.x - AXIS + middle, end - len(mark))), mark)


def _write(line: list[str], at: int, text: str) -> None:
    for offset, character in enumerate(text):
        if 0 <= at + offset < len(line):
            line[at + offset] = character


def scale(bars: Sequence[Column], y: int, height: int) -> str:
    """The label at the left of line `y` of the bars: the highest number of tokens at the top, 0 at the bottom."""
    if y == 0:
        return count(highest(bars)).rjust(AXIS - 1) + " "
    return ("0" if y == height - 1 else "").rjust(AXIS - 1) + " "


def highest(bars: Sequence[Column]) -> int:
    """The tokens of the highest bar, at least 1."""
    return max(1, round(max(column.total for column in bars)))


def cost_line(steps: Sequence[GrowthStep], bars: Sequence[Column], y: int, height: int) -> Spans:
    """Line `y` of the cost so far, in braille dots."""
    top = float(steps[-1].cumulative) or 1.0
    label = dollars(steps[-1].cumulative) if y == 0 else "cost" if y == height - 1 else ""
    text: list[str] = []
    for column in bars:
        level = round(float(steps[column.last].cumulative) / top * (4 * height - 1))
        own = level - 4 * (height - 1 - y)
        if 0 <= own < 4:
            left, right = _DOTS[own]
            text.append(chr(0x2800 + left + right) * column.width)
        else:
            text.append(" " * column.width)
    return [(label[: AXIS - 1].rjust(AXIS - 1) + " ", "money" if label else "dim"), ("".join(text), "money")]
