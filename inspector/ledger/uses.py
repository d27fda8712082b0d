"""The pieces of one request with what each cost, made when somebody looks at that request."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from .bill import Bill, shares
from .kinds import KindSums
from .model import KindShare, Piece, Use
from .solve import Solved
from .stretch import SentTurn


@frozen
class Uses:
    """What the uses of a turn are made from."""

    solved: Solved
    turn: SentTurn
    bill: Bill
    pieces: Sequence[Piece]
    """The pieces by their numbers."""
    kinds: KindSums

    def by_kind(self) -> list[KindShare]:
        """The pieces of the request by kind."""
        return self.kinds.of(self.turn, self.bill)

    def made(self) -> list[Use]:
        """The pieces of the request in the order of the prompt."""
        stretch, length = self.solved.stretch, self.turn.length
        priced = self.bill.input is not None
        uses: list[Use] = []
        for at in range(length):
            piece, figure = self.pieces[stretch.ids[at]], self.solved.figures[at]
            cost = Decimal(0) if priced and figure is not None else None
            figure = figure if self.turn.input is not None else None
            uses.append(Use(piece, stretch.pointers.get(at, piece.pointer), figure, 0, 0, 0, 0, cost))
        if self.turn.input is None:
            return uses
        for share in shares(self.bill.zones, self.solved.ends, length):
            whole = ((at, self.solved.ends[at + 1] - self.solved.ends[at]) for at in range(share.first, share.last))
            for at, tokens in (*whole, *share.parts):
                uses[at] = _with(uses[at], share.zone.kind, tokens, share.zone.rate * tokens if priced else None)
        if uses and priced:
            uses[-1] = replace(uses[-1], cost=(uses[-1].cost or Decimal(0)) + self.bill.rest)
        return uses


def _with(use: Use, kind: str, tokens: int, cost: Decimal | None) -> Use:
    paid = None if cost is None else (use.cost or Decimal(0)) + cost
    match kind:
        case "read":
            return replace(use, read=use.read + tokens, cost=paid)
        case "write_1h":
            return replace(use, written=use.written + tokens, written_1h=use.written_1h + tokens, cost=paid)
        case "write":
            return replace(use, written=use.written + tokens, cost=paid)
        case _:
            return replace(use, fresh=use.fresh + tokens, cost=paid)
