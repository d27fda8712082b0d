"""The types of option values: what they take, and what they say about anything else."""

from argparse import ArgumentTypeError
from collections.abc import Callable
from decimal import Decimal

import pytest

from turntape.proxy.cli import argument_types as types


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("openai=http://a", ("openai", "http://a")),
        ("openai=HTTPS://a/v1", ("openai", "HTTPS://a/v1")),
        ("*=http://[::1]:8000/v1?a=b", ("*", "http://[::1]:8000/v1?a=b")),
        ("a=http://h:1", ("a", "http://h:1")),
        ("a=http://h:65535/x", ("a", "http://h:65535/x")),
    ],
)
def test_an_upstream_is_a_name_and_a_url(text: str, expected: tuple[str, str]) -> None:
    assert types.upstream(text) == expected


@pytest.mark.parametrize(
    "text", ["openai", "=http://a", "openai=", "openai=ftp://a/v1", "openai=a/v1", "a=http://", "a/b=http://a"]
)
def test_what_is_not_an_upstream_is_quoted_with_an_example(text: str) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        types.upstream(text)

    assert str(caught.value).startswith(f"{text!r} is not NAME=URL")
    assert "such as openai=http://localhost:8000/v1" in str(caught.value)


@pytest.mark.parametrize("port", ["", "0", "65536", "-1", "x", "99999999"])
def test_a_port_that_is_empty_or_out_of_range_is_an_error(port: str) -> None:
    with pytest.raises(ArgumentTypeError, match="has no valid port \\(1 to 65535\\) after the host"):
        types.upstream(f"openai=http://host:{port}")


@pytest.mark.parametrize("text", ["a=http://:80", "a=http:///v1"])
def test_a_url_without_a_host_is_an_error(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="the URL has no host"):
        types.upstream(text)


NUMBERS: list[tuple[Callable[[str], int], list[str], list[str], str]] = [
    (types.turn_number, ["1", "99"], ["0", "-1", "abc", "", "1.5", "²"], "is not a turn number"),
    (types.turn_count, ["1", "99"], ["0", "-1", "abc", ""], "is not a number of turns (1 or more)"),
    (types.turn_budget, ["0", "99"], ["-1", "abc", ""], "is not a number of turns (0 or more)"),
    (types.port, ["0", "65535"], ["65536", "-1", "seven", ""], "is not a port from 0 to 65535"),
    (types.width, ["1", "200"], ["0", "-1", "wide", ""], "is not a number of columns (1 or more)"),
]


@pytest.mark.parametrize(("kind", "good", "bad", "message"), NUMBERS, ids=lambda value: getattr(value, "__name__", ""))
def test_numbers_have_a_range(kind: Callable[[str], int], good: list[str], bad: list[str], message: str) -> None:
    assert [kind(text) for text in good] == [int(text) for text in good]
    for text in bad:
        with pytest.raises(ArgumentTypeError) as caught:
            kind(text)
        assert str(caught.value).startswith(f"{text!r} {message}")


def test_an_amount_is_above_zero_and_a_budget_may_be_zero() -> None:
    assert types.dollars("0.50") == types.dollars("$0.50") == types.dollar_budget("$0.5") == Decimal("0.5")
    assert types.dollar_budget("0") == 0
    for text in ("0", "-1", "free", "inf", "nan", ""):
        with pytest.raises(ArgumentTypeError, match="is not a dollar amount above 0, such as 0.50"):
            types.dollars(text)
    for text in ("-1", "free", "inf", "nan", ""):
        with pytest.raises(ArgumentTypeError, match="is not a dollar amount, such as 0.50"):
            types.dollar_budget(text)


def test_names_are_separated_by_commas() -> None:
    assert types.names(" a, b ,,c") == ["a", "b", "c"]


def test_types_of_other_modules_report_their_own_sentence() -> None:
    assert types.growth("3x") == 3
    assert types.pace("10,max=0.5") == "10,max=0.5"
    assert types.break_condition("turn=2").value == "2"
    for kind, text in ((types.growth, "0.5"), (types.pace, "0"), (types.break_condition, "turn=0")):
        with pytest.raises(ArgumentTypeError, match=repr(text)):
            kind(text)


@pytest.mark.parametrize("rule", ["fail", "warn", "ignore"])
def test_a_rule_is_a_field_and_what_to_do(rule: str) -> None:
    assert types.matching_rule(f"/a=b/c={rule}") == ("/a=b/c", rule)


@pytest.mark.parametrize("text", ["system", "system=maybe", "=warn", ""])
def test_what_is_not_a_rule_is_quoted(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^{text!r} is not FIELD=fail"):
        types.matching_rule(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100MB", (100_000_000, None)),
        ("1h", (None, 3600.0)),
        ("1.5MiB,90s", (1_572_864, 90.0)),
        ("100MB|1h", (100_000_000, 3600.0)),
        ("2d , 10 kb", (10_000, 172_800.0)),
    ],
)
def test_a_file_is_rotated_at_a_size_a_time_or_both(text: str, value: object) -> None:
    assert types.rotate_at(text) == value


@pytest.mark.parametrize("text", ["", "100", "0MB", "0s", "1 week", "MB", "-1h", "1h;2h", "0.1B"])
def test_another_rotation_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError):
        types.rotate_at(text)


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30.0), ("1.5m", 90.0), ("45", 45.0), ("0s", 0.0)])
def test_a_time_has_a_unit_or_is_seconds(text: str, seconds: float) -> None:
    assert types.duration(text) == seconds


@pytest.mark.parametrize("text", ["soon", "10MB", "-5s", ""])
def test_another_time_is_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a time such as"):
        types.duration(text)
