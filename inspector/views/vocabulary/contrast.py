"""The contrast of two colours, as WCAG 2.2 defines it.

https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio (2026-11-22)
"""


def contrast(one: str, other: str) -> float:
    """The ratio of two colours like `#12ab9f`, from 1 (the same) to 21 (black and white)."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour: str) -> float:
    """The relative luminance, from 0 (black) to 1 (white)."""
    red, green, blue = (_linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
