"""The two panes of the screen."""

import asyncio

import pytest
from viewing import screen, viewing


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
