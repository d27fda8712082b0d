"""HTML as values: text is escaped, markup is not."""

from collections.abc import Iterable
from html import escape

from ...wire.printable import safe

VOID = frozenset({"meta", "input", "rect", "polyline"})
"""Elements without content, of HTML and of SVG."""


class Html(str):
    """Text that is already markup."""

    __slots__ = ()


def text(value: str) -> Html:
    """Text from the wire: control characters made visible, markup escaped."""
    return value if isinstance(value, Html) else Html(escape(safe(value)))


def joined(children: Iterable[str]) -> Html:
    return Html("".join(text(child) for child in children))


def tag(name: str, /, *children: str, **attributes: object) -> Html:
    """An element. `class_` gives the attribute `class`, `data_place` gives `data-place`.

    True gives an attribute without a value; None and False give none.
    """
    written = "".join(
        _attribute(key, value) for key, value in attributes.items() if value is not None and value is not False
    )
    if name in VOID:
        return Html(f"<{name}{written}/>")
    return Html(f"<{name}{written}>{joined(children)}</{name}>")


def _attribute(key: str, value: object) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(str(value))}"'


def span(look: str, *children: str) -> Html:
    """A piece of a line."""
    return tag("span", *children, class_=look)


def link(place: int, *children: str, look: str = "") -> Html:
    """A link to a round trip of this page."""
    return tag("a", *children, href=f"#row-{place}", class_=look or None)
