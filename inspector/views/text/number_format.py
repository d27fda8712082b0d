"""Numbers as text for people, with few digits."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal

from ...wire.printable import dollars as dollars
from ...wire.printable import several as several


def count(number: int | None) -> str:
    """`12.3k` for 12345; `?` when the API did not report the number."""
    if number is None:
        return "?"
    if number < 1000:
        return str(number)
    for unit, size in (("k", 1_000), ("M", 1_000_000)):
        scaled = number / size
        if scaled < 999.5:
            return f"{scaled:.1f}{unit}" if scaled < 99.95 else f"{scaled:.0f}{unit}"
    return f"{number / 1_000_000_000:.1f}G"


def cost_note(source: str | None, unpriced_fees: Sequence[str] = ()) -> str:
    """Where a cost comes from, if it does not come from the price list, and which fees it does not contain."""
    where = {"stated": "stated by the API", "settings": "by the prices in your settings"}.get(source or "", "")
    without = f"no known price for {' and '.join(unpriced_fees)}" if unpriced_fees else ""
    return "; ".join(filter(None, (where, without)))


NO_COST = "no cost"
"""The cost of a request that was refused before anything was counted."""


def price(cost: Decimal | None, *, unpriced: bool) -> str:
    """What one request cost: `$0.0030`; `unpriced` when that is not known, `no cost` when it was refused.

    A known cost of an `unpriced` request is not the whole: `≥$0.0030`.
    """
    if cost is None:
        return dollars(None) if unpriced else NO_COST
    return spent(cost, int(unpriced))


def spent(cost: Decimal | None, unpriced: int) -> str:
    """What turns cost together, of which `unpriced` have no known price: `$0.30`, or `≥$0.30` when there are any."""
    if not cost and unpriced:
        return dollars(None)
    if cost is None:
        return NO_COST
    return f"≥{dollars(cost)}" if unpriced else dollars(cost)


def counted(into: int | None, out: int | None) -> str:
    """Tokens of turns together: `1,204 tokens in, 50 out`; `tokens unknown` when none were counted."""
    if into is None and out is None:
        return "tokens unknown"
    return f"{_digits(into)} tokens in, {_digits(out)} out"


def _digits(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def turn_count(turns: int, attempts: int) -> str:
    """`11 turns`, or `11 turns · 1 more attempt` when a turn was tried again."""
    counted = several(turns, "turn")
    return counted if attempts <= turns else f"{counted} · {several(attempts - turns, 'more attempt')}"


def percent(share: float) -> str:
    """A part of a whole: `53 %`; `<1 %` for what is there and would round to nothing."""
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def begun(seconds: float) -> str:
    """A time since the epoch as `2026-05-28 20:26:40 UTC`; empty for the epoch itself: the recording has no times."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if seconds > 0 else ""


def lasted(milliseconds: float | None) -> str:
    """A duration: `40 ms`, `1.2 s`, `1.9 min`, `12 min`, `1.7 h`."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 100:
        return f"{seconds:.1f} s"
    if seconds < 597:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 60:.0f} min" if seconds < 5940 else f"{seconds / 3600:.1f} h"


def about(milliseconds: float | None) -> str:
    """An estimated duration, with no more digits than it is worth: `~40 ms`, `~1.2 s`, `~83 s`, `~2 min`, `~1.7 h`."""
    if milliseconds is None:
        return lasted(None)
    if milliseconds < 95:
        return f"~{milliseconds:.0f} ms"
    if milliseconds < 995:
        return f"~{round(milliseconds, -1):.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 99.5:
        return f"~{seconds:.1f} s" if seconds < 9.95 else f"~{seconds:.0f} s"
    return f"~{seconds / 60:.0f} min" if seconds < 5940 else f"~{seconds / 3600:.1f} h"


def size(number: int) -> str:
    """A number of bytes: `900 B`, `1.2 kB`, `3.4 MB`."""
    if number < 1000:
        return f"{number} B"
    return f"{number / 1000:.1f} kB" if number < 1_000_000 else f"{number / 1_000_000:.1f} MB"
