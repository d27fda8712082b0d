"""Axes: round ticks with units."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turntape.inspector.run.strip.axis import amount_text, axis


@pytest.mark.parametrize(
    ("highest", "unit", "labels"),
    [
        ("0.0278", "dollars", ["$0", "$0.015", "$0.030"]),
        ("0.31", "dollars", ["$0", "$0.2", "$0.4"]),
        ("0.48", "dollars", ["$0", "$0.25", "$0.50"]),
        ("2.9", "dollars", ["$0", "$1.5", "$3.0"]),
        ("11", "dollars", ["$0", "$6", "$12"]),
        ("13000", "dollars", ["$0", "$7,500", "$15k"]),
        ("0.0000021", "dollars", ["$0", "$1.25e-6", "$2.5e-6"]),
        ("3667", "tokens", ["0", "2k", "4k"]),
        ("191000", "tokens", ["0", "100k", "200k"]),
        ("1100000", "tokens", ["0", "600k", "1.2M"]),
        ("7", "tokens", ["0", "4", "8"]),
    ],
)
def test_ticks_are_round_and_have_units(highest: str, unit: str, labels: list[str]) -> None:
    found = axis(Decimal(highest), unit)  # type: ignore[arg-type]

    assert [tick.label for tick in found.ticks] == labels
    assert found.ticks[-1].amount == found.top


@pytest.mark.parametrize(
    ("highest", "labels"),
    [
        ("0.00022", ["$0", "$0.00025"]),
        ("0.000024", ["$0", "$2.5e-5"]),
        ("0.0278", ["$0", "$0.015", "$0.030"]),
        ("0.000017", ["$0", "$0.00001", "$0.00002"]),
    ],
)
def test_without_room_for_a_label_there_are_fewer(highest: str, labels: list[str]) -> None:
    assert [tick.label for tick in axis(Decimal(highest), "dollars", room=8).ticks] == labels


@given(st.decimals("0.0000000001", "99999999", places=10))
def test_the_top_has_a_label_in_eight_cells(highest: Decimal) -> None:
    labels = [tick.label for tick in axis(highest, "dollars", room=8).ticks]

    assert len(labels) > 1 and all(len(label) <= 8 for label in labels)


@given(st.decimals("0.000001", "99999999", places=6))
def test_the_top_is_just_above_the_highest(highest: Decimal) -> None:
    top = axis(highest, "dollars").top

    assert highest <= top <= highest * Decimal("1.34")


def test_nothing_has_an_axis_too() -> None:
    assert axis(Decimal(0), "tokens", 1).top == 1
    assert [tick.label for tick in axis(Decimal(0), "dollars").ticks] == ["$0"]


def test_heights_are_shares_of_the_top() -> None:
    assert axis(Decimal(4), "dollars").share(Decimal(1)) == 0.25


def test_large_and_small_amounts_are_short() -> None:
    assert amount_text(Decimal("2E+3"), "dollars") == "$2,000"
    assert amount_text(Decimal("30000"), "dollars") == "$30k"
    assert amount_text(Decimal("1.5E+6"), "dollars") == "$1.5M"
    assert amount_text(Decimal("1E-5"), "dollars") == "$0.00001"
    assert amount_text(Decimal("2.5E-6"), "dollars") == "$2.5e-6"
