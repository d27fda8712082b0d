"""The screen in ASCII."""

import asyncio

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from viewing import screen, viewing

from turntape.inspector.views.tui.ascii_filter import AsciiFilter


def test_signs_become_ascii_in_the_same_cells() -> None:
    red = Style(color="red")
    given = [Segment("▶ ran", red), Segment("plain"), Segment("日本\u200d", red)]

    assert AsciiFilter().apply(given, Color(0, 0, 0)) == [
        Segment("> ran", red),
        Segment("plain"),
        Segment("????", red),
    ]


def test_the_whole_screen_is_ascii_where_the_terminal_has_no_more() -> None:
    async def flow(ascii_: bool) -> str:
        async with viewing(size=(80, 24), keys=["e"], ascii=ascii_) as (app, _):
            return screen(app)

    plain, full = asyncio.run(flow(True)), asyncio.run(flow(False))
    assert plain.isascii() and "# api" in plain and "turn 3" in plain
    assert plain.endswith(" q quit") and " Enter open " in plain.split("\n")[-1]
    assert not full.isascii() and [len(line) for line in full.split("\n")[:-1]] == [
        len(line) for line in plain.split("\n")[:-1]
    ]
