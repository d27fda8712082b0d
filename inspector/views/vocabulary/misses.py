"""The cache misses of a run, in the order of the views: those with a cause one by one, the others together."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from ...ledger import Miss, TurnEntry
from ...wire.printable import dollars

SHOWN = 12
"""Misses that are listed; the smaller ones are folded."""
UNPROMISED = "the prefix was unchanged; the API promises no reads, and it did not read it"
"""What the misses are that no provider promised to avoid."""

type Missed = tuple[TurnEntry, Miss]


@frozen
class Misses:
    """The misses of some turns, the dearest first."""

    known: Sequence[TurnEntry]
    """The turns of whose cache a rule is known."""
    listed: Sequence[Missed]
    """The misses that are listed one by one."""
    unpromised: Sequence[Missed]
    """Those of an unchanged prefix that the provider does not promise to read. A long run has one in most of its turns,
    and nobody can change that, so they are one line. Empty when there is only one, which is listed then."""

    @property
    def are_known(self) -> bool:
        """Whether at least one answer says how much was read from a cache."""
        return any(turn.cache is not None and turn.cache.actual_read is not None for turn in self.known)

    @property
    def all(self) -> list[Missed]:
        return [*self.listed, *self.unpromised]


def misses(turns: Iterable[TurnEntry]) -> Misses:
    """The cache misses of these turns."""
    known = [turn for turn in turns if turn.cache is not None]
    found = [(turn, turn.cache.miss) for turn in known if turn.cache is not None and turn.cache.miss is not None]
    found.sort(key=lambda one: (one[1].price or Decimal(0), one[1].tokens), reverse=True)
    unpromised = [one for one in found if not one[1].is_promised]
    if len(unpromised) < 2:
        return Misses(known, found, [])
    return Misses(known, [one for one in found if one[1].is_promised], unpromised)


def miss_price(found: Iterable[Missed]) -> Decimal | None:
    """What these misses cost together; None when none of them has a price."""
    prices = [miss.price for _, miss in found if miss.price is not None]
    return sum(prices, Decimal(0)) if prices else None


def miss_tokens(found: Iterable[Missed]) -> int:
    """The tokens of these misses together."""
    return sum(miss.tokens for _, miss in found)


def misses_note(found: Misses) -> str:
    """How many misses there are, and what they cost: `292, together $1.20`; empty where nobody knows."""
    if not found.all and not found.are_known:
        return ""
    price = miss_price(found.all)
    return f"{len(found.all):,}" if price is None else f"{len(found.all):,}, together {dollars(price)}"
