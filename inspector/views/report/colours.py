"""The colours of the vocabulary as parts of a style sheet, for light and dark pages."""

from ..vocabulary.kinds import KIND_LOOKS
from ..vocabulary.style import STYLE_LOOKS


def colours_of_styles() -> str:
    """A property for the colour of each style, such as `--client` and `--output`."""
    variables = " ".join(f"--{name}: light-dark({look.light}, {look.dark});" for name, look in STYLE_LOOKS.items())
    return f":root {{ {variables} }}"


def colours_of_kinds() -> str:
    """Rules for the bars of each kind of piece."""
    rule = "rect.{0} {{ fill: var(--{0}) }} .key.{0} {{ background: var(--{0}) }}"
    return " ".join(rule.format(kind.name) for kind in KIND_LOOKS)
