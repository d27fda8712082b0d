"""Pictures as half blocks."""

import sys
from base64 import b64encode
from collections.abc import Callable, Sequence
from io import BytesIO

import pytest

from turntape.inspector.analysis.pictures import Picture
from turntape.inspector.views.tui.pages.blocks import Spans
from turntape.inspector.views.tui.pages.picture_lines import COLUMNS, ROWS, picture_lines, with_pictures
from turntape.inspector.views.tui.theme import PALETTES, shaded
from turntape.inspector.views.tui.widgets.line_view import strip

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed: pip install pillow")


def png(width: int, height: int, colour: Callable[[int, int], tuple[int, int, int]], kind: str = "PNG") -> Picture:
    image = Image.new("RGB", (width, height))
    image.putdata([colour(x, y) for y in range(height) for x in range(width)])
    held = BytesIO()
    image.save(held, kind)
    return Picture(f"image/{kind.lower()}", b64encode(held.getvalue()).decode(), width, height)


def text(lines: Sequence[Spans]) -> list[str]:
    return ["".join(part for part, _ in line) for line in lines]


def test_each_cell_has_an_upper_and_a_lower_pixel() -> None:
    picture = png(3, 3, lambda x, y: (255, 0, 0) if y == 0 else (0, 0, 255))
    assert picture_lines(picture, 40) == [
        [("▀▀▀", "#ff0000 #0000ff")],
        [("▀▀▀", "#0000ff #0000ff")],
    ]


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
@pytest.mark.parametrize(("size", "room"), [((640, 480), 100), ((2000, 30), 40), ((30, 900), 100), ((1, 1), 16)])
def test_a_picture_keeps_its_form_in_the_room_it_gets(size: tuple[int, int], room: int, kind: str) -> None:
    shown = text(picture_lines(png(*size, lambda x, y: (9, 9, 9), kind), room))
    assert 1 <= len(shown) <= ROWS and 1 <= len(shown[0]) <= min(room, COLUMNS)
    wide, high = size
    assert abs(len(shown[0]) / wide - 2 * len(shown) / high) <= 2 / min(size)


@pytest.mark.parametrize(
    ("picture", "said"),
    [
        (Picture("image/png", "iVBORw0KGgo" + "A" * 60), "cannot be decoded"),
        (Picture("image/png", "A" * 9_000_000), "too large"),
        (Picture("image/png", "iVBORw0KGgo", 30_000, 30_000), "too large"),
    ],
)
def test_what_cannot_be_drawn_is_said(picture: Picture, said: str) -> None:
    (line,) = text(picture_lines(picture, 60))
    assert said in line and "x i saves it" in line


def test_without_pillow_the_command_that_installs_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    picture = png(4, 4, lambda x, y: (1, 2, 3))
    monkeypatch.setitem(sys.modules, "PIL", None)
    (line,) = text(picture_lines(picture, 61))
    assert line.startswith("pip install 'turntape[pictures]'")


def test_pictures_come_before_the_text_and_files_are_not_drawn() -> None:
    picture = png(2, 2, lambda x, y: (1, 2, 3))
    body = with_pictures([picture, Picture("application/pdf", "JVBERi")], lambda width: [[("text", "plain")]])
    assert text(body(30)) == ["▀▀", "text"]


def test_colours_are_those_of_the_pixels_and_without_colours_the_darker_is_fuller() -> None:
    spans: Spans = [("▀▀", "#ff0000 #0000ff")]
    (coloured, *_) = strip(spans, 4, PALETTES["dark"], "#000000")
    assert coloured.style is not None and coloured.style.color is not None and coloured.style.bgcolor is not None
    assert (coloured.style.color.name, coloured.style.bgcolor.name) == ("#ff0000", "#0000ff")

    assert strip(spans, 4, PALETTES["no-colour"], "#000000").text == "▓▓  "
    assert [shaded("▀", look) for look in ("#000000", "#404040", "#808080", "#c0c0c0", "#ffffff")] == [*"█▓▒░ "]
