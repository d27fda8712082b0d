"""The growth of a run as a picture without a view: bars by thread, marks, axes.

The viewer's strip, the report and the README's picture draw the same model. `strip_of(rows)` gives one lane for each
thread; `fold(strip, most, unit)` gives at most that many bars; `axis(top, unit, number)` gives the ticks.
"""

from .axis import Axis, Tick, amount_text, axis
from .bars import Bar, bars, fold, highest, turns_in_a_bar
from .marks import MARK_KINDS, Mark, MarkKind
from .strip import KINDS, Addition, Lane, Strip, StripTurn, Unit, strip_of

__all__ = [
    "KINDS", "MARK_KINDS", "Addition", "Axis", "Bar", "Lane", "Mark", "MarkKind", "Strip", "StripTurn", "Tick",
    "Unit", "amount_text", "axis", "bars", "fold", "highest", "strip_of", "turns_in_a_bar",
]  # fmt: skip
