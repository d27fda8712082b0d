"""The growth strip on the screen."""

import asyncio
from pathlib import Path

import pytest
import tool_tapes
from conversations import HELLO, chat, loop, said
from recordings import record
from viewing import press, screen, settle, viewing

from turntape.inspector.run.run_index import Run
from turntape.inspector.run.strip import Strip, strip_of
from turntape.inspector.views.tui.widgets.growth_strip import GrowthStrip, strip_height


@pytest.mark.parametrize(
    ("height", "lines"), [(8, 0), (12, 3), (19, 3), (20, 4), (24, 4), (28, 5), (36, 6), (40, 6), (50, 10), (80, 10)]
)
def test_its_height_follows_the_screen(height: int, lines: int) -> None:
    assert strip_height(height) == lines


def test_it_is_on_every_page_with_the_cursor_in_it() -> None:
    async def flow() -> None:
        async with viewing() as (app, pilot):
            strip = app.run_screen.panes.strip
            for key in "123456":
                await press(pilot, key)
                assert "so far" in screen(app).splitlines()[2]
            await press(pilot, "e")
            assert strip.place == app.run_screen.place == 6
            assert "turn 3 of t1" in screen(app).splitlines()[1]
            await app.run_screen.mount(fresh := GrowthStrip())
            assert fresh.render_line(0).text.strip() == "", "nobody knows yet that there are no turns"
            fresh.show(Strip((), None, 0), None)
            assert fresh.render_line(0).text.strip() == "no turns"

    asyncio.run(flow())


def test_where_no_tokens_were_counted_it_has_one_line_and_the_list_no_costs(tmp_path: Path) -> None:
    path = tmp_path / "uncounted.cassette.jsonl"
    record(path, [chat([HELLO], said("hi"), usage=None)])

    async def flow() -> None:
        async with viewing(path) as (app, _pilot):
            lines = screen(app).splitlines()
            assert lines[1].strip() == "no tokens were counted: there is no growth to draw"
            assert lines[2].split()[-3:] == ["in", "out", "time"] or lines[2].split()[-2:] == ["in", "out"]
            assert "cost" not in lines[2] and "unpriced" not in lines[3]
        async with viewing(path, size=(40, 15)) as (app, _pilot):
            assert screen(app).splitlines()[1].strip() == "no tokens were counted", "no half word"

    asyncio.run(flow())


def test_the_dollar_key_shows_tokens_and_back() -> None:
    async def flow() -> list[str]:
        async with viewing() as (app, pilot):
            shown: list[str] = []
            for keys in ((), ("dollar_sign",), ("dollar_sign",)):
                await press(pilot, *keys)
                shown.append(screen(app).splitlines()[1].split()[0])
            return shown

    assert asyncio.run(flow()) == ["dollars", "tokens", "dollars"]


def test_a_click_on_a_bar_goes_to_its_turn() -> None:
    async def flow() -> int | None:
        async with viewing() as (app, pilot):
            strip = app.run_screen.panes.strip
            bar = strip.layout_.bar_of(7)
            assert bar is not None
            await pilot.click(strip, offset=(bar.x, 2))
            await settle(pilot)
            return app.run_screen.place

    assert asyncio.run(flow()) == 7


def test_the_mouse_shows_the_numbers_of_a_turn() -> None:
    async def flow() -> list[str]:
        async with viewing() as (app, pilot):
            strip = app.run_screen.panes.strip
            bar = strip.layout_.bar_of(6)
            assert bar is not None
            await pilot.hover(strip, offset=(bar.x, 2))
            await pilot.pause()
            over = screen(app).splitlines()[1]
            await pilot.hover(app.run_screen.panes.turns, offset=(3, 3))
            await pilot.pause()
            return [over, screen(app).splitlines()[1]]

    over, left = asyncio.run(flow())

    assert "turn 3 of t1" in over
    assert "turn 1 of t1" in left


def test_without_turns_it_takes_one_line_and_leaves_the_rest_to_the_page(tmp_path: Path) -> None:
    alone = [trip for trip in tool_tapes.story().trips if trip.tool_wire is not None]
    path = tool_tapes.record(tmp_path / "tools.cassette.jsonl", alone)

    async def flow() -> tuple[int, list[str]]:
        async with viewing(path, size=(80, 24)) as (app, _):
            strip = app.run_screen.panes.strip
            return strip.size.height, screen(app).splitlines()[1:3]

    height, lines = asyncio.run(flow())
    assert height == 1
    assert lines[0].strip() == "no turns" and lines[1].startswith("turn ")


def test_a_strip_that_gets_turns_says_so_once() -> None:
    said: list[object] = []
    strip = GrowthStrip()
    strip.post_message = said.append  # type: ignore[method-assign,assignment]

    strip.show(Strip((), None, 0), None)
    strip.show(Strip((), None, 0), None)
    assert [type(one) for one in said] == [GrowthStrip.Emptied]
    strip.show(strip_of(Run.of(loop()).rows.all), 0)
    assert len(said) == 2 and not strip.empty
