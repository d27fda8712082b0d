"""The growth strip as lines of cells: labels, bars in eighths of a cell, the cost so far, turn numbers with marks.

A cell has a character, a look for it and a look for its background, because two kinds of tokens can meet in one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ...run.strip import Bar, StripTurn
from ..text.terminal_text import width_of
from ..vocabulary.kinds import KIND_LOOKS
from ..vocabulary.signs import MARKS
from .formatting import bar as gauge
from .formatting import clipped, count, dollars
from .strip_layout import SCALE, PlacedBar, StripLayout, labels

LOWER = " ▁▂▃▄▅▆▇█"
GROUND, CURSOR, HOVER = "", "cursor", "trail"
"""Backgrounds: that of the strip, of the bar under the cursor, of the bar under the mouse."""

type Cells = list[tuple[str, str, str]]
"""Texts with their look and the look of their background, of which the colour is used."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What of a strip is shown."""

    place: int | None = None
    """The row of the cursor."""
    under: int | None = None
    """The row under the mouse."""
    playing: int | None = None
    """The row that is being played: what comes after it is hidden."""
    share: float = 1.0
    """How much of its answer has arrived."""
    coloured: bool = True

    def hides(self, bar: Bar) -> bool:
        """Whether nothing of the bar has happened yet."""
        return self.playing is not None and bar.first.place > self.playing


def strip_line(layout: StripLayout, shown: Shown, y: int) -> Cells:
    """Line `y` of the strip, exactly as wide as it is."""
    parts = layout.parts
    if y < parts.notes:
        left = _notes(layout, shown)
    elif y < parts.notes + parts.bars:
        left = _bars(layout, shown, parts.bars - 1 - (y - parts.notes))
    elif y < parts.axis:
        left = _total(layout, shown, parts.axis - 1 - y)
    elif y == parts.axis:
        left = _axis(layout, shown)
    else:
        left = [(" " * SCALE, "dim", GROUND), *_legend(layout, layout.field - SCALE, shown)]
    left = _fitted(left, layout.field)
    return [*left, *_fitted(_side(layout, shown, y), layout.side)] if layout.side else left


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
    for label in labels(layout, shown.playing):
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
    middle = {(lines - 1) // 2: ticks[1].label} if len(ticks) == 3 else {}
    label = ({0: ticks[0].label} | middle | {lines - 1: ticks[-1].label}).get(level, "")
    return f"{label if len(label) < SCALE else '':>{SCALE - 1}} "


def _cell(layout: StripLayout, shown: Shown, bar: Bar, level: int) -> tuple[str, str, str]:
    """A cell of a bar, `level` cells above the bottom."""
    ground = _ground(shown, bar)
    if shown.hides(bar):
        return ("·" if level == 0 else " ", "faint", ground)
    amounts = _amounts(shown, bar)
    if amounts is None:
        return ("–" if level == 0 else " ", "dim", ground)
    eighths = 8 * layout.parts.bars
    edges = _edges(layout, amounts, eighths)
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


def arrived(amounts: Sequence[Decimal], share: float) -> Sequence[Decimal]:
    """The amounts of a turn when that share of its answer has arrived: the whole input, a part of the output."""
    part = Decimal(str(round(share, 4)))
    output = {"output", "reasoning"}
    return [amount * part if kind.name in output else amount for kind, amount in zip(KIND_LOOKS, amounts, strict=True)]


def _edges(layout: StripLayout, amounts: Sequence[Decimal], eighths: int) -> list[int]:
    """The upper edge of each kind in eighths of a cell. An amount above 0 is never drawn as nothing."""
    edges: list[int] = []
    so_far = Decimal(0)
    for amount in amounts:
        so_far += amount
        edges.append(round(layout.axis.share(so_far) * eighths))
    if so_far > 0 and edges[-1] == 0:
        last = max(at for at, amount in enumerate(amounts) if amount)
        edges[last:] = [1] * (len(edges) - last)
    return edges


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
                eighths = round(float(_so_far(shown, one.bar) / top) * 8 * lines)
                eighths = max(1, eighths) if one.bar.so_far else 0
                text = LOWER[max(0, min(8, eighths - 8 * level))]
            out.append((text * one.width, "money", GROUND))
            x += one.width
    return out


def _so_far(shown: Shown, bar: Bar) -> Decimal:
    """The cost so far at a bar; in playback without what the turn that is being played will still cost."""
    if shown.playing is None:
        return bar.so_far
    seen = [turn for turn in bar.turns if turn.place <= shown.playing]
    last = seen[-1]
    if last.place < shown.playing or shown.share >= 1 or last.dollars is None:
        return last.so_far
    return last.so_far - sum(last.dollars, Decimal(0)) + sum(arrived(last.dollars, shown.share), Decimal(0))


def _axis(layout: StripLayout, shown: Shown) -> Cells:
    """The numbers of the turns, and under each bar its most important mark."""
    out: Cells = [("turn".rjust(SCALE - 1) + " ", "dim", GROUND)]
    x = SCALE
    for lane in layout.lanes:
        out.append((" " * (lane.x - x), "plain", GROUND))
        x = lane.x
        for text, look, under in _lane_axis(lane.bars, shown):
            out.append((text, look, under))
            x += width_of(text)
    return out


def _lane_axis(placed: Sequence[PlacedBar], shown: Shown) -> Iterator[tuple[str, str, str]]:
    """Cells of one lane: a number where there is room, and a mark for each bar that has one."""
    free = 0
    """How many cells a number of an earlier bar still takes."""
    for at, one in enumerate(placed):
        mark = None if shown.hides(one.bar) else next(iter(one.bar.marks), None)
        if mark is not None and shown.playing is not None and _still_open(shown, one.bar):
            mark = None
        sign = MARKS[mark.kind].glyph if mark is not None else ""
        look = MARKS[mark.kind].style if mark is not None else "dim"
        number = f"{one.bar.first.row.label}"
        under = _ground(shown, one.bar)
        if one.width > len(number) + len(sign):
            gap = one.width - len(number) - len(sign)
            yield (number, "bold" if under else "dim", under)
            if sign:
                yield (sign, look, under)
            yield (" " * gap, "plain", GROUND)
            continue
        if sign:
            yield (sign, look, under)
            yield (" " * (one.width - 1), "plain", GROUND)
            free = 0
            continue
        if free > 0:
            free -= one.width
            continue
        room = _room(placed, at, len(number) + 1, shown)
        if room and not under:
            yield (number.ljust(room), "dim", GROUND)
            free = room - one.width
        else:
            yield ("▴" if under == CURSOR else " ", "accent", under)
            yield (" " * (one.width - 1), "plain", GROUND)


def _room(placed: Sequence[PlacedBar], at: int, cells: int, shown: Shown) -> int:
    """The cells from a bar on that a number may take: whole bars without a mark and a cursor; 0 when too few.

    Numbers are at every fifth place or so, to keep the axis readable.
    """
    width = placed[at].width
    needed = -(-cells // width)
    if at % max(5 if width == 1 else 1, needed + (5 if width == 1 else 0)):
        return 0
    taken = placed[at : at + needed]
    if len(taken) < needed or any(
        one.bar.marks or one.bar.shows(shown.place) or one.bar.shows(shown.under) for one in taken
    ):
        return 0
    return needed * width


def _still_open(shown: Shown, bar: Bar) -> bool:
    """Whether the turn that is being played is in this bar, and has not ended."""
    return shown.playing is not None and bar.shows(shown.playing) and shown.share < 1


def _legend(layout: StripLayout, width: int, shown: Shown) -> Cells:
    """What the colours mean, for the kinds that the run has."""
    sums = layout.strip.sums(layout.unit)
    whole = sum(sums, Decimal(0)) or Decimal(1)
    out: Cells = []
    for kind, amount in zip(KIND_LOOKS, sums, strict=True):
        if amount:
            sign = "█" if shown.coloured else kind.shade
            share = f"{float(amount / whole):.0%}"
            out += [(f"{sign} ", kind.name, GROUND), (f"{kind.title} {share}  ", "dim", GROUND)]
    if sum(width_of(text) for text, _, _ in out) <= width:
        return out
    titles = {kind.title: kind.short for kind in KIND_LOOKS}
    short: Cells = []
    for text, look, under in out:
        title, _, _ = text.rpartition(" ")[0].strip().rpartition(" ")
        short.append((f"{titles[title]} " if title in titles else text, look, under))
    return short


def _side(layout: StripLayout, shown: Shown, y: int) -> Cells:
    """The numbers at the right: of the turn under the mouse, or else of the cursor."""
    place = shown.under if shown.under is not None else shown.place
    if shown.playing is not None:
        place = shown.playing
    found = layout.bar_of(place)
    hidden = next((turn for turn in layout.strip.in_order if turn.place == place), None) if found is None else None
    if hidden is not None:
        # A turn of a thread without room in the strip: its numbers are shown here.
        found = PlacedBar(Bar((hidden,), layout.unit), 0, 1)
    elif place is not None and found is None:
        # A round trip outside generation: the numbers of the turn before it.
        before = [one for lane in layout.lanes for one in lane.bars if one.bar.first.place < place]
        found = max(before, key=lambda one: one.bar.last.place, default=None)
    lines = _panel(layout, shown, found, place) if layout.side > 12 else _narrow(layout, shown, found)
    spans = lines[y] if y < len(lines) else []
    return [(" ", "plain", GROUND), *((text, look, GROUND) for text, look in clipped(spans, layout.side - 1))]


def _narrow(layout: StripLayout, shown: Shown, found: PlacedBar | None) -> list[list[tuple[str, str]]]:
    """The cost so far and of the whole run."""
    total = [("", "dim")] if shown.playing is not None else [(f"of {dollars(layout.strip.total)}", "dim")]
    if layout.strip.total is None:
        return [[("unpriced", "dim")]]
    so_far = _so_far(shown, found.bar) if found is not None else layout.strip.total
    more = [(f"+{layout.more} lanes", "warn")] if layout.more else []
    return [[("so far", "dim")], [(dollars(so_far), "money")], total, more]


def _panel(
    layout: StripLayout, shown: Shown, found: PlacedBar | None, place: int | None
) -> list[list[tuple[str, str]]]:
    """The numbers of a turn in words, then the legend."""
    legend = _legend_lines(layout, shown)
    hint = "tokens" if layout.unit == "dollars" else "dollars"
    keys: list[tuple[str, str]] = [("$ ", "accent"), (f"shows {hint}", "dim")]
    if layout.more:
        keys.append((f"  +{layout.more} threads", "warn"))
    if found is None:
        return [[], [], *legend, keys]
    turn = next((one for one in found.bar.turns if one.place == place), found.bar.last)
    row = turn.row
    many = len(layout.strip.lanes) > 1
    head: list[tuple[str, str]] = [(f"turn {row.label}", "bold"), (f" of {turn.row.thread} " if many else " ", "dim")]
    playing = shown.playing is not None and shown.share < 1 and turn.place == shown.playing
    cost, so_far = row.cost, turn.so_far
    if playing and turn.dollars is not None:
        cost = sum(arrived(turn.dollars, shown.share), Decimal(0))
        so_far = _so_far(shown, found.bar)
    head.append((" " + (dollars(cost) if cost is not None else "–"), "money" if cost else "dim"))
    spent: list[tuple[str, str]] = [("so far ", "dim"), (dollars(so_far), "money")]
    if shown.playing is None and layout.strip.total is not None:
        at_least = "≥ " if layout.strip.unpriced else ""
        spent.append((f" of {at_least}{dollars(layout.strip.total)}", "dim"))
    window: list[tuple[str, str]] = []
    if turn.fill is not None and turn.window is not None:
        look = "bad" if turn.fill > 0.9 else "warn" if turn.fill > 0.7 else "good"
        window = [("window ", "dim"), (gauge(turn.fill, 6), look), (f" {turn.fill:.0%} of {count(turn.window)}", "dim")]
    if layout.parts.legend:
        return [head, spent, _split(layout, turn), window, keys, [], *_largest(layout, shown, layout.height - 7)]
    if layout.height >= 6:
        return [head, spent, window, *legend, keys]
    return [head, spent, *legend, keys][: layout.height]


def _split(layout: StripLayout, turn: StripTurn) -> list[tuple[str, str]]:
    """What of the input was sent again, and what is new."""
    found = turn.split(layout.unit)
    if found is None:
        return []
    again, new = map(dollars if layout.unit == "dollars" else lambda amount: count(int(amount)), found)
    return [("again ", "dim"), (again, "plain"), ("  new ", "dim"), (new, "plain")]


def _largest(layout: StripLayout, shown: Shown, room: int) -> list[list[tuple[str, str]]]:
    """The largest additions, by tokens, with their turns."""
    seen = [
        (turn, turn.addition)
        for turn in layout.strip.in_order
        if turn.addition is not None and (shown.playing is None or turn.place <= shown.playing)
    ]
    seen.sort(key=lambda one: -one[1].tokens)
    if room < 2 or not seen:
        return []
    rows: list[list[tuple[str, str]]] = [[("largest additions", "dim")]]
    for turn, addition in seen[: room - 1]:
        rows.append([(f"{turn.row.label:>4} ", "dim"), (f"+{count(addition.tokens)} {addition.name}", "new")])
    return rows


def _legend_lines(layout: StripLayout, shown: Shown) -> list[list[tuple[str, str]]]:
    """The kinds that the run has, in two short lines."""
    sums = layout.strip.sums(layout.unit)
    kinds = [kind for kind, amount in zip(KIND_LOOKS, sums, strict=True) if amount]
    half = max(3, -(-len(kinds) // 2))
    rows: list[list[tuple[str, str]]] = [[], []]
    for at, kind in enumerate(kinds):
        sign = "█" if shown.coloured else kind.shade
        rows[min(1, at // half)] += [(sign, kind.name), (f" {kind.short}  ", "dim")]
    return rows
