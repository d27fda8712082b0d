"""Where things are in the growth strip, at many sizes."""

import pytest
from strips import row

from turntape.inspector.analysis.turn import Edge
from turntape.inspector.run.newest import NewPiece
from turntape.inspector.run.row import Row
from turntape.inspector.run.strip import strip_of
from turntape.inspector.views.text.terminal_text import width_of
from turntape.inspector.views.tui.strip_layout import (
    NUMBERS,
    PANEL,
    SCALE,
    WIDE_PANEL,
    labels,
    lay_out,
    parts_of,
    without_folders,
)
from turntape.inspector.wire.values import Usage


def turns(number: int, thread: str = "t1", kind: str = "main") -> list[Row]:
    return [row(n, thread=thread, cost=str(n), edge=Edge(kind)) for n in range(1, number + 1)]  # type: ignore[arg-type]


def added(turn: int, tokens: int, name: str) -> Row:
    before, newest = Usage(input=1000), NewPiece(name, 1.0, 1)
    return row(turn, cost="1", usage=Usage(input=1000 + tokens, output=1), before=before, newest=newest)


@pytest.mark.parametrize("priced", [True, False])
@pytest.mark.parametrize("height", range(2, 40))
def test_the_lines_add_up_to_the_height(height: int, priced: bool) -> None:
    parts = parts_of(height, priced=priced)

    assert parts.axis + 1 + parts.legend == height
    assert parts.bars >= 1


@pytest.mark.parametrize("width", [1, 20, 40, 55, 56, 80, 99, 100, 120, 200, 400])
@pytest.mark.parametrize("number", [1, 4, 14, 75, 300, 5000])
def test_all_turns_are_in_the_bars_and_all_bars_in_the_field(width: int, number: int) -> None:
    layout = lay_out(strip_of(turns(number)), "dollars", width, 4)

    shown = [turn.row.turn for lane in layout.lanes for one in lane.bars for turn in one.bar.turns]
    assert shown == list(range(1, number + 1))
    last = layout.lanes[-1].bars[-1]
    assert last.x + last.width <= max(layout.field, SCALE + 1)
    assert layout.lanes[0].bars[0].x == SCALE


@pytest.mark.parametrize("width", [120, 200, 300])
def test_a_dozen_bars_fill_a_screen_and_fewer_get_the_same_width(width: int) -> None:
    dozen, few = (lay_out(strip_of(turns(number)), "dollars", width, 4) for number in (12, 2))

    assert dozen.lanes[0].bars[-1].x + dozen.lanes[0].bars[-1].width > 0.85 * dozen.field
    assert {one.width for one in few.lanes[0].bars} == {max(9, (few.field - SCALE) // 12)}


def test_the_numbers_at_the_right_need_room() -> None:
    strip = strip_of(turns(3))

    assert [lay_out(strip, "dollars", width, 4).side for width in (40, 80, 120, 200)] == [
        0,
        NUMBERS,
        PANEL,
        WIDE_PANEL,
    ]


def test_threads_are_lanes_side_by_side_with_one_scale() -> None:
    rows = [*turns(10), *turns(2, "t2", "subagent"), *turns(6, "t3", "side_call")]

    layout = lay_out(strip_of(rows), "dollars", 80, 5)

    assert [lane.lane.thread for lane in layout.lanes] == ["t1", "t2", "t3"]
    ends = [lane.x + lane.width for lane in layout.lanes]
    assert all(end < after.x for end, after in zip(ends, layout.lanes[1:], strict=False))
    assert {one.width for lane in layout.lanes for one in lane.bars} == {3}
    assert layout.axis.top == 10
    texts = [label.text for label in labels(layout, None)]
    assert texts == ["t1", "t2", "t3 side call"]


def test_no_name_of_a_thread_is_cut_among_thousands() -> None:
    rows = [one for number in range(1600, 1660) for one in turns(2, f"t{number}")]

    layout = lay_out(strip_of(rows), "dollars", 120, 6)

    assert len(layout.lanes) > 8
    assert {label.text for label in labels(layout, None)} == {lane.lane.thread for lane in layout.lanes}


def test_too_many_threads_leave_the_longest() -> None:
    rows = [one for number in range(1, 60) for one in turns(number, f"t{number}")]

    layout = lay_out(strip_of(rows), "dollars", 60, 4)

    assert 0 < len(layout.lanes) < 59
    assert layout.more == 59 - len(layout.lanes)
    assert layout.lanes[-1].lane.thread == "t59"
    assert not layout.has("t1") and layout.has("t59") and layout.has(None)
    of_cursor = lay_out(strip_of(rows), "dollars", 60, 4, "t1")
    assert of_cursor.has("t1") and len(of_cursor.lanes) == len(layout.lanes)
    assert all(lane.x + lane.width <= layout.field for lane in layout.lanes)


@pytest.mark.parametrize("width", [20, 50, 56, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("lengths", [(231, 12, 12, 12, 12, 69, 12), (40, 1, 1, 1), (3, 1), (1,) * 30])
def test_all_threads_are_in_the_field_or_counted_as_more(width: int, lengths: tuple[int, ...]) -> None:
    rows = [one for at, number in enumerate(lengths, 1) for one in turns(number, f"t{at}")]

    layout = lay_out(strip_of(rows), "dollars", width, 5)

    assert all(lane.x + lane.width <= layout.field for lane in layout.lanes)
    assert len(layout.lanes) + layout.more == len(lengths)
    assert all(len(lane.bars) * lane.bars[0].width <= lane.width for lane in layout.lanes)


def test_a_click_finds_the_bar_and_a_place_its_bar() -> None:
    layout = lay_out(strip_of(turns(4)), "dollars", 80, 4)
    second = layout.lanes[0].bars[1]

    assert layout.bar_at(second.x + second.width - 1) is second
    assert layout.bar_of(1) is second
    assert layout.bar_at(0) is None
    assert layout.bar_of(99) is None


def test_the_largest_additions_have_labels_that_never_overlap() -> None:
    rows = [row(1, cost="1", usage=Usage(input=1000, output=1))]
    rows += [added(n, 1000 * n, f"cat build-{n}.log") for n in range(2, 20)]

    layout = lay_out(strip_of(rows), "tokens", 120, 5)
    found = labels(layout, None)

    assert any("+19.0k cat build-19.log" in label.text for label in found)
    ends = [label.x + width_of(label.text) for label in found]
    assert all(end < label.x for end, label in zip(ends, found[1:], strict=False))
    assert ends[-1] <= layout.field


def test_a_pointer_is_at_its_bar() -> None:
    rows = [row(1, cost="1", usage=Usage(input=1000, output=1)), added(2, 48_000, "cat build.log")]

    layout = lay_out(strip_of(rows), "tokens", 80, 5)
    (label,) = labels(layout, None)

    assert label.text == "▾+48.0k cat build.log"
    assert layout.bar_at(label.x) is layout.lanes[0].bars[1]


@pytest.mark.parametrize(
    ("width", "at", "shown"),
    [
        (120, 2, "▾+48.0k read_file src/statements/dates.py"),
        (60, 2, "▾+48.0k read_file dates.py"),
        (50, 10, "+48.0k read_file dates.py▾"),
        (32, 2, "▾+48.0k read_file da…"),
        (40, 8, "+48.0k read_file dat…▾"),
    ],
)
def test_a_label_without_room_loses_the_folders_first_then_its_end(width: int, at: int, shown: str) -> None:
    rows = [row(n, cost="1", usage=Usage(input=1000, output=1)) for n in range(1, 11)]
    rows[at - 1] = added(at, 48_000, "read_file src/statements/dates.py")

    (label,) = labels(lay_out(strip_of(rows), "tokens", width, 5), None)

    assert label.text == shown


def test_only_files_lose_their_folders() -> None:
    assert without_folders("read_file src/a/dates.py") == "read_file dates.py"
    assert without_folders("bash ls src/ /") == "bash ls src /"
    assert without_folders("fetch https://a.example/b") == "fetch https://a.example/b"


def test_what_is_still_to_come_has_no_label() -> None:
    rows = [row(1, cost="1", usage=Usage(input=1000, output=1)), added(2, 48_000, "cat build.log")]
    layout = lay_out(strip_of(rows), "tokens", 80, 5)

    assert labels(layout, 0) == []


def test_a_folded_strip_says_how_many_turns_a_bar_is() -> None:
    layout = lay_out(strip_of(turns(300)), "dollars", 80, 5)

    assert [label.text for label in labels(layout, None)] == ["5 turns a bar"]


def test_the_kind_of_the_last_thread_gives_way_to_the_turns_a_bar_shows() -> None:
    rows = [*turns(200), *turns(16, "t2", "subagent")]

    found = [
        [label.text for label in labels(lay_out(strip_of(rows), "dollars", width, 5), None)] for width in (126, 134)
    ]

    assert found == [["t1", "t2", "3 turns a bar"], ["t1", "t2 subagent", "3 turns a bar"]]
    seven = [*turns(231), *(one for n in range(2, 8) for one in turns(12, f"t{n}", "subagent"))]
    names = [label.text for label in labels(lay_out(strip_of(seven), "dollars", 120, 6), None)]
    assert names[:3] == ["t1", "5 turns a bar", "t2"], "without room at the right it is above the widest lane"
    crowded = lay_out(strip_of([*turns(299), added(300, 48_000, "cat build.log")]), "dollars", 80, 5)
    assert "5 turns a bar" in [label.text for label in labels(crowded, None)]


def test_the_limit_of_the_window_is_on_the_scale_once_a_third_is_used() -> None:
    def top(tokens: int) -> int:
        one = row(1, usage=Usage(input=tokens, output=0), model="claude-opus-4-5", provider="anthropic")
        return int(lay_out(strip_of([one]), "tokens", 80, 5).axis.top)

    assert (top(60_000), top(70_000)) == (60_000, 200_000)
