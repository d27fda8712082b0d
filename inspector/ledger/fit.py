"""What a word, a digit or a sign is in tokens for one model, from sums that the API counted.

Least squares on the shapes of the texts, held near the usual rates while there is little to learn from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from .shape import AROUND, FEATURES, USUAL, Shape, tokens_of

_HELD = 0.5
"""How strongly a rate is held near the usual one: as many sums as that must speak for another."""
_NOISE = 10
"""A sum counts by its share of error, with so many tokens more, so that small ones do not count most."""
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
    matrix, right = _normal(usable, centre)
    free = list(range(len(FEATURES)))
    while free:
        found = _solved([[*(matrix[row][column] for column in free), right[row]] for row in free])
        if found is None:
            return centre
        worst = min(range(len(free)), key=found.__getitem__)
        if found[worst] >= 0:
            ratios = dict(zip(free, found, strict=True))
            return tuple(ratios.get(at, 0.0) * rate for at, rate in enumerate(centre))
        # Nothing has less than no tokens. What would have is left out, and the others are found again.
        free.pop(worst)
    return centre


def _normal(sums: Sequence[Sum], centre: Rates) -> tuple[list[list[float]], list[float]]:
    """The equations of the weighted least squares, in rates divided by their centre: the matrix and the right side."""
    size = len(FEATURES)
    matrix = [[_HELD / size if row == column else 0.0 for column in range(size)] for row in range(size)]
    right = [_HELD / size] * size
    for one in sums:
        weight = 1 / (one.tokens + _NOISE)
        row = [(at, n * centre[at] * weight) for at, n in enumerate(one.shape) if n]
        wanted = one.tokens * weight
        for at, value in row:
            right[at] += value * wanted
            line = matrix[at]
            for other, second in row:
                line[other] += value * second
    return matrix, right


def _solved(matrix: list[list[float]]) -> list[float] | None:
    """Gaussian elimination of equations with their right side as the last column; None when they are singular."""
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
    return found
