"""The cost of a turn, and its source: the answer itself, the settings, or the price list of its day.

A model without a known price is unpriced, never free.
"""

from collections.abc import Iterable, Iterator
from dataclasses import astuple, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from turntape.cassettes.frozen import frozen
from turntape.cassettes.settings import ModelPrices, read_settings
from turntape.cassettes.tape.model import RoundTrip

from ..wire.price_names import PriceName, price_names
from ..wire.values import Reading, Usage
from .known_prices import Answer, digest, known_prices
from .price_list import price_list

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice, PriceCalculation, TieredPrices

type CostSource = Literal["stated", "settings", "listed"]
"""`stated`: the answer states it. `settings`, `listed`: computed from its tokens, by `[prices]` of the settings or by
the price list of its day."""
_MILLION = 1_000_000


@frozen
class InputRates:
    """US dollars for one input token of a turn, by its place in the prompt, at the tier of the whole input."""

    fresh: Decimal
    read: Decimal
    """Read from the cache."""
    write: Decimal
    """Written to the cache, for the API's usual time."""
    write_1h: Decimal


@frozen
class Cost:
    """The cost of one turn."""

    amount: Decimal
    """US dollars."""
    source: CostSource
    input: Decimal | None
    """The part for the input, cached tokens included; None when it is not known.

    Where the answer states the sum alone, it is the share that the price list gives to the input.
    """
    parts: "CostParts | None" = field(default=None, compare=False)
    """The cost by kind of token; None where no price of a token is known."""
    rates: InputRates | None = field(default=None, compare=False)
    """What each kind of input token costs by the list or the settings; None where that is not known.

    Where the answer states its cost, or counts sound, the bill differs from these.
    """
    unpriced_fees: tuple[str, ...] = ()
    """What the API did for a fee without a known price, in words. If there is any, the real cost is higher."""


@frozen
class CostParts:
    """The cost of one turn by kind of token, in US dollars. The parts add up to the cost."""

    cache_read: Decimal
    cache_write: Decimal
    fresh: Decimal
    """Input that is neither read from a cache nor written to one."""
    output: Decimal
    other: Decimal
    """Fees that are not for tokens, such as searches, as far as they have a listed price."""

    @property
    def total(self) -> Decimal:
        return self.cache_read + self.cache_write + self.fresh + self.output + self.other

    def scaled(self, amount: Decimal, input_amount: Decimal | None) -> "CostParts | None":
        """The same shares of another cost, of which `input_amount` is for the input if that is known.

        None where the shares are not known, because a part that costs something now cost nothing before.
        """
        into = self.cache_read + self.cache_write + self.fresh
        if input_amount is None:
            input_amount = amount * into / self.total if self.total else Decimal(0)
        rest = amount - input_amount
        if (input_amount and not into) or (rest and not self.total - into):
            return None
        factor = input_amount / into if into else Decimal(0)
        output = rest * self.output / (self.total - into) if rest else Decimal(0)
        read, written = self.cache_read * factor, self.cache_write * factor
        return CostParts(read, written, input_amount - read - written, output, rest - output)


def cost_of(round_trip: RoundTrip, reading: Reading) -> Cost | None:
    """The cost of this turn; None when the answer states none and no price is known."""
    return _stated(round_trip, reading) or _own(round_trip, reading) or _listed(round_trip, reading)


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
    part, listed = stated.input, _listed(round_trip, reading)
    if part is None and listed and listed.amount and listed.input is not None:
        part = stated.amount * listed.input / listed.amount
    parts = listed.parts.scaled(stated.amount, part) if listed and listed.parts else None
    return Cost(stated.amount, "stated", part, parts, listed.rates if listed else None)


def _own(round_trip: RoundTrip, reading: Reading) -> Cost | None:
    """The cost by the prices in the settings."""
    usage = reading.usage
    prices = own_prices(reading)
    if prices is None or usage is None or not has_counts(reading):
        return None
    if prices.like is not None:
        vendor, _, model = prices.like.partition("/")
        found = _price(PriceName(vendor, model), reading, round_trip.started_at)
        return replace(_with_fees(found, usage), source="settings") if found else None
    if prices.input is None or prices.output is None or usage.input is None:
        return None
    read, written = usage.cache_read or 0, usage.cache_write or 0
    again = prices.input if prices.cache_read is None else prices.cache_read
    kept = prices.input if prices.cache_write is None else prices.cache_write
    parts = CostParts(
        read * again / _MILLION,
        written * kept / _MILLION,
        max(0, usage.input - read - written) * prices.input / _MILLION,
        (usage.output or 0) * prices.output / _MILLION,
        Decimal(0),
    )
    rates = InputRates(prices.input / _MILLION, again / _MILLION, kept / _MILLION, kept / _MILLION)
    fees = tuple(words for count, words in _searches(usage) if count)
    return _with_fees(Cost(parts.total, "settings", parts.total - parts.output, parts, rates, fees), usage)


def has_counts(reading: Reading) -> bool:
    """Whether the answer counts enough for a price. An answer outside generation need not have any output."""
    usage = reading.usage
    if usage is None or not reading.is_generation:
        return usage is not None and usage != Usage(problems=usage.problems)
    return usage.input is not None and usage.output is not None


def own_prices(reading: Reading) -> ModelPrices | None:
    """The prices of the turn's model in the settings of the working directory. Raises CassetteError for bad ones."""
    table = _settings(_here())
    names = [name.lower() for name in (reading.response_model, reading.request.model) if name]
    for name in names:
        if name in table:
            return table[name]
    return next((table[key] for key in table for name in names if "*" in key and fnmatchcase(name, key)), None)


def _here() -> Path | None:
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


@lru_cache(maxsize=8)
def _settings(folder: Path | None) -> dict[str, ModelPrices]:
    """`[prices]` of the settings in `folder`, which is the working directory; names in lower case.

    None is a working directory that was removed: it has no settings.
    """
    return {name.lower(): prices for name, prices in read_settings().prices.items()}


def _listed(round_trip: RoundTrip, reading: Reading) -> Cost | None:
    usage = reading.usage
    if usage is None or not has_counts(reading):
        return None
    found = (_price(name, reading, round_trip.started_at) for name in price_names(round_trip, reading))
    return next((_with_fees(one, usage) for one in found if one is not None), None)


def _with_fees(cost: Cost, usage: Usage) -> Cost:
    """The same cost with the fees that no price list knows."""
    return replace(cost, unpriced_fees=(*cost.unpriced_fees, *usage.other_fees)) if usage.other_fees else cost


def _searches(usage: Usage) -> Iterator[tuple[int, str]]:
    """The searches that a price list can have a price for, and their names as fees."""
    yield usage.web_searches, "web search"
    yield usage.file_searches, "file search"
    yield usage.rerank_searches, "reranking"


def _price(name: PriceName, reading: Reading, started_at: float) -> Cost | None:
    """What the price list says, or what it said before of the same."""
    known = known_prices()
    if known is None:
        return _calculated(name, reading, started_at)
    terms, counted = sorted(reading.price_terms.items()), sorted(_counted(reading).items())
    question = digest(name.provider, name.model, started_at, terms, counted)
    if question in known:
        return _cost_from(known[question])
    found = _calculated(name, reading, started_at)
    known[question] = _figures(found)
    return found


def _calculated(name: PriceName, reading: Reading, started_at: float) -> Cost | None:
    prices = price_list()
    if not prices.providers:
        return None
    from genai_prices.types import Usage

    usage = reading.usage
    assert usage is not None
    day = datetime.fromtimestamp(started_at, UTC)
    terms, counted = reading.price_terms or None, _counted(reading)
    try:
        found = prices.calc(Usage(**counted), name.model, name.provider, None, day, terms)
    except (LookupError, ValueError):
        return None
    if not _is_priced(found.model_price, counted):
        return None
    fees = tuple(_fees_without_price(found.model_price, usage))
    return Cost(found.total_price, "listed", found.input_price, _parts(found, usage), _rates(found, usage), fees)


def _fees_without_price(prices: "ModelPrice", usage: Usage) -> Iterator[str]:
    """The searches that have no listed price. A model without any price is free in the list, searches included."""
    listed = (prices.web_searches_kcount, prices.storage_searches_kcount, prices.rerank_searches_kcount)
    is_free = not any(value is not None for value in vars(prices).values())
    for (count, words), price in zip(_searches(usage), listed, strict=True):
        if count and price is None and not is_free:
            yield words


def _figures(cost: Cost | None) -> list[str] | None:
    """A cost by the price list as texts; `_cost_from` reads them."""
    if cost is None:
        return None
    assert cost.input is not None and cost.parts is not None and cost.rates is not None
    figures = (cost.amount, cost.input, *astuple(cost.parts), *astuple(cost.rates))
    return [*map(str, figures), *cost.unpriced_fees]


def _cost_from(figures: Answer) -> Cost | None:
    if figures is None:
        return None
    amount, into, *parts = map(Decimal, figures[:7])
    return Cost(amount, "listed", into, CostParts(*parts), _rates_from(*figures[7:11]), tuple(figures[11:]))


@lru_cache(maxsize=256)
def _rates_from(*figures: str) -> InputRates:
    return InputRates(*map(Decimal, figures))


def _parts(found: "PriceCalculation", usage: Usage) -> CostParts:
    """The cost by kind of token. The cached tokens have their own prices, and the rest of the input is fresh."""
    prices, whole = found.model_price, usage.input or 0
    fresh_price = _rate(prices.input_mtok, whole)
    read_price = _rate(prices.cache_read_mtok, whole, fresh_price)
    write_price = _rate(prices.cache_write_mtok, whole, fresh_price)
    hour_price = _rate(prices.cache_write_1h_mtok, whole, write_price)
    written = usage.cache_write or 0
    hour = min(usage.cache_write_1h, written)
    # What the price list says of the whole input is right; no part may make it negative.
    left = found.input_price
    read = min(left, (usage.cache_read or 0) * read_price / _MILLION)
    write = min(left - read, ((written - hour) * write_price + hour * hour_price) / _MILLION)
    other = found.total_price - found.input_price - found.output_price
    return CostParts(read, write, left - read - write, found.output_price, other)


def _rates(found: "PriceCalculation", usage: Usage) -> InputRates:
    prices, whole = found.model_price, usage.input or 0
    fresh = _rate(prices.input_mtok, whole)
    read = _rate(prices.cache_read_mtok, whole, fresh)
    write = _rate(prices.cache_write_mtok, whole, fresh)
    hour = _rate(prices.cache_write_1h_mtok, whole, write)
    return _for_one_token(fresh, read, write, hour)


@lru_cache(maxsize=256)
def _for_one_token(*prices: Decimal) -> InputRates:
    """Prices for a million tokens as rates. The turns of a run have the same ones, so they share them."""
    return InputRates(*(price / _MILLION for price in prices))


def _rate(price: "Decimal | TieredPrices | None", whole: int, otherwise: Decimal = Decimal(0)) -> Decimal:
    """Dollars for a million tokens in a request with `whole` input tokens. The highest tier holds for all tokens."""
    if price is None:
        return otherwise
    if isinstance(price, Decimal):
        return price
    return next((tier.price for tier in reversed(price.tiers) if whole > tier.start), price.base)


_PRICED_BY = {
    "input_tokens": "input_mtok",
    "cache_read_tokens": "cache_read_mtok",
    "cache_write_tokens": "cache_write_mtok",
    "cache_write_1h_tokens": "cache_write_1h_mtok",
    "input_audio_tokens": "input_audio_mtok",
    "input_image_tokens": "input_image_mtok",
    "input_video_tokens": "input_video_mtok",
    "output_tokens": "output_mtok",
    "output_audio_tokens": "output_audio_mtok",
    "output_image_tokens": "output_image_mtok",
    "output_video_tokens": "output_video_mtok",
    "web_searches": "web_searches_kcount",
    "storage_searches": "storage_searches_kcount",
    "rerank_searches": "rerank_searches_kcount",
    "input_characters": "input_mchars",
    "audio_seconds": "audio_hours",
}
"""What the price list can have a price for, and its name for that price."""


def _is_priced(prices: "ModelPrice", counted: Iterable[str]) -> bool:
    """Whether anything that was counted has a price. A model without any price is free in the list.

    A model that has a price for seconds alone is not free for tokens.
    """
    named = [name for name in counted if name in _PRICED_BY]
    known = (getattr(prices, _PRICED_BY[name]) is not None for name in named)
    return not named or any(known) or not any(value is not None for value in vars(prices).values())


def _counted(reading: Reading) -> dict[str, int | float]:
    """What was counted, by the names that the price list has for it; what is zero is left out."""
    usage = reading.usage
    assert usage is not None
    counts = (
        usage.input,
        usage.cache_read,
        usage.cache_write,
        min(usage.cache_write_1h, usage.cache_write or 0),
        usage.input_audio,
        usage.input_image,
        usage.input_video,
        usage.output,
        usage.output_audio,
        usage.output_image,
        usage.output_video,
        usage.web_searches,
        usage.file_searches,
        usage.rerank_searches,
        usage.characters,
        usage.audio_seconds,
    )
    counted = {name: count for name, count in zip(_PRICED_BY, counts, strict=True) if count}
    return counted | _cached_media(usage)


def _cached_media(usage: Usage) -> dict[str, int]:
    """How much sound and how many pictures are in the cached tokens: the price list must know, where there are both.

    Where the answer does not say, as few as its counts allow: text is usually first in a prompt.
    """
    if not usage.cache_read:
        return {}
    media = {
        "audio": (usage.input_audio, usage.cached_audio),
        "image": (usage.input_image, usage.cached_image),
        "video": (usage.input_video, usage.cached_video),
    }
    said = sum(cached or 0 for _, cached in media.values())
    text = max(0, (usage.input or 0) - sum(count for count, _ in media.values()))
    rest = max(0, usage.cache_read - said - text)
    found: dict[str, int] = {}
    for kind, (count, cached) in media.items():
        if count:
            found[f"cache_{kind}_read_tokens"] = at = min(count, usage.cache_read, rest if cached is None else cached)
            rest -= at if cached is None else 0
    return found
