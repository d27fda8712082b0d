"""What a provider's cache rules expect of a turn, beside what its answer counts. All figures are tokens."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ...wire.cache_rules import Cause
from ..model import Figure

type Expectation = Literal["expected", "possible", "unknown"]
"""`expected`: the provider keeps what its rules say. `possible`: it may, and promises nothing. `unknown`: the tape does
not show what the cache held, or nothing is known of this cache."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A part of the prompt that could have been read from the cache, and was not."""

    cause: Cause
    message: str
    """What happened, as one sentence without a full stop."""
    at: str
    """JSON pointer to the first piece that differs; empty when no piece does."""
    first_byte: int | None
    """The first byte that differs in that piece, as compact JSON."""
    tokens: int
    """How many tokens were not read."""
    price: Decimal | None
    """What they cost more than if they had been read, in US dollars; None without a price."""
    because_of: int | None
    """The place of the turn that this one is compared with: it wrote or could have read what is missing here."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One turn and the cache."""

    rule: str
    """The name of the rule in force: `marks`, `grid of 128`, `none promised`, `unknown`."""
    expected: Expectation
    read: Figure | None
    """What the rules say is read; None when that is unknown."""
    written: Figure | None
    """What they say is written; None where the API does not count it, and when it is unknown."""
    actual_read: int | None
    actual_written: int | None
    miss: Miss | None = None
