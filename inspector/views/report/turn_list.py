"""The list of turns by thread: one line each, with a cell for each of the three layers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal

from ...run.row import Row
from ...run.rows import Rows
from ...run.totals import totals
from ..text.number_format import count, dollars, lasted, several
from ..text.status_styles import ASIDE, EDGES, EMITTED, FINISH, OUTCOME, SEVERITY
from ..text.terminal_text import GLYPHS
from .markup import Html, joined, span, tag


def turn_list(rows: Rows) -> Html:
    """All round trips; each thread under its own head when there are several."""
    dearest = max((row.cost for row in rows.all if row.cost is not None), default=Decimal(0))
    if len(rows.threads) <= 1:
        return joined(turn_line(place, row, dearest) for place, row in enumerate(rows.all))
    others = [place for place, row in enumerate(rows.all) if row.thread is None]
    return joined(_groups(rows, others, dearest))


def _groups(rows: Rows, others: Sequence[int], dearest: Decimal) -> Iterator[Html]:
    for thread, places in rows.threads.items():
        first = rows.all[places[0]]
        kind = first.edge.kind if first.edge is not None else "main"
        of = rows.by_index.get(first.edge.of) if first.edge is not None and first.edge.of is not None else None
        note = f" from turn {rows.all[of].turn} of {rows.all[of].thread}" if of is not None else ""
        head = [span("name", thread), span("dim", f" {EDGES.get(kind, kind)}{note}")]
        yield _group(rows, places, head, dearest, is_open=kind not in ASIDE)
    if others:
        yield _group(rows, others, [span("name", "other round trips")], dearest, is_open=False)


def _group(rows: Rows, places: Sequence[int], head: Sequence[Html], dearest: Decimal, *, is_open: bool) -> Html:
    mine = [rows.all[place] for place in places]
    sums = totals(mine)
    worst = next((one for one in SEVERITY if any(row.worst == one for row in mine)), None)
    total = several(sums.turns, "turn") if sums.turns else several(sums.others, "round trip")
    summary = tag(
        "summary",
        *head,
        span("dim", f" · {total}" + (f", {dollars(sums.cost)}" if sums.turns else "")),
        _mark(worst),
    )
    lines = joined(turn_line(place, rows.all[place], dearest) for place in places)
    return tag("details", summary, lines, class_="thread", open=is_open)


def _mark(severity: str | None) -> Html:
    if severity is None:
        return Html("")
    glyph, look = SEVERITY[severity]
    return tag("span", f" {glyph}", class_=f"mark {look}", title=severity)


def turn_line(place: int, row: Row, dearest: Decimal) -> Html:
    """One round trip."""
    cells = _turn(row, dearest) if row.is_turn else _other(row)
    return tag(
        "a",
        *cells,
        class_="row" if row.is_turn else "row other",
        href=f"#row-{place}",
        data_place=place,
        data_worst=row.worst,
    )


def _turn(row: Row, dearest: Decimal) -> Iterator[Html]:
    share = float(row.cost / dearest) if row.cost is not None and dearest else 0.0
    attempt = f"·{row.attempt}" if row.attempt > 1 else ""
    yield tag("span", f"{row.turn}{attempt}", class_="number", title=f"round trip #{row.index}")
    yield _cell("model", emitted_words(row), EMITTED.get(row.emitted or "none", "good"), row.said)
    yield _cell("api", (row.finish or "nothing").replace("_", " "), FINISH.get(row.finish or "", "warn"), row.error)
    yield _cell("client", (row.outcome or "nothing").replace("_", " "), OUTCOME.get(row.outcome or "", "dim"), None)
    yield tag("span", f"{count(row.usage.input)} → {count(row.usage.output)}", class_="tokens", title="tokens in → out")
    bar = tag("span", class_="fill", style=f"width:{share:.1%}")
    # A refused request used no tokens, so it is not a turn without a known price.
    free = row.cost is None and row.error is not None and row.usage.input is None
    price = span("dim", "–") if free else span("money", dollars(row.cost))
    yield tag("span", tag("span", bar, class_="bar"), price, class_="cost")
    yield span("time", lasted(row.duration_ms))
    yield tag("span", _mark(row.worst), class_="marks")


def _other(row: Row) -> Iterator[Html]:
    yield span("number", "·")
    look = "bad" if row.status is None or row.status >= 400 else "dim"
    path = row.url.partition("://")[2].partition("/")[2].partition("?")[0]
    yield tag("span", f"{row.method} /{path}", class_="endpoint")
    yield span(look, f"{row.status or 'no answer'}")
    yield tag("span", _mark(row.worst), class_="marks")


def emitted_words(row: Row) -> str:
    """What the model emitted: the calls by name, else the kind of emission."""
    if not row.calls:
        return (row.emitted or "nothing").replace("_", " ")
    return ", ".join(f"{name}×{n}" if n > 1 else name for name, n in Counter(row.calls).items())


def _cell(layer: str, words: str, look: str, title: str | None) -> Html:
    glyph = tag("span", GLYPHS[layer], class_=f"glyph {layer}", aria_label=layer)
    return tag(
        "span", glyph, span(look, words), class_="cell", title=f"{layer}: {words}" + (f" – {title}" if title else "")
    )
