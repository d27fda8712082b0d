"""Names of objects and addresses of recordings."""

import pytest

from turntape.inspector.fleet.store.names import (
    Address,
    cassette_name,
    day_and_stem,
    day_of,
    parse_address,
    rows_name,
)

RECORDING, CONTENT = "ab" * 16, "cd" * 32


@pytest.mark.parametrize(
    ("started", "day"),
    [("2026-01-01T23:59:59Z", "2026-01-01"), ("2026-01-01T23:59:59-02:00", "2026-01-02"), ("2026-05-01", "2026-05-01")],
)
def test_days_are_in_utc(started: str, day: str) -> None:
    assert day_of(started) == day


def test_a_day_has_four_digits_for_the_year_and_is_one_of_utc() -> None:
    assert day_of("0099-01-02T00:00:00Z") == "0099-01-02"
    with pytest.raises(ValueError, match="not in the years 1 to 9999"):
        day_of("0001-01-01T00:00:00+14:00")


def test_names_have_day_and_recording() -> None:
    assert cassette_name(CONTENT) == f"cassettes/v1/cd/{CONTENT}.jsonl.zst"
    assert day_and_stem(rows_name("2026-01-01", RECORDING)) == ("2026-01-01", RECORDING)
    assert day_and_stem("keys/v1/x") is None
    assert day_and_stem("rows/v1/day=2026-02-30/x.parquet") is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (f"s3://b/p#{RECORDING}", Address("s3://b/p", RECORDING)),
        (f"s3://b/p#{RECORDING}/12", Address("s3://b/p", RECORDING, n=12)),
        (f"dir/cassettes/v1/cd/{CONTENT}.jsonl.zst#3", Address("dir", None, CONTENT, 3)),
    ],
)
def test_addresses_are_read_and_written(text: str, address: Address) -> None:
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize("text", ["run.cassette.jsonl", "s3://b/p", "s3://b/p#12", f"#{RECORDING}"])
def test_other_texts_are_not_addresses(text: str) -> None:
    assert parse_address(text) is None
