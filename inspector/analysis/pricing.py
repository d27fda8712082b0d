"""What a turn has cost, and who says so: the answer itself, the settings, or the price list of its day.

A model without a known price is unpriced, never free. The price list is genai-prices'; it is imported at the first
price, since it takes longer to load than everything else.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal

from turntape.cassettes.tape.model import RoundTrip

from ..wire.providers import provider_of
from ..wire.registry import traits_of
from ..wire.values import Reading

type CostSource = Literal["stated", "listed"]
"""`stated`: the answer states it. `listed`: computed from its tokens and the price list of its day."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one turn."""

    amount: Decimal
    """US dollars."""
    source: CostSource
    input: Decimal | None
    """The part for the input, cached tokens included; None when it is not known.

    Where the answer states the sum alone, it is the share that the price list gives to the input.
    """


def cost_of(round_trip: RoundTrip, reading: Reading) -> Cost | None:
    """The cost of this turn; None when the answer states none and no price is known."""
    return _stated(round_trip, reading) or _listed(round_trip, reading)


def cost(round_trip: RoundTrip, reading: Reading) -> Decimal | None:
    """US dollars for this turn, or None as `cost_of`."""
    found = cost_of(round_trip, reading)
    return found.amount if found else None


def listed_cost(round_trip: RoundTrip, reading: Reading) -> Decimal | None:
    """US dollars by its tokens and the price list alone; None when it has no usage or the model is not listed."""
    found = _listed(round_trip, reading)
    return found.amount if found else None


def _stated(round_trip: RoundTrip, reading: Reading) -> Cost | None:
    stated = reading.stated_cost
    if stated is None or stated.amount is None:
        return None
    part = stated.input
    if part is None and (listed := _listed(round_trip, reading)) and listed.amount and listed.input is not None:
        part = stated.amount * listed.input / listed.amount
    return Cost(stated.amount, "stated", part)


def _listed(round_trip: RoundTrip, reading: Reading) -> Cost | None:
    usage = reading.usage
    if usage is None or usage.input is None or usage.output is None:
        return None
    for model in (reading.response_model, reading.request.model):
        if model:
            found = _price(model, reading, round_trip.started_at)
            if found is not None:
                return found
    return None


def _price(model: str, reading: Reading, started_at: float) -> Cost | None:
    from genai_prices import Usage, calc_price

    provider = provider_of(reading.provider).prices or traits_of(reading.protocol).price_provider
    day = datetime.fromtimestamp(started_at, UTC)
    try:
        found = calc_price(
            Usage(**_counted(reading)),
            model,
            provider_id=provider,
            genai_request_timestamp=day,
            price_context=reading.price_terms or None,
        )
    except (LookupError, ValueError):
        return None
    return Cost(found.total_price, "listed", found.input_price)


def _counted(reading: Reading) -> dict[str, int]:
    """The tokens of a turn by the names that the price list has for them; what is zero is left out."""
    usage = reading.usage
    assert usage is not None
    counted = {
        "input_tokens": usage.input,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "cache_write_1h_tokens": usage.cache_write_1h,
        "input_audio_tokens": usage.input_audio,
        "output_tokens": usage.output,
        "output_audio_tokens": usage.output_audio,
        "web_searches": usage.web_searches,
    }
    return {name: count for name, count in counted.items() if count}
