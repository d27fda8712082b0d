"""Numbers for people."""

from decimal import Decimal

import pytest

from turntape.inspector.views.text.number_format import about, begun, cost_note, lasted, spent, turn_count


@pytest.mark.parametrize(
    ("turns", "attempts", "text"),
    [(0, 0, "0 turns"), (1, 1, "1 turn"), (1, 2, "1 turn · 1 more attempt"), (11, 13, "11 turns · 2 more attempts")],
)
def test_attempts_are_counted_where_there_are_more_of_them(turns: int, attempts: int, text: str) -> None:
    assert turn_count(turns, attempts) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.04, "40 ms"), (99.9, "99.9 s"), (111, "1.9 min"), (596, "9.9 min"), (598, "10 min"), (6000, "1.7 h")],
)
def test_a_duration_has_two_digits_at_least(seconds: float, text: str) -> None:
    assert lasted(1000 * seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"), (0, "~0 ms"), (0.044, "~44 ms"), (0.0999, "~100 ms"), (0.347, "~350 ms"), (0.994, "~990 ms"),
        (0.996, "~1.0 s"), (2.44, "~2.4 s"), (9.94, "~9.9 s"), (9.96, "~10 s"), (83.04, "~83 s"), (111, "~2 min"),
        (598, "~10 min"), (6000, "~1.7 h"),
    ],
)  # fmt: skip
def test_an_estimate_has_two_digits_at_most(seconds: float | None, text: str) -> None:
    assert about(None if seconds is None else 1000 * seconds) == text


def test_the_source_of_a_cost_is_named_where_it_is_not_the_price_list() -> None:
    assert cost_note("stated") == "stated by the API"
    assert cost_note("settings") == "by the prices in your settings"
    assert cost_note("listed") == cost_note(None) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0.0, ""), (1_780_000_000.0, "2026-05-28 20:26:40 UTC")])
def test_a_recording_without_times_has_no_date(seconds: float, text: str) -> None:
    assert begun(seconds) == text


@pytest.mark.parametrize(
    ("cost", "unpriced", "text"),
    [
        ("0.3", 0, "$0.300"),
        ("0.3", 2, "≥$0.300"),
        ("0", 0, "$0"),
        ("0", 1, "unpriced"),
        (None, 1, "unpriced"),
        (None, 0, "no cost"),
    ],
)
def test_a_sum_says_what_it_lacks(cost: str | None, unpriced: int, text: str) -> None:
    assert spent(None if cost is None else Decimal(cost), unpriced) == text
