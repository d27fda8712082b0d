"""Bills beside each other: the actual one, and what the run would have cost after each change."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from turntape.cassettes.frozen import frozen

from ...wire.cache_rules import Marks
from ...wire.printable import several
from .bills import Bill, bill, by_the_rules
from .change import Change
from .recorded import RecordedRun

_CAP = 2000
"""Results with more tokens than this are worth a row."""
_WORTH = Decimal("0.005")
"""A smaller share of the bill is not shown unless an option names it."""
_SAME_ANSWERS = "The answers stay as they were: another model or prompt may need more or fewer turns."
_BY_PROMISE = "as the rules of the cache promise"
_BY_ALLOWANCE = "with each read that the cache allows"
_STATED = "Where the API stated a cost, it takes the same share more or less than the price list after the change."
_RULES = "The cache begins empty and follows its provider's rules."
_ALLOWED = (
    "The provider promises no reads from its cache: each one that its rules allow is taken to happen, and fewer may "
    "happen."
)
_OPEN = "A cache without known rules is read for the same share of the input as it was."


@frozen
class Scenario:
    """The bill after one change."""

    change: Change
    what: str
    bill: Bill
    difference: Decimal | None
    """Against the actual bill, in US dollars; None where one of the two is not known."""
    share: Decimal | None
    """The same as a share of the actual bill."""
    assumptions: tuple[str, ...]
    promised: bool = True
    """Whether all reads from a cache that were made up for its bill are such as the provider promises."""
    alone: Decimal | None = None
    """Of the difference what the change alone makes, where the rest comes from the cache: that of a changed prompt is
    taken to follow its rules, and that of the recorded run did not."""

    @property
    def alone_share(self) -> Decimal | None:
        """The same as a share of the bill by the rules of the cache."""
        by_rules = None if self.alone is None or self.bill.amount is None else self.bill.amount - self.alone
        return self.alone / by_rules if self.alone is not None and by_rules else None


@frozen
class Comparison:
    """All bills of a run."""

    turns: int
    uncounted: int
    """Turns without counts, which are in no bill."""
    actual: Bill
    scenarios: tuple[Scenario, ...]
    """The cheapest first; those without a price last."""
    refused: int = 0
    """Those of the uncounted that were refused, which cost nothing."""

    def missing(self, bill: Bill) -> int:
        """Turns that may have a cost which is not in this bill."""
        return bill.unpriced + self.uncounted - self.refused

    @property
    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of all scenarios, each once."""
        return tuple(dict.fromkeys(one for scenario in self.scenarios for one in scenario.assumptions))


def compare_bills(run: RecordedRun, changes: Sequence[Change] = ()) -> Comparison:
    """The bills of these changes, and of all together; without any, of what could have saved something in this run."""
    actual, rules = bill(run, Change()), by_the_rules(run)
    if changes:
        together = list(changes)
        if len(changes) > 1 and _joinable(changes):
            whole = changes[0]
            for one in changes[1:]:
                whole |= one
            together.append(whole)
        made = [_alone(run, _scenario(run, actual, one, bill(run, one)), actual, rules) for one in together]
    else:
        made = list(_found(run, actual, rules))
    made.sort(key=lambda one: (one.bill.amount is None, one.bill.amount or Decimal(0)))
    return Comparison(len(run.turns) + run.uncounted, run.uncounted, actual, tuple(made), run.refused)


def _joinable(changes: Sequence[Change]) -> bool:
    """Whether no two of them want another value of the same thing."""
    for name in ("model", "tier", "cache", "cap"):
        if sum(getattr(one, name) is not None for one in changes) > 1:
            return False
    return True


def _scenario(run: RecordedRun, actual: Bill, change: Change, found: Bill) -> Scenario:
    difference = share = None
    # Bills can be compared only when they have the same turns.
    if found.amount is not None and actual.amount is not None and found.unpriced == actual.unpriced:
        difference = found.amount - actual.amount
        share = difference / actual.amount if actual.amount else None
    if change == Change():
        what = _BY_PROMISE if _promised(run) else _BY_ALLOWANCE
        stated = (*_caches(run), *((_STATED,) if found.stated else ()))
        return Scenario(change, what, found, difference, share, stated, _promised(run))
    promised = not change.prompt or change.cache == "none" or _promised(run)
    stated = tuple(_assumptions(run, change, found))
    return Scenario(change, change.words(), found, difference, share, stated, promised)


def _promised(run: RecordedRun) -> bool:
    return all(turn.reads != "allowed" for turn in run.turns)


def _caches(run: RecordedRun) -> Iterator[str]:
    """What is assumed of the caches of a run whose prompts are sent again."""
    reads = {turn.reads for turn in run.turns}
    if reads & {"promised", "allowed"}:
        yield _RULES
    if "allowed" in reads:
        yield _ALLOWED
    if "open" in reads:
        yield _OPEN


def _alone(run: RecordedRun, one: Scenario, actual: Bill, rules: Bill) -> Scenario:
    """The same with what the change alone makes, where its bill has the effect of the rules of the cache too."""
    change, new = one.change, one.bill
    if not change.prompt or change.cache == "none":
        return one
    recorded, ruled = actual, rules
    if change.model is not None or change.tier is not None:
        prices = Change(model=change.model, tier=change.tier)
        recorded, ruled = bill(run, prices), by_the_rules(run, prices)
    if new.amount is None or not actual.amount or not recorded.amount or not ruled.amount:
        return one
    if len({one.unpriced for one in (new, actual, recorded, ruled)}) > 1:
        return one
    of_cache = ruled.amount - recorded.amount
    if abs(of_cache) < _WORTH * recorded.amount:
        return one
    return replace(one, alone=new.amount - of_cache - actual.amount)


def _found(run: RecordedRun, actual: Bill, rules: Bill) -> Iterator[Scenario]:
    """What could have been done otherwise in this run, and makes a difference."""
    own = _scenario(run, actual, Change(), rules)
    if _worth(own):
        yield own
    for change in _candidates(run):
        if change.prompt and change.cache != "none" and bill(run, change).amount == rules.amount:
            continue  # the change itself saves nothing
        one = _alone(run, _scenario(run, actual, change, bill(run, change)), actual, rules)
        if _worth(one):
            yield one


def _worth(one: Scenario) -> bool:
    own = one.share if one.alone is None else one.alone_share
    return own is not None and abs(own) >= _WORTH


def _candidates(run: RecordedRun) -> Iterator[Change]:
    yield Change(cache="none")
    if any(isinstance(turn.rule, Marks) and not turn.rule.implicit for turn in run.turns):
        yield Change(cache="5m", marks=("system", "last"))
        yield Change(cache="1h", marks=("system", "last"))
    yield Change(sort_tools=True)
    yield Change(no_clock=True)
    never = tuple(sorted(name for name in run.tools() if name not in run.called))
    if never:
        yield Change(without=never)
    if run.largest_result() > _CAP:
        yield Change(cap=_CAP)
    yield Change(tier="batch")
    yield Change(tier="flex")
    yield Change(tier="priority")


def _assumptions(run: RecordedRun, change: Change, found: Bill) -> Iterator[str]:
    yield _SAME_ANSWERS
    if change.prompt and change.cache != "none":
        yield from _caches(run)
    if change.model:
        yield (
            "Another model is priced by the tokens that the recorded one counted and read from its cache; each model "
            "counts in its own way."
        )
    if change.tier:
        yield "A tier is priced as if every turn had it; a turn without such a price on its day is in no bill."
    if change.without:
        yield "Without a tool, only its definition is gone; calls and results of it stay."
    if change.cap is not None or change.without:
        yield "A piece has the tokens of the ledger: the API's counts where these allow it, and else an estimate."
    if change.no_clock:
        yield "Dates, times, timestamps and ids are found by their form."
    if found.stated and change.model is None:
        yield _STATED
    if found.amount is None and change.tier is not None:
        of = f" of {change.model!r}" if change.model else ""
        yield f"The price list has no price{of} {Change(tier=change.tier).words()}."
    elif found.amount is None and change.model is not None:
        yield f"No price is known for {change.model!r}: check its name, or price it under [prices] in turntape.toml."
    elif found.unpriced:
        yield f"What has no known price is in no bill (of {several(found.unpriced, 'request')} here)."
