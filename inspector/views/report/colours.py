"""The colours of the vocabulary as parts of a style sheet, for light and dark pages."""

from ..vocabulary.kinds import KIND_LOOKS
from ..vocabulary.style import STYLE_LOOKS


def colours_of_styles() -> str:
    """A property for the colour of each style, such as `--client`."""
    variables = " ".join(f"--{name}: light-dark({look.light}, {look.dark});" for name, look in STYLE_LOOKS.items())
    return f":root {{ {variables} }}"


def colours_of_kinds() -> str:
    """A property for the colour of each kind of piece, such as `--kind-output`, and rules for its bars."""
    names = [kind.name for kind in KIND_LOOKS]
    variables = " ".join(f"--kind-{kind.name}: light-dark({kind.light}, {kind.dark});" for kind in KIND_LOOKS)
    bars = " ".join(
        f"rect.{name} {{ fill: var(--kind-{name}) }} .key.{name} {{ background: var(--kind-{name}) }}" for name in names
    )
    return f":root {{ {variables} }} {bars}"
