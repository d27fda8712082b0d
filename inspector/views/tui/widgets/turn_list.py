"""The list of turns: one line each, threads folded, as many columns as fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import override

from ....run.row import Row
from ....run.rows import Rows
from ....run.totals import totals
from ...text.terminal_text import GLYPHS, clip, width_of
from ..formatting import EMITTED, FINISH, OUTCOME, SEVERITY, bar, count, dollars, model_name, seconds, several
from ..pages.page import Spans
from ..thread_tree import Line, Outline
from .line_view import LineView

MARKS = 5
"""The cells of the marks for findings."""


@dataclass(frozen=True, slots=True)
class Columns:
    """How many cells each column has; none when there is no room for it."""

    model: int
    api: int
    client: int
    tokens: bool
    bar: int
    cost: bool
    time: bool


def columns_for(width: int) -> Columns:
    """The columns for a width: what matters most is kept longest."""
    left = width - 6 - MARKS
    api, client = (8, 8) if left >= 44 else (2, 2)
    left -= api + client + 2
    tokens = left >= 28
    left -= 13 if tokens else 0
    cost = left >= 22
    left -= 8 if cost else 0
    time = left >= 22
    left -= 6 if time else 0
    wide = 10 if left >= 44 else 6 if left >= 26 else 4 if left >= 20 else 0
    left -= wide + 1 if wide else 0
    return Columns(max(6, left), api, client, tokens, wide, cost, time)


class TurnList(LineView):
    """Shows an outline of rows; `turns` is the pane's own head line."""

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.rows = Rows()
        self.outline = Outline(self.rows, {})
        self.dearest = Decimal(0)
        """The cost of the dearest turn, which has a full bar."""
        self.playing: int | None = None

    @override
    def count(self) -> int:
        return len(self.outline)

    def show(self, rows: Rows, outline: Outline, place: int | None) -> None:
        """Show this outline, the cursor on what it stood on, which stays where it is on the screen."""
        entry, old = self.at(self.cursor), self.cursor
        self.rows, self.outline = rows, outline
        self.dearest = max((row.cost for row in rows.all if row.cost is not None), default=Decimal(0))
        head = outline.head_of(entry.thread) if entry is not None and entry.thread is not None else None
        line = head if head is not None else outline.nearest(place) if place is not None else old
        top = round(self.scroll_offset.y)
        self.cursor = line
        self.fit()
        if line != old:
            self.scroll_to(y=max(0, top + line - old), animate=False, immediate=True)
            self.reveal()

    def on_resize(self) -> None:
        self.reveal()

    def stand_on(self, place: int) -> None:
        """Put the cursor on a round trip, or on the head of its thread when that is folded."""
        self.go(self.outline.nearest(place), quietly=True)

    def at(self, line: int) -> Line | None:
        return self.outline.lines[line] if 0 <= line < len(self.outline.lines) else None

    @override
    def line(self, y: int, width: int) -> Spans:
        entry = self.outline.lines[y]
        if entry.thread is not None:
            return self._head(entry, width)
        row = self.rows.all[entry.place]
        lead = "  " * entry.depth
        if not row.is_turn:
            return _other(row, lead, width)
        return turn_line(row, lead, width, self.dearest, playing=entry.place == self.playing)

    def _head(self, entry: Line, width: int) -> Spans:
        rows = [self.rows.all[place] for place in entry.places]
        sums = totals(rows)
        edge = self.rows.all[entry.place].edge
        kind = edge.kind.replace("_", " ") if edge else ""
        sign = "▾" if entry.open else "▸"
        marks = _marks(sums.errors, sums.warnings)
        spans: list[tuple[str, str]] = [
            ("  " * entry.depth, "plain"),
            (f"{sign} ", "accent"),
            (f"{entry.thread} ", "title"),
            (f"{kind} " if kind else "", "accent"),
            (f" {several(sums.turns, 'turn')}", "dim"),
            (f" · {', '.join(dict.fromkeys(map(model_name, sums.models)))}", "dim"),
        ]
        cells = columns_for(width)
        cost = f" {dollars(sums.cost)}".rjust(8) + (" " * 6 if cells.time else "")
        tail: list[tuple[str, str]] = [(cost, "money" if sums.cost else "dim"), *marks]
        return _both_ends(spans, tail, width)


def heading(width: int) -> Spans:
    """The names of the columns."""
    cells = columns_for(width)
    short = cells.api <= 2
    spans: list[tuple[str, str]] = [
        ("turn  ", "dim"),
        (f"{GLYPHS['model']} model".ljust(cells.model), "model"),
        (" ", "plain"),
        (GLYPHS["api"].ljust(2) if short else f"{GLYPHS['api']} api".ljust(cells.api), "api"),
        (" ", "plain"),
        (GLYPHS["client"].ljust(2) if short else f"{GLYPHS['client']} client".ljust(cells.client), "client"),
    ]
    if cells.tokens:
        spans.append(("    in    out", "dim"))
    if cells.bar or cells.cost:
        spans.append(("cost".rjust((cells.bar + 1 if cells.bar else 0) + (8 if cells.cost else 0)), "dim"))
    if cells.time:
        spans.append(("  time", "dim"))
    return spans


def turn_line(row: Row, lead: str, width: int, dearest: Decimal, *, playing: bool = False) -> Spans:
    """A turn in `width` cells."""
    cells = columns_for(width)
    model = max(4, cells.model - len(lead))
    number = f"{row.turn}{'ʹ' * (row.attempt - 1) if row.attempt < 4 else '*'}"
    spans: list[tuple[str, str]] = [
        (lead, "plain"),
        (f"{number:>4}", "bold" if row.findings else "dim"),
        (" ▶" if playing else "  ", "good"),
        *_model(row, model),
        (" ", "plain"),
        *_cell("api", *_api(row), cells.api),
        (" ", "plain"),
        *_cell("client", *_client(row), cells.client),
    ]
    if cells.tokens:
        usage = row.usage
        spans += [(f"{count(usage.input):>6}", "plain"), (f"{count(usage.output):>7}", "dim")]
    if cells.bar:
        share = float(row.cost / dearest) if row.cost and dearest else 0.0
        spans += [(" ", "plain"), (bar(share, cells.bar), "gauge")]
    if cells.cost:
        spans.append((f"{dollars(row.cost) if row.cost is not None else '–':>8}", "money" if row.cost else "dim"))
    if cells.time:
        slow = row.duration_ms is not None and row.duration_ms > 30_000
        spans.append((f"{seconds(row.duration_ms):>6}", "warn" if slow else "dim"))
    errors = sum(mark.severity == "error" for mark in row.findings)
    warnings = sum(mark.severity == "warning" for mark in row.findings)
    return [*spans, *_marks(errors, warnings)]


def _cell(layer: str, word: str, look: str, cells: int) -> list[tuple[str, str]]:
    """A layer: its glyph, its word. Without room for the word the glyph has the word's look."""
    if cells <= 2:
        return [(GLYPHS[layer] + (" " if look in ("good", "dim", "plain") else "!"), look)]
    word = clip(word, cells - 2)
    return [(f"{GLYPHS[layer]} ", layer), (word, look), (" " * (cells - 2 - width_of(word)), "plain")]


def _model(row: Row, cells: int) -> list[tuple[str, str]]:
    look = EMITTED.get(row.emitted or "none", "plain")
    if row.calls:
        names = list(dict.fromkeys(row.calls))
        word = ", ".join(f"{name} ×{n}" if (n := row.calls.count(name)) > 1 else name for name in names)
        if row.emitted == "partial_call":
            word = f"cut: {word}"
    elif row.emitted == "text":
        word, look = (f"“{row.said}”" if row.said else "text"), "string"
    elif row.emitted == "none" and row.error:
        word, look = row.error, "bad"
    else:
        word = (row.emitted or "nothing").replace("_", " ") + (f": {row.said}" if row.said else "")
    word = clip(word, cells - 2)
    return [(f"{GLYPHS['model']} ", "model"), (word, look), (" " * (cells - 2 - width_of(word)), "plain")]


def _api(row: Row) -> tuple[str, str]:
    if row.status is not None and row.status >= 400:
        return str(row.status), "bad"
    return FINISH.get(row.finish or "", (row.finish or "none", "warn"))


def _client(row: Row) -> tuple[str, str]:
    word, look = OUTCOME.get(row.outcome or "", (row.outcome or "none", "dim"))
    return (f"{word} ✗{row.failed_results}", "bad") if row.failed_results else (word, look)


def _marks(errors: int, warnings: int) -> list[tuple[str, str]]:
    """Always `MARKS` cells."""
    told = f"{SEVERITY['error'][0]}{min(errors, 9)}" if errors else ""
    also = f"{SEVERITY['warning'][0]}{min(warnings, 9)}" if warnings else ""
    return [(" ", "plain"), (told, "bad"), (also, "warn"), (" " * (MARKS - 1 - len(told) - len(also)), "plain")]


def _other(row: Row, lead: str, width: int) -> Spans:
    look = "dim" if row.status is not None and row.status < 400 else "bad"
    told = f"{row.method} {row.url.split('://')[-1]}"
    return [
        (lead, "plain"),
        ("   ·  ", "faint"),
        (clip(told, max(8, width - len(lead) - 14)), "dim"),
        (f"  {row.status if row.status is not None else 'no answer'}", look),
    ]


def _both_ends(left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]], width: int) -> Spans:
    used = sum(width_of(text) for text, _ in right)
    out: list[tuple[str, str]] = []
    room = width - used
    for text, look in left:
        size = width_of(text)
        if size > room:
            text = clip(text, max(1, room)) if room > 1 else ""
            size = width_of(text)
        out.append((text, look))
        room -= size
    return [*out, (" " * max(0, room), "plain"), *right]
