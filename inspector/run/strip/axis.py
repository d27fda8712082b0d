"""The axis of amounts: round ticks with their units."""

from collections.abc import Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from .strip import Unit

TINY = Decimal("0.00001")
"""Below this, an amount is written with an exponent."""
_STEPS = tuple(map(Decimal, ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8", "10")))
"""What the top of an axis may be, times a power of ten."""


@frozen
class Tick:
    """A height with its label."""

    amount: Decimal
    label: str
    """With its unit: `$0.12`, `48k`."""


@frozen
class Axis:
    """From 0 to `top`."""

    top: Decimal
    """At least the highest amount; above 0."""
    ticks: tuple[Tick, ...]
    """From 0 up; the last one is at the top."""

    def share(self, amount: Decimal) -> float:
        """The height of an amount, from 0 to 1."""
        return float(amount / self.top)


def axis(highest: Decimal, unit: Unit, intervals: int = 2, room: int | None = None) -> Axis:
    """An axis for amounts up to `highest`, divided into equal intervals. Its top is the next round amount.

    Without any amount it has one tick, at 0. Where a label is longer than `room`, there are fewer intervals; where that
    of the top is, it has an exponent.
    """
    if highest <= 0:
        return Axis(Decimal(1), (Tick(Decimal(0), amount_text(Decimal(0), unit)),))
    top = _round_up(highest)
    for number in range(max(1, intervals), 0, -1):
        amounts = [top * at / number for at in range(number + 1)]
        labels = _even([amount_text(amount, unit) for amount in amounts])
        if room is None or all(len(label) <= room for label in labels):
            return Axis(top, tuple(map(Tick, amounts, labels)))
    return Axis(top, (Tick(Decimal(0), amount_text(Decimal(0), unit)), Tick(top, _with_exponent(top, unit))))


def _even(labels: Sequence[str]) -> list[str]:
    """Dollars with equally many decimals: `$0.25` and `$0.50`; `$0` and amounts in thousands stay as they are."""
    decimals = {label: len(label.partition(".")[2]) for label in labels if label[-1].isdigit() and "e" not in label}
    most = max(decimals.values(), default=0)
    if not most:
        return list(labels)
    zero = amount_text(Decimal(0), "dollars")
    return [
        f"{label}{'' if decimals[label] else '.'}{'0' * (most - decimals[label])}"
        if label.startswith("$") and label in decimals and label != zero
        else label
        for label in labels
    ]


def _round_up(amount: Decimal) -> Decimal:
    """The next round amount at or above `amount`."""
    size = Decimal(10) ** amount.adjusted()
    return next(step * size for step in _STEPS if step * size >= amount)


def amount_text(amount: Decimal, unit: Unit) -> str:
    """A round amount in few characters: `$0.12`, `$25`, `$30k`; tokens as `48k`, `1.2M`."""
    sign, least = ("$", 10_000) if unit == "dollars" else ("", 1_000)
    for letter, size in (("M", 1_000_000), ("k", 1_000)):
        if amount >= max(size, least):
            return f"{sign}{_plain(amount / size)}{letter}"
    return f"{sign}{_plain(amount)}" if amount >= TINY or not amount else _with_exponent(amount, unit)


def _with_exponent(amount: Decimal, unit: Unit) -> str:
    return f"{'$' if unit == 'dollars' else ''}{amount.normalize():e}"


def _plain(amount: Decimal) -> str:
    """Without an exponent and without zeros at the end."""
    text = f"{amount:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
