"""Draws the pictures of the README and of the walkthrough from docs/example.cassette.jsonl.

python docs/screens.py            # writes docs/view-*.svg and docs/play.svg
python docs/screens.py --check    # exit code 1 when one of them is not as it would be drawn
"""

import asyncio
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from play_svg import play_svg

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.app import Viewer
from turntape.inspector.views.tui.screenshot import picture

HERE = Path(__file__).parent
EXAMPLE = HERE / "example.cassette.jsonl"
SIZES = ((80, 24), (120, 40), (200, 60))
KEYS: dict[str, list[str]] = {
    "run": ["e"],
    "findings": ["5"],
    "growth": ["e", "3"],
    "context": ["e", "4"],
    "diff": ["e", "6"],
    "wire": ["e", "2"],
}
"""The keys of each screen."""


def screens() -> Iterator[tuple[str, Callable[[], str]]]:
    """All pictures by name: each screen at 120 by 40; the first one at all sizes and in both themes too."""
    for name, keys in KEYS.items():
        yield f"view-{name}", partial(drawn, (120, 40), keys)
    for size in SIZES:
        for theme in ("dark", "light"):
            yield f"view-run-{size[0]}x{size[1]}-{theme}", partial(drawn, size, KEYS["run"], theme)
    yield "play", lambda: play_svg(Run.load(EXAMPLE))


def drawn(size: tuple[int, int], keys: list[str], theme: str = "dark") -> str:
    return asyncio.run(draw(size, keys, theme))


async def draw(size: tuple[int, int], keys: list[str], theme: str) -> str:
    """The screen after these keys."""
    app = Viewer(Run(EXAMPLE, priced=False), theme=theme)
    async with app.run_test(size=size) as pilot:
        for key in ["", *keys]:
            if key:
                await pilot.press(key)
            await pilot.pause(0.05)
            while not app.run_screen.settled:
                await pilot.pause(0.02)
        await pilot.pause(0.05)
        return picture(app.export_screenshot(title="turntape view"))


def main() -> int:
    changed: list[str] = []
    names = 0
    for name, make in screens():
        path, names = HERE / f"{name}.svg", names + 1
        text = make()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            changed.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{names} pictures, changed: {', '.join(changed) or 'none'}\n")
    return 1 if changed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
