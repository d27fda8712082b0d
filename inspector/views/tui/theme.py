"""Colours: one table for each theme, from the name of a look to its style.

What other views draw too (layers, severities, kinds of tokens) has its colours from the vocabulary; the tables here add
what only the viewer has. The names are the same in all themes. A glyph or a word always has the same meaning as the
colour, so the viewer also works without colours.
"""

from functools import cached_property, lru_cache

from rich.style import Style
from textual.theme import Theme

from turntape.cassettes.frozen import frozen

from ..vocabulary.kinds import KIND_LOOKS
from ..vocabulary.style import HEAVY, STYLE_LOOKS

_NEVER_BOLD = frozenset(("plain", "dim", "money", *(kind.name for kind in KIND_LOOKS)))
"""Not bold where the rest is, for those who need strong differences."""


@frozen(slots=False)
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
    column: str
    """The background of the bar under the cursor, which no kind of tokens looks like."""
    looks: dict[str, Style]
    unicode: bool = True
    """Whether the terminal draws more than ASCII."""

    @property
    def coloured(self) -> bool:
        """Whether its looks differ by colour."""
        return self.name != "no-colour"

    def on(self, look: str, background: str) -> Style:
        """A look on a background: a colour, or another look, of which the colour is used."""
        key = look, background
        found = self._on.get(key)
        if found is None:
            under = self.looks[background].color if background in self.looks else background
            found = Style(bgcolor=under or self.background) + self[look]
            if not look.startswith("#"):  # of pictures there is no end
                self._on[key] = found
        return found

    @cached_property
    def _on(self) -> dict[tuple[str, str], Style]:
        return {}

    def __getitem__(self, look: str) -> Style:
        if look.startswith("#") and self.coloured:
            return painted(look)
        return self.looks.get(look) or self.looks["plain"]


@lru_cache(4096)
def painted(look: str) -> Style:
    """The style of two pixels of a picture: `#112233 #445566`, the upper and the lower one."""
    upper, _, lower = look.partition(" ")
    return Style(color=upper, bgcolor=lower or None)


def shaded(text: str, look: str) -> str:
    """The same pixels without colours: the darker, the fuller."""
    values = [int(look[at : at + 2], 16) for at in (1, 3, 5)]
    light = (2 * values[0] + 5 * values[1] + values[2]) / (8 * 256)
    return "█▓▒░ "[int(light * 5)] * len(text)


def _palette(
    name: str, dark: bool, background: str, panel: str, cursor: str, trail: str, column: str, words: str, colours: str
) -> Palette:
    """`colours` is the field of `KindLook` and `StyleLook` with the colours; empty when `words` has all looks."""
    looks = {look: Style.parse(style) for look, style in (line.split(None, 1) for line in words.strip().splitlines())}
    for style, look in STYLE_LOOKS.items() if colours else ():
        bold = style in HEAVY or (colours == "contrast" and style not in _NEVER_BOLD)
        looks[style] = Style(color=getattr(look, colours), bold=bold or None)
    # Reversed, a full block is an empty cell.
    looks["bad_bar"] = looks["bad"] + Style(reverse=False)
    looks["first"] = looks["dim"]
    if not colours:
        looks.update((kind.name, Style.parse("white")) for kind in KIND_LOOKS)
    return Palette(name, dark, background, panel, cursor, trail, column, looks)


_DARK = """
faint #454d66
title bold #eef1fa
accent #8caaee
key #8caaee
string #b8d49a
number #efb58a
gauge #b39c61
mark reverse #e8c468
added #9fd08c
removed #f2798f
"""
_LIGHT = """
faint #c0c5d2
title bold #10131c
accent #2456b8
key #2456b8
string #2f6b2f
number #a04a12
gauge #7a621d
mark reverse #855d00
added #287228
removed #bf1d3d
"""
_CONTRAST = """
faint #aaaaaa
title bold underline #ffffff
accent bold #5fd7ff
key #5fd7ff
string #87ff87
number #ffd75f
gauge #b2b200
mark reverse #ffff00
added #5fff5f
removed #ff8888
"""
_SIXTEEN = """
faint #555555
title bold #ffffff
accent bold #55ffff
key #55ffff
string #55ff55
number #ffff55
gauge #ffff55
mark reverse #ffff55
added #55ff55
removed #ff6b6b
"""
"""The sixteen colours as Rich knows them, so that none becomes its neighbour."""
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
"""

PALETTES: dict[str, Palette] = {
    palette.name: palette
    for palette in (
        _palette("dark", True, "#12141d", "#1b1e2b", "#2b3350", "#1f2436", "#2b3350", _DARK, "dark"),
        _palette("light", False, "#fbfbf9", "#eceef2", "#dbe4fa", "#e8ebf3", "#dbe4fa", _LIGHT, "light"),
        _palette("high-contrast", True, "#000000", "#101010", "#0000d7", "#303030", "#505050", _CONTRAST, "contrast"),
        _palette("16-colours", True, "#000000", "#000000", "#0000aa", "#000000", "#555555", _SIXTEEN, "sixteen"),
        _palette("no-colour", True, "#000000", "#000000", "#3a3a3a", "#1c1c1c", "#3a3a3a", _NONE, ""),
    )
}

SHADES: dict[str, str] = {kind.name: kind.shade for kind in KIND_LOOKS}
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
            "block-cursor-blurred-background": palette.cursor,
            "block-cursor-blurred-foreground": colour("bold"),
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
