"""The page of costs: what each piece of the prompts cost over the run, in groups and one by one, and cache misses."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import partial

from turntape.cassettes.frozen import frozen

from ....ledger import Group, GroupKey, Ledger, Piece
from ....ledger.groups import MAIN
from ....run.rows import Rows
from ....wire.printable import safe
from ...text.group_amount import group_amount
from ...text.number_format import percent, spent
from ...text.terminal_text import clip, width_of
from ...vocabulary.misses import SHOWN as MISSES
from ...vocabulary.misses import UNPROMISED, Missed, miss_price, miss_tokens, misses, misses_note
from ...vocabulary.pieces import (
    ALONE,
    GROUPS,
    KINDS,
    NEVER,
    SHORT,
    SHORT_FIGURES,
    no_misses,
    piece_cost,
    short_figure,
    why_no_total,
)
from ..formatting import bar, count, dollars, several, size
from .blocks import Block, Goto, Spans
from .cost_orders import ORDERS
from .page import Page
from .sections import gap, rule
from .text_lines import flowing, lines

MOST = 300
"""Pieces that are shown one by one; the rest is folded."""
SHOWN = 12
"""Lines of a group that are shown; the rest is folded."""
WHAT_IF = "with another model, tier or cache, without a tool, with shorter results: turntape price"
"""The command that prices the same turns again."""
WIDE, NARROW = 100, 60
"""From `WIDE` cells on a line has a bar; below `NARROW` it has only the cost, how often it was sent, and what it is."""
_BAR = 8

_PIECES: dict[str, tuple[str, str]] = {
    "system": ("system", "accent"),
    "tool": ("tool", "api"),
    "user": ("user", "good"),
    "assistant": ("answer", "model"),
    "call": ("call", "model"),
    "result": ("result", "client"),
    "media": ("media", "number"),
    "reasoning": ("reason", "reasoning"),
    "other": ("other", "dim"),
}
"""The kind of a piece as a word, and its look."""
_LOOKS = {
    "system": "accent", "tool": "api", "user": "good", "assistant": "model", "call": "model", "result": "client",
    "media": "number", "reasoning": "reasoning", "output": "output",
}  # fmt: skip
"""The look of a kind; `dim` where none is given."""
_LEADS = ("result of ", "call of ", "system prompt: ", "reasoning: ")


def costs_page(ledger: Ledger, rows: Rows, order: str = "cost") -> Page:
    """The costs of a whole run, the pieces in one of `ORDERS`."""
    if not ledger.turns and not ledger.others:
        return Page("costs", [Block("none", (), lines([("no turns", "dim")]))])
    pieces = sorted(ledger.pieces, key=ORDERS[order], reverse=True)
    costs = _Costs(ledger, rows, pieces, order)
    if not ledger.turns:
        return Page("costs", [*costs.head(), *costs.kinds()])
    parts = (costs.head(), costs.kinds(), costs.misses(), costs.groups(), costs.ranked(), costs.what_if())
    return Page("costs", [block for part in parts for block in part])


@frozen
class _Costs:
    ledger: Ledger
    rows: Rows
    pieces: Sequence[Piece]
    order: str

    def head(self) -> Iterator[Block]:
        ledger = self.ledger
        known = [turn for turn in ledger.turns if turn.cost is not None]
        into = sum((turn.input_cost or Decimal(0) for turn in known), Decimal(0))
        out = sum((turn.output_cost or Decimal(0) for turn in known), Decimal(0))
        spans: list[tuple[str, str]] = [
            (spent(ledger.total, ledger.unpriced), "money"),
            (f" in {several(len(ledger.turns), 'request')}: ", "dim"),
            (f"{dollars(into)} input, ", "plain"),
            (f"{dollars(out)} output", "plain"),
            (f", {dollars(ledger.beside)} outside of turns" if ledger.beside is not None else "", "plain"),
        ]
        if not ledger.turns:
            spans[1:] = [(f" in {several(len(ledger.others), 'request')} outside of turns", "plain")]
        if ledger.total is None:
            spans = [(why_no_total(ledger), "warn")]
        elif ledger.unpriced:
            spans.append((f"  {several(ledger.unpriced, 'request')} without a known price", "warn"))
        yield Block("head", (), flowing(spans))

    def kinds(self) -> Iterator[Block]:
        groups, dearest = self.ledger.groups("kind"), self.ledger.ranked()
        kinds = {piece.kind: piece for piece in reversed(dearest)}
        first = next((kinds[group.name] for group in groups if group.name in kinds), None)
        most = "most expensive" if self._priced else "largest"
        yield gap("kinds")
        yield Block("kinds", rule("by kind", f"tokens of all requests; Enter goes to the {most} piece"), group=True)
        yield Block("kinds:names", partial(self._group_names, last=f"the {most} one"), indent=2, parent="kinds")
        for group in groups:
            piece = next((piece for piece in dearest if piece.kind == group.name), None)
            word, look = KINDS.get(group.name, group.name), _LOOKS.get(group.name, "dim")
            goto, what = self._longest() if group.name == "output" else (_goto(piece), "")
            if piece is not None:
                what = self._in_turn(piece.place, _name(piece))
            title = partial(self._group, group, word, look, what)
            anchors = ("dearest",) if piece is not None and piece is first else ()
            yield Block(f"kind:{group.name}", title, indent=2, parent="kinds", goto=goto, anchors=anchors)

    def _longest(self) -> tuple[Goto | None, str]:
        """The turn with the dearest output."""
        turns = [turn for turn in self.ledger.turns if turn.output]
        found = max(turns, key=lambda turn: (turn.output_cost or Decimal(0), turn.output or 0), default=None)
        if found is None:
            return None, ""
        return Goto(found.place, "answer"), self._in_turn(found.place, f"{found.output:,} tokens")

    def _in_turn(self, place: int, what: str) -> str:
        name = self.rows.name_of(place)
        return f"{name}: {what}" if name else what

    def misses(self) -> Iterator[Block]:
        found = misses(self.ledger.turns)
        if not found.known:
            return
        yield gap("misses")
        yield Block("misses", rule("cache misses", misses_note(found)), group=True)
        if not found.all:
            yield Block("misses:none", (), flowing([(no_misses(found.known), "dim")]), indent=2, parent="misses")
        for number, one in enumerate(found.listed):
            if number == MISSES:
                smaller = several(len(found.listed) - MISSES, "smaller one")
                yield _folded("misses:rest", [(smaller, "dim")], "misses")
            yield self._miss(number, one, "misses" if number < MISSES else "misses:rest")
        if found.unpromised:
            together = [
                *_miss_amounts(miss_price(found.unpromised), miss_tokens(found.unpromised), cells=8),
                (several(len(found.unpromised), "request"), "bold"),
                (f"  {found.unpromised[0][1].cause}", "warn"),
            ]
            yield _folded("misses:unpromised", together, "misses")
            yield Block("misses:why", (), flowing([(UNPROMISED, "dim")]), indent=2, parent="misses:unpromised")
        for number, one in enumerate(found.unpromised, len(found.listed)):
            yield self._miss(number, one, "misses:unpromised")

    def _miss(self, number: int, one: Missed, parent: str) -> Block:
        turn, miss = one
        title: Spans = [
            *_miss_amounts(miss.price, miss.tokens),
            (self.rows.name_of(turn.place), "bold"),
            (f"  {miss.cause}", "warn"),
        ]
        where = f"  ({miss.at})" if miss.at else ""
        # All that are folded together have the same words, which are said once.
        text = flowing([(safe(miss.message), "plain"), (where, "dim")]) if parent != "misses:unpromised" else None
        goto = Goto(turn.place, miss.at or "head")
        return Block(f"miss:{number}", title, text, indent=2, parent=parent, goto=goto)

    def ranked(self) -> Iterator[Block]:
        yield gap("pieces")
        order = "tokens, else by bytes" if self.order == "cost" and self.ledger.total is None else self.order
        note = f"{len(self.pieces):,}, by {order}; s changes the order; Enter goes to the turn"
        yield Block("pieces", rule("pieces", note), group=True, anchors=("pieces",))
        yield Block("pieces:sure", (), flowing([(SHORT_FIGURES, "dim")]), indent=2, parent="pieces")
        yield Block("pieces:names", self._piece_names, indent=2, parent="pieces")
        for piece in self.pieces[:MOST]:
            yield self._piece_block(piece, "pieces")
        if len(self.pieces) > MOST:
            rest = self.pieces[MOST:]
            cost = sum((piece.cost or Decimal(0) for piece in rest), Decimal(0))
            together = f", together {dollars(cost)}" if self._priced else ""
            yield _folded("pieces:rest", [(f"{several(len(rest), 'more piece')}{together}", "dim")], "pieces")
            for piece in rest:
                yield self._piece_block(piece, "pieces:rest")

    def _piece_block(self, piece: Piece, parent: str) -> Block:
        name = f"piece:{piece.id}"
        title = partial(self._piece, piece)
        return Block(name, title, indent=2, parent=parent, goto=_goto(piece), anchors=(name,))

    def what_if(self) -> Iterator[Block]:
        """Where the bills under other conditions are; they take seconds to make."""
        if self.ledger.total is not None:
            yield gap("what if")
            yield Block("what if", rule("what if", ""), group=True)
            yield Block("what if:command", (), flowing([(WHAT_IF, "dim")]), indent=2, parent="what if")

    def groups(self) -> Iterator[Block]:
        for by, title in GROUPS:
            groups = self.ledger.groups(by)
            if not groups or (by in ALONE and len(groups) < 2):
                continue
            yield gap(by)
            unused = sum(group.never_called for group in groups)
            note = f"{len(groups)}, {unused} never called" if unused and by == "definition" else f"{len(groups)}"
            yield Block(by, rule(title, note), group=True)
            yield Block(f"{by}:names", partial(self._group_names, last=""), indent=2, parent=by)
            dearest = _dearest(self.pieces, by, groups)
            for group in groups[:SHOWN]:
                yield self._group_block(by, group, dearest.get(group.name))
            if len(groups) > SHOWN:
                rest = f"{by}:rest"
                yield _folded(rest, [(f"{len(groups) - SHOWN} more", "dim")], by)
                for group in groups[SHOWN:]:
                    yield self._group_block(by, group, dearest.get(group.name), rest)

    def _group_block(self, by: GroupKey, group: Group, piece: Piece | None, parent: str | None = None) -> Block:
        unused = group.never_called and by == "definition"
        title = partial(self._group, group, group.name, "dim" if unused else "bold", NEVER if unused else "")
        return Block(f"{by}:{group.name}", title, indent=2, parent=parent or by, goto=_goto(piece))

    def _share(self, cost: Decimal | None, cells: int) -> tuple[str, str]:
        part = float(cost / self.ledger.total) if cost and self.ledger.total else 0.0
        return (f"{bar(part, cells)} " if cells else "", "gauge")

    def _group(self, group: Group, word: str, look: str, what: str, width: int) -> Spans:
        lead = [(f"{dollars(group.cost):>10} ", "money" if group.cost else "dim")] if self._priced else []
        if width >= NARROW and self._priced:
            part = float(group.cost / self.ledger.total) if group.cost is not None and self.ledger.total else None
            lead += [self._share(group.cost, _BAR if width >= WIDE else 0)]
            lead += [(f"{percent(part) if part is not None else '–':>5} ", "dim")]
        lead += [(f"{group_amount(group):>7}  ", "plain")]
        room = max(8, width - 4 - sum(width_of(text) for text, _ in lead))
        column = min(room, 20 if width >= NARROW and what else room)
        if width < NARROW and what != NEVER:
            what = ""
        name = clip(safe(word), column)
        pad = " " * (column - width_of(name) + 1) if what else ""
        return [*lead, (name, look), (pad, "plain"), (what, "dim")]

    @property
    def _priced(self) -> bool:
        """Whether there are columns for costs: not where no turn has a known price."""
        return self.ledger.total is not None

    def _piece_names(self, width: int) -> Spans:
        cost = "      cost " if self._priced else ""
        if width < NARROW:
            return [(f"{cost}sent what", "dim")]
        share = " " * (_BAR + 1) if width >= WIDE and self._priced else ""
        return [(f"{cost}{share}{'tokens':>{SHORT}}  sent read written  turn    what", "dim")]

    def _group_names(self, width: int, last: str) -> Spans:
        cost = "      cost " if self._priced else ""
        if width < NARROW:
            return [(f"{cost} tokens", "dim")]
        share = f"{' ' * (_BAR + 1) if width >= WIDE else ''}share " if self._priced else ""
        return [(f"{cost}{share} tokens  {'':<20} {last}", "dim")]

    def _piece(self, piece: Piece, width: int) -> Spans:
        word, look = _PIECES[piece.kind]
        spans: list[tuple[str, str]] = []
        if self._priced:
            spans.append((f"{piece_cost(piece.cost, piece.tokens):>10} ", "money" if piece.cost else "dim"))
        if width >= WIDE and self._priced:
            spans.append(self._share(piece.cost, _BAR))
        if width >= NARROW:
            figure = piece.tokens
            known = short_figure(figure) if figure is not None else size(piece.size)
            spans += [(f"{known:>{SHORT}} ", "plain"), (f"{piece.sent:>4}× ", "dim")]
            spans += [(f"{piece.read:>4} ", "cache_read" if piece.read else "dim")]
            spans += [(f"{piece.written:>7}  ", "cache_write" if piece.written else "dim")]
        else:
            spans.append((f"{piece.sent:>3}× ", "dim"))
        several_threads = len(self.rows.threads) > 1
        turn = f"{piece.thread}:{piece.turn}" if several_threads else f"{piece.turn}"
        if width >= NARROW:
            spans.append((f"{clip(turn, 7):<7} ", "bold"))
        spans.append((f"{word:<7}", look))
        note = f"  {NEVER}" if piece.never_called else ""
        return [*spans, (_name(piece), "dim" if piece.never_called else "plain"), (note, "warn")]


def _miss_amounts(price: Decimal | None, tokens: int, cells: int = 10) -> list[tuple[str, str]]:
    """The columns of a miss; a line that opens has two cells less, for its sign."""
    return [(f"{dollars(price):>{cells}} ", "money"), (f"{count(tokens):>6} tokens  ", "plain")]


def _folded(key: str, title: Spans, parent: str) -> Block:
    """A line that other blocks fold away with; they are folded at first."""
    return Block(key, title, indent=2, parent=parent, group=True, open=False)


def _name(piece: Piece) -> str:
    name = safe(piece.name).removesuffix(" (definition)")
    return next((name.removeprefix(lead) for lead in _LEADS if name.startswith(lead)), name)


def _goto(piece: Piece | None) -> Goto | None:
    return None if piece is None else Goto(piece.place, piece.pointer or "head")


def _dearest(pieces: Sequence[Piece], by: GroupKey, groups: Sequence[Group]) -> dict[str, Piece]:
    """The first one of the pieces in each group."""
    agents = {group.name.partition(":")[0]: group.name for group in groups} if by == "subagent" else {}
    found: dict[str, Piece] = {}
    for piece in pieces:
        if (name := _group_of(piece, by, agents)) is not None:
            found.setdefault(name, piece)
    return found


def _group_of(piece: Piece, by: GroupKey, agents: Mapping[str, str]) -> str | None:
    """The group of a piece. `agents` are the names of the subagents' groups by their threads."""
    match by:
        case "definition":
            return piece.tool if piece.kind == "tool" else None
        case "subagent":
            return agents.get(piece.thread or "", MAIN)
        case "tool":
            return piece.tool
        case "server":
            return piece.server
        case "thread":
            return piece.thread
        case "kind":
            return piece.kind
