"""A report, unpacked like its script does it, so that a test can read what is in it."""

import json
import re
import zlib
from base64 import b64decode
from functools import cached_property
from html import escape
from typing import Any

from turntape.inspector.views.report.markup import VOID


class Opened:
    """The packed data of a page."""

    def __init__(self, page: str) -> None:
        self.page = page
        self.index: dict[str, Any] = self._data("index")[0]
        self.blocks = self._data("block")
        self.texts: list[str] = [text for block in self.blocks for text in block["texts"]]

    def _data(self, name: str) -> list[Any]:
        found = re.findall(rf'<script type="text/turntape-{name}">([^<]*)</script>', self.page)
        return [json.loads(zlib.decompress(b64decode(one))) for one in found]

    @property
    def static(self) -> str:
        """The page without its packed data."""
        return re.sub(r'(<script type="text/turntape-\w+">)[^<]*', r"\1", self.page)

    @cached_property
    def views(self) -> list[str]:
        """The view of each round trip as markup."""
        return [self.html(view["view"]) for block in self.blocks for view in block["views"]]

    @cached_property
    def rows(self) -> list[str]:
        """The line of each round trip as markup."""
        return [self.html(row) for row in self.index["rows"]]

    @property
    def everything(self) -> str:
        """All markup and all texts, those that are packed too."""
        packed = json.dumps([self.index, *self.blocks], ensure_ascii=False)
        return "\n".join([self.static, packed, *self.texts, *self.views, *self.rows])

    def raw(self, place: int, which: int = 0) -> str:
        """A raw body as the page shows it, put together from what it refers to."""
        views = [view for block in self.blocks for view in block["views"]]

        def body(stored: list[Any]) -> bytes:
            text = self._said(stored[0]).encode()
            if len(stored) == 1:
                return text
            _, base, prefix, suffix = stored
            earlier = body(views[base]["raw"][0]["body"])
            return earlier[:prefix] + text + earlier[len(earlier) - suffix :]

        return body(views[place]["raw"][which]["body"]).decode()

    def _said(self, value: str | int) -> str:
        return self.texts[value] if isinstance(value, int) else value

    def html(self, node: Any) -> str:
        if not isinstance(node, list):
            return escape(self._said(node))
        head, *rest = node
        name, *looks = head.split(".")
        given = rest.pop(0) if rest and isinstance(rest[0], dict) else {}
        attributes = ({"class": " ".join(looks)} if looks else {}) | {k: self._said(v) for k, v in given.items()}
        inside = "".join(self.html(child) for child in rest)
        if not name:
            return inside
        written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
        return f"<{name}{written}/>" if name in VOID else f"<{name}{written}>{inside}</{name}>"
