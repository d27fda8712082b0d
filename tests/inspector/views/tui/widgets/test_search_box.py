"""The line in which a search is typed."""

import asyncio

from textual.events import Paste
from textual.widgets.input import Selection
from viewing import press, screen, viewing

from turntape.inspector.views.tui.widgets.header_footer import KeyHint
from turntape.inspector.views.tui.widgets.search_box import FULL, MOST, SearchBox


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


def paste(text: str, *, before: str = "", selected: bool = False) -> tuple[str, tuple[KeyHint, ...]]:
    """The text of the box after a text was pasted into it, and its hints."""

    async def flow() -> tuple[str, tuple[KeyHint, ...]]:
        async with viewing(keys=["slash"]) as (app, pilot):
            box = app.run_screen.query_one(SearchBox)
            box.value = before
            box.selection = Selection(0 if selected else len(before), len(before))
            box.post_message(Paste(text))
            await pilot.pause()
            return box.value, box.hints

    return asyncio.run(flow())


def test_a_pasted_file_is_cut_and_the_keys_say_so() -> None:
    value, hints = paste("x" * 1_000_000, before="write ")

    assert value == "write " + "x" * (MOST - 6)
    assert hints == (FULL, *SearchBox.HINTS)


def test_a_short_text_is_taken_whole_and_replaces_what_is_selected() -> None:
    assert paste("read", before="write", selected=True) == ("read", SearchBox.HINTS)
    assert paste("read", before="write ") == ("write read", SearchBox.HINTS)
    assert paste("y" * MOST, before="x" * MOST, selected=True)[0] == "y" * MOST


def test_a_full_box_takes_no_more_letters() -> None:
    async def flow() -> str:
        async with viewing(keys=["slash"]) as (app, pilot):
            box = app.run_screen.query_one(SearchBox)
            box.value = "x" * MOST
            box.cursor_position = MOST
            await press(pilot, "y")
            return box.value

    assert asyncio.run(flow()) == "x" * MOST
