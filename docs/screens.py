"""Draws the screens of the README and of the walkthrough from docs/example.cassette.jsonl.

python docs/screens.py            # writes docs/view-*.svg
python docs/screens.py --check    # exit code 1 when one of them is not as it would be drawn
"""

import asyncio
import sys
from pathlib import Path

from turntape.inspector.run.run_index import Run
from turntape.inspector.views.tui.app import Viewer
from turntape.inspector.views.tui.screenshot import picture

HERE = Path(__file__).parent
EXAMPLE = HERE / "example.cassette.jsonl"
SCREENS: dict[str, tuple[tuple[int, int], list[str]]] = {
    "run": ((120, 36), ["e"]),
    "findings": ((120, 36), ["5"]),
    "growth": ((120, 36), ["e", "3"]),
    "context": ((120, 30), ["e", "4"]),
    "diff": ((120, 36), ["e", "6"]),
    "wire": ((120, 36), ["e", "2"]),
}
"""Size and keys of each."""


async def draw(size: tuple[int, int], keys: list[str]) -> str:
    """The screen after these keys."""
    app = Viewer(Run(EXAMPLE, priced=False))
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
    for name, (size, keys) in SCREENS.items():
        path = HERE / f"view-{name}.svg"
        drawn = asyncio.run(draw(size, keys))
        if not path.exists() or path.read_text(encoding="utf-8") != drawn:
            changed.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(drawn, encoding="utf-8")
    sys.stdout.write(f"{len(SCREENS)} screens, changed: {', '.join(changed) or 'none'}\n")
    return 1 if changed and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
