"""The line in which a search is typed."""

import asyncio

from viewing import press, screen, viewing


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
