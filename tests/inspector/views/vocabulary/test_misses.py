"""Cache misses in the order of the views, and those that no provider promised to avoid."""

from dataclasses import replace
from decimal import Decimal

from turntape.inspector.ledger import CacheEntry, Miss, TurnEntry
from turntape.inspector.views.vocabulary.misses import miss_price, miss_tokens, misses, misses_note


def turn(place: int, cause: str | None, price: str | None = None, tokens: int = 100) -> TurnEntry:
    """A turn with a miss of this cause, or with none."""
    miss = None
    if cause is not None:
        miss = Miss(cause=cause, message="why", tokens=tokens, price=None if price is None else Decimal(price))
    cache = CacheEntry(
        rule="grid of 128", expected="possible", read=None, written=None, actual_read=0, actual_written=0, miss=miss
    )
    return TurnEntry(
        place=place,
        thread="t1",
        turn=place + 1,
        attempt=1,
        input=1000,
        added=None,
        input_cost=None,
        output_cost=None,
        cost=None,
        cache=cache,
    )


def test_the_dearest_is_first_and_what_was_not_promised_is_apart() -> None:
    turns = [
        turn(0, None),
        turn(1, "not-promised", "0.5"),
        turn(2, "expired", "0.01"),
        turn(3, "not-promised", "0.75"),
        turn(4, "changed-system", "0.02"),
    ]
    found = misses(turns)

    assert [one.place for one in found.known] == [0, 1, 2, 3, 4]
    assert [one.place for one, _ in found.listed] == [4, 2]
    assert [one.place for one, _ in found.unpromised] == [3, 1]
    assert (miss_price(found.unpromised), miss_tokens(found.unpromised)) == (Decimal("1.25"), 200)
    assert misses_note(found) == "4, together $1.28"


def test_a_single_one_is_listed_with_the_others() -> None:
    found = misses([turn(0, "not-promised", "0.5"), turn(1, "expired", "0.01")])

    assert [miss.cause for _, miss in found.listed] == ["not-promised", "expired"] and not found.unpromised


def test_without_a_price_the_most_tokens_are_first_and_no_sum_is_said() -> None:
    found = misses([turn(0, "expired", tokens=10), turn(1, "expired", tokens=1_000)])

    assert [one.place for one, _ in found.listed] == [1, 0]
    assert miss_price(found.all) is None and misses_note(found) == "2"


def test_turns_without_a_rule_are_not_known() -> None:
    bare = TurnEntry(
        place=0, thread="t1", turn=1, attempt=1, input=1, added=None, input_cost=None, output_cost=None, cost=None
    )

    assert not misses([bare]).known


def test_no_number_is_said_where_no_answer_says_what_was_read() -> None:
    none = turn(0, None)
    assert none.cache is not None
    silent = replace(none, cache=replace(none.cache, actual_read=None))

    assert misses_note(misses([none])) == "0" and misses_note(misses([none, silent])) == "0"
    assert misses_note(misses([silent])) == ""
