"""A page: blocks that fold, made without a terminal and laid out for a width.

A body is made when it is shown for the first time.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from turntape.cassettes.counted import several
from turntape.cassettes.frozen import frozen

from .blocks import Block, Spans


@frozen
class ShownBlock:
    """A block as it is laid out."""

    block: Block
    lines: Sequence[Spans]
    shown: int
    """How many of its lines are shown."""
    opened: bool

    @property
    def titled(self) -> int:
        return 1 if self.block.title else 0

    @property
    def foldable(self) -> bool:
        """Whether Enter folds it. A block without a title and a preview could not be opened again."""
        if not self.block.title and not self.block.preview:
            return False
        return self.block.group or (self.block.body is not None and len(self.lines) > self.block.preview)

    @property
    def height(self) -> int:
        return self.titled + self.shown + (1 if self.hidden and self.block.preview else 0)

    @property
    def hidden(self) -> int:
        return len(self.lines) - self.shown


@dataclass
class Page:
    """The content of a view: blocks for a turn or for a run."""

    name: str
    blocks: list[Block]
    note: str = ""
    _bodies: dict[tuple[int, int], Sequence[Spans]] = field(
        default_factory=dict[tuple[int, int], Sequence[Spans]], repr=False
    )

    def laid_out(self, width: int, folds: Mapping[str, bool]) -> "Layout":
        """The page for a width in cells; `folds` says which blocks the user opened or folded, by key."""
        shown: list[ShownBlock] = []
        folded: set[str] = set()
        for number, block in enumerate(self.blocks):
            if block.parent in folded:
                folded.add(block.key)
                continue
            opened = folds.get(block.key, block.open)
            if not opened:
                folded.add(block.key)
            shown.append(self._shown(number, width, opened=opened))
        return Layout(self, shown, width)

    def _shown(self, number: int, width: int, *, opened: bool) -> "ShownBlock":
        block = self.blocks[number]
        if block.body is None:
            return ShownBlock(block, (), 0, opened)
        if not (opened or block.preview):
            return ShownBlock(block, _NOT_MADE, 0, opened)
        lines = self.body(number, width)
        return ShownBlock(block, lines, len(lines) if opened else min(block.preview, len(lines)), opened)

    def body(self, number: int, width: int) -> Sequence[Spans]:
        """All lines of a block but its title, on a page of that width."""
        block = self.blocks[number]
        if block.body is None:
            return ()
        key = (number, max(16, width - block.inset))
        if key not in self._bodies:
            self._bodies[key] = block.body(key[1])
        return self._bodies[key]

    def opening(self, anchor: str) -> list[str]:
        """The keys of the blocks to open so that `anchor` can be seen."""
        return self.above(self.holding(anchor))

    def above(self, block: Block | None) -> list[str]:
        """The keys of a block and of those that it folds away with."""
        keys: list[str] = []
        while block is not None:
            keys.append(block.key)
            parent = block.parent
            block = next((b for b in self.blocks if parent is not None and b.key == parent), None)
        return keys

    def holding(self, anchor: str) -> Block | None:
        """The block with the longest anchor that `anchor` begins with."""
        best: tuple[int, Block] | None = None
        for block in self.blocks:
            for own in block.anchors:
                fits = anchor == own or anchor.startswith(own + "/")
                if fits and (best is None or len(own) > best[0]):
                    best = (len(own), block)
        return best[1] if best else None


_NOT_MADE: Sequence[Spans] = ((),)
"""The body of a folded block, which is not made."""


class Layout:
    """A page laid out for one width: the content of each line."""

    def __init__(self, page: Page, shown: list[ShownBlock], width: int) -> None:
        self.page = page
        self.width = width
        self._shown = shown
        self._ends = list(accumulate(one.height for one in shown))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def at(self, y: int) -> tuple[ShownBlock, int] | None:
        """The block that line `y` belongs to, and the line's number in it; the title is 0."""
        if not 0 <= y < len(self):
            return None
        number = bisect_right(self._ends, y)
        return self._shown[number], y - (self._ends[number - 1] if number else 0)

    def line(self, y: int) -> Spans:
        found = self.at(y)
        if found is None:
            return ()
        one, inside = found
        indent = " " * one.block.indent
        if one.titled and inside == 0:
            sign = ("▾ " if one.opened else "▸ ") if one.foldable else ""
            spans = one.block.title_at(self.width)
            if one.foldable and one.block.goto is None:
                return [(indent, "plain"), (sign, "dim"), *spans]
            return [(indent, "plain"), *spans]
        inside -= one.titled
        indent = " " * one.block.inset
        if inside >= one.shown:
            more = f"{indent}… {several(one.hidden, 'more line')}, Enter opens them"
            return [(more, "dim")]
        return [(indent, "plain"), *one.lines[inside]]

    def find(self, key: str) -> int | None:
        """The first line of a block."""
        for number, one in enumerate(self._shown):
            if one.block.key == key:
                return self._ends[number - 1] if number else 0
        return None

    def heads(self) -> list[int]:
        """The first lines of the parts: of all blocks with a title that is not indented."""
        return [
            self._ends[n - 1] if n else 0 for n, one in enumerate(self._shown) if one.titled and one.block.indent == 0
        ]

    def text(self) -> Iterator[str]:
        """All lines without their styles."""
        for y in range(len(self)):
            yield "".join(text for text, _ in self.line(y)).rstrip()
