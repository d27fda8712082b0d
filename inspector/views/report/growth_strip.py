"""The growth of a run as a picture: a lane for each thread, bars stacked by kind, the cost so far, marks.

The bars and the marks are those of `run.strip`, which the viewer draws too. The page has the picture in dollars and in
tokens; `$` changes between them.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from ...run.strip import KINDS, Addition, Axis, Bar, Lane, Mark, MarkKind, Strip, Unit, axis, fold, highest
from ..text.number_format import count, dollars, percent, price, several, spent
from ..text.status_styles import EDGES
from ..vocabulary.kinds import KIND_LOOKS
from ..vocabulary.signs import MARKS
from .later import Later
from .markup import NOTHING, Html, joined, span, tag

BARS, LANE_BARS = 300, 12
"""With more turns than this, several turns share a bar; each lane may have a few more."""
OPEN = 3
"""With more lanes than this, the cheaper ones are folded."""
WIDTH, HEIGHT = 1000.0, 100.0
LABELS = 4
"""Additions with a label in a lane."""
ROOM, MOST_ROOM = 0.22, 0.48
"""The least and the most of a lane's width for such a label."""
WIDE_ROOM = 0.3
"""A label with less has no room for its number on a phone."""

SIGN, PHONE_SIGN = 0.012, 0.045
"""The width of a mark, as a share of the lane's on a desktop and on a phone."""


def growth_strip(strip: Strip, later: Later | None = None) -> Html:
    """The picture with its legend; a sentence where no turn has tokens.

    The unit and the threads that are not shown at first are left for `later`, if it is given.
    """
    units: tuple[Unit, ...] = ("dollars", "tokens")
    known: list[Unit] = [unit for unit in units if strip.has(unit)]
    if not known:
        return tag("p", "No turn of this run reports its tokens.", class_="dim")
    pictures = [_picture(strip, known[0], later)]
    for unit in known[1:]:
        other = _picture(strip, unit, hidden=True)
        pictures.append(_left(other, later, class_=other.attributes["class"], hidden=True))
    note = (
        "bars: the cost of each turn" if known[0] == "dollars" else "bars: the tokens of each turn; no price is known"
    )
    button = tag("button", "$ or tokens", id="unit", title="$") if len(known) > 1 else NOTHING
    caption = tag("p", f"{note}; line: the cost so far", id="caption", class_="dim", aria_live="polite")
    return joined((*pictures, tag("div", caption, button, class_="under"), _legend(strip, known[0])))


def _left(html: Html, later: Later | None, **shown: str | bool) -> Html:
    return html if later is None else later.put(html, **shown)


def _picture(strip: Strip, unit: Unit, later: Later | None = None, *, hidden: bool = False) -> Html:
    shown = fold(strip, BARS + LANE_BARS * len(strip.lanes), unit)
    scale = axis(highest([bars for _, bars in shown]), unit)
    longest = max(len(bars) for _, bars in shown)
    lanes = sorted(shown, key=lambda one: -(one[0].dollars or Decimal(0))) if len(shown) > OPEN else list(shown)
    drawn = [(lane.thread, _lane(lane, bars, scale, unit, longest, strip)) for lane, bars in lanes]
    first = [html for _, html in drawn[:OPEN]]
    rest = [_left(html, later, class_="strip-lane", data_thread=thread) for thread, html in drawn[OPEN:]]
    folded = tag("details", tag("summary", f"{several(len(rest), 'more thread')}"), *rest) if rest else NOTHING
    return tag("div", *first, folded, class_=f"strip {unit}", hidden=hidden, data_unit=unit)


def _lane(lane: Lane, bars: Sequence[Bar], scale: Axis, unit: Unit, longest: int, strip: Strip) -> Html:
    wide = WIDTH / longest
    drawn = joined(_bar(at * wide, wide, bar, scale, lane) for at, bar in enumerate(bars))
    words = f"{lane.thread}: {unit} of each turn, stacked by kind, and the cost of the run so far"
    svg = tag(
        "svg",
        drawn,
        _so_far(bars, wide, strip),
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        preserveAspectRatio="none",
        role="img",
        aria_label=words,
    )
    ticks = [
        tag("span", tick.label, class_="tick", style=f"bottom:{scale.share(tick.amount):.1%}")
        for tick in scale.ticks[1:]
    ]
    over = [
        *_marks(bars, longest),
        *_additions(bars, longest, scale),
    ]
    height = float(bars[-1].so_far / strip.total) if strip.total else 0.0
    end = tag("span", _spent(bars[-1]), class_="end", style=f"bottom:{height * 0.98:.1%}") if height else NOTHING
    kind = EDGES.get(lane.kind, lane.kind)
    about = f" {kind}" if kind != lane.thread else ""
    name = tag(
        "div",
        tag("span", lane.thread, class_="name"),
        span("dim", about),
        tag("div", dollars(lane.dollars), class_="money"),
        class_="lane-head",
        title=lane.task or None,
    )
    plot = tag("div", svg, *ticks, *over, end, class_="plot")
    return tag("div", name, plot, class_="strip-lane")


def _bar(x: float, wide: float, bar: Bar, scale: Axis, lane: Lane) -> Html:
    gap = min(1.5, wide / 5)
    parts: list[Html] = []
    y = HEIGHT
    for (name, _), amount in zip(KINDS, bar.mean or (), strict=False):
        tall = scale.share(amount) * HEIGHT
        if tall > 0:
            y -= tall
            parts.append(_rect(x + gap / 2, y, wide - gap, tall, name))
    if bar.folded and bar.highest:
        parts.append(_rect(x + gap / 2, HEIGHT * (1 - scale.share(bar.highest)), wide - gap, 0.7, "highest"))
    parts.append(_rect(x, 0, wide, HEIGHT, "hit"))
    places = {"data_place": bar.first.place, "data_last": bar.last.place}
    return tag("g", *parts, **places, data_thread=lane.thread, data_caption=caption(bar, lane))


def _rect(x: float, y: float, wide: float, tall: float, look: str) -> Html:
    return tag("rect", x=f"{x:.2f}", y=f"{y:.2f}", width=f"{wide:.2f}", height=f"{tall:.2f}", class_=look)


def _so_far(bars: Sequence[Bar], wide: float, strip: Strip) -> Html:
    """The cost of the whole run at each bar, on a separate scale from 0 to the run's total."""
    if not strip.total:
        return NOTHING
    points = [f"{at * wide:.2f},{HEIGHT * (1 - float(cost / strip.total) * 0.98):.2f}" for at, cost in _steps(bars)]
    return tag("polyline", points=" ".join(points), class_="so-far")


def _steps(bars: Sequence[Bar]) -> Iterator[tuple[int, Decimal]]:
    first = bars[0].turns[0]
    yield 0, first.so_far - (first.row.cost or Decimal(0))
    for at, bar in enumerate(bars):
        yield at + 1, bar.so_far


def _marks(bars: Sequence[Bar], longest: int) -> Iterator[Html]:
    """The most important mark of each bar, with the words of all; where two have no room, of the more important bar.
    Those that have no room on a phone are `tight`."""
    ranks = list(MARKS)
    marked = sorted((ranks.index(bar.marks[0].kind), at) for at, bar in enumerate(bars) if bar.marks)
    taken: list[float] = []
    on_phone: list[float] = []
    for _, at in marked:
        where = (at + 0.5) / longest
        if any(abs(where - other) < SIGN for other in taken):
            continue
        taken.append(where)
        tight = any(abs(where - other) < PHONE_SIGN for other in on_phone)
        if not tight:
            on_phone.append(where)
        yield _mark(bars[at].marks[0].kind, bars[at].marks, where, tight=tight)


def _mark(kind: MarkKind, marks: Sequence[Mark], at: float, *, tight: bool) -> Html:
    sign = MARKS[kind]
    words = "; ".join(dict.fromkeys(mark.text for mark in marks))
    look = f"sign {sign.style}{' tight' if tight else ''}"
    return tag("span", sign.glyph, class_=look, style=f"left:{at:.2%}", title=words)


_LETTER = 0.008
"""The width of a letter of such a label, as a share of a lane about 800 pixels wide."""


def _additions(bars: Sequence[Bar], longest: int, scale: Axis) -> Iterator[Html]:
    """The largest additions by name, those that have room beside each other. A label ends where the next one begins."""
    named = [(at, bar) for at, bar in enumerate(bars) if bar.addition is not None]
    named.sort(key=lambda one: -(one[1].addition.tokens if one[1].addition else 0))
    taken: list[tuple[float, float]] = []
    chosen: list[tuple[float, Bar, Addition]] = []
    for at, bar in named:
        where = (at + 0.5) / longest
        begin, end = (where - ROOM, where) if where > 0.75 else (where, where + ROOM)
        if bar.addition is None or len(taken) == LABELS or any(begin < to and since < end for since, to in taken):
            continue
        taken.append((begin, end))
        chosen.append((where, bar, bar.addition))
    for (where, bar, addition), (begin, end) in zip(chosen, taken, strict=True):
        text = f"+{count(addition.tokens)} {addition.name}"
        if where > 0.75:
            place = f"right:{1 - where:.2%}"
            room = ROOM if any(to <= begin for _, to in taken) else MOST_ROOM
        else:
            place = f"left:{where:.2%}"
            room = min((since for since, _ in taken if since >= end), default=1) - begin
        wide = min(room, MOST_ROOM, len(text) * _LETTER)
        since, to = (where - wide, where) if where > 0.75 else (where, where + wide)
        below = bars[max(int(since * longest), 0) : int(to * longest) + 1]
        highest = max((one.highest or Decimal(0) for one in (*below, bar)), default=Decimal(0))
        top = min(0.86, scale.share(highest))  # above all bars that it would cover
        style = f"{place};bottom:{top:.1%};max-width:min(24em,{min(room, MOST_ROOM):.2%})"
        look = "addition" if min(room, MOST_ROOM) >= WIDE_ROOM else "addition tight"
        yield tag("span", text, class_=look, style=style, title=text)


def _spent(bar: Bar) -> str:
    """The cost of the run up to a bar."""
    return spent(bar.so_far, bar.last.unpriced)


def caption(bar: Bar, lane: Lane) -> str:
    """A bar in words."""
    where = f"turn {bar.label} of {lane.thread}"
    if bar.folded:
        where = f"turns {bar.label} of {lane.thread}, on average"
    counts = [turn.tokens for turn in bar.turns if turn.tokens is not None]
    means = [sum(column) / len(counts) for column in zip(*counts, strict=True)] if counts else []
    named = zip(KINDS, means, strict=False)
    parts = [f"{round(mean):,} {title}" for (_, title), mean in named if round(mean)]
    spent = [turn.row.cost for turn in bar.turns if turn.row.cost is not None]
    unpriced = any(turn.row.unpriced for turn in bar.turns)
    cost = price(sum(spent, Decimal(0)) / len(spent) if spent else None, unpriced=unpriced)
    full = f", {percent(bar.fill)} of the context window" if bar.fill is not None else ""
    marks = "".join(f"; {mark.text}" for mark in bar.marks[:2])
    return f"{where}: {cost}, so far {_spent(bar)}; {', '.join(parts) or 'tokens unknown'}{full}{marks}"


def _legend(strip: Strip, unit: Unit) -> Html:
    sums = strip.sums(unit)
    keys = [
        tag("li", tag("span", class_=f"key {kind.name}"), f"{kind.title} ", span("dim", _amount(amount, unit)))
        for kind, amount in zip(KIND_LOOKS, sums, strict=True)
        if amount
    ]
    if strip.total:
        keys.append(tag("li", tag("span", class_="key line"), "cost of the run so far"))
    seen = {mark.kind for lane in strip.lanes for turn in lane.turns for mark in turn.marks}
    signs = [
        tag("li", tag("span", f"{sign.glyph} ", class_=sign.style), sign.words.partition(":")[0])
        for kind, sign in MARKS.items()
        if kind in seen
    ]
    return tag("ul", *keys, *signs, class_="legend")


def _amount(amount: Decimal, unit: Unit) -> str:
    return dollars(amount) if unit == "dollars" else count(int(amount))
