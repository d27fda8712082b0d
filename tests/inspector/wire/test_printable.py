"""Amounts as text."""

from decimal import Decimal

import pytest

from turntape.inspector.wire.printable import dollars


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "$0"),
        ("1E-8", "<$0.00001"),
        ("0.00000994", "<$0.00001"),
        ("0.00000996", "$0.000010"),
        ("0.0000123", "$0.000012"),
        ("0.0000996", "$0.00010"),
        ("0.000123", "$0.00012"),
        ("0.000994", "$0.00099"),
        ("0.000996", "$0.0010"),
        ("0.00123", "$0.0012"),
        ("0.00996", "$0.010"),
        ("0.123", "$0.123"),
        ("0.9996", "$1.00"),
        ("99.994", "$99.99"),
        ("1234.5", "$1,234"),
        ("-0.000123", "-$0.00012"),
    ],
)
def test_amounts_have_two_digits_or_more_and_are_never_zero_by_rounding(amount: str, shown: str) -> None:
    assert dollars(Decimal(amount)) == shown
