"""Blocks: a title line, and lines that fold away under it."""

from collections.abc import Callable, Sequence

from turntape.cassettes.frozen import frozen, mutable

type Spans = Sequence[tuple[str, str]]
"""A line: pieces of text, each with the name of its look."""
type Body = Callable[[int], Sequence[Spans]]
"""Makes the lines of a block for a width in cells."""
type Title = Spans | Callable[[int], Spans]
"""A title line, or what makes it for the width of the page in cells."""


@frozen
class Goto:
    """Where Enter leads: a round trip, and a part of it."""

    place: int
    anchor: str = ""
    view: str = "turn"


@mutable
class Block:
    """A title line, and lines that fold away under it."""

    key: str
    """Identifies the block: a block with the same key stays open or folded when the turn changes."""
    title: Title = ()
    body: Body | None = None
    open: bool = True
    """Whether it starts open."""
    preview: int = 0
    """How many lines are shown while it is folded."""
    indent: int = 0
    parent: str | None = None
    """The key of the block that it folds away with."""
    anchors: tuple[str, ...] = ()
    """Names to find it by: JSON pointers, and words such as `answer`."""
    goto: Goto | None = None
    group: bool = False
    """True when other blocks fold away with it."""

    def title_at(self, width: int) -> Spans:
        """The title on a page of that width."""
        return self.title(width) if callable(self.title) else self.title

    @property
    def inset(self) -> int:
        """How far its lines are indented: below the words of its title."""
        return self.indent + 4 if self.title and self.indent else self.indent
