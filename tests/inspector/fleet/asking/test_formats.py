"""Answers as text, JSON lines, CSV and Parquet."""

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq

from turntape.inspector.fleet.asking import formats

ANSWER = pa.table(
    {
        "branch": ["main", None],
        "runs": [12_345, 1],
        "cost_usd": pa.array([Decimal("1.500000000"), Decimal("20")], pa.decimal128(18, 9)),
        "at": pa.array([datetime(2026, 11, 2, 9, tzinfo=UTC), None], pa.timestamp("us", tz="UTC")),
        "day": [date(2026, 11, 2), None],
        "models": [["a", "b"], []],
        "share": [0.5, float("nan")],
    }
)


def written(table: pa.Table) -> list[dict[str, object]]:
    out = io.StringIO()
    formats.json_lines(table, out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_json_has_amounts_as_strings_and_times_in_utc() -> None:
    assert written(ANSWER) == [
        {
            "branch": "main",
            "runs": 12345,
            "cost_usd": "1.5",
            "at": "2026-11-02T09:00:00.000Z",
            "day": "2026-11-02",
            "models": ["a", "b"],
            "share": 0.5,
        },
        {"branch": None, "runs": 1, "cost_usd": "20", "at": None, "day": None, "models": [], "share": None},
    ]


def test_csv_has_a_line_of_names_and_leaves_unknown_empty() -> None:
    out = io.StringIO()
    formats.comma_separated(ANSWER, out)
    assert out.getvalue().splitlines() == [
        "branch,runs,cost_usd,at,day,models,share",
        'main,12345,1.5,2026-11-02T09:00:00.000Z,2026-11-02,"[""a"", ""b""]",0.5',
        ",1,20,,,[],",
    ]


def test_parquet_keeps_the_types() -> None:
    out = io.BytesIO()
    formats.parquet(ANSWER, out)
    assert pq.read_table(io.BytesIO(out.getvalue())).schema.types == ANSWER.schema.types


def test_columns_of_one_name_get_numbers() -> None:
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"])
    assert written(table) == [{"n": 1, "n_1": 2}]


def test_text_puts_numbers_right_and_shows_unknown() -> None:
    lines = list(formats.text(ANSWER.select(["branch", "runs", "cost_usd", "models"]), 80))
    assert lines == [
        "branch    runs  cost_usd  models",
        "──────  ──────  ────────  ──────",
        "main    12,345       1.5  a, b",
        "–            1        20",
        "(2 rows)",
    ]


def test_text_shortens_words_but_no_number_and_no_address() -> None:
    address = "s3://bucket/prefix#" + "a" * 32
    table = pa.table({"address": [address], "prompt": ["x" * 60], "n": [123_456]})
    head, rule, line = formats.text(table, 90)
    assert address in line and line.endswith("123,456") and "…" in line
    assert max(map(len, (head, rule, line))) <= 90


def test_a_name_that_people_copy_is_whole_in_each_of_its_columns() -> None:
    name = "runs/" + "a" * 50
    for column in ("address", "recording", "cassette"):
        *_, line = formats.text(pa.table({column: [name], "prompt": ["x" * 60]}), 80)
        assert line.startswith(f"{name}  xxx"), column


def test_columns_that_are_too_wide_share_what_there_is() -> None:
    """Two cells lie between three columns: 26 are for the texts, which had 20 each."""
    head, rule, line = formats.text(pa.table({name: ["x" * 20] for name in "abc"}), 30)

    widths = [len(part) for part in rule.split("  ")]
    assert sum(widths) + 4 <= 30
    assert min(widths) >= 8
    assert line.count("…") == 3


def test_json_keeps_letters_that_are_not_ascii() -> None:
    out = io.StringIO()
    formats.json_lines(pa.table({"branch": ["Zürich"]}), out)

    assert out.getvalue() == '{"branch": "Zürich"}\n'


def test_text_that_cannot_be_shortened_enough_has_a_line_for_each_value() -> None:
    table = pa.table({f"column_{k}": [k] for k in range(12)})
    lines = list(formats.text(table, 40))
    assert lines[0].startswith("── row 1")
    assert lines[1:] == [f"column_{k}{' ' * (3 if k < 10 else 2)}{k}" for k in range(12)]


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in "".join(formats.text(pa.table({"name": ["a\x1b[31mb"]}), 80))


def test_long_answers_say_how_many_rows_are_left() -> None:
    lines = list(formats.text(pa.table({"n": list(range(30))}), 80, limit=10))
    assert len(lines) == 13
    assert lines[-1].startswith("… 20 more rows;")


def test_no_rows() -> None:
    assert list(formats.text(pa.table({"n": pa.array([], pa.int64())}), 80))[-1] == "(no rows)"
    assert list(formats.text(pa.table({}), 80)) == []


def test_csv_holds_no_formula_and_no_control_character() -> None:
    branches = ["=1+1", "+x", "-x", "@sum(1)", "\t=1", "\x1b[31mred", "fix/日本 \"a\", 'b'", "a=b"]
    out = io.StringIO()
    formats.comma_separated(pa.table({"branch": branches, "change": [-0.5] * len(branches)}), out)

    found = [one[0] for one in csv.reader(io.StringIO(out.getvalue()))][1:]
    assert found == ["'=1+1", "'+x", "'-x", "'@sum(1)", "'    =1", "\\x1b[31mred", branches[-2], "a=b"]
    assert out.getvalue().count(",-0.5\n") == len(branches), "a number is not a text"
