"""A known sum of tokens divided among pieces, near what is expected of each and within its bounds."""

from collections.abc import Sequence
from math import floor

from turntape.cassettes.frozen import mutable

_ROUNDS = 40
_FAR = 3.0
"""A piece has so many times less or more than what is expected of it only where the sum leaves no other choice."""


@mutable
class Expected:
    """What is known of the tokens of one piece before a sum is divided."""

    prior: float
    low: int
    high: int
    give: float
    """How far it may move from the prior compared with others: its variance."""


def divided(total: int, pieces: Sequence[Expected]) -> list[int]:
    """Integers near the priors, within the bounds where that is possible, that add up to `total`."""
    if not pieces:
        return []
    exact = _within(total, pieces)
    values = [floor(one) for one in exact]
    by_rest = sorted(range(len(pieces)), key=lambda at: exact[at] - values[at], reverse=True)
    rest = total - sum(values)
    for at in by_rest:
        if rest <= 0:
            break
        if values[at] < pieces[at].high:
            values[at] += 1
            rest -= 1
    if rest:
        # The bounds allow no such sum; then the sum counts.
        most = max(range(len(pieces)), key=lambda at: (pieces[at].give, values[at]))
        values[most] += rest
        _lift(values)
    return values


def _within(total: int, pieces: Sequence[Expected]) -> list[float]:
    """Move all pieces by their share of what is missing, first not far; those that meet a bound stay there."""
    values = [min(max(one.prior, one.low), one.high) for one in pieces]
    near = [(max(one.low, at / _FAR), min(one.high, at * _FAR)) for one, at in zip(pieces, values, strict=True)]
    for bounds in (near, [(one.low, one.high) for one in pieces]):
        _move(values, total, pieces, bounds)
    return values


def _move(values: list[float], total: int, pieces: Sequence[Expected], bounds: Sequence[tuple[float, float]]) -> None:
    for _ in range(_ROUNDS):
        missing = total - sum(values)
        if abs(missing) < 0.5:
            break
        free = [at for at, (low, high) in enumerate(bounds) if (values[at] < high if missing > 0 else values[at] > low)]
        whole = sum(pieces[at].give for at in free)
        if not free or whole <= 0:
            break
        for at in free:
            low, high = bounds[at]
            values[at] = min(max(values[at] + missing * pieces[at].give / whole, low), high)


def _lift(values: list[int]) -> None:
    """No piece has fewer tokens than none."""
    for at, value in enumerate(values):
        while value < 0:
            most = max(range(len(values)), key=values.__getitem__)
            taken = min(-value, values[most])
            if taken <= 0:
                return
            values[most] -= taken
            value += taken
            values[at] = value


def narrowed(total_low: int, total_high: int, pieces: Sequence[Expected]) -> list[tuple[int, int]]:
    """The bounds of each piece, given that their sum is between these two."""
    lows, highs = sum(one.low for one in pieces), sum(one.high for one in pieces)
    made: list[tuple[int, int]] = []
    for one in pieces:
        low = max(one.low, total_low - (highs - one.high))
        high = min(one.high, total_high - (lows - one.low))
        made.append((max(0, min(low, total_high)), max(0, high)))
    return made


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
