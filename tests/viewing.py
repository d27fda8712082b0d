"""The viewer without a terminal, for tests: open it, press keys, read the screen."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual import _wait
from textual.pilot import Pilot

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.app import Viewer
from turntape.inspector.views.tui.screenshot import picture
from turntape.inspector.views.tui.widgets.page_view import PageView

EXAMPLE = Path(__file__).parent.parent / "docs" / "example.cassette.jsonl"
"""A coding agent that goes wrong in turn 3 of its main thread."""

# Textual looks after each key, five times with `settle`, whether 20 ms go by in which the process does nothing.
_wait.SLEEP_GRANULARITY = 0.005


async def settle(pilot: Pilot[Any]) -> None:
    """Wait until everything that was requested is on the screen."""
    app = pilot.app
    assert isinstance(app, Viewer)
    for _ in range(2000):
        await pilot.pause(0.005)
        if app.run_screen.settled and all(_laid_out(view) for view in app.screen.query(PageView)):
            break
    else:
        raise AssertionError("the viewer did not settle")
    await pilot.pause()
    await pilot.pause()


async def when(pilot: Pilot[Any], holds: Callable[[], bool]) -> None:
    """Wait until something holds that the viewer does on its own, however slow the machine is. Then check it."""
    for _ in range(2000):
        if holds():
            break
        await pilot.pause(0.005)
    await settle(pilot)
    assert holds()


def _laid_out(view: PageView) -> bool:
    """True when a page is laid out for the room that it has; a hidden one has none."""
    return not view.size or (view.layout_.width == view.room and (view.count() > 0 or view.page.name == "empty"))


@asynccontextmanager
async def viewing(
    path: Path = EXAMPLE, keys: Sequence[str] = (), size: tuple[int, int] = (120, 40), **options: Any
) -> AsyncIterator[tuple[Viewer, Pilot[Any]]]:
    """The viewer with these keys pressed."""
    app = Viewer(Run(path, priced=False), **options)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        await press(pilot, *keys)
        yield app, pilot


async def press(pilot: Pilot[Any], *keys: str) -> None:
    """Press keys one after the other, each after the effect of the one before is shown."""
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def pause(app: Viewer) -> None:
    """Let no time pass for the turn that is played."""
    timer = app.run_screen.state.playback.timer
    assert timer is not None
    timer.stop()


def screen(app: Viewer) -> str:
    """The text on the screen."""
    width, height = app.size
    strips = app.screen._compositor.render_strips()
    assert len(strips) == height
    return "\n".join(strip.text[:width].rstrip() for strip in strips)


def svg(app: Viewer) -> str:
    """The screen as a picture."""
    return picture(app.export_screenshot())
