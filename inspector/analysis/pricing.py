"""What a turn has cost, by the prices of its day. An unknown model is unpriced, never free.

The prices are genai-prices'; it is imported at the first price, since it costs more than all the rest.
"""

from datetime import UTC, datetime
from decimal import Decimal

from turntape.cassettes.tape.model import RoundTrip

from ..wire.providers import provider_of
from ..wire.registry import traits_of
from ..wire.values import Reading


def cost(round_trip: RoundTrip, reading: Reading) -> Decimal | None:
    """US dollars for this turn, or None when it has no usage or the model has no known price."""
    usage = reading.usage
    if usage is None or usage.input is None or usage.output is None:
        return None
    for model in (reading.response_model, reading.request.model):
        if model:
            price = _price(model, reading, round_trip.started_at)
            if price is not None:
                return price
    return None


def _price(model: str, reading: Reading, started_at: float) -> Decimal | None:
    from genai_prices import Usage, calc_price

    usage = reading.usage
    assert usage is not None
    provider = provider_of(reading.provider).prices or traits_of(reading.protocol).price_provider
    counted = Usage(
        input_tokens=usage.input,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        output_tokens=usage.output,
    )
    day = datetime.fromtimestamp(started_at, UTC)
    try:
        return calc_price(counted, model, provider_id=provider, genai_request_timestamp=day).total_price
    except (LookupError, ValueError):
        return None
