"""docs/walkthrough.md: after each key the screen shows what the page says."""

import asyncio
import re
from pathlib import Path

from viewing import press, screen, viewing

PAGE = Path(__file__).parents[2] / "docs" / "walkthrough.md"
ROW = re.compile(r"^\| (?:`(\w)`)? ?\| .*?\| (?:`(.+)`)? ?\|$")


def steps() -> list[tuple[str | None, str | None]]:
    """Key and text of each row of the first table."""
    table = PAGE.read_text(encoding="utf-8").partition("|---|---|---|\n")[2].partition("\n\n")[0]
    found = [ROW.match(line) for line in table.splitlines()]
    assert all(found), "a row of the walkthrough is not as the test reads it"
    return [(one[1], one[2]) for one in found if one]


def test_each_key_of_the_walkthrough_shows_what_it_says() -> None:
    async def flow() -> None:
        async with viewing(size=(80, 24)) as (app, pilot):
            assert "✗2 !2 first in turn 3 of t1  $0.071" in screen(app)
            for key, text in steps():
                if key == "q":
                    break
                if key:
                    await press(pilot, key)
                if text:
                    assert text in screen(app), (key, text)

    assert [key for key, _ in steps() if key] == ["e", "n", "n", "6", "3", "5", "q"]
    asyncio.run(flow())
