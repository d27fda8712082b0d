"""What a word, a digit or a sign is in tokens for one model, from sums that the API counted.

Least squares on the shapes of the texts, held near the usual rates while there is little to learn from.
"""

from collections.abc import Sequence
from statistics import median

from turntape.cassettes.frozen import frozen

from .shape import AROUND, CALLED, FEATURES, MAY_BE_LESS, MESSAGE, SPREAD, USUAL, Shape, tokens_of

_HELD = 0.007
"""The square of the share by which a sum usually differs from what its shape says."""
_NOISE = 10
"""A sum counts by its share of error, with so many tokens more, so that small ones do not count most."""
_LEAST = 2
"""Sums of fewer tokens are mostly what is around the contents; they teach little."""
_ENOUGH = 8
"""Sums of fewer tokens do not show whether a model's texts have more tokens than usual, or fewer."""

_REWRITTEN = 8.0
"""How far the tokens of a call are from those in its answer where the history writes calls in another way."""
_OTHER_FORM = 5.0
"""Another way of writing differs by at least so many tokens: it has another frame around name and arguments."""
_BETTER = 0.85
"""It is assumed where the errors that it leaves are not more than this share of those without it."""
_OFTEN = 3
"""Fewer answers with calls do not show it, nor do they without others: what is around a message would seem to be it."""


@frozen
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
    ratios = [one.tokens / max(1.0, tokens_of(one.shape, USUAL)) for one in usable if one.tokens >= _ENOUGH]
    scale = min(max(median(ratios or [1.0]), 0.05), 20.0)
    centre = (*USUAL[:AROUND], *(rate * scale for rate in USUAL[AROUND:]))
    spread = (*SPREAD[:AROUND], *(one * scale for one in SPREAD[AROUND:]))
    matrix, right = _normal(usable)
    rates = _near(matrix, right, centre, spread)
    behind_calls = sum(one.shape[CALLED] > 0 for one in usable)
    if behind_calls >= _OFTEN and any(one.shape[MESSAGE] and not one.shape[CALLED] for one in usable):
        # Most APIs put a call into the next prompt as the model wrote it. Some write it in another way, and then every
        # call differs by about the same number of tokens. What is between the two is chance.
        far = _near(matrix, right, centre, (*spread[:CALLED], _REWRITTEN * scale, *spread[CALLED + 1 :]))
        if abs(far[CALLED]) >= _OTHER_FORM and _errors(usable, far) <= _BETTER * _errors(usable, rates):
            return far
    return rates


def _near(matrix: list[list[float]], right: list[float], centre: Rates, spread: Rates) -> Rates:
    """The rates that solve the equations, held near `centre`; each may move as far as `spread` says."""
    free = list(range(len(FEATURES)))
    while free:
        held = [right[row] - sum(matrix[row][column] * centre[column] for column in free) for row in free]
        found = _solved(
            [
                [
                    *(spread[row] * matrix[row][column] * spread[column] + _HELD * (row == column) for column in free),
                    spread[row] * rest,
                ]
                for row, rest in zip(free, held, strict=True)
            ]
        )
        if found is None:
            return centre
        rates = {at: centre[at] + spread[at] * moved for at, moved in zip(free, found, strict=True)}
        worst = min(free, key=lambda at: 0.0 if at in MAY_BE_LESS else rates[at] / spread[at])
        if rates[worst] >= 0 or worst in MAY_BE_LESS:
            return tuple(rates.get(at, 0.0) for at in range(len(FEATURES)))
        # Nothing has less than no tokens. What would have is left out, and the others are found again.
        free.remove(worst)
    return centre


def _errors(sums: Sequence[Sum], rates: Rates) -> float:
    """The squares of the errors, each as a share of its sum."""
    return sum(((tokens_of(one.shape, rates) - one.tokens) / (max(0, one.tokens) + _NOISE)) ** 2 for one in sums)


def _normal(sums: Sequence[Sum]) -> tuple[list[list[float]], list[float]]:
    """The equations of the weighted least squares: the matrix and the right side."""
    size = len(FEATURES)
    matrix, right = [[0.0] * size for _ in range(size)], [0.0] * size
    for one in sums:
        weight = 1 / (max(0, one.tokens) + _NOISE) ** 2
        row = [(at, n) for at, n in enumerate(one.shape) if n]
        for at, n in row:
            weighted = n * weight
            right[at] += weighted * one.tokens
            line = matrix[at]
            for other, second in row:
                line[other] += weighted * second
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
