"""The growth of a run as a chart: each turn's tokens stacked by kind, the cost so far as a line over them."""

from collections.abc import Sequence
from decimal import Decimal

from ...run.growth import KINDS, GrowthStep, Tokens, summed
from ..text.number_format import count, dollars
from .markup import NOTHING, Html, joined, span, tag

BARS = 300
"""With more turns than this, several turns share a bar."""
WIDTH, HEIGHT = 1000.0, 120.0


def growth_chart(steps: Sequence[GrowthStep]) -> Html:
    """The chart with its legend; a sentence where no turn has tokens."""
    if not any(step.tokens for step in steps):
        return tag("p", "No turn of this run reports its tokens.", class_="dim")
    shared = -(-len(steps) // BARS)
    bars = [steps[at : at + shared] for at in range(0, len(steps), shared)]
    means = [_mean(bar) for bar in bars]
    top = max(tokens.total for tokens in means) or 1
    wide = WIDTH / len(bars)
    drawn = joined(
        _bar(at * wide, wide, bar, tokens, top) for at, (bar, tokens) in enumerate(zip(bars, means, strict=True))
    )
    svg = tag(
        "svg",
        drawn,
        _line(bars, wide),
        viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}",
        preserveAspectRatio="none",
        role="img",
        aria_label="tokens of each turn, stacked by kind, and the cost so far",
    )
    cost = steps[-1].cumulative if any(step.row.cost is not None for step in steps) else None
    note = f"each bar is the mean of {shared} turns" if shared > 1 else "one bar for each turn"
    return joined(
        (
            tag("div", span("top", f"{count(top)} tokens"), svg, span("end", dollars(cost)), class_="plot"),
            tag("p", f"{note}; the line is the cost so far", id="caption", class_="dim", aria_live="polite"),
            _legend(summed(steps)),
        )
    )


def _mean(steps: Sequence[GrowthStep]) -> Tokens:
    whole = summed(steps)
    return Tokens(*(round(getattr(whole, name) / len(steps)) for name, _ in KINDS))


def _bar(x: float, wide: float, steps: Sequence[GrowthStep], tokens: Tokens, top: int) -> Html:
    gap = min(1.5, wide / 5)
    parts: list[Html] = []
    y = HEIGHT
    for name, _ in KINDS:
        tall = getattr(tokens, name) / top * (HEIGHT - 2)
        if tall:
            y -= tall
            parts.append(_rect(x + gap / 2, y, wide - gap, tall, name))
    parts.append(_rect(x, 0, wide, HEIGHT, "hit"))
    return tag("g", *parts, data_place=steps[0].place, data_last=steps[-1].place, data_caption=caption(steps, tokens))


def _rect(x: float, y: float, wide: float, tall: float, look: str) -> Html:
    return tag("rect", x=f"{x:.2f}", y=f"{y:.2f}", width=f"{wide:.2f}", height=f"{tall:.2f}", class_=look)


def caption(steps: Sequence[GrowthStep], tokens: Tokens) -> str:
    """A bar in words."""
    first, last = steps[0].row, steps[-1]
    where = f"turn {first.turn} of {first.thread}"
    if len(steps) > 1:
        where = f"{where} to {last.row.turn} of {last.row.thread}, on average"
    parts = [f"{getattr(tokens, name):,} {words}" for name, words in KINDS if getattr(tokens, name)]
    spent = sum((step.row.cost for step in steps if step.row.cost is not None), Decimal(0))
    priced = any(step.row.cost is not None for step in steps)
    full = f", {last.fill:.0%} of the context window" if last.fill is not None else ""
    cost = f"; {dollars(spent if priced else None)}, so far {dollars(last.cumulative)}"
    return f"{where}: {', '.join(parts) or 'tokens not reported'}{full}{cost}"


def _line(bars: Sequence[Sequence[GrowthStep]], wide: float) -> Html:
    end = bars[-1][-1].cumulative
    if not end:
        return NOTHING
    points = [f"0,{HEIGHT:.2f}"]
    for at, bar in enumerate(bars):
        points.append(f"{(at + 1) * wide:.2f},{HEIGHT - float(bar[-1].cumulative / end) * (HEIGHT - 2):.2f}")
    return tag("polyline", points=" ".join(points), class_="so-far")


def _legend(tokens: Tokens) -> Html:
    return tag(
        "ul",
        *(
            tag("li", tag("span", class_=f"key {name}"), f"{words} ", span("dim", count(getattr(tokens, name))))
            for name, words in KINDS
        ),
        class_="legend",
    )
