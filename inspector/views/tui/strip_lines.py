"""The growth strip as lines of cells: labels, bars in eighths of a cell, the cost so far, turn numbers with marks.

A cell has a character, a look for it and a look for its background, because two kinds of tokens can meet in one.
"""

from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial

from ...run.strip import Bar
from ..text.terminal_text import width_of
from ..vocabulary.kinds import KIND_LOOKS
from ..vocabulary.signs import MARKS, Sign
from .strip_layout import SCALE, Cells, PlacedBar, StripLayout, labels
from .strip_panel import legend_line, panel_line
from .strip_shown import Shown, arrived, so_far

LOWER = " ▁▂▃▄▅▆▇█"
GROUND, CURSOR, HOVER = "", "cursor", "trail"
"""Backgrounds: that of the strip, of the bar under the cursor, of the bar under the mouse."""

type _Cell = tuple[str, str, str]


def strip_line(layout: StripLayout, shown: Shown, y: int) -> Cells:
    """Line `y` of the strip, exactly as wide as it is."""
    parts = layout.parts
    if y < parts.notes + parts.bars + parts.total:
        left = _picture(layout, shown, y) if shown.playing is not None else _still(layout, shown, y)
    elif y < parts.axis:
        left = _axis(layout, shown, _marks_of_lane)
    elif y == parts.axis:
        left = _axis(layout, shown, partial(_lane_axis, marked=not parts.marks))
    else:
        return _legend(layout, shown, y)
    left = _fitted(left, layout.field)
    return [*left, *_fitted(_grounded(panel_line(layout, shown, y)), layout.side)] if layout.side else left


def _picture(layout: StripLayout, shown: Shown, y: int) -> Cells:
    """A line above the axis: labels, bars, or the cost so far."""
    parts = layout.parts
    if y < parts.notes:
        return _notes(layout, shown)
    if y < parts.notes + parts.bars:
        return _bars(layout, shown, parts.bars - 1 - (y - parts.notes))
    return _total(layout, shown, parts.notes + parts.bars + parts.total - 1 - y)


def _still(layout: StripLayout, shown: Shown, y: int) -> Cells:
    """The same of the whole run. It is drawn once without a cursor; then only the bars that are pointed at."""
    key = (y, shown.coloured)
    if key not in layout.still:
        layout.still[key] = joined(_picture(layout, Shown(coloured=shown.coloured), y))
    cells, parts = layout.still[key], layout.parts
    if not parts.notes <= y < parts.notes + parts.bars:
        return cells
    for one in filter(None, (layout.bar_of(shown.under), layout.bar_of(shown.place))):
        text, look, under = _cell(layout, shown, one.bar, parts.bars - 1 - (y - parts.notes))
        cells = _with(cells, one.x, (text.center(one.filled) if text in "·–" else text * one.filled, look, under))
    return cells


def _with(cells: Cells, x: int, cell: _Cell) -> Cells:
    """The line with another cell at `x`. All characters there are one cell wide, but for those of labels."""
    out: Cells = []
    at, end = 0, x + len(cell[0])
    for text, look, under in cells:
        after = at + len(text)
        if after <= x or at >= end:
            out.append((text, look, under))
        else:
            if at < x:
                out.append((text[: x - at], look, under))
            if at <= x:
                out.append(cell)
            if after > end:
                out.append((text[end - at :], look, under))
        at = after
    return out


def joined(cells: Cells) -> Cells:
    """The same line in fewer pieces: neighbours that look the same are one."""
    out: Cells = []
    for text, look, under in cells:
        if not text:
            continue
        look = look if text.strip(" ") else "plain"
        if out and out[-1][1:] == (look, under):
            out[-1] = (out[-1][0] + text, look, under)
        else:
            out.append((text, look, under))
    return out


def _legend(layout: StripLayout, shown: Shown, y: int) -> Cells:
    """The line of the legend. It also takes the room beside it where nothing is written there."""
    beside = _grounded(panel_line(layout, shown, y)) if layout.side else []
    free = layout.side and not any(text.strip() for text, _, _ in beside)
    width = layout.field + (layout.side if free else 0)
    cells = _fitted([(" " * SCALE, "dim", GROUND), *_grounded(legend_line(layout, width - SCALE, shown))], width)
    return cells if free or not layout.side else [*cells, *_fitted(beside, layout.side)]


def _grounded(spans: Sequence[tuple[str, str]]) -> Cells:
    return [(text, look, GROUND) for text, look in spans]


def _fitted(cells: Cells, width: int) -> Cells:
    """Exactly `width` cells."""
    used = sum(width_of(text) for text, _, _ in cells)
    if used <= width:
        return [*cells, (" " * (width - used), "plain", GROUND)]
    out: Cells = []
    left = width
    for text, look, under in cells:
        text = text[:left]
        out.append((text, look, under))
        left -= width_of(text)
        if left <= 0:
            break
    return out


def _notes(layout: StripLayout, shown: Shown) -> Cells:
    what = "dollars" if layout.unit == "dollars" else "tokens"
    out: Cells = [(f"{what:>{SCALE - 1}} ", "dim", GROUND)]
    x = SCALE
    for label in layout.labels if shown.playing is None else labels(layout, shown.playing):
        out += [(" " * (label.x - x), "plain", GROUND), (label.text, label.look, GROUND)]
        x = label.x + width_of(label.text)
    return out


def _bars(layout: StripLayout, shown: Shown, level: int) -> Cells:
    """A line of the bars; `level` counts from the bottom."""
    out: Cells = [(_tick(layout, level), "dim", GROUND)]
    x = SCALE
    for lane in layout.lanes:
        out.append((" " * (lane.x - x), "plain", GROUND))
        x = lane.x
        for one in lane.bars:
            text, look, under = _cell(layout, shown, one.bar, level)
            out.append((text.center(one.filled) if text in "·–" else text * one.filled, look, under))
            if one.width > one.filled:
                out.append((" ", "plain", GROUND))
            x += one.width
    return out


def _tick(layout: StripLayout, level: int) -> str:
    """The label of the axis at a line: the top in the highest one, 0 in the lowest one, the half between them."""
    ticks, lines = layout.axis.ticks, layout.parts.bars
    lowest, highest = ticks[0].label, ticks[-1].label
    middle = {(lines - 1) // 2: ticks[1].label} if len(ticks) == 3 else {}
    top = {lines - 1: highest} if len(ticks) > 1 else {}
    label = ({0: lowest} | middle | top).get(level, "")
    return f"{label:>{SCALE - 1}} "


def _cell(layout: StripLayout, shown: Shown, bar: Bar, level: int) -> tuple[str, str, str]:
    """A cell of a bar, `level` cells above the bottom."""
    ground = _ground(shown, bar)
    if shown.hides(bar):
        return ("·" if level == 0 else " ", "faint", ground)
    amounts = _amounts(shown, bar)
    if amounts is None:
        return ("–" if level == 0 else " ", "dim", ground)
    eighths, edges = layout.eighths, layout.edges(bar, amounts)
    low, top = 8 * level, edges[-1] if edges else 0
    if top <= low:
        return _above(layout, bar, level, eighths, ground, shown)
    filled = min(8, top - low)
    below, above, split = _kinds_in(edges, low, filled)
    if not shown.coloured:
        # The upper edge is exact; the character of the kind needs a whole cell.
        return (KIND_LOOKS[below].shade if filled == 8 else LOWER[filled], "plain", ground)
    if filled < 8:
        over = "faint" if bar.folded and _high(layout, bar, eighths) >= low + 8 else ground
        return (LOWER[filled], KIND_LOOKS[below].name, over)
    if above is None:
        return ("█", KIND_LOOKS[below].name, GROUND)
    return (LOWER[split], KIND_LOOKS[below].name, KIND_LOOKS[above].name)


def _ground(shown: Shown, bar: Bar) -> str:
    return CURSOR if bar.shows(shown.place) else HOVER if bar.shows(shown.under) else GROUND


def _amounts(shown: Shown, bar: Bar) -> Sequence[Decimal] | None:
    """The amounts of a bar; of the turn that is being played, what has arrived."""
    if shown.playing is None or not any(turn.place >= shown.playing for turn in bar.turns):
        return bar.mean
    seen = tuple(turn for turn in bar.turns if turn.place <= shown.playing)
    mean = Bar(seen, bar.unit).mean
    if mean is None or bar.last.place > shown.playing or shown.share >= 1:
        return mean
    return arrived(mean, shown.share)


def _kinds_in(edges: Sequence[int], low: int, filled: int) -> tuple[int, int | None, int]:
    """The kinds of a cell: the lower one, the upper one or None, and how many eighths the lower one has.

    With more than two kinds in a cell, the largest one and its larger neighbour are drawn.
    """
    sizes = _sizes(edges, low, filled)
    if len(sizes) == 1 or filled < 8:
        return max(sizes, key=lambda one: one[1])[0], None, filled
    best = max(range(len(sizes) - 1), key=lambda at: sizes[at][1] + sizes[at + 1][1])
    split = sum(size for _, size in sizes[: best + 1])
    return sizes[best][0], sizes[best + 1][0], max(1, min(7, split))


def _sizes(edges: Sequence[int], low: int, filled: int) -> list[tuple[int, int]]:
    """The kinds in a cell from below, with their eighths."""
    found: list[tuple[int, int]] = []
    start = 0
    for kind, edge in enumerate(edges):
        size = min(edge, low + filled) - max(start, low)
        if size > 0:
            found.append((kind, size))
        start = edge
    return found


def _high(layout: StripLayout, bar: Bar, eighths: int) -> int:
    """The highest turn of a bar, in eighths of a cell."""
    return round(layout.axis.share(bar.highest) * eighths) if bar.highest is not None else 0


def _above(layout: StripLayout, bar: Bar, level: int, eighths: int, ground: str, shown: Shown) -> tuple[str, str, str]:
    """A cell above a bar: the rest of its range, the limit of the context window, or nothing."""
    low = 8 * level
    if bar.folded and not (shown.playing is not None and bar.last.place > shown.playing):
        reach = min(8, _high(layout, bar, eighths) - low)
        if reach > 0:
            return (LOWER[reach] if shown.coloured else "'", "faint", ground)
    window = bar.last.window
    if layout.unit == "tokens" and window and window <= layout.axis.top:
        limit = round(layout.axis.share(Decimal(window)) * eighths)
        if low < limit <= low + 8:
            return ("┄" if limit - low < 7 else "▔", "warn", ground)
    return (" ", "plain", ground)


def _total(layout: StripLayout, shown: Shown, level: int) -> Cells:
    """A line of the cost so far, on its own scale: the cost of the whole run is the full height."""
    top, lines = layout.strip.total, layout.parts.total
    head = "so far" if level == 0 else ""
    out: Cells = [(f"{head:>{SCALE - 1}} ", "dim", GROUND)]
    x = SCALE
    for lane in layout.lanes:
        out.append((" " * (lane.x - x), "plain", GROUND))
        x = lane.x
        for one in lane.bars:
            text = " "
            if top and not shown.hides(one.bar):
                eighths = round(float(so_far(shown, one.bar) / top) * 8 * lines)
                eighths = max(1, eighths) if one.bar.so_far else 0
                text = LOWER[max(0, min(8, eighths - 8 * level))]
            out.append((text * one.width, "money", GROUND))
            x += one.width
    return out


def _axis(layout: StripLayout, shown: Shown, cells: Callable[[Sequence[PlacedBar], Shown], Iterator[_Cell]]) -> Cells:
    """The numbers of the turns, the most important mark of each bar, or both."""
    head = "" if cells is _marks_of_lane else "turn"
    out: Cells = [(head.rjust(SCALE - 1) + " ", "dim", GROUND)]
    x = SCALE
    for lane in layout.lanes:
        out.append((" " * (lane.x - x), "plain", GROUND))
        x = lane.x
        for text, look, under in cells(lane.bars, shown):
            out.append((text, look, under))
            x += width_of(text)
    return out


def _mark_of(bar: Bar, shown: Shown) -> Sign | None:
    """The sign of the most important mark of a bar, as far as it has happened."""
    mark = None if shown.hides(bar) else next(iter(bar.marks), None)
    return None if mark is None or _still_open(shown, bar) else MARKS[mark.kind]


def _marks_of_lane(placed: Sequence[PlacedBar], shown: Shown) -> Iterator[_Cell]:
    """Cells of one lane: the mark of each bar that has one."""
    for one in placed:
        sign, under = _mark_of(one.bar, shown), _ground(shown, one.bar)
        yield (sign.glyph if sign else " ", sign.style if sign else "dim", under)
        yield (" " * (one.width - 1), "plain", GROUND)


def _lane_axis(placed: Sequence[PlacedBar], shown: Shown, *, marked: bool) -> Iterator[_Cell]:
    """Cells of one lane: a number where there is room, and, if `marked`, a mark for each bar that has one."""
    free = 0
    """How many cells a number of an earlier bar still takes."""
    longest = max((len(one.bar.first.row.label) for one in placed), default=0)
    for at, one in enumerate(placed):
        if free > 0:
            free -= one.width
            continue
        mark = _mark_of(one.bar, shown) if marked else None
        sign, look = (mark.glyph, mark.style) if mark is not None else ("", "dim")
        number = f"{one.bar.first.row.label}"
        under = _ground(shown, one.bar)
        if one.width + (len(placed) == 1) > len(number) + len(sign):  # nothing is drawn beside a single bar
            gap = one.width - len(number) - len(sign)
            yield (number, "bold" if under else "dim", under)
            if sign:
                yield (sign, look, under)
            yield (" " * gap, "plain", GROUND)
            continue
        if sign:
            yield (sign, look, under)
            yield (" " * (one.width - 1), "plain", GROUND)
            continue
        room = _room(placed, at, len(number), longest, shown, marked=marked)
        if room and not under:
            yield (number.ljust(room), "dim", GROUND)
            free = room - one.width
        else:
            yield ("▴" if under == CURSOR else " ", "accent", under)
            yield (" " * (one.width - 1), "plain", GROUND)


def _room(placed: Sequence[PlacedBar], at: int, cells: int, longest: int, shown: Shown, *, marked: bool) -> int:
    """The cells from a bar on for a number of `cells`: whole bars without a mark and a cursor; 0 when they are too few.

    Beside narrow bars numbers are equally far apart, by the `longest` of the lane and some more cells, to keep the axis
    readable.
    """
    width = placed[at].width
    needed = -(-(cells + 1) // width)
    if at % (longest + 6 if width == 1 else needed):
        return 0
    taken = placed[at : at + needed]
    # The last number of a lane needs no cell behind it.
    if len(taken) * width < cells or any(
        (marked and one.bar.marks) or one.bar.shows(shown.place) or one.bar.shows(shown.under) for one in taken
    ):
        return 0
    return len(taken) * width


def _still_open(shown: Shown, bar: Bar) -> bool:
    """Whether the turn that is being played is in this bar, and has not ended."""
    return shown.playing is not None and bar.shows(shown.playing) and shown.share < 1
