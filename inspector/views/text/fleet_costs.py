"""What runs cost together, and what has no known price, in the words of every view of a fleet."""

from collections.abc import Sequence
from decimal import Decimal

from turntape.cassettes.excerpts import listed

from ..fleet_figures import Group, Overview, RunFigures
from .number_format import several, spent

_NAMED = 4
NOTHING_RAN = "–"


def bill(one: Group | RunFigures) -> str:
    """What it cost: `≥$1.50` where a part has no known price, `–` where nothing ran."""
    return spent(one.cost, one.unpriced) if one.turns else NOTHING_RAN


def highest_bill(groups: Sequence[Group]) -> str:
    """The cost of the dearest of some groups, as its line has it."""
    return bill(max(groups, key=lambda one: one.cost or Decimal(0))) if groups else NOTHING_RAN


def missing(found: Overview) -> str:
    """`3 turns without a known price: Google Maps, m-9`; empty where every turn has one."""
    turns = found.whole.unpriced
    return f"{several(turns, 'turn')} without a known price{named(found.without_price, ': ')}" if turns else ""


def named(without_price: Sequence[str], lead: str) -> str:
    """The models and fees without a price, behind `lead`; empty when there are none."""
    return lead + listed([one or "a model without a name" for one in without_price], _NAMED) if without_price else ""
