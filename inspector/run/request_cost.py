"""The pieces of a request as a view lists them: tools and system prompt each in one group, then the messages."""

from collections.abc import Iterator, Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from ..ledger import Figure, PieceKind, TurnEntry, Use
from ..ledger.solve import certainty
from ..wire.printable import several

GROUPED: dict[PieceKind, str] = {"tool": "tools", "system": "system"}
"""The kinds that are shown as one group, and its name."""


@frozen
class Piece:
    """A part of a request, or a group of parts."""

    kind: str
    """A kind of the ledger's pieces; `tools` for the group of all definitions."""
    name: str
    pointer: str
    """JSON pointer into the request body; empty for a group and for what the API adds."""
    size: int
    """Its bytes as compact JSON."""
    tokens: Figure | None
    """None when the API did not report the input."""
    since: int
    """The turn of its thread that first sent it."""
    times: int
    """How many requests of the run sent it."""
    cost: Decimal | None
    """Its part of the bill over all these requests; None when none of them has a price."""
    pieces: tuple["Piece", ...] = ()


@frozen
class Context:
    """A request in pieces."""

    pieces: tuple[Piece, ...]
    """In the order of the prompt."""
    size: int
    tokens: int | None
    output: int
    """Tokens of the answer; 0 when the API did not report them."""
    window: int | None

    @property
    def fill(self) -> float | None:
        """How much of the window input and output took, from 0, as the growth strip shows it."""
        return (self.tokens + self.output) / self.window if self.window and self.tokens is not None else None

    def of(self, kind: str) -> int:
        """The bytes of all pieces of that kind."""
        return sum(piece.size for piece in self.pieces if piece.kind == kind)

    def tokens_of(self, kind: str) -> int:
        """The tokens of all pieces of that kind; 0 when they are not known."""
        return sum(piece.tokens.value for piece in self.pieces if piece.kind == kind and piece.tokens)


def context(entry: TurnEntry | None, window: int | None = None) -> Context:
    """The pieces of a turn's request; nothing for a round trip that is not a turn."""
    uses = entry.uses if entry is not None else ()
    pieces = tuple(_pieces(uses))
    size = sum(piece.size for piece in pieces)
    if entry is None:
        return Context(pieces, size, None, 0, window)
    return Context(pieces, size, entry.input, entry.output or 0, window)


def _pieces(uses: Sequence[Use]) -> Iterator[Piece]:
    grouped: list[Use] = []
    for at, use in enumerate(uses):
        if use.piece.kind not in GROUPED:
            yield _one(use)
            continue
        grouped.append(use)
        behind = uses[at + 1] if at + 1 < len(uses) else None
        if behind is None or behind.piece.kind != use.piece.kind:
            yield _group(use.piece.kind, grouped)
            grouped = []


def _one(use: Use) -> Piece:
    piece = use.piece
    return Piece(piece.kind, piece.name, use.pointer, piece.size, use.tokens, piece.turn or 1, piece.sent, piece.cost)


def _group(kind: PieceKind, uses: Sequence[Use]) -> Piece:
    """Neighbours of one kind as a group; a system prompt in one part is that part."""
    inner = tuple(map(_one, uses))
    name = several(len(inner), "tool") if kind == "tool" else "system"
    if kind != "tool" and len(inner) == 1:
        return inner[0]
    figures = [one.tokens for one in inner if one.tokens is not None]
    costs = [one.cost for one in inner if one.cost is not None]
    low, high = sum(one.low for one in figures), sum(one.high for one in figures)
    return Piece(
        GROUPED[kind],
        name,
        inner[0].pointer if kind != "tool" else "",
        sum(one.size for one in inner),
        Figure(sum(one.value for one in figures), low, high, certainty(low, high)) if figures else None,
        min(one.since for one in inner),
        max(one.times for one in inner),
        sum(costs, Decimal(0)) if costs else None,
        inner,
    )


def flat(pieces: Sequence[Piece]) -> Iterator[tuple[int, Piece]]:
    """All pieces with their depth."""
    for piece in pieces:
        yield 0, piece
        for inner in piece.pieces:
            yield 1, inner
