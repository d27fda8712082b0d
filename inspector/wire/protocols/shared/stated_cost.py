"""The cost that an answer states: in its usage, beside it, or in a header.

Gateways speak several protocols and state their cost alike in all of them, so all places are in one table here.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from ...exchange import Exchange, header
from ...json_value import Object, as_object, is_object, value_at
from ...values import StatedCost

_DOLLAR = Decimal(1)


@frozen
class Place:
    """One way to state a cost. Paths lead from the answer, with its usage as `usage`."""

    cost: tuple[str, ...]
    unit: Decimal = _DOLLAR
    """One of it in US dollars."""
    input: tuple[tuple[str, ...], ...] = ()
    """Where the part for the input may be."""
    own_key: tuple[str, ...] = ()
    """A flag that is true when the user's own key paid the model's provider; the cost is the gateway's fee then."""
    own_key_cost: tuple[str, ...] = ()
    """What that provider charges in addition."""


PLACES: tuple[Place, ...] = (
    # OpenRouter (https://openrouter.ai/docs/use-cases/usage-accounting), and gateways that took over its fields.
    Place(
        ("usage", "cost"),
        input=(
            ("usage", "cost_details", "upstream_inference_prompt_cost"),
            ("usage", "cost_details", "upstream_inference_input_cost"),
        ),
        own_key=("usage", "is_byok"),
        own_key_cost=("usage", "cost_details", "upstream_inference_cost"),
    ),
    # Perplexity
    Place(("usage", "cost", "total_cost"), input=(("usage", "cost", "input_tokens_cost"),)),
    # xAI: a tick is a ten-billionth of a dollar
    Place(("usage", "cost_in_usd_ticks"), Decimal("1e-10")),
    # Charm's gateway, beside its own credits
    Place(("usage", "cost", "usd")),
    # Venice
    Place(("cost", "usd")),
    # GitHub Copilot: an AI credit is a cent
    Place(("copilot_usage", "total_nano_aiu"), Decimal("1e-11")),
    # Pydantic's gateway
    Place(("usage", "pydantic_ai_gateway", "cost_estimate")),
    # DeepInfra
    Place(("usage", "estimated_cost")),
    # Vercel's gateway, in a string
    Place(("provider_metadata", "gateway", "cost")),
    Place(("choices", "0", "message", "provider_metadata", "gateway", "cost")),
    # OpenCode Zen, in a string, in a separate event
    Place(("cost",)),
)
"""The first place that holds an amount counts. Read 2026-11-23, from recorded answers where no page is named."""
STATED_BESIDE = ("cost", "copilot_usage", "provider_metadata")
"""Keys of an answer, or of an event of a stream, that state a cost beside the usage."""
_TERMS = ("service_tier", "speed")
COST_HEADERS = ("x-litellm-response-cost",)
"""Answer headers with US dollars: https://docs.litellm.ai/docs/proxy/cost_tracking, read 2026-11-22."""


def stated_cost(body: Object, usage: object) -> StatedCost | None:
    """The cost that the answer `body` with this usage states; None when it states none."""
    whole: Object = {**body, "usage": usage}
    problems: list[str] = []
    for place in PLACES:
        amount = _amount(whole, place.cost, problems)
        if amount is None:
            continue
        if place.own_key and value_at(whole, place.own_key) is True:
            amount += _amount(whole, place.own_key_cost, problems) or 0
        part = next((found for at in place.input if (found := _amount(whole, at, problems)) is not None), None)
        return StatedCost(amount * place.unit, None if part is None else part * place.unit, tuple(problems))
    return StatedCost(None, problems=tuple(problems)) if problems else None


def merge_stated(body: Object, event: Object) -> None:
    """Keep in `body` what an event of a stream states beside the usage; a later zero replaces no amount."""
    for key in STATED_BESIDE:
        value = event.get(key)
        if is_object(value):
            body[key] = {**as_object(body.get(key)), **value}
        elif value is not None and (key not in body or _number(value)):
            body[key] = value


def price_terms(*places: Object) -> dict[str, str]:
    """Terms that change a price, under the names that price lists have for them."""
    return {name: value for name in _TERMS for place in places if isinstance(value := place.get(name), str)}


def header_cost(exchange: Exchange) -> StatedCost | None:
    """The cost in the headers of the answer; None when no header states one."""
    headers = exchange.response.headers if exchange.response else ()
    stated = next(((name, text) for name in COST_HEADERS if (text := header(headers, name))), None)
    if stated is None:
        return None
    problems: list[str] = []
    return StatedCost(_amount(dict([stated]), (stated[0],), problems), problems=tuple(problems))


def _amount(body: Mapping[str, object], path: Sequence[str], problems: list[str]) -> Decimal | None:
    value = value_at(body, path)
    if value is None or is_object(value):
        return None
    amount = _number(value)
    if amount is None or amount < 0:
        problems.append(f"{'.'.join(path)} is {value!r}, which is not an amount of money.")
        return None
    return amount


def _number(value: object) -> Decimal | None:
    """A JSON number, or a decimal number in a string; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except ArithmeticError:
        return None
    return amount if amount.is_finite() else None
