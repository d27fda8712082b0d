"""The viewer in the terminal: an app whose widgets show values from `pages`."""

import os

_FRAMES = "240"
"""The frames of a second. Textual draws no sooner than at the next frame, and after a frame that took long at the one
after the next: with its 60 frames a page that is ready waits for up to 33 ms."""

if "TEXTUAL_FPS" not in os.environ:
    # Textual reads it once. The commands that the viewer runs are not to inherit it.
    os.environ["TEXTUAL_FPS"] = _FRAMES
    import textual.constants  # noqa: F401 # pyright: ignore[reportUnusedImport]

    del os.environ["TEXTUAL_FPS"]
