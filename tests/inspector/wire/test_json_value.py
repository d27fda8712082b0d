"""JSON values are narrowed without trust."""

import pytest

from turntape.inspector.wire.json_value import as_count


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (3, 3),
        (3.9, 3),
        (-3, -3),
        (0, 0),
        (2**53, 2**53),
        (-(2**53), -(2**53)),
        (2**53 + 2, None),
        (1e300, None),
        (float("inf"), None),
        (float("nan"), None),
        (True, None),
        ("3", None),
        ([3], None),
        (None, None),
    ],
)
def test_a_count_is_a_number_that_json_exchanges_exactly(value: object, count: int | None) -> None:
    assert as_count(value) == count
