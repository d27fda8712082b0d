"""The pieces of a request by kind."""

from array import array
from decimal import Decimal
from typing import Any

from conversations import loop

from turntape.inspector.ledger import Piece, ledger_of
from turntape.inspector.ledger.bill import Bill
from turntape.inspector.ledger.kinds import KindSums
from turntape.inspector.ledger.solve import Solved
from turntape.inspector.ledger.stretch import SentTurn, Stretch
from turntape.inspector.run.labels import label_all
from turntape.inspector.wire.parse import read
from turntape.inspector.wire.values import Usage


def test_kinds_are_the_sums_of_the_uses() -> None:
    for turn in ledger_of(label_all(loop())).turns:
        for one in turn.kinds:
            uses = [use for use in turn.uses if use.piece.kind == one.kind]
            assert one.pieces == len(uses)
            assert one.size == sum(use.piece.size for use in uses)
            assert one.tokens == sum(use.tokens.value for use in uses if use.tokens)
            assert one.cost == sum((use.cost or Decimal(0) for use in uses), Decimal(0))
        assert sum(one.tokens or 0 for one in turn.kinds) == turn.input
        assert sum((one.cost or Decimal(0) for one in turn.kinds), Decimal(0)) == turn.input_cost


def test_kinds_are_in_the_order_of_the_prompt() -> None:
    _, second = ledger_of(label_all(loop())).turns

    assert [one.kind for one in second.kinds] == ["tool", "user", "call", "result"]


class Counted(list[Piece]):
    """Pieces that count how often one of them is read."""

    reads = 0

    def __getitem__(self, at: Any) -> Any:
        self.reads += 1
        return super().__getitem__(at)


def test_a_piece_is_looked_at_as_often_in_a_long_run_as_in_a_short_one() -> None:
    pieces = Counted(Piece(id=number, kind="user", name="go", size=4) for number in range(40))
    stretch = Stretch("t1", "m", array("l", range(len(pieces))))
    sums = KindSums(Solved(stretch, [None] * len(pieces), list(range(len(pieces) + 1))), pieces)
    trip = loop()[0]

    for length in range(1, len(pieces) + 1):
        usage = Usage(input=length)
        turn = SentTurn(
            place=0, thread="t1", number=1, attempt=1, usage=usage, length=length, priced=(trip, read(trip))
        )
        (one,) = sums.of(turn, Bill((), None, Decimal(0)))
        assert (one.pieces, one.size, one.tokens) == (length, 4 * length, length)

    assert pieces.reads <= 2 * len(pieces)
