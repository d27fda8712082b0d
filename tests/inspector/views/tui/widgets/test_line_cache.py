"""Lines that have not changed are neither made nor filtered again."""

import asyncio
from typing import Any, override

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.strip import Strip

from turntape.inspector.views.tui.widgets.themed import Themed


class Upper(LineFilter):
    @override
    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        return [Segment(text.upper(), style) for text, style, _ in segments]


class Lines(Themed):
    DEFAULT_CSS = "Lines { height: 3; }"
    made: list[int]

    def on_mount(self) -> None:
        self.made = []

    @override
    def render_line(self, y: int) -> Strip:
        self.made.append(y)
        return Strip([Segment(f"line {y}".ljust(self.size.width))])


class Only(App[None]):
    filters: tuple[LineFilter, ...] = ()

    @override
    def compose(self) -> ComposeResult:
        yield Lines()

    @override
    def get_line_filters(self) -> Any:
        return [*self.filters]


def test_a_line_is_made_again_only_when_it_changed() -> None:
    async def flow() -> None:
        app = Only()
        async with app.run_test(size=(20, 5)) as pilot:
            lines = app.query_one(Lines)

            def made() -> list[int]:
                found, lines.made = lines.made, []
                return found

            def drawn(*columns: int) -> list[str]:
                start, end = columns or (0, 20)
                return [strip.text.rstrip() for strip in lines.render_lines(Region(start, 0, end - start, 3))]

            drawn()
            made()
            assert drawn() == ["line 0", "line 1", "line 2"] and made() == []
            lines.refresh(Region(0, 1, 20, 1))
            drawn()
            assert made() == [1]
            assert drawn(2, 6) == ["ne 0", "ne 1", "ne 2"] and made() == []
            lines.refresh()
            drawn()
            assert made() == [0, 1, 2]
            app.filters = (Upper(),)
            assert drawn()[0] == "LINE 0" and made() == [0, 1, 2]
            await pilot.resize_terminal(30, 5)
            await pilot.pause()
            made()
            assert drawn(0, 30)[0] == "LINE 0" and made() == []

    asyncio.run(flow())
