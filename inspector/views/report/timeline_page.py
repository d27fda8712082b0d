"""The time of a run as lanes: one for each thread and each tool, on an axis without long pauses."""

from collections.abc import Iterable, Iterator
from itertools import islice

from turntape.cassettes.frozen import mutable

from ...run.rows import Rows
from ...run.run_timeline import Axis, Phase, RunLane, Span, TurnTimes, folded, run_timeline
from ..text.number_format import about, lasted, percent
from ..vocabulary.phases import FOLDED, PHASES
from .markup import Html, span, tag

LANES = 40
CLOSE = 0.0008
"""Parts of a lane with less than this between them, as a share of the axis, are drawn as one."""
SLOTS = 240
"""A lane with more parts than this is drawn as this many equal ones, each with its phases in proportion."""
_LEAST = 15
"""Percent of such a part that show that something failed in it."""


@mutable
class _Part:
    """A part of a lane, as shares of the axis."""

    start: float
    stop: float
    look: str
    place: int


def timeline_page(rows: Rows) -> Html:
    """The lanes of a run; a sentence where no time is known."""
    timeline = run_timeline(rows)
    axis = timeline.axis
    if not axis.seconds:
        return tag("p", "No times are known.", class_="dim")
    times = {turn.place: turn for turn in timeline.turns}
    lanes = [_lane(lane, axis, rows, times) for lane in timeline.lanes[:LANES]]
    sums = [tag("span", tag("span", class_=f"key {name}"), f"{look.words} ") for name, look in PHASES.items()]
    if any(one.failed for lane in timeline.lanes[:LANES] for one in lane.spans):
        sums.append(tag("span", tag("span", class_="key bad"), "something failed "))
    spent = ", ".join(
        f"{PHASES[name].sum} {lasted(timeline.seconds(name) * 1000)}" for name in ("wait", "stream", "client")
    )
    pauses = (
        tag("span", "⋯", style=f"left:{at / axis.seconds:.2%}", title=f"a pause of {lasted(length * 1000)}, shortened")
        for at, length in axis.pauses
    )
    ends = (tag("span", "0"), tag("span", lasted((axis.end - axis.begin) * 1000), style="left:100%"))
    ruler = tag("div", tag("span"), tag("span", ends[0], *pauses, ends[1], class_="ruler"), class_="time-lane")
    more = len(timeline.lanes) - LANES
    note = tag("p", f"… {more} more lanes", class_="dim") if more > 0 else ""
    if len(timeline.turns) > SLOTS:
        sums.append(span("dim", FOLDED))
    return tag(
        "section", tag("p", *sums, class_="keys"), tag("p", span("dim", spent)), ruler, *lanes, note, class_="timeline"
    )


def _lane(lane: RunLane, axis: Axis, rows: Rows, times: dict[int, TurnTimes]) -> Html:
    parts = list(islice(_parts(lane.spans, axis), SLOTS + 1))
    folds = len(parts) > SLOTS or len(lane.spans) > 4 * SLOTS
    drawn = list(_slots(lane, axis, rows)) if folds else [_drawn(part, rows, times) for part in parts]
    kind = " tool" if lane.what == "tool" else ""
    sums = lane.seconds() * 1000
    ran = lasted(sums) if lane.recorded else f"{about(sums)}, by the time of the client"
    title = f"{lane.name}{kind}: {ran}"
    head = tag("span", lane.name, span("dim", kind), class_="lane-name", title=title)
    return tag("div", head, tag("span", *drawn, class_="lane-bar"), class_="time-lane")


def _drawn(part: _Part, rows: Rows, times: dict[int, TurnTimes]) -> Html:
    known = times.get(part.place)
    phases = known.phases if known is not None else ()
    said = ", ".join(f"{name} {lasted(seconds * 1000)}" for name, seconds in phases if seconds is not None)
    words = f"{rows.name_of(part.place)}: {said}"
    return tag(
        "a",
        class_=f"ran {part.look}",
        href=f"#row-{part.place}",
        title=words,
        aria_label=words,
        tabindex="-1",
        style=f"left:{part.start:.3%};width:{max(0.0005, part.stop - part.start):.3%}",
    )


def _slots(lane: RunLane, axis: Axis, rows: Rows) -> Iterator[Html]:
    """The lane in equal parts. In each, every phase is as high as its part of the time."""
    for at, slot in enumerate(folded(lane.spans, axis, SLOTS)):
        if slot is None:
            continue
        whole = max(1.0, sum(slot.shares.values()))
        shares: list[tuple[Phase, float]] = [(name, 100 * share / whole) for name, share in slot.shares.items()]
        words = ", ".join(f"{PHASES[name].sum} {percent(share / 100)}" for name, share in shares)
        words = f"{rows.name_of(slot.place)} and after it: {words}{', with failures' if slot.failed else ''}"
        stops, below = [f"var(--bad) 0 {_LEAST}%"] if slot.failed else [], 0.0
        for name, share in shares:
            stops.append(f"var(--phase-{name}) {below:.0f}% {below + max(share, 2):.0f}%")
            below += share
        yield tag(
            "a",
            class_="ran slot",
            href=f"#row-{slot.place}",
            title=words,
            aria_label=words,
            tabindex="-1",
            style=f"left:{at / SLOTS:.2%};background:linear-gradient(0deg,{','.join(stops)},transparent {below:.0f}%)",
        )


def _parts(spans: Iterable[Span], axis: Axis) -> Iterator[_Part]:
    """Spans on the axis; those of the same look that cannot be distinguished as one."""
    last: dict[str, _Part] = {}
    for one in sorted(spans, key=lambda one: one.start):
        look = "bad" if one.failed else one.phase
        part = _Part(axis.share(one.start), axis.share(one.stop), look, one.place)
        before = last.get(look)
        if before is not None and part.stop - part.start < CLOSE and part.start - before.stop < CLOSE:
            before.stop = max(before.stop, part.stop)
            continue
        if before is not None:
            yield before
        last[look] = part
    yield from last.values()
