"""The themes on the screen."""

import asyncio
from pathlib import Path

from conversations import chat, said, user
from recordings import record
from viewing import press, viewing

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
                    if style and style.reverse and set(text) <= BLOCKS and text.strip()
                ]
                assert "100 % of 400k" in "".join(one.text for one in segments) or key in "0"
        return found

    assert asyncio.run(flow()) == dict.fromkeys("1340", [])
