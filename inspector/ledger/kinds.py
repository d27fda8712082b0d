"""The pieces of a request by kind: how many, their bytes, tokens and dollars, without looking at each piece."""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import accumulate, pairwise, repeat

from turntape.cassettes.frozen import frozen

from .bill import Bill, shares
from .model import KindShare, Piece, PieceKind
from .solve import Solved
from .stretch import SentTurn


@frozen
class _Sums:
    """Of one kind, sums over the first `n` pieces of a stretch."""

    pieces: list[int]
    sizes: list[int]
    tokens: list[int]


class KindSums:
    """Sums of the first pieces of a stretch by kind, made when they are first needed, for all turns of the stretch."""

    def __init__(self, solved: Solved, pieces: Sequence[Piece]) -> None:
        self._solved, self._pieces = solved, pieces

    @cached_property
    def _kinds(self) -> list[PieceKind]:
        return [self._pieces[number].kind for number in self._solved.stretch.ids]

    @cached_property
    def _sums(self) -> dict[PieceKind, _Sums]:
        """By kind, in the order in which they first come in the stretch."""
        ends = self._solved.ends
        sizes = [self._pieces[number].size for number in self._solved.stretch.ids]
        tokens = [after - before for before, after in pairwise(ends)]
        return {
            kind: _Sums(
                self._summed(kind, repeat(1)),
                self._summed(kind, sizes),
                self._summed(kind, tokens),
            )
            for kind in dict.fromkeys(self._kinds)
        }

    def _summed(self, kind: PieceKind, amounts: Iterable[int]) -> list[int]:
        own = (amount if one == kind else 0 for one, amount in zip(self._kinds, amounts, strict=False))
        return list(accumulate(own, initial=0))

    def of(self, turn: SentTurn, bill: Bill) -> list[KindShare]:
        """The kinds of a turn's pieces, in the order in which they first come in its prompt."""
        kinds, length = self._kinds, turn.length
        known: dict[PieceKind, _Sums] = {kind: sums for kind, sums in self._sums.items() if sums.pieces[length]}
        priced = bill.input is not None and turn.input is not None
        cost: dict[PieceKind, Decimal] = dict.fromkeys(known, Decimal(0))
        for share in shares(bill.zones, self._solved.ends, length) if priced else ():
            for kind, sums in known.items():
                cost[kind] += share.zone.rate * (sums.tokens[share.last] - sums.tokens[share.first])
            for at, tokens in share.parts:
                cost[kinds[at]] += share.zone.rate * tokens
        if priced and length:
            cost[kinds[length - 1]] += bill.rest
        return [
            KindShare(
                kind,
                sums.pieces[length],
                sums.sizes[length],
                sums.tokens[length] if turn.input is not None else None,
                cost[kind] if priced else None,
            )
            for kind, sums in known.items()
        ]
