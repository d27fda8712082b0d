"""The costs of a run: by kind, cache misses, every piece by dollars, and groups. Each links to its turn."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from ...ledger import Figure, Group, Ledger, Piece
from ...run.rows import Rows
from ..text.group_amount import group_amount
from ..text.number_format import count, dollars, percent, several, size, spent
from ..vocabulary.misses import SHOWN as MISSES
from ..vocabulary.misses import UNPROMISED, Missed, miss_price, miss_tokens, misses, misses_note
from ..vocabulary.pieces import (
    ALONE,
    GROUPS,
    KINDS,
    NEVER,
    SHORT_FIGURES,
    no_misses,
    piece_cost,
    short_figure,
    why_no_total,
)
from .markup import NOTHING, Html, joined, link, span, tag

MOST, PRINTED = 300, 30
"""Pieces that are listed one by one, on the page and in a print."""
FIGURES = frozenset(("cost", "share", "tokens", "sent", "read", "written"))
"""Columns of numbers: their names end where the numbers do."""
GROUPED = 30
"""Groups that are listed of one kind."""


def costs(ledger: Ledger, rows: Rows) -> Html:
    """The page of costs; a sentence where no turn was counted."""
    if not ledger.turns and not ledger.others:
        return tag("p", "No turns.", class_="dim")
    if not ledger.turns:
        return joined((_head(ledger), _kinds(ledger)))
    return joined((_head(ledger), _kinds(ledger), *_misses(ledger, rows), *_groups(ledger), _pieces(ledger, rows)))


def printed_costs(ledger: Ledger, rows: Rows) -> Html:
    """The costs in a print: by kind, cache misses, the most expensive pieces; nothing where no turn was counted."""
    if not ledger.turns:
        return NOTHING
    kinds, listed = _kinds(ledger), _pieces(ledger, rows, PRINTED)
    return tag("article", tag("h2", "Costs"), _head(ledger), kinds, *_misses(ledger, rows, printed=True), listed)


def _head(ledger: Ledger) -> Html:
    if ledger.total is None:
        return tag("p", _sentence(why_no_total(ledger)), class_="warn")
    known = [turn for turn in ledger.turns if turn.cost is not None]
    into = sum((turn.input_cost or Decimal(0) for turn in known), Decimal(0))
    out = sum((turn.output_cost or Decimal(0) for turn in known), Decimal(0))
    unpriced = f"; {several(ledger.unpriced, 'request')} without a known price"
    return tag(
        "p",
        span("money", spent(ledger.total, ledger.unpriced)),
        f" in {several(len(ledger.turns), 'request')}: {dollars(into)} input, {dollars(out)} output",
        f", {dollars(ledger.beside)} outside of turns" if ledger.beside is not None else "",
        span("warn", unpriced) if ledger.unpriced else NOTHING,
    )


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _kinds(ledger: Ledger) -> Html:
    lines = [_group(ledger, group, KINDS.get(group.name, group.name)) for group in ledger.groups("kind")]
    return _table("By kind", "", _group_heads(ledger), lines)


def _group_heads(ledger: Ledger) -> tuple[str, ...]:
    return (*(("cost", "", "share") if ledger.total is not None else ()), "tokens", "what")


def _group(ledger: Ledger, group: Group, name: str, note: Html = NOTHING) -> Html:
    part = float(group.cost / ledger.total) if group.cost is not None and ledger.total else None
    share = tag("td", percent(part) if part is not None else "–", class_="figure")
    return tag(
        "tr",
        # Where nothing has a price, there are no columns for it.
        *((_cost(group.cost), _bar(part), share) if ledger.total is not None else ()),
        tag("td", group_amount(group), class_="figure"),
        tag("td", name, note),
    )


def _misses(ledger: Ledger, rows: Rows, *, printed: bool = False) -> Iterator[Html]:
    """The cache misses; in a print without the lists that fold, which would be thousands of lines."""
    found = misses(ledger.turns)
    if not found.known:
        return
    if not found.all:
        none = tag("p", _sentence(no_misses(found.known)), class_="dim")
        yield _section("Cache misses", misses_note(found), none)
        return
    folds: list[Html] = []
    if smaller := found.listed[MISSES:]:
        words = several(len(smaller), "smaller one")
        folds.append(_fold((words,), _missed(words, smaller, rows) if not printed else NOTHING))
    if found.unpromised:
        cause, words = found.unpromised[0][1].cause, several(len(found.unpromised), "request")
        price, tokens = dollars(miss_price(found.unpromised)), count(miss_tokens(found.unpromised))
        title = (span("money", price), f" {tokens} tokens, {words} ", span("warn", cause))
        why = tag("p", _sentence(UNPROMISED), class_="dim")
        folds.append(_fold(title, _missed(cause, found.unpromised, rows) if not printed else NOTHING, why))
    shown = [_missed("", found.listed[:MISSES], rows)] if found.listed else []
    yield _section("Cache misses", misses_note(found), *shown, *folds)


def _fold(title: Sequence[Html | str], inside: Html, note: Html = NOTHING) -> Html:
    """A list that opens; without a list only its title."""
    if not inside:
        return joined((tag("p", *title), note))
    return tag("details", tag("summary", *title), note, inside)


def _missed(which: str, found: Sequence[Missed], rows: Rows) -> Html:
    title = f"Cache misses, {which}" if which else "Cache misses"
    return _scrolling(title, ("cost", "tokens", "turn", "why"), [_miss(one, rows) for one in found])


def _miss(one: Missed, rows: Rows) -> Html:
    turn, miss = one
    return tag(
        "tr",
        _cost(miss.price),
        tag("td", count(miss.tokens), class_="figure"),
        tag("td", link(turn.place, rows.name_of(turn.place)) if turn.place < len(rows.all) else ""),
        tag("td", span("warn", miss.cause), f" {miss.message}", span("dim", f" {miss.at}" if miss.at else "")),
    )


def _pieces(ledger: Ledger, rows: Rows, most: int = MOST) -> Html:
    ranked = ledger.ranked()
    lines = [_piece(ledger, piece, rows) for piece in ranked[:most]]
    rest = ranked[most:]
    more = NOTHING
    if rest:
        more = _more(ledger, "more piece", [piece.cost for piece in rest])
    heads = (
        *(("cost", "") if ledger.total is not None else ()),
        "tokens",
        "sent",
        "read",
        "written",
        "turn",
        "what",
    )
    order = "the most expensive first" if ledger.total is not None else "by tokens, else by bytes"
    note = f"{len(ranked):,}, {order}; {SHORT_FIGURES}"
    return joined((_table("Pieces", note, heads, lines), more))


def _piece(ledger: Ledger, piece: Piece, rows: Rows) -> Html:
    figure = piece.tokens
    tokens = short_figure(figure) if figure is not None else size(piece.size)
    part = float(piece.cost / ledger.total) if piece.cost is not None and ledger.total else None
    where = link(piece.place, rows.name_of(piece.place)) if piece.place < len(rows.all) else ""
    never = span("warn", f" {NEVER}") if piece.never_called else NOTHING
    return tag(
        "tr",
        *((_cost(piece.cost, piece.tokens), _bar(part)) if ledger.total is not None else ()),
        tag("td", tokens, class_="figure"),
        tag("td", f"{piece.sent:,}×", class_="figure"),
        tag("td", f"{piece.read:,}", class_="figure"),
        tag("td", f"{piece.written:,}", class_="figure"),
        tag("td", where),
        tag("td", piece.name, never),
    )


def _groups(ledger: Ledger) -> Iterator[Html]:
    never = span("warn", f" {NEVER}")
    for by, title in GROUPS:
        groups = ledger.groups(by)
        if not groups or (by in ALONE and len(groups) < 2):
            continue
        unused = sum(group.never_called for group in groups) if by == "definition" else 0
        note = f"{len(groups)}, {unused} {NEVER}" if unused else f"{len(groups)}"
        lines = [
            _group(ledger, group, group.name, never if by == "definition" and group.never_called else NOTHING)
            for group in groups[:GROUPED]
        ]
        rest = [group.cost for group in groups[GROUPED:]]
        more = _more(ledger, "more group", rest) if rest else NOTHING
        heading = title[:1].upper() + title[1:]
        yield _section(heading, note, _scrolling(heading, _group_heads(ledger), lines), more)


def _more(ledger: Ledger, what: str, costs: Sequence[Decimal | None]) -> Html:
    """What there was no room for, with its cost."""
    together = sum((cost or Decimal(0) for cost in costs), Decimal(0))
    note = f", together {dollars(together)}" if ledger.total is not None else ""
    return tag("p", f"… {several(len(costs), what)}{note}", class_="dim")


def _cost(cost: Decimal | None, tokens: Figure | None = None) -> Html:
    return tag("td", piece_cost(cost, tokens), class_="figure money" if cost is not None else "figure dim")


def _bar(part: float | None) -> Html:
    fill = tag("span", class_="fill", style=f"width:{part or 0:.1%}")
    return tag("td", tag("span", fill, class_="bar"))


def _table(title: str, note: str, heads: tuple[str, ...], lines: list[Html]) -> Html:
    return _section(title, note, _scrolling(title, heads, lines))


def _section(title: str, note: str, *parts: Html) -> Html:
    return tag("section", tag("h2", f"{title} ", span("dim", note)), *parts, class_="costs")


def _column(name: str) -> Html:
    return tag("th", name, scope="col", class_="figure" if name in FIGURES else None)


def _scrolling(title: str, heads: tuple[str, ...], lines: list[Html]) -> Html:
    """A table that scrolls sideways in a narrow window, by keys too."""
    head = tag("tr", *(_column(name) if name else tag("td") for name in heads))
    table = tag("table", head, *lines)
    return tag("div", table, class_="scrolls", tabindex="0", role="region", aria_label=title)
