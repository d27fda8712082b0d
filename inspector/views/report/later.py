"""Parts of the page that its script makes when they are first shown.

A browser reads, styles and keeps all markup of a page before it can be used. A part that is left for later costs a text
until then.
"""

from .markup import Html, tag
from .packed import Node, node


class Later:
    """The parts by their number."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def put(self, html: Html, **attributes: str | bool | None) -> Html:
        """Leave a part for later; gives an element with these attributes that holds its place."""
        self.nodes.append(node(html))
        return tag("div", **attributes, data_later=f"{len(self.nodes) - 1}")
