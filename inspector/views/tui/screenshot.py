"""The screen as a self-contained SVG, which loads no font."""

import re

_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"


def picture(svg: str) -> str:
    """The SVG that Textual exports, with fonts that every system has."""
    svg = re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.S)
    svg = re.sub(r"font-family: Fira Code, monospace", f"font-family: {_FONTS}", svg)
    # The number in all names is a hash of the whole screen: with it, one changed letter would change every line.
    svg = re.sub(r"\bterminal-\d+-", "t-", svg)
    svg = re.sub(r' clip-path="url\(#t-line-\d+\)"', "", svg)
    svg = re.sub(r'<clipPath id="t-line-\d+">.*?</clipPath>\s*', "", svg, flags=re.S)
    svg = re.sub(r"<!-- Generated with .*? -->\n?", "", svg)
    return re.sub(r"[ \t]+$", "", svg, flags=re.M)
