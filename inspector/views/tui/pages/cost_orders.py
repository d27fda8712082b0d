"""The orders of the pieces on the page of costs."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ....ledger import Piece

type _Order = Callable[["Piece"], tuple[Decimal, int, int]]

ORDERS: Mapping[str, _Order] = {
    "cost": lambda piece: (piece.cost or Decimal(0), piece.tokens_sent, piece.sent * piece.size),
    "tokens": lambda piece: (Decimal(0), piece.tokens_sent, piece.size),
    "size": lambda piece: (Decimal(0), piece.size, piece.sent),
    "times sent": lambda piece: (Decimal(0), piece.sent, piece.size),
    "newest": lambda piece: (Decimal(0), piece.place, -piece.id),
}
"""The orders of the pieces, the highest value first."""
