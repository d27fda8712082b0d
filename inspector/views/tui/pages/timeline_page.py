"""The page of times: this turn, a lane for each thread and tool, and the times of all turns."""

from collections.abc import Iterator, Sequence
from functools import partial

from ....run.rows import Rows
from ....run.run_timeline import Phase, RunLane, RunTimeline, Slot, Span, TurnTimes, folded, run_timeline
from ...text.number_format import about, lasted, percent
from ...text.terminal_text import GLYPHS, clip, width_of
from ...vocabulary.phases import FOLDED, HEIGHTS, PHASES
from ..formatting import several
from .blocks import Block, Goto, Spans
from .page import Page
from .sections import gap, rule
from .text_lines import flowing, lines

LANES = 12
"""Lanes of tools that are shown."""
FEW = 40
"""With more turns, a cell of a lane usually has several."""
_NAME, _TIME = 16, 9
"""Cells of the names, and of a time."""
NARROW = 70
"""On a narrower page (in cells) the turns have no column of their calls."""
_PAUSE, _EMPTY = "┆", (" ", "plain")
_FAILED = "✗"
"""A cell in which something failed. No other phase has this sign: not every terminal has colours."""
_REST = 0.1
"""A cell is empty only where nothing ran for more than this part of its time."""


def timeline_page(rows: Rows, place: int, first_token: float | None = None) -> Page:
    """The times of a run; `first_token` are the seconds to the first token of the answer of the turn at `place`."""
    found = run_timeline(rows)
    if not found.turns:
        return Page("timeline", [Block("none", (), lines([("no turns", "dim")]))])
    if not found.seconds():
        return Page("timeline", [Block("none", (), lines([("no times were recorded in this file", "dim")]))])
    blocks = [*_here(rows, found, place, first_token), *_lanes(rows, found, place), *_turns(rows, found, place)]
    return Page("timeline", blocks)


def _here(rows: Rows, found: RunTimeline, place: int, first_token: float | None) -> Iterator[Block]:
    own = next((times for times in found.turns if times.place == place), None)
    if own is None:
        why = (
            "its time is not known"
            if rows.all[place].turn is not None
            else "no turn of a conversation: it is not in these times"
        )
        yield Block("here", (), flowing([(rows.name_of(place), "title"), (f"  {why}", "dim")]))
        return
    spans: list[tuple[str, str]] = [(rows.name_of(place), "title")]
    for word, seconds in (
        ("to the first byte" if own.stream is not None else "in all; no first byte is recorded", own.wait),
        ("to the first token", first_token),
        ("for the rest of the answer", own.stream),
        ("in the client", own.client),
    ):
        if seconds is not None:
            spans.append((f"  {_lasted(seconds)} {word}", "plain"))
    yield Block("here", (), flowing(spans))


def _lasted(seconds: float | None) -> str:
    return lasted(None if seconds is None else 1000 * seconds)


def _lanes(rows: Rows, found: RunTimeline, place: int) -> Iterator[Block]:
    whole = found.seconds() or 1.0
    yield gap("lanes")
    note = f"{_lasted(found.axis.end - found.axis.begin)} from first to last"
    yield Block("lanes", rule("threads and tools", note), group=True)
    legend: list[tuple[str, str]] = []
    for phase, look in PHASES.items():
        part = "" if phase == "tool" else f" {percent(found.seconds(phase) / whole)}"
        legend.append((f"{look.sign} {look.words}{part}  ", look.style))
    if any(one.failed for lane in found.lanes for one in lane.spans):
        legend.append((f"{_FAILED} something failed  ", "bad"))
    if found.axis.pauses:
        longest = max(seconds for _, seconds in found.axis.pauses)
        pauses = f"{several(len(found.axis.pauses), 'pause')} shortened, the longest {_lasted(longest)}"
        legend.append((f"{_PAUSE} {pauses}  ", "warn"))
    if len(found.turns) > FEW:
        legend.append((FOLDED, "dim"))
    yield Block("lanes:legend", (), flowing(legend), indent=2, parent="lanes")
    threads = [lane for lane in found.lanes if lane.what == "thread"]
    tools = [lane for lane in found.lanes if lane.what == "tool"]
    for lane in (*threads, *tools[:LANES]):
        goto = Goto(lane.spans[0].place) if lane.spans else None
        name = f"{lane.what}:{lane.name}"
        title = partial(_lane, lane, found, place)
        yield Block(f"lane:{name}", title, indent=2, parent="lanes", goto=goto)
    if len(tools) > LANES:
        yield Block("lanes:rest", (), lines([(f"{len(tools) - LANES} more tools", "dim")]), indent=2, parent="lanes")
    yield Block("lanes:axis", partial(_axis, found), indent=2, parent="lanes")


def _lane(lane: RunLane, found: RunTimeline, place: int, width: int) -> Spans:
    names = _NAME if width >= NARROW else 8
    cells = max(8, width - names - _TIME - 7)
    glyph, look = (GLYPHS["tool"], "tool") if lane.what == "tool" else ("▸", "accent")
    name = clip(lane.name, names)
    total = _lasted(lane.seconds()) if lane.recorded else about(1000 * lane.seconds())
    return [
        (f"{glyph} ", look),
        (name + " " * (names - width_of(name)) + " ", "bold" if lane.what == "thread" else "plain"),
        *drawn(lane.spans, found, cells),
        (f" {total:>{_TIME}}", "dim"),
    ]


def drawn(spans: Sequence[Span], found: RunTimeline, cells: int) -> list[tuple[str, str]]:
    """The lane in `cells` cells. A cell of a tool is as high as the part of its time in which the tool ran.

    A cell of a thread shows one phase. Over several cells, each phase has as many as its part of the time: what a cell
    cannot show counts for the next ones.
    """
    out: list[tuple[str, str]] = []
    owed: dict[Phase | None, float] = {}
    for slot in folded(spans, found.axis, cells):
        if slot is None:
            out.append(_EMPTY)
            owed.clear()
            continue
        phase = next(iter(slot.shares)) if len(slot.shares) == 1 and "tool" in slot.shares else _chosen(slot, owed)
        if phase is None:
            out.append(_EMPTY)
            continue
        look = PHASES[phase]
        if slot.failed and phase != "client":
            out.append((_FAILED, "bad"))
            continue
        sign = HEIGHTS[max(0, min(7, round(8 * slot.shares[phase]) - 1))] if phase == "tool" else look.sign
        out.append((sign, look.style))
    for at, _ in found.axis.pauses:
        middle = min(cells - 1, int(cells * at / found.axis.seconds))
        # Where something ran in a part of that cell, the rest of the pause is beside it.
        free = (one for one in (middle, middle - 1, middle + 1) if 0 <= one < cells and out[one] == _EMPTY)
        if (one := next(free, None)) is not None:
            out[one] = (_PAUSE, "warn")
    return out


def _chosen(slot: Slot, owed: dict[Phase | None, float]) -> Phase | None:
    """The phase that a cell shows, None for nothing; `owed` is what earlier cells did not show of each."""
    first, rest = not owed, max(0.0, 1 - sum(slot.shares.values()))
    owed[None] = owed.get(None, 0.0) + rest
    for phase, share in slot.shares.items():
        owed[phase] = owed.get(phase, 0.0) + share
    choices: list[Phase | None] = [*slot.shares, *((None,) if rest > _REST and not first else ())]
    chosen = max(choices, key=lambda one: owed[one])
    owed[chosen] -= 1
    return chosen


def _axis(found: RunTimeline, width: int) -> Spans:
    names = _NAME if width >= NARROW else 8
    cells = max(8, width - names - _TIME - 7)
    end = _lasted(found.axis.end - found.axis.begin)
    middle = "" if found.axis.pauses else _lasted((found.axis.end - found.axis.begin) / 2)
    line = list(" " * cells)
    for at, text in ((0, "0"), (cells // 2 - len(middle) // 2, middle), (cells - len(end), end)):
        if at >= 0 and not "".join(line[at : at + len(text)]).strip():
            line[at : at + len(text)] = list(text)
    return [(" " * (names + 3), "plain"), ("".join(line[:cells]), "dim")]


def _turns(rows: Rows, found: RunTimeline, place: int) -> Iterator[Block]:
    longest = max((times.seconds for times in found.turns), default=0.0)
    yield gap("turns")
    note = f"the longest {_lasted(longest)}; Enter goes to the turn"
    yield Block("turns", rule("turns", note), group=True)
    yield Block("turns:names", _names, indent=2, parent="turns")
    for times in found.turns:
        title = partial(_turn, rows, times, longest, times.place == place)
        anchors = (f"turn:{times.place}",)
        yield Block(f"turn:{times.place}", title, indent=2, parent="turns", goto=Goto(times.place), anchors=anchors)


_FIGURES = 38
"""Cells of a turn's name and its times."""


def _names(width: int) -> Spans:
    words, cells = _room(width)
    figures = f"{'turn':<9}{'1st byte':>8} {'answer':>8} {'client':>8}  "
    return [(figures + (" " * (cells + 1) + "calls" if words else ""), "dim")]


def _room(width: int) -> tuple[int, int]:
    """Cells of the calls of a turn, and of the picture of its times."""
    words = 24 if width >= NARROW + 40 else 14 if width >= NARROW else 0
    return words, max(4, width - 4 - _FIGURES - (words + 1 if words else 0))


def _turn(rows: Rows, times: TurnTimes, longest: float, selected: bool, width: int) -> Spans:
    row = rows.all[times.place]
    name = f"{row.thread}:{row.label}" if len(rows.threads) > 1 else row.label
    figures: list[tuple[str, str]] = [
        (f"{clip(name, 8):<9}", "title" if selected else "bold"),
        (f"{_lasted(times.wait):>8} ", "dim"),
        (f"{_lasted(times.stream):>8} ", "api" if times.stream else "dim"),
        (f"{_lasted(times.client):>8}  ", "client" if times.client else "dim"),
    ]
    calls = ", ".join(dict.fromkeys(row.calls)) or (row.error or "")
    words, cells = _room(width)
    out: list[tuple[str, str]] = []
    for phase, seconds in times.phases:
        sign, look = PHASES[phase].sign, PHASES[phase].style
        length = round(cells * (seconds or 0) / longest) if longest else 0
        out.append((sign * max(length, 1 if seconds and seconds > longest / (4 * cells) else 0), look))
    if words:
        used = sum(len(text) for text, _ in out)
        out.append((" " * max(1, cells - used + 1), "plain"))
        out.append((clip(calls, words), "bad" if row.error else "dim"))
    return [*figures, *out]
