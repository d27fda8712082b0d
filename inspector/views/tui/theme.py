"""Colours: one table for each theme, from the name of a look to its style.

The layers, severities and kinds of tokens have the same names in all themes. A glyph or a word always has the same
meaning as the colour, so the viewer also works without colours.
"""

from dataclasses import dataclass

from rich.style import Style
from textual.theme import Theme


@dataclass(frozen=True)
class Palette:
    """How a theme looks."""

    name: str
    dark: bool
    background: str
    panel: str
    """The background of bars and heads."""
    cursor: str
    """The background of the line with the cursor, in the pane that has the focus."""
    trail: str
    """The same in a pane without the focus."""
    looks: dict[str, Style]

    @property
    def coloured(self) -> bool:
        """Whether its looks differ by colour."""
        return self.name != "no-colour"

    def __getitem__(self, look: str) -> Style:
        return self.looks.get(look) or self.looks["plain"]


def _palette(name: str, dark: bool, background: str, panel: str, cursor: str, trail: str, words: str) -> Palette:
    looks = {look: Style.parse(style) for look, style in (line.split(None, 1) for line in words.strip().splitlines())}
    return Palette(name, dark, background, panel, cursor, trail, looks)


_DARK = """
plain #c8cfe0
dim #79839f
faint #454d66
bold bold #eef1fa
title bold #eef1fa
accent #8caaee
key #8caaee
string #b8d49a
number #efb58a
model #c6a0f6
api #6fc7d9
client #f0a873
tool #8fd3a5
good #9fd08c
warn #e8c468
bad bold #f2798f
money #e8c468
gauge #8f7a45
mark reverse #e8c468
added #9fd08c
removed #f2798f
cache_read #3f7d8c
cache_write #7d6bb5
resent #e07a5f
new #7fb2f0
output #9fd08c
reasoning #c6a0f6
"""
_LIGHT = """
plain #2b3040
dim #6b7285
faint #c0c5d2
bold bold #10131c
title bold #10131c
accent #2456b8
key #2456b8
string #2f6b2f
number #a04a12
model #7b32b8
api #00708a
client #ab4a00
tool #1f7a4d
good #2b7a2b
warn #8a6100
bad bold #bf1d3d
money #8a6100
gauge #d9b95c
mark reverse #8a6100
added #2b7a2b
removed #bf1d3d
cache_read #7fb5c2
cache_write #a99bd6
resent #d9622f
new #2f6fd0
output #3f9a3f
reasoning #9a4fd6
"""
_CONTRAST = """
plain #ffffff
dim #d0d0d0
faint #8a8a8a
bold bold #ffffff
title bold underline #ffffff
accent bold #5fd7ff
key #5fd7ff
string #87ff87
number #ffd75f
model bold #ff87ff
api bold #00ffff
client bold #ffaf5f
tool bold #87ffaf
good bold #5fff5f
warn bold #ffff00
bad bold #ff5f5f
money #ffff00
gauge #afaf00
mark reverse #ffff00
added #5fff5f
removed #ff5f5f
cache_read #00afaf
cache_write #875fff
resent #ff5f00
new #5fafff
output #5fff5f
reasoning #ff87ff
"""
_NONE = """
plain white
dim dim white
faint dim white
bold bold white
title bold white
accent bold white
key bold white
string white
number white
model bold white
api white
client italic white
tool underline white
good white
warn bold white
bad bold reverse white
money white
gauge white
mark reverse white
added bold white
removed strike white
cache_read white
cache_write white
resent white
new white
output white
reasoning white
"""

PALETTES: dict[str, Palette] = {
    palette.name: palette
    for palette in (
        _palette("dark", True, "#12141d", "#1b1e2b", "#2b3350", "#1f2436", _DARK),
        _palette("light", False, "#fbfbf9", "#eceef2", "#d3ddf5", "#e6eaf2", _LIGHT),
        _palette("high-contrast", True, "#000000", "#101010", "#0000d7", "#303030", _CONTRAST),
        _palette("no-colour", True, "#000000", "#000000", "#3a3a3a", "#1c1c1c", _NONE),
    )
}

SHADES: dict[str, str] = {
    "cache_read": "░",
    "cache_write": "▒",
    "resent": "▓",
    "new": "█",
    "output": "◼",
    "reasoning": "◇",
}
"""The characters that show the kinds of tokens without colour."""


def theme_of(palette: Palette) -> Theme:
    """The Textual theme of a palette, for its own widgets."""

    def colour(look: str) -> str:
        found = palette[look].color
        return found.get_truecolor().hex if found else "#ffffff"

    return Theme(
        name=palette.name,
        primary=colour("accent"),
        secondary=colour("model"),
        accent=colour("accent"),
        warning=colour("warn"),
        error=colour("bad"),
        success=colour("good"),
        foreground=colour("plain"),
        background=palette.background,
        surface=palette.background,
        panel=palette.panel,
        dark=palette.dark,
        variables={
            "footer-background": palette.panel,
            "footer-key-foreground": colour("accent"),
            "footer-description-foreground": colour("dim"),
            "block-cursor-background": palette.cursor,
            "block-cursor-foreground": colour("bold"),
            "border": colour("faint"),
            "scrollbar": colour("faint"),
            "scrollbar-hover": colour("dim"),
            "scrollbar-active": colour("accent"),
            "scrollbar-background": palette.background,
            "scrollbar-background-hover": palette.background,
            "scrollbar-background-active": palette.background,
            "scrollbar-corner-color": palette.background,
        },
    )
