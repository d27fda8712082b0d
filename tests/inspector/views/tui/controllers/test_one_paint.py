"""A move and its page are drawn at once, or the move alone after a moment."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from viewing import viewing

from turntape.inspector.views.tui.controllers.one_paint import OnePaint


class Screen:
    """Counts what is held back and drawn."""

    def __init__(self) -> None:
        self.held = self.drawn = self.cancelled = 0
        self.timers: list[Callable[[], None]] = []
        self.paint = OnePaint(self.batch, self.draw, self.later)

    @contextmanager
    def batch(self) -> Iterator[None]:
        self.held += 1
        yield
        self.held -= 1

    def draw(self) -> None:
        self.drawn += 1

    def later(self, seconds: float, call: Callable[[], None]) -> Any:
        self.timers.append(call)
        return self

    def cancel(self) -> None:
        self.cancelled += 1


def test_the_page_ends_the_wait() -> None:
    screen = Screen()

    screen.paint.hold()
    assert screen.held == 1 and not screen.drawn
    screen.paint.release()
    assert screen.held == 0 and screen.drawn == 1 and screen.cancelled == 1
    screen.paint.release()
    assert screen.drawn == 1, "a page that nobody waits for draws nothing more"


def test_a_page_that_takes_long_is_not_waited_for() -> None:
    screen = Screen()

    screen.paint.hold()
    screen.paint.hold()
    assert screen.held == 1 and len(screen.timers) == 1, "the next move does not make the wait longer"
    screen.timers.pop()()
    assert screen.held == 0 and screen.drawn == 1


def test_the_list_the_strip_and_the_page_are_drawn_together() -> None:
    async def flow() -> list[set[str | None]]:
        async with viewing() as (app, pilot):
            screen: Any = app.run_screen
            paints: list[set[str | None]] = []
            refresh = screen._compositor_refresh

            def counted() -> None:
                paints.append({widget.id for widget in screen._dirty_widgets})
                refresh()

            screen._compositor_refresh = counted
            screen.selection._paint._later = lambda seconds, call: asyncio.get_running_loop().call_later(60, call)
            firsts: list[set[str | None]] = []
            for place in (2, 1, 2):
                before = screen.panes.page.page
                paints.clear()
                screen.selection.select(place)
                while screen.panes.page.page is before or not paints:
                    await pilot.pause(0.01)
                firsts.append(paints[0])
                await pilot.pause(0.05)
            return firsts

    assert all({"turns", "strip", "page"} <= first for first in asyncio.run(flow()))
