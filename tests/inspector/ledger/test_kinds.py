"""The pieces of a request by kind."""

from decimal import Decimal

from conversations import loop

from turntape.inspector.ledger import ledger_of
from turntape.inspector.run.labels import label_all


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
