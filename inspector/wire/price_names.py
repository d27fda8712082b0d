"""Which price list applies to an answer, and the model's name in that list, from what is on the wire.

The model's name often says more than the host: `vendor/model` behind a gateway, `model:host` behind a router.
"""

from collections.abc import Collection, Iterator

from turntape.cassettes.frozen import frozen
from turntape.cassettes.tape.model import RoundTrip, split_url

from .exchange import header
from .providers import Provider, provider_of
from .registry import traits_of
from .values import Reading


@frozen
class PriceName:
    """A model in a price list."""

    provider: str | None
    """The provider's id in genai-prices; None: the one that the model's name belongs to."""
    model: str


def price_names(round_trip: RoundTrip, reading: Reading) -> Iterator[PriceName]:
    """The names to look for, best first. Empty when no price list can apply to this server."""
    row, protocol = provider_of(reading.provider), traits_of(reading.protocol)
    if row.local or row.unlisted or not protocol.has_prices:
        return
    named = row.prices or protocol.price_provider
    for model in dict.fromkeys(name for name in (reading.response_model, reading.request.model) if name):
        if row.route_prefix:
            yield from _routed(row, round_trip, reading, model)
            continue
        if named:
            yield PriceName(named, model)
        if row.resells and "/" in model:
            vendor, _, name = model.rpartition("/")
            yield PriceName(vendor.rpartition("/")[2], name)
        elif named is None and (reading.provider is not None or ":" not in model):
            # Where nothing names the server, `name:tag` is a model of Ollama, which runs on the user's machine.
            yield PriceName(None, model)


def price_headers(reading: Reading) -> Collection[str]:
    """The headers of an answer that `price_names` looks at, in lower case."""
    named = provider_of(reading.provider).route_header
    return (named.lower(),) if named else ()


def _routed(row: Provider, round_trip: RoundTrip, reading: Reading, model: str) -> Iterator[PriceName]:
    """The model at the host that a router chose: by its name, a header, or the path. An unknown host has no price."""
    headers = round_trip.response.headers if round_trip.response else ()
    first = split_url(round_trip.request.url).path.split("/")[1:2]
    hosts = (model.partition(":")[2], (reading.request.model or "").partition(":")[2])
    for host in (*hosts, header(headers, row.route_header) if row.route_header else None, *first):
        if host:
            yield PriceName(f"{row.route_prefix}{host}", model.partition(":")[0])
            return
