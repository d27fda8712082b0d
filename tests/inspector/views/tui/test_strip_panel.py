"""The words beside the bars of the growth strip."""

from dataclasses import replace
from decimal import Decimal

import pytest
from strips import row

from turntape.inspector.analysis.pricing import CostParts
from turntape.inspector.run.newest import NewPiece
from turntape.inspector.run.row import Row
from turntape.inspector.run.strip import strip_of
from turntape.inspector.views.text.terminal_text import width_of
from turntape.inspector.views.tui.strip_layout import NUMBERS, StripLayout, lay_out
from turntape.inspector.views.tui.strip_panel import panel_line
from turntape.inspector.views.tui.strip_shown import Shown
from turntape.inspector.wire.values import Usage


def priced(turn: int, cost: str) -> Row:
    parts = CostParts(Decimal(0), Decimal(0), Decimal(cost), Decimal(0), Decimal(0))
    return row(turn, cost=cost, cost_parts=parts, usage=Usage(input=10, output=10))


def narrow(rows: list[Row]) -> StripLayout:
    layout = lay_out(strip_of(rows), "dollars", 80, 5)
    assert layout.side == NUMBERS
    return layout


def words(layout: StripLayout, shown: Shown, y: int) -> str:
    return "".join(text for text, _ in panel_line(layout, shown, y)).strip()


UNPRICED = replace(row(3), usage=Usage(input=5, output=5))


@pytest.mark.parametrize(
    ("each", "unpriced", "whole"),
    [
        ("0.25", False, "of $0.500"),
        ("0.25", True, "of ≥$0.500"),
        ("6172.5", False, "of $12,345"),
        ("6172.5", True, "/≥$12,345"),
        ("0.0000105", False, "/$0.000021"),
        ("0.0000105", True, "≥$0.000021"),
    ],
)
def test_a_narrow_strip_drops_words_and_never_cuts_the_cost_of_the_run(each: str, unpriced: bool, whole: str) -> None:
    layout = narrow([priced(1, each), priced(2, each), *([UNPRICED] if unpriced else [])])

    assert words(layout, Shown(0), 2) == whole
    assert all(width_of(words(layout, Shown(0), y)) < NUMBERS for y in range(layout.height))


def test_a_narrow_strip_says_what_the_run_cost_up_to_the_turn() -> None:
    layout = narrow([priced(1, "1"), priced(2, "0.5"), priced(3, "0.25")])

    assert [words(layout, Shown(1), y) for y in range(3)] == ["so far", "$1.50", "of $1.75"]
    assert words(layout, Shown(0, under=2), 1) == "$1.75"
    assert words(layout, Shown(None), 1) == "$1.75"


def test_playback_does_not_give_away_what_the_run_cost() -> None:
    layout = narrow([priced(1, "1"), priced(2, "0.5")])

    assert [words(layout, Shown(0, playing=0), y) for y in range(3)] == ["so far", "$1.00", ""]


def test_without_a_price_there_is_no_cost_so_far() -> None:
    layout = narrow([replace(UNPRICED, turn=1), replace(UNPRICED, turn=2)])

    assert [words(layout, Shown(0), y) for y in range(2)] == ["unpriced", ""]


def test_kinds_are_named_once_where_no_turn_is_under_the_cursor() -> None:
    layout = lay_out(strip_of([priced(turn, "1") for turn in range(1, 9)]), "dollars", 140, 20)
    assert layout.parts.legend

    beside = [words(layout, Shown(), y) for y in range(layout.height - 1)]

    assert "new" not in " ".join(beside) and "$ shows tokens" in beside
    small = lay_out(strip_of([priced(turn, "1") for turn in range(1, 9)]), "dollars", 140, 6)
    assert not small.parts.legend and "new" in " ".join(words(small, Shown(), y) for y in range(6))


@pytest.mark.parametrize(
    ("width", "shown"), [(120, "2 +900 read_file dates.py"), (200, "2 +900 read_file src/statements/dates.py")]
)
def test_a_file_keeps_its_folders_where_the_panel_has_room(width: int, shown: str) -> None:
    newest = NewPiece("read_file src/statements/dates.py", 1.0, 1)
    usage, before = Usage(input=1900, output=1), Usage(input=1000)
    rows = [priced(1, "0.1"), replace(priced(2, "0.1"), usage=usage, before=before, newest=newest)]

    layout = lay_out(strip_of(rows), "dollars", width, 12)
    assert shown in [words(layout, Shown(0, None, None), y) for y in range(12)]
