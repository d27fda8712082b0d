"""How wide and how colourful a command may write."""

import os
import shutil
import sys

from ..launch.recording import coloured


def colour(choice: str) -> bool:
    """Whether to colour standard output: `always`, `never`, or `auto`, which minds NO_COLOR and FORCE_COLOR."""
    return choice == "always" or (choice == "auto" and coloured(sys.stdout.isatty(), os.environ))


def width(asked: int | None, otherwise: int = 80) -> int:
    """The columns asked for, else the terminal's, else `otherwise`, as in a pipe, where nothing says them."""
    return asked or shutil.get_terminal_size((otherwise, 24)).columns
