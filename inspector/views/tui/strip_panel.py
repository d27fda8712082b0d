"""The words beside the bars of the growth strip: the numbers of a turn, the largest additions, and the legend."""

from collections.abc import Sequence
from decimal import Decimal

from ...run.strip import Bar, StripTurn
from ..text.number_format import percent, price, several, spent
from ..text.terminal_text import width_of
from ..vocabulary.kinds import KIND_LOOKS, KindLook
from .formatting import bar as gauge
from .formatting import clipped, count, dollars
from .strip_layout import PlacedBar, StripLayout, without_folders
from .strip_shown import Shown, arrived, so_far

type Spans = list[tuple[str, str]]
"""Texts with their look."""
NOTHING_DRAWN = "no bars:", "no tokens were counted"
"""In two lines where there is no room for one."""


def panel_line(layout: StripLayout, shown: Shown, y: int) -> Spans:
    """Line `y` at the right of the bars: of the turn under the mouse, or else of the cursor."""
    if shown not in layout.panels:
        layout.panels.clear()
        layout.panels[shown] = _panel_lines(layout, shown)
    lines = layout.panels[shown]
    spans = lines[y] if y < len(lines) else []
    return [(" ", "plain"), *clipped(spans, layout.side - 1)]


def _panel_lines(layout: StripLayout, shown: Shown) -> list[Spans]:
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
    return _panel(layout, shown, found, place) if layout.side > 12 else _narrow(layout, shown, found, place)


def _narrow(layout: StripLayout, shown: Shown, found: PlacedBar | None, place: int | None) -> list[Spans]:
    """The cost so far, up to the turn at `place`, and of the whole run."""
    if layout.strip.total is None:
        return [[(_whole(layout), "dim")]]
    whole = _whole(layout)
    whole = next((one for one in (f"of {whole}", f"/{whole}") if width_of(one) < layout.side), whole)
    total = [("", "dim")] if shown.playing is not None else [(whole, "dim")]
    so_far = _whole(layout) if found is None else _so_far(shown, found.bar, _turn_at(found.bar, place))
    words = (f"+{several(layout.more, 'thread')}", f"+{layout.more:,} more")
    more = [(next((one for one in words if width_of(one) < layout.side), words[-1]), "warn")] if layout.more else []
    return [[("so far", "dim")], [(so_far, "money")], total, more]


def _panel(layout: StripLayout, shown: Shown, found: PlacedBar | None, place: int | None) -> list[Spans]:
    """The numbers of a turn in words, then the legend."""
    legend = _legend_lines(layout, shown)
    keys = _keys(layout)
    if found is None and layout.parts.legend:
        return [[], [], [], [], keys, [], *_largest(layout, shown, layout.height - 7)]
    if found is None:
        return [[], [], *legend, keys]
    turn = _turn_at(found.bar, place)
    head, paid, window = _head(layout, shown, turn), _spent(layout, shown, turn, found.bar), _window(turn)
    if layout.parts.legend:
        return [head, paid, _split(layout, turn), window, keys, [], *_largest(layout, shown, layout.height - 7)]
    if layout.height >= 6:
        return [head, paid, window, *legend, keys]
    return [head, paid, *legend, keys][: layout.height]


def _keys(layout: StripLayout) -> Spans:
    """The key of the other unit, if there is one, and what has no room in the strip."""
    other = "tokens" if layout.unit == "dollars" else "dollars"
    more: Spans = [(f"  +{several(layout.more, 'thread')}", "warn")] if layout.more else []
    if layout.strip.total is None:
        return more
    long: Spans = [("$ ", "accent"), (f"shows {other}", "dim"), *more]
    return long if sum(width_of(text) for text, _ in long) < layout.side else [("$ ", "accent"), (other, "dim"), *more]


def _head(layout: StripLayout, shown: Shown, turn: StripTurn) -> Spans:
    cost = turn.row.cost
    if shown.is_open(turn) and turn.dollars is not None:
        cost = sum(arrived(turn.dollars, shown.share), Decimal(0))
    of = f" of {turn.row.thread} " if len(layout.strip.lanes) > 1 else " "
    amount = f" {price(cost, unpriced=turn.row.unpriced)}"
    if layout.strip.total is None and turn.tokens is not None:
        amount = f" {count(turn.row.usage.input or 0)} in {count(turn.row.usage.output or 0)} out"
    return [(f"turn {turn.row.label}", "bold"), (of, "dim"), (amount, "money" if cost else "dim")]


def _spent(layout: StripLayout, shown: Shown, turn: StripTurn, bar: Bar) -> Spans:
    if layout.strip.total is None:
        return [] if turn.row.unpriced else [(_whole(layout), "dim")]
    spans: Spans = [("so far ", "dim"), (_so_far(shown, bar, turn), "money")]
    if shown.playing is None:
        spans.append((f" of {_whole(layout)}", "dim"))
    return spans if sum(width_of(text) for text, _ in spans) < layout.side else spans[1:]


def _turn_at(bar: Bar, place: int | None) -> StripTurn:
    """The turn of a bar at that place, else its last one."""
    return next((one for one in bar.turns if one.place == place), bar.last)


def _so_far(shown: Shown, bar: Bar, turn: StripTurn) -> str:
    """The cost up to a turn of a bar."""
    amount = so_far(shown, bar) if shown.is_open(turn) and turn.dollars is not None else turn.so_far
    return spent(amount, turn.unpriced)


def _window(turn: StripTurn) -> Spans:
    """How full the context window is."""
    if turn.fill is None or turn.window is None:
        return []
    look = "bad_bar" if turn.fill > 0.9 else "warn" if turn.fill > 0.7 else "good"
    return [("window ", "dim"), (gauge(turn.fill, 6), look), (f" {percent(turn.fill)} of {count(turn.window)}", "dim")]


def _whole(layout: StripLayout) -> str:
    """The cost of the whole run."""
    return spent(layout.strip.total, layout.strip.unpriced)


def _split(layout: StripLayout, turn: StripTurn) -> Spans:
    """What of the input was sent again, and what is new."""
    found = turn.split(layout.unit)
    if found is None:
        return []
    again, new = map(dollars if layout.unit == "dollars" else lambda amount: count(int(amount)), found)
    spans: Spans = [("again ", "dim"), (again, "plain"), ("  new ", "dim"), (new, "plain")]
    return spans if sum(width_of(text) for text, _ in spans) < layout.side else [("new ", "dim"), (new, "plain")]


def _largest(layout: StripLayout, shown: Shown, room: int) -> list[Spans]:
    """The largest additions, by tokens, with their turns."""
    seen = [
        (turn, turn.addition)
        for turn in layout.strip.in_order
        if turn.addition is not None and (shown.playing is None or turn.place <= shown.playing)
    ]
    seen.sort(key=lambda one: -one[1].tokens)
    if room < 2 or not seen:
        return []
    rows: list[Spans] = [[("largest additions", "dim")]]
    several_threads = len(layout.strip.lanes) > 1
    for turn, addition in seen[: room - 1]:
        where = f"{turn.row.thread}:{turn.row.label}" if several_threads else turn.row.label
        lead, amount, name = f"{where:>4} ", f"+{count(addition.tokens)}", addition.name
        if width_of(f"{lead}{amount} {name}") >= layout.side:
            name = without_folders(name)
        rows.append([(lead, "dim"), (f"{amount} {name}", "new")])
    return rows


def _drawn(layout: StripLayout) -> list[KindLook]:
    """The kinds that at least one bar shows."""
    return [kind for at, kind in enumerate(KIND_LOOKS) if at in layout.drawn]


def legend_line(layout: StripLayout, width: int, shown: Shown) -> Spans:
    """What the colours mean, for the kinds that are drawn: first what was sent again, then what is new."""
    kinds = _drawn(layout)
    if not kinds:
        return [*clipped([(" ".join(NOTHING_DRAWN), "dim")], width)]
    sums = dict(zip((kind.name for kind in KIND_LOOKS), layout.strip.sums(layout.unit), strict=True))
    whole = sum(sums.values()) or 1
    for words, titles, parts in ((1, 1, 1), (0, 1, 1), (0, 0, 1), (0, 0, 0)):
        spans: Spans = []
        group = ""
        for kind in kinds:
            if words and kind.group != group:
                group = kind.group
                spans.append((f"{group}: ", "dim"))
            title = kind.title if titles else kind.short
            part = f" {percent(float(sums[kind.name] / whole))}" if parts else ""
            spans += [(f"{_sign(kind, shown)} ", kind.name), (f"{title}{part}  ", "dim")]
        if sum(width_of(text) for text, _ in spans) - 2 <= width:
            return spans
    return _shortest(kinds, width, shown)


def _shortest(kinds: Sequence[KindLook], width: int, shown: Shown) -> Spans:
    """As many of the kinds as fit with their words, and a sign for the rest."""
    spans: Spans = []
    left = width
    for at, kind in enumerate(kinds):
        last = at == len(kinds) - 1
        if 1 + width_of(kind.short) + (0 if last else 2) > left:
            return [*spans, ("…", "dim")]
        spans += [(_sign(kind, shown), kind.name), (kind.short + ("" if last else " "), "dim")]
        left -= 2 + width_of(kind.short)
    return spans


def _sign(kind: KindLook, shown: Shown) -> str:
    return "█" if shown.coloured else kind.shade


def _legend_lines(layout: StripLayout, shown: Shown) -> list[Spans]:
    """The kinds that are drawn, in two short lines."""
    kinds = _drawn(layout)
    half = max(3, -(-len(kinds) // 2))
    rows: list[Spans] = [[], []]
    for at, kind in enumerate(kinds):
        rows[min(1, at // half)] += [(_sign(kind, shown), kind.name), (f" {kind.short}  ", "dim")]
    return rows if kinds else [[(part, "dim")] for part in NOTHING_DRAWN]
