"""The page of tools, the timeline, and the runs below their calls."""

from dataclasses import replace

import pytest
import tool_tapes
from conversations import loop

from turntape.inspector.run.rows import Rows
from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.pages.page import Page
from turntape.inspector.views.tui.pages.timeline import timeline
from turntape.inspector.views.tui.pages.tools_page import tools_page
from turntape.inspector.views.tui.pages.turn_page import turn_page

RUN = Run.of(tool_tapes.story().trips)
FIRST, LOOSE = 2, 7


def text(page: Page, width: int = 100) -> list[str]:
    return list(page.laid_out(width, {}).text())


def test_the_result_as_returned_is_beside_the_result_as_seen() -> None:
    lines = text(tools_page(RUN.rows, FIRST))

    assert lines[0] == "━━ tool runs of turn 1  2 runs"
    at = next(number for number, line in enumerate(lines) if "as returned" in line)
    assert [line.partition("│")[0].strip() for line in lines[at + 1 : at + 6]] == [
        "… 2 equal lines",
        "3: three",
        "4: four",
        "5: five",
        "6: six",
    ]
    assert [line.partition("│")[2].strip() for line in lines[at + 3 : at + 6]] == ["4: four", "… cut", ""]


def test_a_narrow_page_has_one_list_of_lines() -> None:
    lines = text(tools_page(RUN.rows, FIRST), 60)

    assert "      − 5: five" in lines
    assert "      + … cut" in lines
    assert not any("│" in line for line in lines)


def test_all_runs_lead_to_their_turns() -> None:
    page = tools_page(RUN.rows, FIRST)

    leads = [block.goto for block in page.blocks if block.parent == "all"]
    assert [goto and (goto.place, goto.view) for goto in leads] == [
        (2, "tools"),
        (2, "tools"),
        (5, "tools"),
        (7, "tools"),
    ]
    assert all(goto and tools_page(RUN.rows, goto.place).holding(goto.anchor) for goto in leads)


def test_a_round_trip_without_runs_says_why() -> None:
    assert "  this turn calls no tool" in text(tools_page(RUN.rows, 8))
    assert "  this round trip is not a turn" in text(tools_page(RUN.rows, 0))
    assert text(tools_page(Run.of(loop()).rows, 0)) == [
        "No messages of tool servers were recorded. `turntape run` records those of known clients."
    ]


def test_why_there_are_no_runs_is_never_cut() -> None:
    lines = text(tools_page(Run.of(loop()).rows, 0), 40)

    assert max(map(len, lines)) <= 40
    assert " ".join(lines).endswith("records those of known clients.")


def test_a_run_that_no_call_explains_is_on_its_own_page() -> None:
    assert any("stop on files  #7" in line for line in text(tools_page(RUN.rows, LOOSE)))
    lines = text(turn_page(RUN.detail(LOOSE), RUN.rows, LOOSE))
    assert lines[0] == "▾ ● tools/call  files, sent by the client"
    assert lines[1] == "message of a tool server  round trip #7  answered after 5 ms"


def test_a_turn_has_a_lane_for_each_run_and_a_line_for_the_tools() -> None:
    lines = text(turn_page(RUN.detail(FIRST), RUN.rows, FIRST))

    assert "● tool    read 5 ms, search 80 ms  2 results not seen as returned" in lines
    at = next(number for number, line in enumerate(lines) if line.startswith("━━ timeline"))
    assert lines[at] == "━━ timeline  280 ms to the last result, the next request 20 ms later"
    lanes = lines[at + 1 : at + 4]
    assert [lane.split()[1] for lane in lanes] == ["api", "read", "search"]
    assert [lane.index("█") for lane in lanes] == sorted(lane.index("█") for lane in lanes)
    assert [lane.count("█") for lane in lanes] == [55, 1, 18]
    assert lanes[2].rstrip().endswith("80 ms")


def test_a_turn_without_runs_has_no_timeline() -> None:
    assert list(timeline(RUN.rows.all[8], None)) == []


def test_each_run_is_below_the_result_of_its_call() -> None:
    lines = text(turn_page(RUN.detail(FIRST), RUN.rows, FIRST))
    order = ["  → mcp__files__read", "    ← mcp__files__read", "    ● read on files", "  → mcp__files__search"]
    places = [next(n for n, line in enumerate(lines) if line.startswith(piece)) for piece in order]

    assert places == sorted(places)


LONG = "read_the_whole_file_from_the_repository_and_explain_it"


@pytest.mark.parametrize("width", [56, 78, 200])
def test_a_long_name_leaves_room_for_the_outcome_of_the_run(width: int) -> None:
    rows = Rows()
    rows.put(replace(row, tool_runs=tuple(replace(run, name=LONG) for run in row.tool_runs)) for row in RUN.rows.all)

    lines = [line for line in text(tools_page(rows, FIRST), width) if "● read_the" in line and "█" not in line]
    assert len(lines) > 2
    for line in lines:
        assert " ms" in line or "returned an error" in line
        assert len(line) <= width, "nothing is cut"
        assert (LONG in line) == (width == 200)
