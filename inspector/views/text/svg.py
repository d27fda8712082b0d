"""Styled lines as an SVG picture, for a README; the same lines that the terminal shows."""

from collections.abc import Iterable
from html import escape

from ..vocabulary.style import HEAVY, STYLE_LOOKS
from .terminal_text import Line, plain, width_of

_CELL, _ROW, _PAD = 8.43, 19, 20


def svg(lines: Iterable[Line], title: str = "turntape show") -> str:
    """A terminal window that shows `lines`."""
    rows = list(lines)
    columns = max([width_of(plain(row)) for row in rows] + [60])
    width, height = round(columns * _CELL + 2 * _PAD), len(rows) * _ROW + 2 * _PAD + 24
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#1b1e24"/>',
        *(
            f'<circle cx="{_PAD + 18 * i}" cy="20" r="5.5" fill="{c}"/>'
            for i, c in enumerate(("#ff5f57", "#febc2e", "#28c840"))
        ),
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" '
        'xml:space="preserve">',
    ]
    for number, row in enumerate(rows):
        y = _PAD + 24 + number * _ROW + 14
        column = 0
        for text, style in row:
            if text.strip():
                lead = len(text) - len(text.lstrip(" "))
                x = _PAD + (column + lead) * _CELL
                weight = ' font-weight="bold"' if style in HEAVY else ""
                shown = text.strip(" ")
                out.append(
                    f'<text x="{x:.1f}" y="{y}" fill="{STYLE_LOOKS[style].dark}"{weight} '
                    f'textLength="{width_of(shown) * _CELL:.1f}" lengthAdjust="spacingAndGlyphs">{escape(shown)}</text>'
                )
            column += width_of(text)
    return "\n".join([*out, "</g>", "</svg>"]) + "\n"
