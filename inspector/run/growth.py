"""How the tokens of a run grow: the tokens of each turn by kind, and how full the context window was.

The input of a turn is divided into what the previous request of the thread already contained, and what is new. What was
sent again was read from the cache, written to it once more, or neither. What is new was written to the cache, or not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from functools import lru_cache

from turntape.cassettes.frozen import frozen

from ..analysis.known_prices import digest, known_prices
from ..analysis.price_list import price_list
from ..wire.providers import provider_of
from .row import Row


@frozen
class Tokens:
    """Tokens by kind. The first five kinds add up to the input, of which three were sent again; the last two are the
    output."""

    cache_read: int = 0
    rewritten: int = 0
    """History that was written to the cache although the previous request contained it."""
    resent: int = 0
    """History that was sent again, neither read from a cache nor written to one."""
    cache_write: int = 0
    """New, and written to the cache."""
    new: int = 0
    """New, and not written to the cache."""
    output: int = 0
    """Output without reasoning."""
    reasoning: int = 0

    @property
    def input(self) -> int:
        return self.again + self.cache_write + self.new

    @property
    def again(self) -> int:
        """What the previous request of the thread contained too."""
        return self.cache_read + self.rewritten + self.resent

    @property
    def total(self) -> int:
        return self.input + self.output + self.reasoning

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


KINDS: tuple[tuple[str, str], ...] = (
    ("cache_read", "cache read"),
    ("rewritten", "written again"),
    ("resent", "resent"),
    ("cache_write", "cache write"),
    ("new", "new input"),
    ("output", "output"),
    ("reasoning", "reasoning"),
)
"""The kinds of tokens in the order in which a bar stacks them, with their titles. `AGAIN` of them were sent again."""
AGAIN, INPUT = 3, 5
"""The first kinds are input that was sent again; all up to the second number are input."""


def tokens_of(row: Row) -> Tokens | None:
    """A turn's tokens, or None when the API did not report them."""
    usage = row.usage
    if usage.input is None and usage.output is None:
        return None
    whole, read, written = usage.input or 0, usage.cache_read or 0, usage.cache_write or 0
    rest = max(0, whole - read - written)
    history = min(row.before.input or 0, whole) if row.before else 0
    rewritten = min(written, max(0, history - read))
    resent = min(rest, max(0, history - read - rewritten))
    reasoning = min(usage.reasoning or 0, usage.output or 0)
    output = (usage.output or 0) - reasoning
    return Tokens(read, rewritten, resent, written - rewritten, rest - resent, output, reasoning)


@frozen
class GrowthStep:
    """A turn in the growth of a run."""

    place: int
    """Its place among the rows."""
    row: Row
    tokens: Tokens | None
    cumulative: Decimal
    """The cost so far, of all requests that have a price."""
    window: int | None
    """The model's context window, where it is known."""
    unpriced: int = 0
    """How many requests so far have a cost that is not known: the real cost is higher than `cumulative`."""

    @property
    def fill(self) -> float | None:
        """How much of the window input and output took, from 0."""
        if self.window is None or self.tokens is None:
            return None
        return self.tokens.total / self.window


def steps(rows: Iterable[tuple[int, Row]]) -> Iterator[GrowthStep]:
    """The growth over these rows, given with their places. Of other round trips, only the cost counts."""
    so_far, unpriced = Decimal(0), 0
    for place, row in rows:
        so_far += row.cost or Decimal(0)
        unpriced += row.unpriced
        if row.is_turn:
            window = context_window(row.model, row.provider)
            yield GrowthStep(place, row, tokens_of(row), so_far, window, unpriced)


@lru_cache(maxsize=256)
def context_window(model: str | None, provider: str | None) -> int | None:
    """The context window of a model in tokens, where genai-prices knows it, or said before what it is."""
    if not model:
        return None
    name, known = provider_of(provider).prices, known_prices()
    if known is None:
        return _listed_window(model, name)
    question = digest("context window", name, model)
    if question not in known:
        found = _listed_window(model, name)
        known[question] = None if found is None else [str(found)]
    answer = known[question]
    return int(answer[0]) if answer else None


def _listed_window(model: str, provider: str | None) -> int | None:
    try:
        _, info = price_list().find_provider_model(model, None, provider, None)
    except (LookupError, ValueError):
        return None
    return info.context_window


def summed(parts: Iterable[GrowthStep]) -> Tokens:
    """All tokens of these steps."""
    total = Tokens()
    for step in parts:
        total += step.tokens or Tokens()
    return total


def clock(seconds: float) -> str:
    """The time of day, UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%H:%M:%S")
