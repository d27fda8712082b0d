"""Queries: words and fields, all of which must hold."""

from dataclasses import replace

import pytest
import tool_tapes
from viewing import EXAMPLE

from turntape.inspector.run.filters import FIELDS, parse
from turntape.inspector.run.run_index import Run

RUN = Run.load(EXAMPLE)


def found(query: str) -> list[int]:
    """The numbers of the round trips that a query lets through."""
    test = parse(query)
    return [row.index for row in RUN.rows.all if test(row)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", list(range(12))),
        ("pivot", [6, 7, 9, 11]),
        ("PIVOT 68", [6, 7, 9, 11]),
        ('"pivot year for"', [11]),
        ("tool:write_file", [6, 7]),
        ("tool:_file -is:error", [2, 4, 9]),
        ("layer:client", [7]),
        ("is:length", [6, 7]),
        ("is:error", [6, 7]),
        ("is:failed", [8]),
        ("finding:truncated", [6, 7]),
        ("status:529", [8]),
        ("status:5xx", [8]),
        ("cost:>0.01", [6, 7]),
        ("cost:<$0.0015", [1, 3, 4]),
        ("out:>1k", [6, 7]),
        ("thread:t3", [3, 4, 5]),
        ("model:haiku", [1]),
        ("turn:=3 thread:t1", [6]),
        ("api:anthropic url:messages run:example -thread:t1", [1, 3, 4, 5]),
        ("overloaded", [8]),
        ("client-system-prompt-changed", [7]),
        ("no such words", []),
    ],
)
def test_a_query_lets_through(query: str, expected: list[int]) -> None:
    assert found(query) == expected


def test_what_is_not_a_number_is_said_and_the_rest_holds() -> None:
    query = parse("cost:much tool:write")

    assert query.problem == "'cost:much' needs a number, as in cost:>0.05"
    assert [row.index for row in RUN.rows.all if query(row)] == [6, 7]


def test_only_words_are_marked_in_the_text() -> None:
    assert parse('pivot "two words" -left tool:edit cost:>1').words == ("pivot", "two words")


def test_every_field_is_explained() -> None:
    assert all(shown for _, shown in FIELDS.values())


def test_a_finding_is_found_by_its_former_id() -> None:
    row = replace(
        RUN.rows.all[0], findings=(replace(RUN.rows.all[7].findings[0], id="new-word", aliases=("old-word",)),)
    )

    assert [bool(parse(query)(row)) for query in ("finding:old-word", "old-word", "finding:new", "finding:other")] == [
        True, True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("six", [2]),
        ('"no space left"', [5, 8]),
        ("tool:search", [2]),
        ("tool:stop", [7]),
        ("server:files", [2, 5, 7]),
        ("server:other", []),
        ("layer:tool", [5]),
    ],
)
def test_tool_runs_are_found_by_what_they_returned(query: str, expected: list[int]) -> None:
    rows = Run.of(tool_tapes.story().trips).rows.all
    test = parse(query)

    assert [row.index for row in rows if test(row)] == expected
