"""The line in which a search is typed."""

import asyncio

from textual.events import Paste
from viewing import press, screen, viewing

from turntape.inspector.views.tui.widgets.search_box import SearchBox


def test_the_key_that_it_names_for_help_works_while_typing() -> None:
    async def flow() -> None:
        async with viewing(keys=["slash"]) as (app, pilot):
            assert "F1 explains" in screen(app)
            await press(pilot, "question_mark")
            assert app.run_screen.state.search.filter.text == "?"
            await press(pilot, "backspace", "f1")
            assert "search and filter: all must match" not in screen(app)
            assert "━━ moving" in screen(app)
            await press(pilot, "escape", *"wri")
            assert app.run_screen.state.search.filter.text == "wri"

    asyncio.run(flow())


def test_pasted_text_is_one_line_as_a_terminal_shows_it() -> None:
    async def flow() -> str:
        async with viewing(keys=["slash"]) as (app, pilot):
            box = app.run_screen.query_one(SearchBox)
            app.run_screen.focused.post_message(Paste("\x1b[31mwrite\x1b[0m\n\tthe\x07 file\n"))  # type: ignore[union-attr]
            await pilot.pause()
            return box.value

    assert asyncio.run(flow()) == "write the file"
