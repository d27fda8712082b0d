"""The viewer: every state that a user can name, as a picture, at two sizes.

To update them: `pytest tests/inspector/views/test_tui.py --snapshot-update`. Look at each before you commit it.
"""

import asyncio
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from tool_tapes import record
from viewing import EXAMPLE, pause, press, settle, svg, viewing

from turntape.inspector.views.tui.widgets.search_box import SearchBox


class Picture(SingleFileSnapshotExtension):
    file_extension = "svg"
    _write_mode = WriteMode.TEXT


STATES: dict[str, list[str]] = {
    "first": [],
    "finding": ["e"],
    "turn": ["e", "enter"],
    "threads": ["j", "l", "j", "j", "j", "l"],
    "wire": ["2", "enter"],
    "growth": ["e", "3", "enter"],
    "context": ["e", "4"],
    "findings": ["5", "enter"],
    "diff": ["e", "6"],
    "costs": ["9", "enter"],
    "sorted": ["s"],
    "compare": ["e", "m", "n", "m", "enter"],
    "timeline": ["e", "0", "enter"],
    "search": ["/", *"is:error"],
    "filtered": ["/", *"write", "enter"],
    "nothing": ["/", *"zzz", "enter"],
    "help": ["question_mark"],
    "copy": ["y"],
    "zoomed": ["e", "enter", "z"],
}


def drawn(keys: list[str], size: tuple[int, int], path: Path = EXAMPLE, **options: object) -> str:
    async def flow() -> str:
        async with viewing(path, keys, size, **options) as (app, pilot):
            app.query_one(SearchBox).cursor_blink = False
            await settle(pilot)
            return svg(app)

    return asyncio.run(flow())


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80x24", "120x40"])
@pytest.mark.parametrize("state", STATES)
def test_state(state: str, size: tuple[int, int], snapshot: SnapshotAssertion) -> None:
    assert drawn(STATES[state], size) == snapshot(extension_class=Picture)


TOOL_STATES: dict[str, list[str]] = {
    "tools-list": [],
    "tools-turn": ["enter"],
    "tools-view": ["7", "enter"],
    "tools-unjoined": ["j", "j", "enter"],
    "tools-search": ["/", *"six", "enter"],
}


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)], ids=["80x24", "120x40", "200x60"])
@pytest.mark.parametrize("state", TOOL_STATES)
def test_tool_state(state: str, size: tuple[int, int], tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    tape = record(tmp_path / "tools.cassette.jsonl")

    assert drawn(TOOL_STATES[state], size, tape) == snapshot(extension_class=Picture)


@pytest.mark.parametrize("theme", ["light", "high-contrast", "no-colour"])
def test_theme(theme: str, snapshot: SnapshotAssertion) -> None:
    assert drawn(["e", "3"], (120, 40), theme=theme) == snapshot(extension_class=Picture)


def test_side_by_side(snapshot: SnapshotAssertion) -> None:
    assert drawn(["e"], (180, 50)) == snapshot(extension_class=Picture)


def test_half_an_answer(snapshot: SnapshotAssertion) -> None:
    async def flow() -> str:
        async with viewing() as (app, pilot):
            await press(pilot, "e")
            await pilot.press("p")
            playing = app.run_screen.state.playback.turn
            assert playing is not None
            pause(app)
            playing.at = 1_500_000
            app.run_screen.playing.show()
            app.run_screen.bars.refresh()
            await settle(pilot)
            return svg(app)

    assert asyncio.run(flow()) == snapshot(extension_class=Picture)
