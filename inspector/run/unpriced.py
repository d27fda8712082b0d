"""The models of recordings that have no price, and the line of the settings that gives them one.

And those that have one, while something else that the API did for a fee has none.
"""

import json
from collections.abc import Iterable
from dataclasses import field

from turntape.cassettes.frozen import mutable
from turntape.cassettes.tape.model import RoundTrip

from ..analysis.price_list import price_list
from ..analysis.pricing import cost_of, has_counts
from ..wire.parse import read
from ..wire.sessions import turns_of
from ..wire.values import Reading


@mutable
class Unpriced:
    """A model without a known price, or with fees that have none, and what it was used for."""

    model: str
    provider: str | None
    turns: int = 0
    input: int = 0
    """Tokens, as far as the answers count them."""
    output: int = 0
    files: list[str] = field(default_factory=list[str])
    fees: list[str] = field(default_factory=list[str])
    """What has no price, in words, where the model has one."""

    @property
    def line(self) -> str | None:
        """The line for `[prices]`: complete where a listed model has the same name, else with amounts to fill in.

        None where the model has a price.
        """
        if self.fees:
            return None
        name = json.dumps(self.model, ensure_ascii=False)
        like = listed_like(self.model)
        return f'{name} = {{ like = "{like}" }}' if like else f'{name} = {{ input = "?", output = "?" }}'


@mutable
class PriceReport:
    """What `add` has seen so far."""

    turns: int = 0
    """Turns with an answer that counts tokens or states a cost."""
    models: dict[tuple[str | None, str, bool], Unpriced] = field(
        default_factory=dict[tuple[str | None, str, bool], "Unpriced"]
    )
    """By provider, name, and whether the model has a price."""

    def add(self, file: str, round_trips: Iterable[RoundTrip]) -> None:
        """Look at the round trips of one recording."""
        for trip in round_trips:
            for turn in turns_of(trip) or [trip]:
                self._add(file, turn)

    def _add(self, file: str, trip: RoundTrip) -> None:
        reading = read(trip)
        if not _costs(reading):
            return
        self.turns += 1
        cost = cost_of(trip, reading)
        if cost is not None and not cost.unpriced_fees:
            return
        model = reading.response_model or reading.request.model or ""
        one = self.models.setdefault((reading.provider, model, cost is not None), Unpriced(model, reading.provider))
        one.turns += 1
        one.input += (reading.usage.input if reading.usage else None) or 0
        one.output += (reading.usage.output if reading.usage else None) or 0
        one.fees += [fee for fee in (cost.unpriced_fees if cost else ()) if fee not in one.fees]
        if file not in one.files:
            one.files.append(file)


def _costs(reading: Reading) -> bool:
    """True for a request that can have a price: what was refused, or counts nothing, has none to be known."""
    return reading.stated_cost is not None or has_counts(reading)


def listed_like(model: str) -> str | None:
    """`vendor/model` of the price list for a model that carries its vendor's name; None when there is none."""
    vendor, _, name = model.rpartition("/")
    vendor = vendor.rpartition("/")[2]
    if not vendor:
        return None
    try:
        provider, info = price_list().find_provider_model(name, None, vendor, None)
    except (LookupError, ValueError):
        return None
    return f"{provider.id}/{info.id}"
