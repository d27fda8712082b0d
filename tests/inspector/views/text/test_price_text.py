"""The table of bills."""

from dataclasses import replace
from decimal import Decimal

from turntape.inspector.ledger.what_if import Bill, Change, Comparison, Scenario
from turntape.inspector.views.text.price_text import price_text

ACTUAL = Bill(Decimal("1.00"), 0, 1000, 500, 0)


def scenario(what: str, amount: str | None, share: str | None = None) -> Scenario:
    bill = Bill(None if amount is None else Decimal(amount), 0 if amount else 3, 2000, 0, 0)
    return Scenario(Change(), what, bill, None, None if share is None else Decimal(share), ("Answers stay.",))


def lines(*scenarios: Scenario, width: int = 80, uncounted: int = 0, actual: Bill = ACTUAL) -> list[str]:
    return list(price_text(Comparison(3, uncounted, actual, scenarios), "run", width))


def test_the_actual_bill_is_in_its_place() -> None:
    found = lines(scenario("less", "0.50", "-0.5"), scenario("more", "2.00", "1"), scenario("unknown", None))
    assert found[0] == "run: 3 requests, $1.00"
    assert [line.split()[0] for line in found[3:7]] == ["less", "as", "more", "unknown"]
    assert found[3].split() == ["less", "$0.500", "-50", "%", "2.0k", "0", "%"]
    assert found[4].split() == ["as", "it", "was", "$1.00", "1.0k", "50", "%"]
    assert found[6].split() == ["unknown", "unpriced", "–", "2.0k", "0", "%"]
    assert found[-2:] == ["assumed:", "  - Answers stay."]


def test_long_words_are_wrapped_and_no_line_is_too_long() -> None:
    long = "cache entries kept 1 hour, cache marks behind the system prompt and the last piece"
    for width in (60, 80, 120):
        found = lines(scenario(long, "0.50", "-0.5"), width=width)
        assert max(map(len, found)) <= width
        assert all(word in " ".join(found) for word in long.split())


def test_when_nothing_makes_a_difference_it_says_so() -> None:
    said = "no change of cache, tools, results or tier makes a difference of half a percent in this run"
    assert lines(width=200)[-1] == said
    assert " ".join(lines(width=60)[2:]) == said
    assert max(map(len, lines(width=60))) <= 60


def test_without_a_price_nothing_is_said_to_make_no_difference() -> None:
    found = " ".join(lines(actual=Bill(None, 3, 1000, 0, 0)))
    assert "no turn has a price" in found and "difference" not in found


def test_where_no_model_could_give_a_bill_none_is_suggested() -> None:
    uncounted = " ".join(lines(uncounted=3, actual=Bill(None, 0, 0, 0, 0)))
    empty = " ".join(price_text(Comparison(0, 0, Bill(None, 0, 0, 0, 0), ()), "run", 80))

    assert uncounted.endswith("the API counted no tokens, so there are no bills to compare")
    assert empty == "run: 0 requests, no cost  nothing was recorded that could be priced"


def test_what_is_missing_is_counted() -> None:
    found = lines(uncounted=2, actual=Bill(None, 1, 1000, 0, 0))
    assert found[:3] == [
        "run: 3 requests, unpriced",
        "2 requests without counts: in no bill",
        "1 request without a known price: `turntape prices` shows the models",
    ]


def test_all_bills_are_lower() -> None:
    found = lines(scenario("less", "0.50", "-0.5"))
    assert found[4].startswith("as it was")


def test_a_row_says_what_its_change_makes_alone() -> None:
    capped = replace(scenario("results capped", "0.30", "-0.7"), alone=Decimal("-0.10"))

    assert " ".join(lines(capped, width=120)[3].split()) == (
        "results capped (alone -25 %; the rest: a cache that follows its rules) $0.300 -70 % 2.0k 0 %"
    )
    assert "alone" not in " ".join(lines(scenario("results capped", "0.30", "-0.7")))
    unpromised = " ".join(lines(replace(capped, promised=False), width=120)[3].split())
    assert "(alone -25 %; the rest: cache reads that nobody promises)" in unpromised
