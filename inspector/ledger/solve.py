"""The tokens of each piece, from the API's own counts.

Within a stretch each prompt begins with the whole of the one before, so the difference of two counts is what the second
one has more. Only inside such a difference bytes decide.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from .contents import Content
from .model import Figure
from .stretch import SentTurn, Stretch


@dataclass(frozen=True, slots=True)
class Solved:
    """A stretch with the tokens of its pieces; None for those that only turns without counts have."""

    stretch: Stretch
    figures: "list[Figure | None]"
    ends: list[int]
    """`ends[n]` is how many tokens the first `n` pieces have."""


def solve(contents: Sequence[Content], stretches: Sequence[Stretch]) -> list[Solved]:
    """The tokens of all pieces; `contents` has the piece of each number."""
    return [_stretch(contents, stretch) for stretch in stretches]


def _stretch(contents: Sequence[Content], stretch: Stretch) -> Solved:
    figures: list[Figure | None] = [None] * len(stretch.ids)
    before: SentTurn | None = None
    for turn in stretch.turns:
        if turn.input is None:
            continue
        start, total = (before.length, turn.input - (before.input or 0)) if before else (0, turn.input)
        pieces = [contents[stretch.ids[at]] for at in range(start, turn.length)]
        if pieces:
            figures[start : turn.length] = _shared(pieces, total, turn, before)
        before = turn
    ends = [0]
    for figure in figures:
        ends.append(ends[-1] + (figure.value if figure else 0))
    return Solved(stretch, figures, ends)


def _shared(pieces: list[Content], total: int, turn: SentTurn, before: SentTurn | None) -> list[Figure]:
    weights = [max(1, piece.weight) for piece in pieces]
    echo = turn.echo - turn.new if before is not None and before.number < turn.number else 0
    output = (before.usage.output or 0) - (before.usage.reasoning or 0) if before else 0
    if 0 < echo < len(pieces) and 0 < output <= total:
        values = shared_out(output, weights[:echo]) + shared_out(total - output, weights[echo:])
    else:
        values = shared_out(total, weights)
    if len(pieces) == 1:
        return [Figure.exact(total)]
    return [
        Figure(value, 0, max(value, min(total, weight + 16) if piece.limited else total), "estimated")
        for value, weight, piece in zip(values, weights, pieces, strict=True)
    ]


def shared_out(total: int, sizes: Sequence[int]) -> list[int]:
    """Divide `total` into integers in proportion to `sizes`; they add up to `total` (largest remainder method)."""
    whole = sum(sizes)
    if not whole:
        return [0] * len(sizes)
    shares = [total * size // whole for size in sizes]
    by_rest = sorted(range(len(sizes)), key=lambda at: total * sizes[at] % whole, reverse=True)
    for at in by_rest[: total - sum(shares)]:
        shares[at] += 1
    return shares
