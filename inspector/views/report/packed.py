"""The views of a run as packed data: each long text once, in compressed blocks that the page opens when it needs them.

A node of a view is JSON: a text, the number of a long text, or `["name.class.class", {attributes}, child, …]`, of which
the attributes may be missing. The page's script makes elements and text nodes of it, so that no text is ever markup.
"""

import zlib
from base64 import b64encode
from dataclasses import field
from hashlib import blake2b

import orjson

from turntape.cassettes.frozen import mutable

from ...wire.printable import safe
from .markup import Html

LONG = 40
"""A text with at least this many characters is stored once and referred to by its number."""
BLOCK = 400_000
"""Characters of new texts and views after which a block ends."""
VIEW = 2_000
"""What a view is taken to have beside its long texts, in characters."""

type Node = str | int | list[Node | dict[str, str | int]]


class Texts:
    """All long texts by content, and those that no block has yet."""

    def __init__(self) -> None:
        self.new: list[str] = []
        self.size = 0
        """Characters in `new`."""
        self._numbers: dict[bytes, int] = {}

    @property
    def count(self) -> int:
        """How many different texts there are."""
        return len(self._numbers)

    def forget(self) -> None:
        """Keep the numbers of the new texts, and not the texts."""
        self.new, self.size = [], 0

    def number(self, text: str) -> int:
        """The number of a text, which is stored when it is new."""
        key = blake2b(text.encode(), digest_size=16).digest()
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self.new.append(text)
            self.size += len(text)
        return number


def node(html: Html | str, texts: Texts | None = None) -> Node:
    """A view as JSON; without `texts`, long texts stay in it."""
    if isinstance(html, str):
        return _text(html, texts)
    made: list[Node | dict[str, str | int]] = [html.name]
    if html.attributes:
        if looks := html.attributes.get("class"):
            made[0] = ".".join([html.name, *looks.split()])
        if others := {key: _text(value, texts) for key, value in html.attributes.items() if key != "class"}:
            made.append(others)
    _add_children(made, html, texts)
    return made


def _add_children(made: "list[Node | dict[str, str | int]]", html: Html, texts: Texts | None) -> None:
    """Add the nodes of an element's children; those of a fragment are in its place."""
    for child in html.children:
        if isinstance(child, str):
            if child:
                made.append(_text(child, texts))
        elif child.name:
            made.append(node(child, texts))
        else:
            _add_children(made, child, texts)


def _text(text: str, texts: Texts | None) -> str | int:
    text = safe(text)
    return text if texts is None or len(text) < LONG else texts.number(text)


def packed(value: object) -> str:
    """JSON, compressed, as letters that cannot end a script element."""
    return b64encode(zlib.compress(orjson.dumps(value), 9)).decode()


@mutable
class Blocks:
    """Views in blocks of neighbours, with the texts that occur in them first."""

    texts: Texts = field(default_factory=Texts)
    first_places: list[int] = field(default_factory=list[int])
    first_texts: list[int] = field(default_factory=list[int])
    """Of each block: the place of its first view, and the number of its first text."""
    _views: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    _place: int = 0
    _text: int = 0

    def add(self, view: dict[str, object]) -> str | None:
        """Add the view of the next place; gives a block when one is full."""
        self._views.append(view)
        if self.texts.size + VIEW * len(self._views) < BLOCK:
            return None
        return self.close()

    def close(self) -> str | None:
        """The last block; None when it would be empty."""
        if not self._views:
            return None
        self.first_places.append(self._place)
        self.first_texts.append(self._text)
        block = packed({"views": self._views, "texts": self.texts.new})
        self._place += len(self._views)
        self._text = self.texts.count
        self._views = []
        self.texts.forget()
        return block
