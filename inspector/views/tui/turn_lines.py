"""The lines of the turn list: one for each turn and each head of a thread, with as many columns as fit."""

from collections.abc import Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from ...run.row import Row
from ...run.rows import Rows
from ...run.totals import totals
from ...tools.run_words import alone_words
from ...wire.values import Usage
from ..text.number_format import price, spent
from ..text.short_names import address, model_names
from ..text.terminal_text import GLYPHS, clip, width_of
from .formatting import EMITTED, FINISH, OUTCOME, SEVERITY, bar, clipped, count, seconds, several
from .pages.blocks import Spans
from .played_rows import played_row
from .thread_tree import TreeLine

SHORTEST = 16
"""A call is cut to no less than about this many cells."""
COST = 10
"""Cells of a cost, with the gap before it: an amount has up to nine."""
TASK = 20
"""Cells of a thread's task that its models leave free."""
MARKS = 5
"""Cells of the marks for findings."""
SLOW = 30_000
"""From this many milliseconds on the time of a turn is highlighted."""


@frozen
class Columns:
    """Cells of each column; 0 or False when there is no room for it."""

    model: int
    api: int
    client: int
    tokens: bool
    bar: int
    cost: bool
    time: bool


@frozen
class Known:
    """What at least one turn of a run has. There is no column for what none has.

    Before the price list is read, no turn has a price.
    """

    times: bool = True
    prices: bool = True


ALL = Known()


def columns_for(width: int, known: Known = ALL) -> Columns:
    """The columns for a width: the least important ones are left out first, the cost last."""
    left = width - 6 - MARKS
    api, client = (8, 8) if left >= 44 else (2, 2)
    left -= api + client + 2
    cost = left >= 22 and known.prices
    left -= COST if cost else 0
    tokens = left >= 28
    left -= 13 if tokens else 0
    time = left >= 22 and known.times
    left -= 6 if time else 0
    wide = 0 if not cost else 8 if left >= 42 else 4 if left >= 24 else 2 if left >= 18 else 0
    left -= wide + 1 if wide else 0
    return Columns(max(6, left), api, client, tokens, wide, cost, time)


def column_heads(width: int, known: Known = ALL) -> Spans:
    """The names of the columns."""
    cells = columns_for(width, known)
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
        spans.append(("cost".rjust((cells.bar + 1 if cells.bar else 0) + (COST if cells.cost else 0)), "dim"))
    if cells.time:
        spans.append(("  time", "dim"))
    return spans


def thread_line(
    line: TreeLine, rows: Rows, width: int, until: int | None = None, known: Known = ALL, share: float = 0.0
) -> Spans:
    """The head of a thread in `width` cells; with `until` as it was when `share` of the answer there had arrived."""
    sums = totals(
        [
            played_row(rows.all[place], share) if place == until else rows.all[place]
            for place in line.places
            if until is None or place <= until
        ]
    )
    begun = totals([rows.all[place] for place in line.places if until is None or place <= until])
    edge = rows.all[line.place].edge
    kind = edge.kind.replace("_", " ") if edge else ""
    sign = "▾" if line.open else "▸"
    task = rows.all[line.place].asked
    spans: list[tuple[str, str]] = [
        ("  " * line.depth, "plain"),
        (f"{sign} ", "accent"),
        (f"{line.thread} ", "title"),
        (f"{kind} " if kind else "", "accent"),
        (f" {several(begun.turns, 'turn')}", "dim"),
    ]
    cells = columns_for(width, known)
    known_cost = known.prices and (until is None or sums.cost is not None)
    cost = f"{spent(sums.cost, sums.unpriced) if known_cost else '':>{COST if known.prices else 0}}"
    cost += " " * 6 if cells.time else ""
    tail: list[tuple[str, str]] = [(cost, "money" if sums.cost else "dim"), *_marks(sums.errors, sums.warnings)]
    asked = f"  “{task}”" if task else ""
    names = model_names(begun.models)
    room = width - sum(width_of(text) for text, _ in (*spans, *tail)) - min(width_of(asked), TASK)
    spans += [(_models(names, room), "dim"), (asked, "string")]
    return _both_ends(spans, tail, width)


def _models(names: Sequence[str], room: int) -> str:
    """The models of a thread in `room` cells: all, or the first one and how many more there are, or nothing."""
    shorter = [", ".join(names), f"{names[0]} +{len(names) - 1}"] if len(names) > 1 else names
    return next((text for name in shorter if width_of(text := f" · {name}") <= room), "")


def turn_line(row: Row, lead: str, width: int, dearest: Decimal, *, playing: bool = False, known: Known = ALL) -> Spans:
    """A turn in `width` cells; `dearest` is the cost of the most expensive turn, which has a full bar."""
    cells = columns_for(width, known)
    number = row.label
    errors, warnings = _severe(row)
    model = max(4, cells.model - len(lead) - max(0, len(number) - 4))
    begin = [
        (lead, "plain"),
        (f"{number:>4}", "bold" if row.findings else "dim"),
        (" ▶" if playing else "  ", "good"),
    ]
    if row.failed and row.error and row.emitted in (None, "none"):
        return [*begin, *_failure(row, cells, model), *_price(row, cells), *_marks(errors, warnings)]
    return [
        *begin,
        *_model(row, model),
        (" ", "plain"),
        *_cell("api", *_api(row), cells.api),
        (" ", "plain"),
        *_cell("client", *_client(row, cells.client - 2), cells.client),
        *_figures(row, cells, dearest),
        *_price(row, cells),
        *_marks(errors, warnings),
    ]


def _failure(row: Row, cells: Columns, model: int) -> list[tuple[str, str]]:
    """An attempt without an answer: nothing under `model`; the API's error begins under `api`."""
    status = f"{row.status} " if row.status is not None and row.status >= 400 else ""
    room = cells.api + 1 + cells.client + (13 if cells.tokens else 0) + (cells.bar + 1 if cells.bar else 0)
    text = clip(f"{GLYPHS['api']} {status}{row.error}", room)
    return [
        (f"{GLYPHS['model']} ".ljust(model + 1), "faint"),
        (text, "bad"),
        (" " * (room - width_of(text)), "plain"),
    ]


def _figures(row: Row, cells: Columns, dearest: Decimal) -> list[tuple[str, str]]:
    """Tokens and the bar of the cost, if there is room."""
    spans: list[tuple[str, str]] = []
    if cells.tokens:
        spans += [(f"{count(row.usage.input):>6}", "plain"), (f"{count(row.usage.output):>7}", "dim")]
    if cells.bar:
        share = float(row.cost / dearest) if row.cost and dearest else 0.0
        spans += [(" ", "plain"), (bar(share, cells.bar), "gauge")]
    return spans


def _price(row: Row, cells: Columns) -> list[tuple[str, str]]:
    """Cost and time, if there is room."""
    spans: list[tuple[str, str]] = []
    if cells.cost:
        spans.append((f"{price(row.cost, unpriced=row.unpriced):>{COST}}", "money" if row.cost else "dim"))
    return [*spans, *_time(row, cells)]


def _time(row: Row, cells: Columns) -> list[tuple[str, str]]:
    """How long it took, if there is room."""
    if not cells.time:
        return []
    slow = row.duration_ms is not None and row.duration_ms > SLOW
    return [(f"{seconds(row.duration_ms):>6}", "warn" if slow else "dim")]


def _cell(layer: str, word: str, look: str, cells: int) -> list[tuple[str, str]]:
    """A layer: its glyph and its word. Without room for the word, the glyph has the look of the word."""
    if cells <= 2:
        return [(GLYPHS[layer] + (" " if look in ("good", "dim", "plain") else "!"), look)]
    word = clip(word, cells - 2)
    return [(f"{GLYPHS[layer]} ", layer), (word, look), (" " * (cells - 2 - width_of(word)), "plain")]


def _model(row: Row, cells: int) -> list[tuple[str, str]]:
    word, look = _emission(row, cells - 2)
    word = clip(word, cells - 2)
    return [(f"{GLYPHS['model']} ", "model"), (word, look), (" " * (cells - 2 - width_of(word)), "plain")]


def calls_text(calls: Sequence[str], done: Sequence[str], cells: int) -> str:
    """What the calls do: `bash pytest -q`, `read_file a.py, b.py`; the rest as a number where there is no room."""
    done = done or calls
    parts: list[str] = []
    for at, words in enumerate(done):
        name = f"{calls[at]} " if at < len(calls) else ""
        again = at > 0 and at < len(calls) and calls[at] == calls[at - 1] and words.startswith(name)
        parts.append(words.removeprefix(name) if again else words)
    if width_of(parts[0]) > cells:
        parts = [_without_space(words, calls[at]) if at < len(calls) else words for at, words in enumerate(parts)]
    for shown in range(len(parts), 0, -1):
        text, more = ", ".join(parts[:shown]), f" +{len(parts) - shown}" if shown < len(parts) else ""
        left = cells - width_of(text) - len(more)
        if left >= SHORTEST and shown < len(parts):
            # The begin of one more.
            rest = f" +{len(parts) - shown - 1}" if shown + 1 < len(parts) else ""
            return f"{text}, {clip(parts[shown], cells - width_of(text) - 2 - len(rest))}{rest}"
        if left >= 0:
            return text + more
    more = f" +{len(parts) - 1}" if len(parts) > 1 else ""
    return clip(parts[0], max(1, cells - len(more))) + more


def _without_space(words: str, name: str) -> str:
    """What a call does, without the name space of its tool: `…add 1` for `mcp__files__add 1`."""
    space, between, tool = name.rpartition("__")
    return f"…{words[len(space) + len(between) :]}" if space and tool and words.startswith(name) else words


def _emission(row: Row, cells: int) -> tuple[str, str]:
    """What the model emitted, in a few words."""
    look = EMITTED.get(row.emitted or "none", "plain")
    if row.calls:
        cut = "cut: " if row.emitted == "partial_call" else ""
        return cut + calls_text(row.calls, row.done, cells - len(cut)), look
    if row.emitted == "text":
        return f"“{row.said}”" if row.said else "text", "string"
    if row.emitted is None:
        return "…", "dim"
    if row.emitted == "none":
        return "", "dim"
    return (row.emitted or "nothing").replace("_", " ") + (f": {row.said}" if row.said else ""), look


def _api(row: Row) -> tuple[str, str]:
    if row.status is not None and row.status >= 400:
        return str(row.status), "bad"
    if row.emitted is None:
        return "…", "dim"
    return FINISH.get(row.finish or "", (row.finish or "none", "warn"))


def _client(row: Row, cells: int) -> tuple[str, str]:
    """The outcome and how many results are errors; a large number takes the room of the word."""
    word, look = OUTCOME.get(row.outcome or "", (row.outcome or "", "dim"))
    if not row.failed_results:
        return word, look
    number = f"{SEVERITY['error'][0]}{row.failed_results}"
    return next((text for text in (f"{word} {number}", f"{word}{number}") if len(text) <= cells), number), "bad"


def _marks(errors: int, warnings: int) -> list[tuple[str, str]]:
    """Always `MARKS` cells, so that more than 9 of a kind are `+`."""
    bad = f"{SEVERITY['error'][0]}{_few(errors)}" if errors else ""
    warn = f"{SEVERITY['warning'][0]}{_few(warnings)}" if warnings else ""
    return [(" ", "plain"), (bad, "bad"), (warn, "warn"), (" " * (MARKS - 1 - len(bad) - len(warn)), "plain")]


def _few(number: int) -> str:
    return str(number) if number <= 9 else "+"


def other_line(row: Row, lead: str, width: int, known: Known = ALL) -> Spans:
    """A round trip that is not a turn, in `width` cells: its figures are in the columns of the turns."""
    if row.is_tool_wire:
        return _tool_line(row, lead, width)
    look = "dim" if row.status is not None and row.status < 400 else "bad"
    endpoint = f"{row.method} {address(row.url).split('://')[-1]}"
    status = f"  {row.status if row.status is not None else 'no answer'}"
    begin: Spans = [(lead, "plain"), ("   ·  ", "faint")]
    figures = [*_other_figures(row, columns_for(width, known)), *_marks(*_severe(row))]
    room = width - sum(width_of(text) for text, _ in (*begin, *figures)) - len(status)
    return _both_ends([*begin, (clip(endpoint, max(8, room)), "dim"), (status, look)], figures, width)


def _other_figures(row: Row, cells: Columns) -> list[tuple[str, str]]:
    """The figures of a round trip that is not a turn, from the first one on that it has."""
    if not row.is_billed:
        return _time(row, cells)
    if row.usage == Usage() or not cells.tokens:
        return _price(row, cells)
    into, out = (count(one) if one is not None else "" for one in (row.usage.input, row.usage.output))
    bar_ = " " * (cells.bar + 1 if cells.bar else 0)
    return [(f"{into:>6}", "plain"), (f"{out:>7}{bar_}", "dim"), *_price(row, cells)]


def _tool_line(row: Row, lead: str, width: int) -> Spans:
    """A message of a tool server: the run that no turn shows, else where it went."""
    said = [f"{run.name} on {run.server}, {alone_words(run)}" for run in row.tool_runs]
    text = ", ".join(said) or f"message of {row.url.split('://')[-1]}"
    spans: list[tuple[str, str]] = [(lead, "plain"), (f"   {GLYPHS['tool']}  ", "tool"), (clip(text, width), "dim")]
    return _both_ends(spans, _marks(*_severe(row)), width)


def _severe(row: Row) -> tuple[int, int]:
    """How many errors and warnings it has."""
    errors, warnings = (sum(mark.severity == name for mark in row.findings) for name in ("error", "warning"))
    return errors, warnings


def _both_ends(left: Sequence[tuple[str, str]], right: Sequence[tuple[str, str]], width: int) -> Spans:
    """Spans at the left, clipped where needed, and spans at the right end."""
    room = width - sum(width_of(text) for text, _ in right)
    shown = clipped(left, max(0, room))
    gap = room - sum(width_of(text) for text, _ in shown)
    return [*shown, (" " * max(0, gap), "plain"), *right]
