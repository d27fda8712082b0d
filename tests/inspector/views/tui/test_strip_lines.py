"""The growth strip, line by line: equal amounts look equal, and nothing is drawn that is not so."""

import re
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strips import row

from turntape.inspector.analysis.pricing import CostParts
from turntape.inspector.findings.finding import Finding
from turntape.inspector.run.newest import NewPiece
from turntape.inspector.run.row import Row
from turntape.inspector.run.strip import Bar, strip_of
from turntape.inspector.views.text.terminal_text import width_of
from turntape.inspector.views.tui import strip_lines
from turntape.inspector.views.tui.strip_layout import SCALE, Cells, StripLayout, lay_out
from turntape.inspector.views.tui.strip_lines import Shown, joined, strip_line
from turntape.inspector.views.tui.theme import PALETTES
from turntape.inspector.wire.values import Usage

WRONG = Finding.from_json({"id": "x", "layer": "api", "severity": "error", "tier": "P", "message": "wrong"})


def priced(turn: int, *parts: str, **fields: object) -> Row:
    """A turn with the cost of cache reads, cache writes, new input and output."""
    read, written, fresh, output = map(Decimal, (*parts, *("0",) * (4 - len(parts))))
    found = CostParts(read, written, fresh, output, Decimal(0))
    return row(
        turn, cost=str(found.total), cost_parts=found, usage=Usage(input=10, output=10), **fields  # type: ignore[arg-type]
    )  # fmt: skip


def layout_of(rows: list[Row], width: int = 80, height: int = 5, unit: str = "dollars") -> StripLayout:
    return lay_out(strip_of(rows), unit, width, height)  # type: ignore[arg-type]


def text(layout: StripLayout, shown: Shown | None = None) -> list[str]:
    return ["".join(part for part, _, _ in strip_line(layout, shown or Shown(), y)) for y in range(layout.height)]


def column(layout: StripLayout, number: int, shown: Shown | None = None) -> list[tuple[str, str, str]]:
    """The cells of a bar from the bottom up, each with its look and its background."""
    x = layout.lanes[0].bars[number].x
    found: list[tuple[str, str, str]] = []
    for y in range(layout.parts.notes, layout.parts.notes + layout.parts.bars):
        at = 0
        for part, look, under in strip_line(layout, shown or Shown(), y):
            if at <= x < at + width_of(part):
                found.append((part[x - at], look, under))
                break
            at += width_of(part)
    return found[::-1]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_small_amounts_at_the_right_are_never_cut(width: int) -> None:
    small = text(layout_of([priced(1, "0", "0", "0.000021"), priced(2, "0", "0", "0.000021")], width, 6), Shown(0))

    assert "…" not in "".join(small)
    assert any("$0.000042" in line for line in small)


def test_a_legend_that_has_no_room_for_its_shares_names_every_kind() -> None:
    parts = priced(1, "0.2", "0.2", "0.2", "0.2")
    lines = text(layout_of([parts, replace(parts, turn=2)], 60, 9))

    assert "█ read" in lines[-1] and "█ output" in lines[-1]


def test_a_legend_without_room_for_all_kinds_cuts_no_word() -> None:
    one = replace(priced(1, "0.2", "0.2", "0.2", "0.2"), usage=Usage(20, 5, 5, 10, 4))
    used = Usage(input=100, cache_read=20, cache_write=30, output=20, reasoning=10)
    rows = [one, *(replace(one, turn=turn, usage=used, before=Usage(input=90)) for turn in (2, 3))]

    def legend(width: int) -> str:
        return text(layout_of(rows, width, 9, "tokens"), Shown())[-1].strip()

    assert legend(60) == "█read █rewrite █resent █write █new █output █think"
    assert legend(48) == "█read █rewrite █resent █write █new …"
    assert legend(80) == "█ read  █ rewrite  █ resent  █ write  █ new  █ output  █ think"


@pytest.mark.parametrize("height", [5, 6, 9])
def test_a_strip_without_bars_says_why(height: int) -> None:
    bare = [replace(row(turn), usage=Usage(), cost=None) for turn in (1, 2)]

    shown = "\n".join(text(layout_of(bare, 120, height), Shown(0)))
    assert "no bars:" in shown and "no tokens were counted" in shown
    assert "no bars" not in "\n".join(text(layout_of([priced(1, "0.2"), *bare[1:]], 120, height), Shown(0)))


@pytest.mark.parametrize("width", [20, 40, 56, 80, 100, 120, 200])
@pytest.mark.parametrize("height", [2, 3, 4, 5, 6, 9, 14])
def test_every_line_is_exactly_as_wide_as_the_strip(width: int, height: int) -> None:
    rows = [*(priced(n, "0.1", "0.2", "0.1", str(n)) for n in range(1, 30)), row(30), priced(31, findings=(WRONG,))]
    rows += [row(n, thread="t2", cost="1") for n in range(1, 5)]
    for shown in (Shown(), Shown(3, 5), Shown(3, None, 3, 0.5), Shown(coloured=False)):
        for unit in ("dollars", "tokens"):
            lines = text(layout_of(rows, width, height, unit), shown)

            assert {width_of(line) for line in lines} == {width}


def test_the_looks_are_those_of_the_themes() -> None:
    rows = [priced(n, "1", "1", "1", "1", findings=(WRONG,) * (n % 3 == 0)) for n in range(1, 40)]
    rows += [row(40), *(priced(n, "2", thread="t2") for n in range(1, 5))]
    tokens = [
        row(1, usage=Usage(input=9000), model="claude-opus-4-5", provider="anthropic", newest=NewPiece("ls", 1, 1))
    ]
    layouts = [layout_of(rows[:40], 60, 9), layout_of(rows, 120, 14), layout_of(rows[:2], 200, 6)]
    layouts += [layout_of(tokens, width, height, "tokens") for width in (60, 120) for height in (5, 14)]
    states = (Shown(), Shown(1, 0), Shown(12), Shown(0, 1, 1, 0.5), Shown(coloured=False))
    drawn = [
        line for one in layouts for shown in states for y in range(one.height) for line in strip_line(one, shown, y)
    ]

    for place in (1, 2):
        looks = {cell[place] for cell in drawn} - {"cursor", "trail", ""}
        assert all(look in palette.looks for palette in PALETTES.values() for look in looks)


def test_a_bar_stacks_its_kinds_to_its_height() -> None:
    # The top is $4 and 3 lines are 24 eighths: 6 for a dollar.
    layout = layout_of([priced(1, "1", "1", "1", "1"), priced(2, "2")], height=6)

    assert column(layout, 0) == [
        ("▆", "cache_read", "cache_write"),
        ("▄", "cache_write", "new"),
        ("▂", "new", "output"),
    ]
    assert column(layout, 1) == [("█", "cache_read", ""), ("▄", "cache_read", ""), (" ", "plain", "")]


def test_an_amount_above_0_is_never_drawn_as_nothing_and_0_never_as_something() -> None:
    layout = layout_of([priced(1, "0", "0", "0", "1000"), priced(2, "0", "0", "0.01"), priced(3), row(4)])

    assert column(layout, 1)[0] == ("▁", "new", "")
    assert column(layout, 2)[0][0] == " "
    line = text(layout)[layout.parts.notes + layout.parts.bars - 1]
    bar = layout.lanes[0].bars[3]
    assert line[bar.x : bar.x + bar.filled].strip() == "–"


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), st.integers(0, 10**6))
def test_equal_amounts_draw_equal_bars_and_larger_ones_no_smaller(amounts: list[int], twice: int) -> None:
    rows = [priced(n, "0", "0", "0", str(amount)) for n, amount in enumerate([twice, *amounts, twice], 1)]
    layout = layout_of(rows, width=200, height=6)

    drawn = [sum(" ▁▂▃▄▅▆▇█".index(cell) for cell, _, _ in column(layout, at)) for at in range(len(rows))]

    assert drawn[0] == drawn[-1]
    pairs = sorted(zip([twice, *amounts, twice], drawn, strict=True))
    assert [height for _, height in pairs] == sorted(height for _, height in pairs)


def test_a_folded_bar_is_its_mean_and_the_rest_of_its_range_is_faint() -> None:
    rows = [priced(n, "0", "0", "0", "4" if n % 10 == 0 else "1") for n in range(1, 601)]
    layout = layout_of(rows, width=70, height=6)
    assert layout.lanes[0].each == 12

    cells = column(layout, 0)

    assert cells[0] == ("█", "output", "")
    assert cells[1][1] == "faint" or cells[1][2] == "faint"
    assert cells[2] == ("█", "faint", "")


def test_the_cost_so_far_has_its_own_scale() -> None:
    layout = layout_of([priced(1, "1"), priced(2, "1"), priced(3, "2")])
    line = text(layout)[layout.parts.axis - 1]

    assert line[:SCALE] == "  so far "
    assert [line[one.x] for one in layout.lanes[0].bars] == ["▂", "▄", "█"]


@pytest.mark.parametrize(
    ("costs", "lines"),
    [
        (["0", "1", "3"], ["  █", " ▄█"]),
        (["1", "1", "2"], ["  █", "▄██"]),
        (["0.0001", "0", "4"], ["  █", "▁▁█"]),
        (["3", "1"], ["▄█", "██"]),
    ],
)
def test_the_cost_so_far_takes_two_lines_where_there_is_room(costs: list[str], lines: list[str]) -> None:
    layout = layout_of([priced(turn, cost) for turn, cost in enumerate(costs, 1)], height=14)
    assert layout.parts.total == 2
    first = layout.parts.notes + layout.parts.bars

    drawn = text(layout)[first : first + 2]
    assert ["".join(line[one.x] for one in layout.lanes[0].bars) for line in drawn] == lines
    assert [line[:SCALE].strip() for line in drawn] == ["", "so far"]


def test_the_additions_of_turns_that_are_to_come_are_not_named() -> None:
    def added(turn: int, tokens: int, name: str) -> Row:
        return row(turn, usage=Usage(input=1000 + tokens), before=Usage(input=1000), newest=NewPiece(name, 1.0, 1))

    between = [row(turn, usage=Usage(input=1400)) for turn in range(2, 8)]
    layout = layout_of([added(1, 400, "first.txt"), *between, added(8, 900, "second.txt")], 120, 9, "tokens")

    notes = [text(layout, shown)[0] for shown in (Shown(), Shown(0, None, 0, 1.0), Shown(7, None, 7, 1.0))]
    assert ["first.txt" in line for line in notes] == [True, True, True]
    assert ["second.txt" in line for line in notes] == [True, False, True]


def test_ticks_have_units() -> None:
    lines = text(layout_of([priced(1, "0.021")], height=6))
    assert [line[:SCALE].strip() for line in lines] == ["dollars", "$0.0250", "$0.0125", "$0", "so far", "turn"]

    tokens = [row(1, usage=Usage(input=48_000, output=10))]
    lines = text(layout_of(tokens, height=6, unit="tokens"))
    assert [line[:SCALE].strip() for line in lines] == ["tokens", "50k", "", "25k", "0", "turn"]


def test_a_run_without_a_price_says_its_tokens_and_has_no_line_for_dollars() -> None:
    layout = layout_of([row(1, usage=Usage(input=48_000, output=10))], 120, 6, unit="tokens")
    panel = [line[layout.field :].strip() for line in text(layout, Shown(0))]

    assert panel[0] == "turn 1  48.0k in 10 out"
    assert not any("dollars" in line for line in panel)


def test_a_run_without_amounts_has_no_other_tick_than_0() -> None:
    lines = text(layout_of([row(1)], 80, 5), Shown(0))

    assert [line[:SCALE].strip() for line in lines] == ["dollars", "", "", "$0", "turn"]


def test_the_most_important_mark_is_below_its_bar() -> None:
    failed = priced(2, "1", attempt=2, finish="error", status=500, error="down")
    layout = layout_of([priced(1, "1"), failed, priced(3, "1", findings=(WRONG,))])
    line = text(layout)[layout.parts.axis]

    assert [line[one.x : one.x + one.width].strip() for one in layout.lanes[0].bars] == ["1", "2·2⊘", "3✗"]


def test_a_crowded_axis_keeps_every_mark() -> None:
    rows = [priced(n, "1", findings=(WRONG,) if n % 7 == 0 else ()) for n in range(1, 61)]
    line = text(layout_of(rows))[-1]

    assert line.count("✗") == 8
    assert line[SCALE] == "1"


def test_the_limit_of_the_window_is_a_line_over_the_bars() -> None:
    rows = [row(1, usage=Usage(input=100_000, output=0), model="claude-opus-4-5", provider="anthropic")]
    layout = layout_of(rows, height=6, unit="tokens")

    assert column(layout, 0)[-1] == ("▔", "warn", "")


def test_a_limit_below_the_top_of_a_cell_is_a_line_through_it() -> None:
    small = row(1, usage=Usage(input=1_000), model="claude-opus-4-5", provider="anthropic")
    layout = layout_of([small, row(2, usage=Usage(input=300_000))], height=7, unit="tokens")

    assert [cell[0] for cell in column(layout, 0)] == ["▁", " ", "┄", " ", " "]
    assert column(layout, 0)[2][1] == "warn"


def test_without_colours_the_kinds_have_characters() -> None:
    layout = layout_of([priced(1, "2", "0", "0", "2")], height=6)

    assert [cell for cell, _, _ in column(layout, 0, Shown(coloured=False))] == ["░", "░", "◼"]


def test_what_is_still_to_come_is_hidden() -> None:
    rows = [priced(1, "1"), priced(2, "4", findings=(WRONG,)), priced(3, "4", findings=(WRONG,))]
    layout = layout_of(rows, width=120, height=6)

    lines = text(layout, Shown(1, None, 1, 0.25))

    assert "✗" not in lines[layout.parts.axis]
    assert "$9" not in "".join(lines)
    third = layout.lanes[0].bars[2]
    assert lines[layout.parts.axis - 2][third.x : third.x + third.filled].strip() == "·"
    assert "✗" in text(layout, Shown(1, None, 1, 1.0))[layout.parts.axis]


def test_the_turn_that_is_played_grows_with_its_answer() -> None:
    rows = [priced(1, "1"), priced(2, "1", "0", "0", "3")]
    layout = layout_of(rows, width=120, height=6)

    def filled(share: float) -> int:
        cells = column(layout, 1, Shown(None, None, 1, share))
        return sum(" ▁▂▃▄▅▆▇█".index(cell) if under == "" else 8 for cell, _, under in cells)

    # $1 of input is 6 eighths at once; $3 of output are 18 more in the end.
    assert [filled(share) for share in (0.0, 0.5, 1.0)] == [6, 15, 24]
    assert "so far $2.00" in text(layout, Shown(1, None, 1, 0.0))[1]
    assert "so far $3.50" in text(layout, Shown(1, None, 1, 0.5))[1]
    assert "so far $5.00" in text(layout, Shown(1, None, 1, 1.0))[1]


def test_the_panel_has_the_numbers_of_the_turn() -> None:
    rows = [priced(1, "1"), priced(2, "0.25")]
    layout = layout_of(rows, width=120, height=6)

    lines = [line[layout.field :].strip() for line in text(layout, Shown(1))]

    assert lines[:2] == ["turn 2  $0.250", "so far $1.25 of $1.25"]
    assert text(layout, Shown(1, 0))[0][layout.field :].strip() == "turn 1  $1.00"


@pytest.mark.parametrize(("width", "line"), [(60, 1), (120, 1)])
def test_the_cost_so_far_is_that_of_the_turn_and_not_of_the_last_one_in_its_bar(width: int, line: int) -> None:
    layout = layout_of([priced(turn, "1") for turn in range(1, 301)], width, 6)
    assert layout.lanes[0].each > 1

    assert "$1.00" in text(layout, Shown(0))[line][layout.field :]
    assert "$2.00" in text(layout, Shown(1))[line][layout.field :]


def test_a_large_panel_lists_the_largest_additions() -> None:
    def added(turn: int, tokens: int, name: str) -> Row:
        before, newest = Usage(input=1000), NewPiece(name, 1.0, 1)
        return row(turn, usage=Usage(input=1000 + tokens, output=1), before=before, newest=newest)

    layout = layout_of([row(1), added(2, 400, "ls"), added(3, 900, "cat a.log")], 120, 14, "tokens")

    def panel(shown: Shown) -> list[str]:
        return [line[layout.field :].strip() for line in text(layout, shown)][2:10]

    lists = ["largest additions", "3 +900 cat a.log", "2 +400 ls", ""]
    assert panel(Shown(0)) == ["", "", "", "", *lists]
    assert panel(Shown(1))[0] == "again 1.0k  new 400"
    assert panel(Shown(1, None, 1))[4:] == ["largest additions", "2 +400 ls", "", ""]


def test_no_number_beside_the_bars_is_cut() -> None:
    parts = CostParts(Decimal(0), Decimal(0), Decimal("0.000722"), Decimal(0), Decimal(0))
    first = row(1, cost="0.000722", cost_parts=parts, usage=Usage(input=900))
    second = replace(first, turn=2, usage=Usage(input=1000), before=Usage(input=900))
    lines = [line[-32:] for line in text(layout_of([first, second], 200, 9), Shown(1))]

    assert any("new $0.000072" in line for line in lines) and "…" not in "".join(lines)


def test_the_largest_additions_of_several_threads_have_their_thread() -> None:
    rows = [row(1, usage=Usage(input=1000)), row(1, thread="t2", usage=Usage(input=9))]
    rows.append(row(2, thread="t2", usage=Usage(input=1400), before=Usage(input=1000), newest=NewPiece("ls", 1.0, 1)))
    layout = layout_of(rows, 120, 14, "tokens")

    assert any(line[layout.field :].strip() == "t2:2 +400 ls" for line in text(layout, Shown(0)))


def test_threads_without_room_are_counted_and_their_turns_have_numbers() -> None:
    rows = [priced(turn, "1", thread=f"t{thread}") for thread in range(1, 61) for turn in range(1, 4)]
    layout = layout_of(rows, width=120, height=6)
    assert layout.more > 0 and layout.bar_of(179) is None

    lines = [line[layout.field :].strip() for line in text(layout, Shown(179))]

    assert lines[0] == "turn 3 of t60  $1.00"
    assert lines[1] == "so far $180 of $180"
    assert f"+{layout.more} threads" in lines[-1]
    assert f"+{layout_of(rows, width=80, height=5).more} more" in text(layout_of(rows, width=80, height=5))[3]


def test_one_thread_without_room_is_one_thread() -> None:
    rows = [priced(1, "1", thread=f"t{thread}") for thread in range(1, 61)]
    for width, height in ((80, 5), (120, 6)):
        kept = len(rows) - layout_of(rows, width=width, height=height).more
        layout = layout_of(rows[: kept + 1], width=width, height=height)

        assert layout.more == 1
        assert any(line.rstrip().endswith("+1 thread") for line in text(layout, Shown(0)))


def test_a_run_without_prices_says_so() -> None:
    layout = layout_of([row(1, usage=Usage(input=10, output=1))], unit="tokens")

    assert text(layout)[0].endswith("unpriced  ")
    assert "unpriced" in text(layout_of([row(1, usage=Usage())]))[0], "an answer that nobody counted costs something"
    refused = row(1, usage=Usage(), error="too many requests", emitted="none", status=429, finish="error")
    assert "no cost" in text(layout_of([refused]))[0]


def test_a_bar_shows_what_was_written_to_the_cache_again_apart_from_what_is_new() -> None:
    before = Usage(input=800)
    missed = row(2, usage=Usage(input=1000, cache_write=1000, output=1), before=before)
    layout = layout_of([row(1, usage=Usage(input=800, cache_write=800, output=1)), missed], 160, 10, "tokens")

    cells = column(layout, 1, Shown(0))

    looks = [look for _, look, _ in cells if look in ("rewritten", "cache_write")]
    assert set(looks) == {"rewritten", "cache_write"}
    legend = text(layout)[-1]
    assert "again: █ written again" in legend and "new: █ cache write" in legend


def test_marks_have_a_line_of_their_own_where_there_is_room() -> None:
    rows = [priced(turn, "1", findings=(WRONG,)) for turn in range(1, 100)]
    low, high = layout_of(rows, width=120, height=6), layout_of(rows, width=120, height=10)

    assert "✗✗✗✗" in text(low)[-1].replace(" ", "")
    assert "✗✗✗✗" in text(high)[high.parts.axis - 1].replace(" ", "")
    assert "✗" not in text(high)[high.parts.axis] and " 17 " in text(high)[high.parts.axis]


def test_the_numbers_below_narrow_bars_are_equally_far_apart_whatever_their_length() -> None:
    layout = layout_of([priced(turn, "1") for turn in range(1, 301)], 120, 10)
    axis = text(layout)[layout.parts.axis]
    found = [match.start() for match in re.finditer(r"\d+", axis)]

    assert layout.lanes[0].bars[0].width == 1 and len(found) > 5
    assert len({after - before for before, after in pairwise(found)}) == 1


def test_a_thread_of_one_turn_has_its_number_too() -> None:
    lengths = {"t1": 1, "t2": 40, "t3": 1}
    rows = [priced(turn, "1", thread=thread) for thread, length in lengths.items() for turn in range(1, length + 1)]
    layout = layout_of(rows, 80, 5)
    axis = text(layout)[layout.parts.axis]

    assert {one.width for lane in layout.lanes for one in lane.bars} == {1}
    assert [axis[lane.x] for lane in layout.lanes] == ["1", "1", "1"]
    marked = text(layout_of([replace(one, findings=(WRONG,)) for one in rows], 80, 5))[-1]
    assert [marked[lane.x : lane.x + 2].strip() for lane in layout.lanes] == ["✗", "✗✗", "✗"]


def test_each_number_of_a_turn_is_under_its_bar_also_behind_the_long_number_of_a_retry() -> None:
    labels = ((1, 1), (2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (4, 1), (5, 1))
    rows = [priced(turn, "1", attempt=attempt) for turn, attempt in labels]
    layout = layout_of(rows, SCALE + 2 * len(rows), 12)
    numbers = text(layout)[layout.parts.axis]

    assert {one.width for one in layout.lanes[0].bars} == {2}
    assert numbers == "    turn 1 2 2·2 2·4 4 5 "


@pytest.mark.parametrize(("width", "first"), [(80, "$0.200"), (120, "so far $0.200 of ≥$0.400")])
def test_the_cost_so_far_is_at_least_that_of_the_turns_with_a_known_price(width: int, first: str) -> None:
    unknown = row(2, usage=Usage(input=10, output=10))
    rows = [priced(1, "0.2"), unknown, priced(3, "0.2")]

    def side(place: int) -> list[str]:
        layout = layout_of(rows, width, 6)
        return [line[layout.field :].strip() for line in text(layout, Shown(place))]

    assert first in side(0)
    assert first.replace("$0.200", "≥$0.400", 1) in side(2)


@pytest.mark.parametrize("unit", ["dollars", "tokens"])
@pytest.mark.parametrize("turns", [1, 7, 400])
def test_moving_the_cursor_draws_the_same_as_drawing_the_whole_strip(turns: int, unit: str) -> None:
    rows = [priced(turn, "0.1", "0.05", f"0.{turn % 7}", "0.1") for turn in range(1, turns + 1)]
    layout = layout_of(rows, 120, 6, unit)

    def seen(cells: Cells) -> list[tuple[str, str, str]]:
        """Each cell; of a blank, the look is not seen."""
        return [(sign, look if sign != " " else "", under) for text, look, under in cells for sign in text]

    for place in (None, 0, turns // 2, turns - 1, 0):
        for under in (None, 0, turns // 3):
            shown = Shown(place, under)
            for y in range(layout.parts.axis):
                whole = strip_lines._picture(layout, shown, y)
                assert seen(strip_lines._still(layout, shown, y)) == seen(whole)


def test_a_bar_is_worked_out_once_for_all_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    layout = layout_of([priced(turn, "0.1", "0.1") for turn in range(1, 50)], 120, 6)
    text(layout, Shown(3))
    worked: list[int] = []
    cell = strip_lines._cell

    def counted(layout: StripLayout, shown: Shown, bar: Bar, level: int) -> tuple[str, str, str]:
        worked.append(level)
        return cell(layout, shown, bar, level)

    monkeypatch.setattr(strip_lines, "_cell", counted)
    text(layout, Shown(40))
    assert len(worked) == layout.parts.bars, "only the bar under the cursor"


def test_neighbours_that_look_the_same_are_one_piece() -> None:
    cells = [
        ("a", "plain", ""),
        ("b", "plain", ""),
        (" ", "dim", ""),
        ("  ", "money", ""),
        ("", "x", "y"),
        ("c", "dim", "cursor"),
    ]

    assert joined(cells) == [("ab  " + " ", "plain", ""), ("c", "dim", "cursor")]
