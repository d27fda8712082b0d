"""The palette: commands by name and by what people mean."""

import asyncio

import pytest
from textual.command import CommandInput
from textual.events import Paste
from viewing import viewing

from turntape.inspector.views.tui.commands import COMMANDS
from turntape.inspector.views.tui.palette import Choice, ranked

CHOICES = [Choice(name, what, action, lambda: None) for name, what, action in COMMANDS]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("growth", "Growth"),
        ("gro", "Growth"),
        ("chart", "Growth"),
        ("money", "Costs"),
        ("price", "Costs"),
        ("cost", "Costs"),
        ("dear", "Costs"),
        ("what if", "Costs"),
        ("latency", "Timeline"),
        ("slow", "Slower"),
        ("waiting", "Timeline"),
        ("slowest", "Sort"),
        ("raw", "Wire"),
        ("headers", "Wire"),
        ("mcp", "Tools"),
        ("problems", "Findings"),
        ("grep", "Search"),
        ("next err", "Next error"),
        ("clipboard", "Copy"),
        ("screenshot", "Save"),
        ("Ctrl-t", "Next theme"),
        ("shell", "Suspend"),
        ("nxtfnd", "Next finding"),
    ],
)
def test_the_best_command_for_a_text(typed: str, name: str) -> None:
    assert ranked(typed, CHOICES)[0][1].name == name


def test_all_words_must_fit() -> None:
    assert [one.name for _, one in ranked("next finding", CHOICES)] == ["Next finding"]
    assert ranked("zzz", CHOICES) == [] and ranked("next zzz", CHOICES) == []


def test_the_scores_are_from_0_to_1_and_fall() -> None:
    scores = [score for score, _ in ranked("e", CHOICES)]
    assert scores == sorted(scores, reverse=True) and 0 < scores[-1] <= scores[0] <= 1


def test_a_pasted_file_does_not_stop_the_screen() -> None:
    async def flow() -> tuple[str, str]:
        async with viewing(keys=["colon"]) as (app, pilot):
            box = app.screen.query_one(CommandInput)
            box.post_message(Paste("x" * 1_000_000))
            await pilot.pause()
            pasted = box.value
            box.post_message(Paste("costs\n"))
            await pilot.pause()
            return pasted, box.value

    assert asyncio.run(flow()) == ("", "costs")
