"""The themes on the screen."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversations import chat, said, user
from recordings import record
from viewing import press, settle, viewing, when

from turntape.inspector.views.tui.app import Viewer
from turntape.inspector.views.tui.commands import COMMANDS
from turntape.inspector.views.tui.widgets.search_box import SearchBox
from turntape.inspector.views.vocabulary.contrast import contrast

BLOCKS = frozenset("▁▂▃▄▅▆▇█▏▎▍▌▋▊▉ ")


def test_without_colours_no_bar_is_reversed_which_would_draw_it_as_empty(tmp_path: Path) -> None:
    record(tmp_path / "full.jsonl", [chat([user("x " * 900)], said("y"), usage=(399_000, 10))])

    async def flow() -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        async with viewing(tmp_path / "full.jsonl", size=(120, 40), theme="no-colour") as (app, pilot):
            for key in "1340":
                await press(pilot, key)
                segments = [one for strip in app.screen._compositor.render_strips() for one in strip]
                found[key] = [
                    text
                    for text, style, _ in segments
                    if style and style.reverse and set(text) <= BLOCKS and text.strip() and not style.meta
                ]
                assert "100 % of 400k" in "".join(one.text for one in segments) or key in "0"
        return found

    assert asyncio.run(flow()) == dict.fromkeys("1340", [])


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_hints_in_the_search_and_in_the_palette_can_be_read(theme: str) -> None:
    explained = " ".join(what for _, what, _ in COMMANDS)

    async def flow() -> dict[str, float]:
        found: dict[str, float] = {}
        async with viewing(theme=theme) as (app, pilot):
            await pilot.press("slash")
            await settle(pilot)
            found |= {text: ratio for text, ratio in _written(app) if text in SearchBox().placeholder}
            await pilot.press("escape", "ctrl+p")
            await when(pilot, lambda: any(len(text) > 12 and text in explained for text, _ in _written(app)))
            hint = "a command, or the number of a turn"
            found |= {
                text: ratio for text, ratio in _written(app) if len(text) > 12 and (text in explained or text in hint)
            }
        return found

    ratios = asyncio.run(flow())
    assert len(ratios) > 10
    assert {text: ratio for text, ratio in ratios.items() if ratio < 4.5} == {}


def _written(app: Viewer) -> Iterator[tuple[str, float]]:
    """The texts on the screen, each with the contrast to what is under it."""
    for text, style, _ in (one for strip in app.screen._compositor.render_strips() for one in strip):
        if text.strip() and style and style.color and style.bgcolor:
            ratio = contrast(style.color.get_truecolor().hex, style.bgcolor.get_truecolor().hex)
            yield text.strip(), round(ratio, 2)
