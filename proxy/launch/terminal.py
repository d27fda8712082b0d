"""The abilities of a terminal: colours, columns, and whether its cursor can be moved."""

import os
import sys
from collections.abc import Mapping

_WITHOUT_UNICODE = ("dumb", "linux", "vt52", "vt100", "vt102", "vt220")
"""Names of terminals whose fonts have few signs or none, whatever the locale says."""


def coloured(terminal: bool, environ: Mapping[str, str], choice: str = "auto") -> bool:
    """Whether to use colours.

    `choice` is the value of `--color`. `auto` respects NO_COLOR (https://no-color.org) and FORCE_COLOR, then asks
    whether the output is a `terminal`.
    """
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (terminal and environ.get("TERM") != "dumb")


def columns(chosen: int | None, default: int = 80) -> int:
    """The chosen width, else the width of the terminal, else `default` (in a pipe)."""
    import shutil

    return chosen or shutil.get_terminal_size((default, 24)).columns


def ascii_only(environ: Mapping[str, str]) -> bool:
    """Whether the terminal draws ASCII only, by its name and the character set of the locale.

    Where no variable names a locale, as in many containers, the terminal is taken to draw Unicode.
    """
    if environ.get("TERM") in _WITHOUT_UNICODE:
        return True
    # In the locale C, Python itself sets LC_CTYPE (PEP 538): that says nothing of the terminal.
    coerced = environ.get("LANG") in ("C", "POSIX") and environ.get("LC_CTYPE") in ("C.UTF-8", "C.utf8", "UTF-8")
    names = ("LC_ALL", "LANG") if coerced else ("LC_ALL", "LC_CTYPE", "LANG")
    locale = next((value for name in names if (value := environ.get(name))), "")
    _, _, charset = locale.partition("@")[0].partition(".")
    return locale in ("C", "POSIX") or (bool(charset) and charset.lower().replace("-", "") != "utf8")


def undrawable() -> str | None:
    """Why nothing can be drawn here, as a part of a sentence; None on a terminal whose cursor can be moved."""
    for name, stream in (("input", sys.stdin), ("output", sys.stdout)):
        if not stream.isatty():
            return f"the standard {name} is not a terminal"
    return "TERM=dumb says that this one has no cursor" if os.environ.get("TERM") == "dumb" else None
