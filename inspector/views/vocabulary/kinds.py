"""The kinds of tokens and dollars: one title, one colour for dark and for light backgrounds, one character each.

Each colour has a contrast of at least 4.5:1 to every background of its theme (WCAG 2.2, 1.4.3), which a test computes.
"""

from turntape.cassettes.frozen import frozen

from ...run.growth import AGAIN, INPUT
from ...run.strip import KINDS


@frozen
class KindLook:
    """How a kind is drawn."""

    name: str
    """As in `KINDS`, and as the name of its look in a theme."""
    title: str
    short: str
    """A title for little room."""
    dark: str
    """Its colour on a dark background."""
    light: str
    """Its colour on a light background."""
    contrast: str
    """Its colour on black, for those who need strong differences."""
    sixteen: str
    """Its colour where a terminal has sixteen."""
    sgr: str
    """The parameters of its escape sequence in the text of commands: of the 256 colours where the sixteen have none
    that differs enough from the others on light and on dark backgrounds."""
    shade: str
    """The character for it without colours."""
    group: str
    """`again` for input that the previous request of the thread contained too, else `new`; `out` for the rest."""


_LOOKS = {
    "cache_read": ("read", "#51a9b9", "#0b6e80", "#00bebe", "#00aaaa", "36", "░"),
    "rewritten": ("rewrite", "#ee7ba0", "#b01653", "#ff8ab8", "#ff6b6b", "38;5;162", "▤"),
    "resent": ("resent", "#f0805f", "#b43c0b", "#ff8c47", "#ffff55", "38;5;166", "▓"),
    "cache_write": ("write", "#a48ff0", "#6a4fc9", "#b59cff", "#ff55ff", "38;5;98", "▒"),
    "new": ("new", "#7ab0ff", "#1d5fd0", "#5fafff", "#ffffff", "38;5;33", "█"),
    "output": ("output", "#9fd08c", "#287228", "#5fff5f", "#55ff55", "32", "◼"),
    "reasoning": ("think", "#f0a6d8", "#b0257f", "#ff87ff", "#55ffff", "38;5;169", "◇"),
    "other": ("other", "#aab0c4", "#5e6577", "#d0d0d0", "#aaaaaa", "2", "·"),
}

KIND_LOOKS: tuple[KindLook, ...] = tuple(
    KindLook(name, title, *_LOOKS[name], group="again" if at < AGAIN else "new" if at < INPUT else "out")
    for at, (name, title) in enumerate(KINDS)
)
"""In the order in which a bar stacks them."""
