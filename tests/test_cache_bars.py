"""How the bars of the prompt cache are counted."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent.parent))  # bench is not installed

from bench.ledger.cache_bars import Bars, judged, line, vector_10
from bench.ledger.cache_runs import run
from turntape.inspector.ledger import CacheEntry, Figure


def entry(rule: str, expected: str, read: int, actual: int) -> CacheEntry:
    figure = Figure(read, 0, read, "estimated")
    return CacheEntry(rule=rule, expected=expected, read=figure, written=None, actual_read=actual, actual_written=0)  # pyright: ignore[reportArgumentType]


def test_marks_count_to_the_token() -> None:
    bars = Bars()
    for actual in (5000, 5001, 0):
        bars.add(entry("marks", "expected", 5000, actual))
    bars.add(entry("marks", "possible", 5000, 0))
    assert (bars.marks, bars.hits) == ({True: 1, False: 2}, {True: 1, False: 1})


@pytest.mark.parametrize(("actual", "right"), [(1280, True), (1152, True), (1024, False)])
def test_a_grid_counts_within_one_step(actual: int, right: bool) -> None:
    bars = Bars()
    bars.add(entry("grid of 128", "possible", 1280, actual))
    bars.add(entry("grid of 128", "possible", 1280, 0))
    assert bars.grid == {right: 1}


def test_a_read_of_the_providers_own_text_is_none_of_the_conversation() -> None:
    bars = Bars()
    for actual in (128, 192):
        bars.add(entry("grid of 64", "possible", 768, actual), own=128)
    assert (bars.own, bars.grid, bars.answers) == (1, {False: 1}, {False: 1})


def test_a_promise_that_nobody_made_is_counted() -> None:
    bars = Bars()
    bars.add(entry("none promised", "expected", 1280, 0))
    bars.add(entry("none promised", "possible", 1280, 0))
    assert bars.claimed == 1


def test_boundaries_count_within_five_percent() -> None:
    bars = Bars()
    bars.add_boundary(entry("marks", "unknown", 0, 1000), Figure.exact(1050))
    bars.add_boundary(entry("marks", "unknown", 0, 1000), Figure.exact(1051))
    bars.add_boundary(entry("marks", "unknown", 0, 0), Figure.exact(1))
    assert bars.boundaries == {True: 1, False: 1}


def test_a_run_against_the_oracle_is_judged() -> None:
    bars = judged(run("Claude", 1, 4))
    assert bars.marks[True] == 3
    assert "100.0 %" in line("Claude", bars)


def test_the_prices_of_the_reference() -> None:
    assert vector_10()
