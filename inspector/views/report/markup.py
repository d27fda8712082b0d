"""HTML as values: elements with text in them. Text is never markup, in the page itself and in its packed views."""

from collections.abc import Iterable
from functools import cache
from html import escape

from ...wire.printable import safe

VOID = frozenset({"meta", "input", "rect", "polyline", "img", "path", "line"})
"""Elements without content, of HTML and of SVG."""


class Html:
    """An element with its attributes and children; a fragment when it has no name."""

    __slots__ = ("attributes", "children", "name")

    def __init__(self, name: str = "", attributes: dict[str, str] | None = None, *children: "Html | str") -> None:
        self.name = name
        self.attributes = attributes or {}
        """Values of attributes; an attribute without a value has the empty text."""
        self.children = children

    def __bool__(self) -> bool:
        return bool(self.name or any(self.children))

    def __str__(self) -> str:
        """The markup."""
        inside = "".join(_written(child) for child in self.children)
        if not self.name:
            return inside
        attributes = "".join(f' {name}="{_text(value)}"' if value else f" {name}" for name, value in self._named())
        if self.name in VOID:
            return f"<{self.name}{attributes}/>"
        return f"<{self.name}{attributes}>{inside}</{self.name}>"

    def _named(self) -> Iterable[tuple[str, str]]:
        return self.attributes.items()


class Markup(Html):
    """Markup of this program: its style. Nothing of a recording is ever in it."""

    __slots__ = ("markup",)

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.markup = markup

    def __str__(self) -> str:
        return self.markup


NOTHING = Html()


def _text(value: str) -> str:
    """Text from the wire: control characters made visible, markup escaped."""
    return escape(safe(value))


def _written(child: "Html | str") -> str:
    return str(child) if isinstance(child, Html) else _text(child)


def joined(children: "Iterable[Html | str]") -> Html:
    return Html("", None, *children)


def tag(name: str, /, *children: "Html | str", **attributes: object) -> Html:
    """An element. `class_` gives the attribute `class`, `data_place` gives `data-place`.

    True gives an attribute without a value; None and False give none.
    """
    written = {
        _name(key): "" if value is True else str(value)
        for key, value in attributes.items()
        if value is not None and value is not False
    }
    return Html(name, written, *children)


@cache
def _name(key: str) -> str:
    """The name of an attribute by that of the argument."""
    return key.rstrip("_").replace("_", "-") if key != "viewBox" else key


def span(look: str, *children: "Html | str") -> Html:
    """A piece of a line."""
    return tag("span", *children, class_=look)


def link(place: int, *children: "Html | str", look: str = "") -> Html:
    """A link to a round trip of this page."""
    return tag("a", *children, href=f"#row-{place}", class_=look or None)
