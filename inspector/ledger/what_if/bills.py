"""What a run costs with given counts, under given prices."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip

from ...analysis.pricing import Cost, cost_of, listed_cost
from ...wire.values import Reading, RequestReading, Usage
from .change import Change
from .recorded import RecordedRun
from .simulate import Simulation


@frozen
class Bill:
    """The cost of a run."""

    amount: Decimal | None
    """US dollars; None when nothing has a price."""
    unpriced: int
    """Requests with counts and without a price, or with a fee that has none."""
    input: int
    read: int
    written: int
    """Tokens over all turns."""
    stated: int = 0
    """Turns whose answer states its cost, which is not always what the price list says."""


def bill(run: RecordedRun, change: Change) -> Bill:
    """The bill of a run after a change; without one, as the API counted and stated it."""
    if change == Change():
        counts = [turn.usage for turn in run.turns]
        return _added_up(run, counts, [cost_of(*turn.priced) for turn in run.turns])
    counts = Simulation(run, change).usages() if change.prompt else [turn.usage for turn in run.turns]
    return _added_up(run, counts, _listed(run, counts, change))


def by_the_rules(run: RecordedRun, prices: Change | None = None) -> Bill:
    """The bill of unchanged prompts, if their cache had begun empty and had followed its rules.

    `prices` changes at most model and tier.
    """
    counts = Simulation(run, Change()).usages()
    return _added_up(run, counts, _listed(run, counts, prices or Change()))


def _added_up(run: RecordedRun, counts: Sequence[Usage], of_turns: Sequence[Cost | None]) -> Bill:
    costs = [*of_turns, *(cost_of(*other) for other in run.others)]
    known = [one.amount for one in costs if one is not None]
    return Bill(
        sum(known, Decimal(0)) if known else None,
        sum(one is None or bool(one.unpriced_fees) for one in costs),
        sum(one.input or 0 for one in counts),
        sum(one.cache_read or 0 for one in counts),
        sum(one.cache_write or 0 for one in counts),
        _stating(run),
    )


def _stating(run: RecordedRun) -> int:
    return sum(turn.priced[1].stated_cost is not None for turn in run.turns)


def _listed(run: RecordedRun, counts: Sequence[Usage], change: Change) -> list[Cost | None]:
    return [_cost(*turn.priced, usage, change) for turn, usage in zip(run.turns, counts, strict=True)]


def _cost(trip: RoundTrip, reading: Reading, usage: Usage, change: Change) -> Cost | None:
    """The price of other counts, model and tier. A cost that the answer states holds for none of them, but what the API
    takes more or less than the price list stays the same share of it."""
    asked = replace(reading, usage=usage, stated_cost=None)
    found = _asked(trip, asked, change.model)
    if change.tier is not None:
        terms = {"processing": "batch"} if change.tier == "batch" else {"service_tier": change.tier}
        if not terms.items() <= reading.price_terms.items():
            there = _asked(trip, replace(asked, price_terms={**reading.price_terms, **terms}), change.model)
            # The same price: the list knows none for this tier.
            found = (
                there if there is None or found is None or there.amount != found.amount or not found.amount else None
            )
    if found is None or change.model is not None:
        return found
    share = _over_list(trip, reading)
    return found if share is None else replace(found, amount=found.amount * share, unpriced_fees=())


def _asked(trip: RoundTrip, asked: Reading, model: str | None) -> Cost | None:
    """What the price list says, for another model where one is given."""
    if model is None:
        return cost_of(trip, asked)
    vendor, _, name = model.rpartition("/")
    same = replace(asked, request=RequestReading(model=name), response_model=None)
    # Another vendor's model is looked for in the whole list.
    found = (cost_of(trip, one) for one in (same, replace(same, provider=vendor or None, protocol="unknown")))
    return next((one for one in found if one is not None), None)


def _over_list(trip: RoundTrip, reading: Reading) -> Decimal | None:
    """What the answer states as its cost, as a share of what the price list says; None where it states none."""
    if reading.stated_cost is None or reading.stated_cost.amount is None:
        return None
    listed = listed_cost(trip, reading)
    return reading.stated_cost.amount / listed if listed else None
