"""What a run cost as text: its pieces, cache misses and groups of pieces, the dearest first."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from ...ledger import Group, GroupKey, Ledger, Piece
from ...wire.printable import safe
from ..vocabulary.misses import SHOWN as MISSES
from ..vocabulary.misses import UNPROMISED, Misses, miss_price, miss_tokens, misses, misses_note
from ..vocabulary.pieces import (
    ALONE,
    FIGURES,
    GROUPS,
    KINDS,
    NEVER,
    SHORT,
    SHORT_FIGURES,
    figure,
    piece_cost,
    short_figure,
)
from .number_format import count, dollars, percent, several, spent
from .terminal_text import Line, Style, clip, fit, folded, wrap

WIDE, MIDDLE, LEAST = 96, 72, 40
"""From `WIDE` cells on a line has the bounds of its tokens in full, and from `MIDDLE` on how often it was read from the
cache and written to it. No table is narrower than `LEAST`."""
MOST = 40
"""Pieces that are listed; the rest is one line."""
_MOST_GROUPS = 12
_INDENT = " " * 12
"""Before the later lines of a cache miss."""
_TABLES: tuple[tuple[GroupKey, str], ...] = (("kind", "by kind"), *GROUPS)


def costs_text(ledger: Ledger, title: str, *, thread: str | None = None, width: int = 100) -> Iterator[Line]:
    """The dearest pieces of a run, then its cache misses and groups, line by line.

    With `thread` only the pieces and misses of that thread.
    """
    width = max(LEAST, width)
    yield [(title, "bold")]
    turns = [turn for turn in ledger.turns if thread is None or turn.thread == thread]
    yield from folded(_head(ledger, thread), width, "  ")
    if not turns:
        if thread is None:
            yield from _groups(ledger.groups("kind"), "kind", "by kind", ledger.total, width)
        return
    pieces = [piece for piece in ledger.ranked() if thread is None or piece.thread == thread]
    yield []
    for text in wrap(FIGURES if width >= WIDE else SHORT_FIGURES, width):
        yield [(text, "dim")]
    yield []
    yield fit([(_heads(width), "dim")], width)
    threads = len({turn.thread for turn in turns}) > 1
    for piece in pieces[:MOST]:
        yield fit(_piece(piece, threads, width), width)
    if rest := pieces[MOST:]:
        yield fit(_more("piece", [piece.cost for piece in rest]), width)
    yield from _misses(misses(turns), threads, width)
    if thread is None:
        for by, heading in _TABLES:
            yield from _groups(ledger.groups(by), by, heading, ledger.total, width)


def _head(ledger: Ledger, thread: str | None) -> Line:
    turns = [turn for turn in ledger.turns if thread is None or turn.thread == thread]
    costs = [turn.cost for turn in turns if turn.cost is not None]
    unpriced = sum(turn.unpriced for turn in turns)
    words = f" in {several(len(turns), 'request')}"
    if thread is None and ledger.others:
        costs += [one.cost for one in ledger.others if one.cost is not None]
        unpriced += sum(one.unpriced for one in ledger.others)
        beside = several(len(ledger.others), "other round trip")
        words = f"{words} and {beside}" if turns else f" in {beside}"
    if unpriced and costs:
        words += f" ({several(unpriced, 'request')} without a known price)"
    return [(spent(sum(costs, Decimal(0)) if costs else None, unpriced), "money"), (words, "dim")]


def _heads(width: int) -> str:
    """The names of the columns."""
    cache = f"{'read':>6}{'written':>8}" if width >= MIDDLE else ""
    return f"{'cost':>10}{'tokens':>{_tokens(width)}}{'sent':>6}{cache}  {'turn':<8}what"


def _tokens(width: int) -> int:
    """The cells of the column of tokens."""
    return 17 if width >= WIDE else SHORT + 1


def _piece(piece: Piece, threads: bool, width: int) -> Line:
    tokens = figure(piece.tokens) if width >= WIDE or piece.tokens is None else short_figure(piece.tokens)
    cache = f"{piece.read or '–':>6}{piece.written or '–':>8}" if width >= MIDDLE else ""
    turn = f"{piece.thread}:{piece.turn}" if threads else f"{piece.turn}"
    note = f"  {NEVER}" if piece.never_called else ""
    return [
        (f"{piece_cost(piece.cost, piece.tokens):>10}", _style(piece.cost)),
        (f"{tokens:>{_tokens(width)}}", "plain"),
        (f"{f'{piece.sent}×':>6}{cache}  ", "dim"),
        (f"{turn:<8}", "bold"),
        (safe(piece.name), "plain"),
        (note, "warn"),
    ]


def _misses(found: Misses, threads: bool, width: int) -> Iterator[Line]:
    """The dearest cache misses one by one; those that no provider promised to avoid are one line."""
    if not found.all:
        return
    yield []
    yield fit([("cache misses", "bold"), (f"  {misses_note(found)}", "dim")], width)
    for turn, miss in found.listed[:MISSES]:
        name = f"{turn.thread}:{turn.turn}" if threads else f"{turn.turn}"
        amounts = _miss_amounts(miss.price, miss.tokens)
        yield from folded([*amounts, (f"{name:<8}", "bold"), *_why(miss.cause, miss.message)], width, _INDENT)
    if rest := found.listed[MISSES:]:
        smaller = several(len(rest), "smaller one")
        yield fit([*_miss_amounts(miss_price(rest), miss_tokens(rest)), (smaller, "dim")], width)
    if rest := found.unpromised:
        requests = f"{several(len(rest), 'request')}  "
        amounts = _miss_amounts(miss_price(rest), miss_tokens(rest))
        yield from folded([*amounts, (requests, "bold"), *_why(rest[0][1].cause, UNPROMISED)], width, _INDENT)


def _miss_amounts(price: Decimal | None, tokens: int) -> Line:
    return [(f"{dollars(price):>10}", _style(price)), (f"{count(tokens):>8} tokens  ", "plain")]


def _why(cause: str, message: str) -> Line:
    return [(cause, "warn"), (f"  {safe(message)}", "plain")]


def _groups(groups: Sequence[Group], by: GroupKey, heading: str, total: Decimal | None, width: int) -> Iterator[Line]:
    if not groups or (by in ALONE and len(groups) < 2):
        return
    yield []
    yield fit([(heading, "bold")], width)
    for group in groups[:_MOST_GROUPS]:
        share = percent(float(group.cost / total)) if group.cost is not None and total else ""
        name = KINDS.get(group.name, group.name) if by == "kind" else group.name
        tokens = group.tokens_sent + group.output
        never = f"  {NEVER}" if by == "definition" and group.never_called else ""
        yield fit(
            [
                (f"{dollars(group.cost):>10}", _style(group.cost)),
                (f"{share:>6}{count(tokens if tokens or group.counted else None):>8} tokens  ", "dim"),
                (clip(safe(name), 60), "plain"),
                (never, "warn"),
            ],
            width,
        )
    if rest := groups[_MOST_GROUPS:]:
        yield fit(_more("group", [group.cost for group in rest]), width)


def _more(what: str, costs: Sequence[Decimal | None]) -> Line:
    """What there was no room for, with its cost."""
    known = [cost for cost in costs if cost is not None]
    together = sum(known, Decimal(0)) if known else None
    return [
        (f"{dollars(together) if known else '':>10}", _style(together)),
        (f"  {several(len(costs), f'more {what}')}", "dim"),
    ]


def _style(cost: Decimal | None) -> Style:
    return "money" if cost else "dim"
