"""The meanings that a piece of text may have, with their colours: one table for terminal, viewer, report and pictures.

Each colour of `dark` and `light` has a contrast of at least 4.5:1 to every background of its theme, and a test computes
it.
"""

from collections.abc import Mapping
from typing import Literal, cast

from turntape.cassettes.frozen import frozen

from .kinds import KIND_LOOKS

type _Meaning = Literal["plain", "dim", "bold", "model", "api", "client", "tool", "good", "warn", "bad", "money"]
type _Kind = Literal["cache_read", "rewritten", "resent", "cache_write", "new", "output", "reasoning", "other"]
type Style = _Meaning | _Kind


@frozen
class StyleLook:
    """How a meaning is drawn."""

    dark: str
    """Its colour on a dark background."""
    light: str
    """Its colour on a light background."""
    contrast: str
    """Its colour on black, for those who need strong differences."""
    sixteen: str
    """Its colour where the viewer has sixteen: those that Rich knows, so that none becomes its neighbour."""
    sgr: str
    """The parameters of its escape sequence in the text of commands. The terminal chooses the exact colour, to fit its
    background. Its sixteen colours have no orange, so the client's is one of the 256."""


_MEANINGS: dict[_Meaning, StyleLook] = {
    "plain": StyleLook("#c8cfe0", "#2b3040", "#ffffff", "#aaaaaa", ""),
    "dim": StyleLook("#959db3", "#5a6171", "#d0d0d0", "#aaaaaa", "2"),
    "bold": StyleLook("#eef1fa", "#10131c", "#ffffff", "#ffffff", "1"),
    "model": StyleLook("#c6a0f6", "#7b32b8", "#ff87ff", "#ff55ff", "35"),
    "api": StyleLook("#6fc7d9", "#006e87", "#00ffff", "#00aaaa", "36"),
    "client": StyleLook("#f0a873", "#a84900", "#ffaf5f", "#ffff55", "38;5;166"),
    "tool": StyleLook("#8fd3a5", "#1d7248", "#87ffaf", "#55ff55", "32"),
    "good": StyleLook("#9fd08c", "#287228", "#5fff5f", "#55ff55", "32"),
    "warn": StyleLook("#e8c468", "#855d00", "#ffff00", "#ffff55", "33"),
    "bad": StyleLook("#f2798f", "#bf1d3d", "#ff8888", "#ff6b6b", "1;31"),
    "money": StyleLook("#e8c468", "#855d00", "#ffff00", "#ffff55", "33"),
}
STYLE_LOOKS: Mapping[Style, StyleLook] = {
    **_MEANINGS,
    **{
        cast(_Kind, kind.name): StyleLook(kind.dark, kind.light, kind.contrast, kind.sixteen, kind.sgr)
        for kind in KIND_LOOKS
    },
}
"""The meanings, then the kinds of tokens and dollars."""
HEAVY: frozenset[Style] = frozenset(("bold", "bad"))
"""Drawn bold in every view."""
