"""The ledger: what each piece of a run's prompts is in tokens and dollars, per turn and over the run."""

from .builder import LabelledTurn, LedgerBuilder, ledger_of
from .model import (
    CacheEntry,
    Certainty,
    Figure,
    Group,
    GroupKey,
    KindShare,
    Ledger,
    Miss,
    OtherRequest,
    Piece,
    PieceKind,
    TurnEntry,
    Use,
)

__all__ = [
    "CacheEntry",
    "Certainty",
    "Figure",
    "Group",
    "GroupKey",
    "KindShare",
    "Ledger",
    "LabelledTurn",
    "LedgerBuilder",
    "Miss",
    "OtherRequest",
    "Piece",
    "PieceKind",
    "TurnEntry",
    "Use",
    "ledger_of",
]
