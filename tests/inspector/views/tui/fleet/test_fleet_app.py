"""The fleet in the terminal: groups, the runs of each, an open run and the way back."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from threading import Event

import pytest
from shipped_tapes import tape
from textual.pilot import Pilot

from turntape.cassettes.errors import CassetteError
from turntape.inspector.views.fleet_figures import By, FindingCount, Group, Order, Overview, RunFigures, SomeRuns
from turntape.inspector.views.tui.fleet.fleet_app import FleetViewer
from turntape.inspector.views.tui.run_screen import RunScreen

pytestmark = pytest.mark.anyio
DAY = date(2026, 11, 2)
GROUPS = {
    "branch": [Group("main", 2, 8, Decimal(1), 1, 0, 0), Group("fix", 1, 4, None, 0, 0, 0)],
    "day": [Group("2026-11-02", 3, 12, Decimal(1), 1, 0, 0)],
}


def run(name: str) -> RunFigures:
    began = datetime(2026, 11, 2, 9, tzinfo=UTC)
    return RunFigures(f"s3://b#{name}", name, "main", "", "", "", began, 4, None, 1, 0, ("late",))


class Source:
    """Three runs; it notes what it was asked."""

    def __init__(self, path: Path) -> None:
        self.path, self.asked = path, list[tuple[object, ...]]()
        self.gone = False

    def overview(self) -> Overview:
        if self.gone:
            raise CassetteError("the bucket is gone")
        whole = Group("", 3, 12, Decimal(1), 1, 0, 0)
        return Overview("s3://b", DAY, DAY, whole, 0, 0, 0, days=GROUPS["day"])

    def groups(self, by: By) -> list[Group]:
        return GROUPS.get(by, [])

    def findings(self) -> list[FindingCount]:
        return [FindingCount("late", "api", "error", 5, 1)]

    def runs(self, by: By | None, name: str, order: Order) -> SomeRuns:
        self.asked.append((by, name, order))
        return SomeRuns(3, [run(f"{name or 'any'}-{number}") for number in range(3)])

    def tape(self, address: str) -> Path:
        self.asked.append((address,))
        if address.endswith("-2"):
            raise CassetteError("its bytes have expired")
        return self.path


async def settled(pilot: Pilot[None], done: Callable[[], bool]) -> None:
    for _ in range(500):
        await pilot.pause(0.01)
        if done():
            await pilot.pause()
            return
    raise AssertionError("the screen does not settle")


def shown(app: FleetViewer) -> str:
    strips = app.screen._compositor.render_strips()
    return "\n".join("".join(part.text for part in strip) for strip in strips)


async def test_a_run_opens_below_its_group_and_escape_comes_back(tmp_path: Path) -> None:
    source = Source(tape(tmp_path / "a.cassette.jsonl"))
    app = FleetViewer(source)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot, lambda: app.fleet.settled)
        assert "3 runs · $1.00 · 1 ✗ 0 !" in shown(app) and "any-1" in shown(app)

        await pilot.press("down", "down")
        await settled(pilot, lambda: app.fleet.settled)
        assert source.asked[-1] == ("branch", "fix", "worst") and "worst of 3 runs · branch fix" in shown(app)

        await pilot.press("s", "enter", "down", "enter")
        await settled(pilot, lambda: isinstance(app.screen, RunScreen) and app.run_screen.settled)
        assert ("branch", "fix", "dearest") in source.asked and source.asked[-1] == ("s3://b#fix-1",)
        assert "a.cassette.jsonl" in shown(app) and "Esc fleet" in shown(app)

        await pilot.press("enter", "escape")  # into the page, and out of it
        assert app.screen is app.run_screen
        await pilot.press("escape")
        await settled(pilot, lambda: app.screen is app.fleet)
        assert "most expensive of 3 runs · branch fix" in shown(app) and app.fleet.run_list.cursor == 1


async def test_a_key_on_a_tab_that_is_still_read_chooses_no_group_of_the_one_before(tmp_path: Path) -> None:
    source = Source(tape(tmp_path / "a.cassette.jsonl"))
    read = Event()
    app = FleetViewer(source)
    async with app.run_test(size=(100, 30)) as pilot:
        await settled(pilot, lambda: app.fleet.settled)
        source.groups = lambda by: GROUPS.get(by, []) if read.wait(20) else []

        await pilot.press("3", "down", "down")
        assert " fix " not in shown(app) and "worst of 3 runs" in shown(app)
        read.set()
        await settled(pilot, lambda: app.fleet.settled and app.fleet.group_list.count() == 2)
        await pilot.press("down")
        await settled(pilot, lambda: source.asked[-1] == ("day", "2026-11-02", "worst") and app.fleet.settled)

        assert not [asked for asked in source.asked if asked[:2] == ("day", "fix") or asked[:2] == ("day", "main")]


async def test_tabs_themes_and_failures(tmp_path: Path) -> None:
    source = Source(tape(tmp_path / "a.cassette.jsonl"))
    app = FleetViewer(source, theme="light")
    async with app.run_test(size=(160, 30)) as pilot:
        await settled(pilot, lambda: app.fleet.settled)
        await pilot.press("5")
        await settled(pilot, lambda: "■ late" in shown(app) and app.fleet.settled)
        await pilot.press("down")
        await settled(pilot, lambda: source.asked[-1] == ("finding", "late", "worst") and app.fleet.settled)
        assert "■ late" in shown(app)

        await pilot.press("tab", "G", "enter")
        await settled(pilot, lambda: app.fleet.settled)
        assert "its bytes have expired" in shown(app) and app.screen is app.fleet
        await pilot.press("x", "ctrl+t")  # nothing to save here; the next theme
        assert app.palette.name == "high-contrast" and app.screen is app.fleet
        await pilot.press("question_mark")
        await pilot.pause()
        assert "worst, most expensive, newest" in shown(app)
        await pilot.press("escape", "escape", "1")
        await settled(pilot, lambda: app.fleet.settled)
        assert app.fleet.group_list.chosen_name is None

        source.gone = True
        await pilot.press("r")
        await settled(pilot, lambda: app.fleet.settled)
        assert "the bucket is gone" in shown(app) and "any-0" in shown(app)


async def test_more_runs_than_are_listed_are_counted(tmp_path: Path) -> None:
    source = Source(tmp_path)
    few = source.runs
    source.runs = lambda by, name, order: replace(few(by, name, order), count=12_345)
    app = FleetViewer(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await settled(pilot, lambda: app.fleet.settled)

        assert "worst of 12,345 runs" in shown(app) and "… 12,342 more" in shown(app)
        await pilot.press("tab", "G", "enter")
        await pilot.pause()
        assert not [one for one in source.asked if len(one) == 1], "the last line opens nothing"
