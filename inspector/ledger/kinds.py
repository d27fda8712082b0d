"""The pieces of a request by kind: how many, their bytes, tokens and dollars, without looking at each piece."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import accumulate

from .bill import Bill, shares
from .model import KindShare, Piece, PieceKind
from .solve import Solved
from .stretch import SentTurn


class KindSums:
    """Sums of the first pieces of a stretch by kind, made when they are first needed, for all turns of the stretch."""

    def __init__(self, solved: Solved, pieces: Sequence[Piece]) -> None:
        self._solved, self._pieces = solved, pieces

    @cached_property
    def _kinds(self) -> list[PieceKind]:
        return [self._pieces[number].kind for number in self._solved.stretch.ids]

    @cached_property
    def _tokens(self) -> dict[PieceKind, list[int]]:
        """By kind, how many tokens its pieces have among the first `n` pieces."""
        ends = self._solved.ends
        return {kind: self._summed(kind, lambda at: ends[at + 1] - ends[at]) for kind in dict.fromkeys(self._kinds)}

    def _summed(self, kind: PieceKind, amount: Callable[[int], int]) -> list[int]:
        amounts = (amount(at) if one == kind else 0 for at, one in enumerate(self._kinds))
        return list(accumulate(amounts, initial=0))

    def of(self, turn: SentTurn, bill: Bill) -> list[KindShare]:
        """The kinds of a turn's pieces, in the order in which they first come in its prompt."""
        kinds, length = self._kinds[: turn.length], turn.length
        known = dict.fromkeys(kinds)
        priced = bill.input is not None and turn.input is not None
        cost = dict.fromkeys(known, Decimal(0))
        for share in shares(bill.zones, self._solved.ends, length) if priced else ():
            for kind in known:
                tokens = self._tokens[kind][share.last] - self._tokens[kind][share.first]
                cost[kind] += share.zone.rate * tokens
            for at, tokens in share.parts:
                cost[kinds[at]] += share.zone.rate * tokens
        if priced and kinds:
            cost[kinds[-1]] += bill.rest
        ids = self._solved.stretch.ids
        return [
            KindShare(
                kind,
                kinds.count(kind),
                sum(self._pieces[ids[at]].size for at, one in enumerate(kinds) if one == kind),
                self._tokens[kind][length] if turn.input is not None else None,
                cost[kind] if priced else None,
            )
            for kind in known
        ]
