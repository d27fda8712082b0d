"""The palette: commands by name and by what people mean."""

import asyncio

import pytest
from textual.command import CommandInput, CommandList
from textual.events import Paste
from viewing import viewing, when

from turntape.inspector.views.tui.commands import COMMANDS
from turntape.inspector.views.tui.palette import Choice, CommandBox, best, ranked

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


@pytest.mark.parametrize(
    ("typed", "turn"),
    [
        ("6", (6, None)),
        ("turn 6", (6, None)),
        ("#6", (6, None)),
        ("Turn 6 of t2", (6, "t2")),
        ("t2:6", (6, "t2")),
        ("go to turn 34·2", (34, None)),
        ("-5", None),
        ("t2", None),
        ("1.5", None),
        ("9" * 90, None),
    ],
)
def test_a_turn_is_found_by_each_name_that_the_screens_have_for_it(typed: str, turn: object) -> None:
    class Found:
        def choices(self) -> list[Choice]:
            return []

        def turn_choice(self, number: int, thread: str | None) -> Choice:
            return Choice("turn", "", "", lambda: (number, thread))

    assert [one.run() for _, one in best(typed, Found())] == ([turn] if turn else [])


@pytest.mark.parametrize("typed", ["-5", "abcxyz", "zoomx"])
def test_enter_runs_nothing_when_nothing_fits_whatever_fitted_the_first_letters(typed: str) -> None:
    async def flow() -> None:
        async with viewing(keys=["colon"]) as (app, pilot):
            before = app.theme, app.run_screen.view, app.run_screen.panes._side
            for letter in typed[:-1]:
                await pilot.press("minus" if letter == "-" else letter)
            await when(pilot, lambda: app.screen.query_one(CommandList).option_count > 0)
            await pilot.press(typed[-1], "enter")
            await pilot.pause()
            assert isinstance(app.screen, CommandBox)
            await pilot.press("escape")
            await pilot.pause()
            assert (app.theme, app.run_screen.view, app.run_screen.panes._side) == before

    asyncio.run(flow())


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
