import pytest

from turntape.cassettes.whole_number import whole_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0), ("7", 7), ("007", 7), ("9" * 18, 10**18 - 1), ("9" * 19, None), ("9" * 5000, None), ("", None),
        ("-1", None), ("+1", None), ("1.0", None), (" 1", None), ("1\n", None), ("²", None), ("١", None), ("1_0", None),
    ],
)  # fmt: skip
def test_only_short_ascii_digits_are_a_number(text: str, number: int | None) -> None:
    assert whole_number(text) == number
