"""docs/walkthrough.md: after each key the screen shows what the page says."""

import asyncio
import re
from pathlib import Path

import pytest
from viewing import EXAMPLE, press, screen, viewing, when

from turntape.proxy.cli import main

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


TASK = re.compile(r"^\| (.+?) \| ((?:`[^`]+` ?)+) \| `(.+)` \|$")


def tasks() -> list[tuple[str, list[str], str]]:
    """Question, keys and text of each row of the second table."""
    table = PAGE.read_text(encoding="utf-8").partition("| question |")[2].partition("\n\n")[0]
    found = [TASK.match(line) for line in table.splitlines()[2:]]
    assert all(found), "a row of the questions is not as the test reads it"
    return [(one[1], re.findall(r"`([^`]+)`", one[2]), one[3]) for one in found if one]


async def done(path: Path, keys: list[str], text: str) -> None:
    """Press the keys; the screen has the text."""
    async with viewing(path, size=(80, 24)) as (app, pilot):
        app.run_.price()
        for key in keys:
            if len(key) > 1 and key != "Enter":
                await press(pilot, *("space" if letter == " " else letter for letter in key))
            else:
                await press(pilot, "colon" if key == ":" else key.lower() if key == "Enter" else key)
        await when(pilot, lambda: text in screen(app))


@pytest.mark.parametrize(("question", "keys", "text"), tasks(), ids=[task[0] for task in tasks()])
def test_a_question_is_answered_by_its_keys(question: str, keys: list[str], text: str) -> None:
    asyncio.run(done(EXAMPLE, keys, text))


def test_the_price_with_the_fix_is_what_the_page_says(capsys: pytest.CaptureFixture[str]) -> None:
    line = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("no date, clock"))

    assert main(["price", str(EXAMPLE)]) == 0
    assert line in capsys.readouterr().out
