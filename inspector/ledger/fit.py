"""What a word, a digit or a sign is in tokens for one model, from sums that the API counted.

Least squares on the shapes of the texts, held near the usual rates while there is little to learn from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from .shape import AROUND, FEATURES, USUAL, Shape, tokens_of

_HELD = 2.0
"""How strongly a rate is held near the usual one: as many sums as that must speak for another."""
_LEAST = 8
"""Sums of fewer tokens are mostly what is around the contents; they teach little."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Contents whose tokens were counted together."""

    shape: Shape
    """The sum of their shapes."""
    tokens: int


type Rates = tuple[float, ...]


def fitted(sums: Sequence[Sum]) -> Rates:
    """Tokens for one of each feature; the usual ones when nothing was counted."""
    usable = [one for one in sums if one.tokens >= _LEAST and any(one.shape[AROUND:])]
    if not usable:
        return USUAL
    scale = median(one.tokens / tokens_of(one.shape, USUAL) for one in usable)
    scale = min(max(scale, 0.05), 20.0)
    centre = (*USUAL[:AROUND], *(rate * scale for rate in USUAL[AROUND:]))
    found = _solved(*_normal(usable, centre))
    return tuple(max(rate, 0.0) for rate in found) if found is not None else centre


def _normal(sums: Sequence[Sum], centre: Rates) -> tuple[list[list[float]], list[float]]:
    """The equations of the weighted least squares, in rates divided by their centre."""
    size = len(FEATURES)
    matrix = [[_HELD / len(FEATURES) if row == column else 0.0 for column in range(size)] for row in range(size)]
    right = [_HELD / len(FEATURES)] * size
    for one in sums:
        row = [count * rate / (one.tokens + 10) for count, rate in zip(one.shape, centre, strict=True)]
        wanted = one.tokens / (one.tokens + 10)
        for at, value in enumerate(row):
            right[at] += value * wanted
            for other, second in enumerate(row):
                matrix[at][other] += value * second
    return [[*line, last] for line, last in zip(matrix, right, strict=True)], list(centre)


def _solved(matrix: list[list[float]], centre: list[float]) -> Rates | None:
    """Gaussian elimination; None when the matrix is singular."""
    size = len(matrix)
    for at in range(size):
        pivot = max(range(at, size), key=lambda row: abs(matrix[row][at]))
        if abs(matrix[pivot][at]) < 1e-12:
            return None
        matrix[at], matrix[pivot] = matrix[pivot], matrix[at]
        for row in range(at + 1, size):
            factor = matrix[row][at] / matrix[at][at]
            if factor:
                matrix[row] = [a - factor * b for a, b in zip(matrix[row], matrix[at], strict=True)]
    found = [0.0] * size
    for at in reversed(range(size)):
        known = sum(matrix[at][column] * found[column] for column in range(at + 1, size))
        found[at] = (matrix[at][size] - known) / matrix[at][at]
    return tuple(ratio * rate for ratio, rate in zip(found, centre, strict=True))
