"""The pages of one list of a server, read one after another: each page is named once, each entry is on one page.

https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/pagination, read 2026-11-24.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Literal

from turntape.cassettes.frozen import mutable

from ..wire.json_value import Object, as_text, compact, objects_in

ENTRIES: Mapping[str, tuple[str, str]] = {
    "tools/list": ("tools", "name"),
    "prompts/list": ("prompts", "name"),
    "resources/list": ("resources", "uri"),
    "resources/templates/list": ("resourceTemplates", "uriTemplate"),
}
"""By method: the key of the entries, and the key of what names one of them."""
type PageFault = Literal["list_loops", "page_repeats"]

_MOST = 20_000
"""So many entries of one list are known."""


@mutable
class Listing:
    """What the pages so far have said."""

    asked: set[str] = field(default_factory=set[str])
    """The pages that were requested."""
    entries: dict[str, str] = field(default_factory=dict[str, str])
    """By name: the entries of all pages."""

    def page(self, method: str, cursor: str | None, result: Object) -> Iterator[tuple[PageFault, str]]:
        """Take a page, and give what is wrong with it: the kind of a note, and the page or the entry concerned."""
        if cursor is None:
            self.asked.clear()
            self.entries.clear()
        elif cursor in self.asked:
            return  # the client asks for it again
        else:
            self.asked.add(cursor)
        following = as_text(result.get("nextCursor"))
        key, name = ENTRIES[method]
        here = {named: compact(one) for one in objects_in(result.get(key)) if (named := as_text(one.get(name)))}
        again = [named for named, one in here.items() if self.entries.get(named) == one]
        if following and following in self.asked:
            yield "list_loops", following
        elif again:
            yield "page_repeats", again[0]
        if len(self.entries) < _MOST:
            self.entries |= here
