"""The bills of `turntape price` as a table for a terminal."""

from collections.abc import Iterator
from textwrap import wrap

from ...ledger.what_if import Bill, Comparison, Scenario
from .number_format import count, percent, several, spent

_ACTUAL = "as it was"
_NOTHING = "nothing was recorded that could be priced"
_NO_COUNTS = "the API counted no tokens, so there are no bills to compare"
_NO_PRICE = "no turn has a price, so there are no bills to compare; `--model NAME` gives the bill of a known model"
_NO_DIFFERENCE = "no change of cache, tools, results or tier makes a difference of half a percent in this run"


def price_text(comparison: Comparison, name: str, width: int) -> Iterator[str]:
    """The lines: the actual bill, the others with their difference, and what they rest on."""
    requests = several(comparison.turns, "request")
    head = [f"{name}: {requests}, {_spent(comparison, comparison.actual)}"]
    if comparison.uncounted:
        head.append(f"{several(comparison.uncounted, 'request')} without counts: in no bill")
    if comparison.actual.unpriced:
        unpriced = several(comparison.actual.unpriced, "request")
        head.append(f"{unpriced} without a known price: `turntape prices` shows the models")
    for line in head:
        yield from wrap(line, width)
    if not comparison.scenarios:
        yield ""
        yield from wrap(_why_none(comparison), width)
        return
    yield ""
    rows = list(_rows(comparison))
    what = max(12, min(max(len(row[0]) for row in rows), width - 44))
    yield f"{'what if':{what}}  {'bill':>10}  {'change':>10}  {'input':>7}  {'cached':>6}"
    for said, *numbers in rows:
        first, *more = wrap(said, what) or [""]
        bill, difference, sent, read = numbers
        yield f"{first:{what}}  {bill:>10}  {difference:>10}  {sent:>7}  {read:>6}"
        yield from more
    yield ""
    yield "assumed:"
    for one in comparison.assumptions:
        yield from wrap(one, width, initial_indent="  - ", subsequent_indent="    ")


def _why_none(comparison: Comparison) -> str:
    """Why there are no other bills."""
    if not comparison.turns:
        return _NOTHING
    if comparison.uncounted == comparison.turns:
        return _NO_COUNTS
    return _NO_PRICE if comparison.actual.amount is None else _NO_DIFFERENCE


def _rows(comparison: Comparison) -> Iterator[tuple[str, str, str, str, str]]:
    """The rows, the actual bill among them, the cheapest first."""
    actual, put = comparison.actual, False
    for one in comparison.scenarios:
        amount = one.bill.amount
        if not put and (amount is None or (actual.amount is not None and amount > actual.amount)):
            yield _row(comparison, _ACTUAL, actual, "")
            put = True
        yield _row(comparison, one.what + _alone(one), one.bill, _difference(one))
    if not put:
        yield _row(comparison, _ACTUAL, actual, "")


def _row(comparison: Comparison, what: str, bill: Bill, difference: str) -> tuple[str, str, str, str, str]:
    cached = percent(bill.read / bill.input) if bill.input else "–"
    return what, _spent(comparison, bill), difference, count(bill.input), cached


def _difference(one: Scenario) -> str:
    return "–" if one.share is None else f"{one.share * 100:+.0f} %"


def _alone(one: Scenario) -> str:
    """What the change alone makes, where the rest of the difference is that of the cache."""
    share = one.alone_share
    rest = "a cache that follows its rules" if one.promised else "cache reads that nobody promises"
    return "" if share is None else f" (alone {share * 100:+.0f} %; the rest: {rest})"


def _spent(comparison: Comparison, bill: Bill) -> str:
    """What a bill comes to, as every view writes it."""
    return spent(bill.amount, comparison.missing(bill))
