"""Rows of turns for tests of the growth strip."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

from conversations import loop

from turntape.inspector.run.row import Row
from turntape.inspector.run.run_index import Run
from turntape.inspector.wire.values import Usage

_ROW = Run.of(loop()).rows.all[0]


def row(turn: int | None, *, thread: str = "t1", cost: str | None = None, **fields: Any) -> Row:
    """A turn without findings, tokens and cost but those that are given."""
    given: dict[str, Any] = {"usage": Usage(), "before": None, "cost_parts": None, "findings": (), "newest": None}
    return replace(
        _ROW,
        turn=turn,
        thread=thread if turn is not None else None,
        cost=None if cost is None else Decimal(cost),
        **given | fields,
    )
