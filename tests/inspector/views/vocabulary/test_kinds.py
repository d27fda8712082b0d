"""The kinds of tokens look the same everywhere, and can be read on every background."""

import pytest
from rich.color import Color, ColorSystem

from turntape.inspector.run.strip import KINDS
from turntape.inspector.views.tui.theme import PALETTES
from turntape.inspector.views.vocabulary.contrast import contrast
from turntape.inspector.views.vocabulary.kinds import KIND_LOOKS

ENOUGH = 4.5
REPORT = {"dark": ("#16181d", "#1d2026"), "light": ("#ffffff", "#f5f6f8")}


def test_every_kind_has_a_look() -> None:
    assert [(kind.name, kind.title) for kind in KIND_LOOKS] == list(KINDS)


@pytest.mark.parametrize("field", ["name", "short", "dark", "light", "contrast", "shade"])
def test_no_two_kinds_look_the_same(field: str) -> None:
    assert len({getattr(kind, field) for kind in KIND_LOOKS}) == len(KIND_LOOKS)


def test_no_two_kinds_share_one_of_the_sixteen_colours_and_none_is_that_of_the_cursor() -> None:
    palette = PALETTES["16-colours"]
    colours = [Color.parse(colour) for colour in (*(kind.sixteen for kind in KIND_LOOKS), palette.column)]
    drawn = [colour.downgrade(ColorSystem.STANDARD).number for colour in colours]

    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_kinds_can_be_read_on_every_background(theme: str) -> None:
    palette = PALETTES[theme]
    grounds = (palette.background, palette.panel, palette.cursor, palette.trail, *REPORT[theme])
    low = {
        (kind.name, ground): round(contrast(getattr(kind, theme), ground), 2)
        for kind in KIND_LOOKS
        for ground in grounds
        if contrast(getattr(kind, theme), ground) < ENOUGH
    }

    assert not low


@pytest.mark.parametrize("theme", ["dark", "light", "high-contrast", "16-colours"])
def test_all_text_can_be_read_on_every_background(theme: str) -> None:
    palette = PALETTES[theme]
    low: dict[tuple[str, str], float] = {}
    for look, style in palette.looks.items():
        assert style.color is not None
        colour = style.color.get_truecolor().hex
        for ground in (palette.background, palette.panel, palette.cursor, palette.trail):
            # `faint` is for lines and dots between texts, never for text.
            if look != "faint" and contrast(colour, ground) < ENOUGH:
                low[look, ground] = round(contrast(colour, ground), 2)

    assert not low


def test_no_bar_is_reversed_which_would_make_it_empty() -> None:
    bars = (
        *(kind.name for kind in KIND_LOOKS),
        "bad_bar",
        "warn",
        "good",
        "gauge",
        "money",
        "model",
        "api",
        "client",
        "tool",
    )

    assert [(name, look) for name, palette in PALETTES.items() for look in bars if palette[look].reverse] == []
    assert all("bad_bar" in palette.looks for palette in PALETTES.values())
