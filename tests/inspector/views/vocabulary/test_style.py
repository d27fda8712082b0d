"""One meaning has one colour in every view, and it can be read."""

import re
from colorsys import rgb_to_hls
from pathlib import Path
from typing import get_args

import pytest

from turntape.inspector import views
from turntape.inspector.views.report.colours import colours_of_styles
from turntape.inspector.views.text.svg import svg
from turntape.inspector.views.text.terminal_text import ansi
from turntape.inspector.views.tui.theme import PALETTES
from turntape.inspector.views.vocabulary.contrast import contrast
from turntape.inspector.views.vocabulary.style import STYLE_LOOKS, Style

FOLDER = Path(views.__file__).parent
FLEET = FOLDER.parent / "fleet" / "page" / "fleet.css"
PLAY = FOLDER.parent.parent / "docs" / "play_svg.py"
ENOUGH = 4.5


def hue(colour: str) -> float:
    """Degrees on the colour wheel."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return rgb_to_hls(red, green, blue)[0] * 360


def test_every_style_has_a_look() -> None:
    assert list(STYLE_LOOKS) == [name for part in get_args(Style.__value__) for name in get_args(part.__value__)]


def test_viewer_report_and_pictures_draw_a_style_in_its_colour() -> None:
    for style, look in STYLE_LOOKS.items():
        drawn = [PALETTES[theme].looks[style].color for theme in ("dark", "light", "high-contrast", "16-colours")]
        assert [one and one.get_truecolor().hex for one in drawn] == [
            look.dark,
            look.light,
            look.contrast,
            look.sixteen,
        ]
        assert f"--{style}: light-dark({look.light}, {look.dark});" in colours_of_styles()
        assert f'fill="{look.dark}"' in svg([[("word", style)]])


# The colours of a terminal that are in the table, in degrees: 31 to 36, and some of the 256.
TERMINAL = {
    "31": 0, "32": 120, "33": 60, "35": 300, "36": 180, "38;5;166": 26, "38;5;162": 323, "38;5;98": 260,
    "38;5;33": 208, "38;5;169": 316,
}  # fmt: skip


HUED = [style for style, look in STYLE_LOOKS.items() if look.sgr not in ("", "1", "2")]


@pytest.mark.parametrize("style", HUED)
def test_the_text_of_show_has_the_hue_of_the_viewer(style: Style) -> None:
    said = re.match(r"\x1b\[(?:1;)?([\d;]+)m", ansi([("word", style)], colour=True))
    assert said is not None
    for theme in ("dark", "light"):
        apart = abs(hue(getattr(STYLE_LOOKS[style], theme)) - TERMINAL[said[1]]) % 360
        assert min(apart, 360 - apart) < 45, (style, theme)


def test_every_style_can_be_read_on_the_grounds_of_the_report_and_of_the_pictures() -> None:
    sheets = [path.read_text("utf-8") for path in (FOLDER / "report" / "page.css", FLEET)]
    names = ("ground", "raised", "chosen")
    grounds = [re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", sheet) for sheet in sheets for name in names]
    pairs = [found.groups() for found in grounds if found is not None]
    light, dark = re.findall(r"_(?:LIGHT|DARK) = \{.*", PLAY.read_text("utf-8"))
    for name in ("ground", "raised"):
        pairs.append(tuple(re.findall(rf'"{name}": "(#\w+)"', light + dark)))
    picture = re.search(r'rx="8" fill="(#\w+)"', svg([]))
    assert len(pairs) == 7 and picture is not None
    low = {
        (style, ground): round(contrast(colour, ground), 2)
        for style, look in STYLE_LOOKS.items()
        for colour, ground in [
            *((look.light, light) for light, _ in pairs),
            *((look.dark, dark) for _, dark in pairs),
            (look.dark, picture[1]),
        ]
        if contrast(colour, ground) < ENOUGH
    }

    assert not low
