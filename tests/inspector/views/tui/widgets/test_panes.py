"""The two panes of the screen."""

import asyncio

import pytest
from viewing import press, screen, settle, viewing


@pytest.mark.parametrize("size", [(40, 24), (80, 24), (120, 40), (200, 60)])
def test_the_names_of_the_columns_are_above_them(size: tuple[int, int]) -> None:
    async def shown() -> str:
        async with viewing(size=size) as (app, _):
            return screen(app)

    lines = asyncio.run(shown()).splitlines()
    heads = next(line for line in lines if "◆ model" in line)
    turn = next(line for line in lines if "◆ run_" in line)
    assert [heads.index(glyph) for glyph in "◆■▶"] == [turn.index(glyph) for glyph in "◆■▶"]
    cost = heads.index("cost") + len("cost")
    assert turn[:cost].endswith("$0.0066") and not turn[cost : cost + 1].strip()


def test_where_both_panes_have_no_room_the_one_with_the_focus_is_shown() -> None:
    async def flow() -> list[str]:
        shown: list[str] = []
        async with viewing(size=(24, 6)) as (app, pilot):
            for keys in (["enter"], ["escape"], ["9"], ["tab"], ["3"]):
                await press(pilot, *keys)
                shown.append(screen(app))
        return shown

    page, turns, costs, again, plot = asyncio.run(flow())
    assert "Turn 1 of t1" in page and "◆ model " not in page.splitlines()[1]
    assert "turn  ◆ model" in turns and "Turn 1" not in turns and turns == again
    # From its first line, or from the line of the largest part.
    assert "$0.038" in costs and "turn  ◆" not in costs
    assert "turn  ◆" not in plot and plot not in (turns, costs)


@pytest.mark.parametrize(("size", "by"), [((120, 40), (0, 6)), ((200, 60), (-30, 0))])
def test_the_line_between_the_panes_follows_the_mouse_while_it_is_held(
    size: tuple[int, int], by: tuple[int, int]
) -> None:
    async def flow() -> list[tuple[int, int]]:
        places: list[tuple[int, int]] = []
        async with viewing(size=size) as (app, pilot):
            panes = app.run_screen.panes

            async def point(x: int, y: int) -> None:
                await pilot.hover(offset=(x, y))
                await settle(pilot)
                places.append(panes.query_one("#right").region.offset)

            x, y = panes.query_one("#right").region.offset
            # Held elsewhere, then on the line, then not any more.
            await pilot.mouse_down(offset=(x + 3, y + 3))
            await point(x + by[0], y + by[1])
            await pilot.mouse_up(offset=(x + by[0], y + by[1]))
            await pilot.mouse_down(offset=(x, y + 3 if by[0] else y))
            await point(x + by[0], y + by[1] + (3 if by[0] else 0))
            await point(0, 0)
            await point(size[0] - 1, size[1] - 2)
            await pilot.mouse_up(offset=(size[0] - 1, size[1] - 2))
            await point(x, y + 3)
            await pilot.resize_terminal(size[0], size[1] - 8)
            await point(1, 1)
        return [(one[0] - x, one[1] - y) for one in places]

    before, moved, least, most, after, resized = asyncio.run(flow())

    assert before == (0, 0)
    # A part of the room is kept, so the line may be a cell away.
    assert abs(moved[0] - by[0]) <= 1 and abs(moved[1] - by[1]) <= 1
    assert least < before < most == after
    assert resized[0] == after[0] and resized[1] <= after[1]


def test_a_click_on_the_first_trouble_goes_there() -> None:
    async def flow() -> str:
        async with viewing(keys=["G"], size=(120, 40)) as (app, pilot):
            await pilot.click(offset=(screen(app).splitlines()[0].index("first in") + 2, 0))
            await settle(pilot)
            return screen(app)

    assert "▾ Turn 3 of t1" in asyncio.run(flow())
