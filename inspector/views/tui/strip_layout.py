"""Where everything of the growth strip is: the lanes, the bars with their cells, and the labels above them."""

from collections.abc import Sequence
from decimal import Decimal
from functools import cached_property

from turntape.cassettes.frozen import frozen

from ...run.strip import Addition, Axis, Bar, Lane, Strip, Unit, axis, bars, highest, turns_in_a_bar
from ..text.number_format import count
from ..text.terminal_text import clip, width_of

type Cells = list[tuple[str, str, str]]
"""Texts with their look and the look of their background, of which the colour is used."""

SCALE = 9
"""Cells of the axis at the left."""
NUMBERS = 11
"""Cells at the right of a narrow strip, for the cost so far."""
PANEL, WIDE_PANEL = 29, 44
"""The same in a wide strip and in a very wide one, with the numbers of the turn and the legend."""
WIDE, VERY_WIDE = 100, 160
"""From the first width on there is a panel, from the second one on a wide panel."""
WIDEST = 9
"""Cells of a bar at most, with the gap behind it, unless the screen is so wide that `FILLING` bars leave room."""
FILLING = 12
"""So many bars fill the widest screen; fewer get the same width."""
BETWEEN = 2
"""Cells between two lanes."""
NARROWEST_LANE = 3
LONGEST, LABEL, SHORTEST = 56, 34, 14
"""A label above the bars has at most the first number of cells, the second one where there is no room for all of it; it
is cut to no less than the third number."""


@frozen
class Parts:
    """The lines of a strip, from the top: labels, bars, the cost so far, marks, turn numbers, the legend."""

    notes: int
    bars: int
    total: int
    marks: int
    """0 where the marks share the line of the turn numbers."""
    legend: int

    @property
    def axis(self) -> int:
        """The line with the numbers of the turns."""
        return self.notes + self.bars + self.total + self.marks


def parts_of(height: int, *, priced: bool) -> Parts:
    """The lines for a height of at least 2. A run without a price has no line for the cost so far."""
    if height >= 9:
        total, marks = (2 if height >= 12 else 1) if priced else 0, 1 if height >= 10 else 0
        return Parts(1, height - 3 - total - marks, total, marks, 1)
    notes, total = (1 if height >= 4 else 0), (1 if priced and height >= 5 else 0)
    return Parts(notes, height - notes - total - 1, total, 0, 0)


@frozen
class PlacedBar:
    """A bar and its cells."""

    bar: Bar
    x: int
    width: int
    """With the gap behind it."""

    @property
    def filled(self) -> int:
        """Cells without the gap."""
        return self.width if self.width == 1 else self.width - 1


@frozen
class PlacedLane:
    """A lane and its cells."""

    lane: Lane
    x: int
    width: int
    bars: tuple[PlacedBar, ...]
    each: int
    """How many turns a bar of this lane shows."""


@frozen
class Label:
    """A text above the bars, with a pointer to its bar."""

    x: int
    text: str
    look: str


@frozen(slots=False)
class StripLayout:
    """A strip laid out for a size."""

    strip: Strip
    unit: Unit
    width: int
    height: int
    lanes: tuple[PlacedLane, ...]
    more: int
    """Threads that have no room."""
    axis: Axis
    parts: Parts
    side: int
    """Cells of the numbers at the right; 0 where there is no room."""

    @property
    def field(self) -> int:
        """The first cell after the bars."""
        return self.width - self.side

    @property
    def eighths(self) -> int:
        """The height of the bars in eighths of a cell."""
        return 8 * self.parts.bars

    @cached_property
    def _known(self) -> dict[int, Sequence[int]]:
        """The edges of whole bars, by the bar's id: each line of the strip needs them again."""
        return {}

    def edges(self, bar: Bar, amounts: Sequence[Decimal]) -> Sequence[int]:
        """The upper edge of each kind in eighths of a cell, for amounts of a bar. Above 0 is never drawn as nothing."""
        if amounts is not bar.mean:
            return self._edges(amounts)
        if id(bar) not in self._known:
            self._known[id(bar)] = self._edges(amounts)
        return self._known[id(bar)]

    def _edges(self, amounts: Sequence[Decimal]) -> Sequence[int]:
        edges: list[int] = []
        so_far = Decimal(0)
        for amount in amounts:
            so_far += amount
            edges.append(round(self.axis.share(so_far) * self.eighths))
        if so_far > 0 and edges[-1] == 0:
            last = max(at for at, amount in enumerate(amounts) if amount)
            edges[last:] = [1] * (len(edges) - last)
        return edges

    @cached_property
    def still(self) -> dict[tuple[int, bool], Cells]:
        """The lines of bars that were drawn without a cursor, by their number and whether they have colours: each
        move of the cursor needs them again."""
        return {}

    @cached_property
    def panels(self) -> dict[object, list[list[tuple[str, str]]]]:
        """The words beside the bars that were made last, by what is shown."""
        return {}

    @cached_property
    def labels(self) -> "list[Label]":
        """The labels of the whole run."""
        return labels(self, None)

    @cached_property
    def drawn(self) -> frozenset[int]:
        """The numbers of the kinds that at least one bar shows: of which it has an eighth of a cell."""
        seen: set[int] = set()
        for bar in (one.bar for lane in self.lanes for one in lane.bars):
            edges = self.edges(bar, bar.mean) if bar.mean is not None else ()
            seen.update(at for at, edge in enumerate(edges) if edge > (edges[at - 1] if at else 0))
        return frozenset(seen)

    def has(self, thread: str | None) -> bool:
        """Whether a thread has a lane; True for None."""
        return thread is None or any(one.lane.thread == thread for one in self.lanes)

    def bar_at(self, x: int) -> PlacedBar | None:
        """The bar in that cell."""
        return next((one for lane in self.lanes for one in lane.bars if one.x <= x < one.x + one.width), None)

    def bar_of(self, place: int | None) -> PlacedBar | None:
        """The bar that shows the row at that place."""
        return self._of_place.get(place) if place is not None else None

    @cached_property
    def _of_place(self) -> dict[int, PlacedBar]:
        return {turn.place: one for lane in self.lanes for one in lane.bars for turn in one.bar.turns}


def lay_out(strip: Strip, unit: Unit, width: int, height: int, thread: str | None = None) -> StripLayout:
    """The layout for a size in cells. All lanes have one scale, and a bar has as many turns in each.

    Where not all threads have room, `thread` has.
    """
    side = WIDE_PANEL if width >= VERY_WIDE else PANEL if width >= WIDE else NUMBERS if width >= 56 else 0
    room = max(1, width - SCALE - side)
    lanes = _lanes(strip.lanes, unit, room, thread)
    top = highest([one.bar for one in lane.bars] for lane in lanes)
    if unit == "tokens":
        # The limit of the window is in the picture as soon as a third of it is used.
        windows = [turn.window for lane in strip.lanes for turn in lane.turns if turn.window]
        top = max([top, *(Decimal(window) for window in windows if window <= 3 * top)])
    parts = parts_of(max(2, height), priced=strip.total is not None)
    scale = axis(top, unit, 2 if parts.bars >= 3 else 1, room=SCALE - 1)
    return StripLayout(strip, unit, width, height, lanes, len(strip.lanes) - len(lanes), scale, parts, side)


def _lanes(lanes: Sequence[Lane], unit: Unit, room: int, thread: str | None) -> tuple[PlacedLane, ...]:
    """As many lanes as have room, side by side: `thread`, then the threads with the most turns."""
    # No lane is narrower than the names of the threads: cut, those of a thousand threads would be alike.
    narrowest = max((NARROWEST_LANE, *(width_of(lane.thread) for lane in lanes))) if len(lanes) > 1 else 1
    fitting = max(1, (room + BETWEEN) // (narrowest + BETWEEN))
    if len(lanes) > fitting:
        ranked = sorted(lanes, key=lambda lane: (lane.thread != thread, -len(lane.turns)))
        kept = {lane.thread for lane in ranked[:fitting]}
        lanes = [lane for lane in lanes if lane.thread in kept]
    room -= BETWEEN * (len(lanes) - 1)
    lengths = [len(lane.turns) for lane in lanes]
    least = narrowest if len(lanes) > 1 else 1
    each = turns_in_a_bar(lengths, max(room, len(lanes)), least)
    numbers = [-(-length // each) for length in lengths]
    cells = max(1, min(max(WIDEST, room // FILLING), room // max(1, sum(numbers))))
    while cells > 1 and sum(max(least, number * cells) for number in numbers) > room:
        cells -= 1
    placed: list[PlacedLane] = []
    x = SCALE
    for lane in lanes:
        shown = bars(lane, each, unit)
        found = tuple(PlacedBar(bar, x + at * cells, cells) for at, bar in enumerate(shown))
        width = max(least, len(shown) * cells)
        placed.append(PlacedLane(lane, x, width, found, each))
        x += width + BETWEEN
    return tuple(placed)


def labels(layout: StripLayout, until: int | None) -> list[Label]:
    """The names of the lanes, then the largest additions as far as they fit; `until` hides what comes after a place."""
    found: list[Label] = []
    taken = [False] * max(1, layout.field)
    edge = layout.field
    if layout.lanes and layout.lanes[0].each > 1:
        note = f"{layout.lanes[0].each} turns a bar"
        x, last = len(taken) - len(note) - 1, layout.lanes[-1]
        # The last lane's kind gives way to it, and its name does not.
        if (len(layout.lanes) == 1 or x > last.x + width_of(last.lane.thread)) and _put(
            found, taken, Label(x, note, "dim")
        ):
            edge = x - 1
        else:
            widest = max(layout.lanes, key=lambda lane: lane.width)
            x = widest.x + widest.width - len(note)
            if x > widest.x + width_of(lane_title(widest.lane)):
                _put(found, taken, Label(x, note, "dim"))
    if len(layout.lanes) > 1:
        for at, lane in enumerate(layout.lanes):
            end = layout.lanes[at + 1].x - 1 if at + 1 < len(layout.lanes) else edge
            title = lane_title(lane.lane)
            text = title if width_of(title) <= end - lane.x else clip(lane.lane.thread, max(2, end - lane.x))
            _put(found, taken, Label(lane.x, text, "dim"))
    bars_ = [one for lane in layout.lanes for one in lane.bars if one.bar.addition is not None]
    bars_.sort(key=lambda one: -(one.bar.addition.tokens if one.bar.addition else 0))
    for one in bars_:
        addition = one.bar.addition
        if addition is None or (until is not None and addition.place > until):
            continue
        _put_addition(found, taken, one, addition)
    return sorted(found, key=lambda label: label.x)


def lane_title(lane: Lane) -> str:
    """A thread's name, and what kind of thread it is, unless it is the main one."""
    return lane.thread if lane.kind == "main" else f"{lane.thread} {lane.kind.replace('_', ' ')}"


def _put_addition(found: list[Label], taken: list[bool], one: PlacedBar, addition: Addition) -> None:
    amount = f"+{count(addition.tokens)}"
    whole, short = (clip(f"{amount} {name}", LONGEST) for name in (addition.name, without_folders(addition.name)))
    middle = one.x + (one.filled - 1) // 2
    for text in dict.fromkeys((whole, short, clip(short, LABEL))):
        if any(_put(found, taken, label) for label in _at(middle, text)):
            return
    # What is free at the right, and at the left: the larger room gets as much of it as fits.
    right = next((x for x in range(middle, len(taken)) if taken[x]), len(taken) + 1) - middle - 2
    left = middle - 1 - next((x for x in range(middle, SCALE - 1, -1) if taken[x]), SCALE - 2) - 1
    if max(left, right) >= SHORTEST:
        after, before = _at(middle, clip(short, min(LABEL, max(left, right))))
        _put(found, taken, after if right >= left else before)


def _at(middle: int, text: str) -> tuple[Label, Label]:
    """A text with its pointer at the cell `middle`, behind it and before it."""
    return Label(middle, f"▾{text}", "new"), Label(middle - width_of(text), f"{text}▾", "new")


def without_folders(name: str) -> str:
    """What was done, with the names of files without their folders: `read_file dates.py`."""
    words = (word.rstrip("/").rpartition("/")[2] if "://" not in word else word for word in name.split(" "))
    return " ".join(short or word for short, word in zip(words, name.split(" "), strict=True))


def _put(found: list[Label], taken: list[bool], label: Label) -> bool:
    """Whether it fits, with a blank cell on both sides."""
    end = label.x + width_of(label.text)
    if label.x < SCALE or end > len(taken) or any(taken[max(0, label.x - 1) : end + 1]):
        return False
    taken[label.x : end] = [True] * (end - label.x)
    found.append(label)
    return True
