"""Counts of tokens: what is not a count is reported, and is not used."""

import pytest

from turntape.inspector.wire.protocols.shared.counts import Counts, as_token_count, later_usage, wrong_usage


@pytest.mark.parametrize(("value", "count"), [(0, 0), (7, 7), (7.0, 7), (2**53, 2**53)])
def test_a_whole_number_from_zero_is_a_count(value: object, count: int) -> None:
    assert as_token_count(value) == count


@pytest.mark.parametrize(
    "value",
    [
        -1,
        -0.5,
        1.5,
        True,
        False,
        "7",
        "",
        [],
        {"tokens": 7},
        float("inf"),
        float("nan"),
        -float("inf"),
        2**53 + 2,
        1e300,
    ],
)
def test_anything_else_is_reported_and_not_used(value: object) -> None:
    counts = Counts({"tokens": value})

    assert counts.first("tokens") is None
    assert counts.problems == (f"usage.tokens is {value!r}, which is not a count of tokens.",)


def test_the_first_field_that_holds_a_count_is_used() -> None:
    counts = Counts({"a": None, "b": -1, "c": {"d": 3}, "e": 4})

    assert counts.first("missing", "a", "b", "c.d", "e") == 3
    assert counts.problems == ("usage.b is -1, which is not a count of tokens.",)


def test_a_field_is_reported_once_and_under_the_name_of_its_object() -> None:
    counts, nameless = Counts({"a": -1}, "meta"), Counts({"a": -1}, "")

    assert [counts.first("a"), counts.first("a"), nameless.first("a")] == [None, None, None]
    assert counts.problems == ("meta.a is -1, which is not a count of tokens.",)
    assert nameless.problems == ("a is -1, which is not a count of tokens.",)


def test_a_field_that_is_missing_or_null_is_not_a_problem() -> None:
    counts = Counts({"a": None, "b": {}})

    assert (counts.first("a", "b.c", "x"), counts.problems) == (None, ())


def test_a_long_value_is_shortened() -> None:
    assert Counts({"a": "x" * 60}).problems == ()
    assert wrong_usage("x" * 58) == f"usage is {'x' * 58!r}, which is not an object with counts of tokens."
    assert wrong_usage("x" * 59) == f"usage is '{'x' * 56}..., which is not an object with counts of tokens."


@pytest.mark.parametrize(
    ("later", "counts"),
    [
        ({"input": 0, "output": 9}, {"input": 5, "output": 9}),
        ({"input": None, "output": 0}, {"input": 5, "output": 1}),
        ({"input": 4}, {"input": 4, "output": 1}),
        ({"cached": 0}, {"input": 5, "output": 1, "cached": 0}),
        ({"input": False}, {"input": False, "output": 1}),
        (None, {"input": 5, "output": 1}),
    ],
)
def test_a_later_event_of_a_stream_counts_and_says_0_of_what_it_does_not_know(later: object, counts: object) -> None:
    assert later_usage({"input": 5, "output": 1}, later) == counts
