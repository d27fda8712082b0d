"""The two panes of the screen."""

import asyncio

import pytest
from viewing import press, screen, viewing


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
