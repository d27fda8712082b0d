"""What counts as JSON, and what it says."""

import math

import pytest

from turntape.cassettes.framing.json_text import is_json, parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        ('{"a":1}', {"a": 1}),
        (b'"\\ud83d"', "\ud83d"),
        (b'"\xff"', "\ufffd"),
        (b"null", None),
        (b"{", None),
        (b"", None),
        (b"[" * 100_000, None),
    ],
)
def test_what_apis_send_is_read(text: bytes | str, value: object) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize("beside", ["0", "NaN"])
@pytest.mark.parametrize(
    ("digits", "value"),
    [("9" * 18, int("9" * 18)), ("-" + "9" * 18, -int("9" * 18)), ("9" * 30, 1e30), ("9" * 5000, math.inf)],
)
def test_an_integer_of_more_than_64_bits_is_a_float(digits: str, value: float, beside: str) -> None:
    """Both readers agree: without NaN the text is read by orjson, with it by the standard library."""
    match parse_json(f"[{digits},{beside}]"):
        case [number, _]:
            assert number == value
            assert type(number) is type(value)
        case other:
            assert (value, other) == (math.inf, None), "orjson refuses what no float can hold"


def test_other_text_is_not_json() -> None:
    assert is_json(b'{"a":NaN}')
    assert not is_json(b"{'a':1}")
    assert not is_json(b"[" * 100_000)
