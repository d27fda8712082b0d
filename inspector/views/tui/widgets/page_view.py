"""Shows a page: blocks fold, the cursor stays, and what was opened stays open when the turn changes."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, cast, override

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.message import Message

from ..pages.page import Goto, Layout, Page, Spans
from ..search_matches import BEFORE, TITLE, Matches, Place, matches
from .line_view import LineView


def marked(spans: Spans, words: Sequence[str]) -> Spans:
    """A line with these words marked."""
    text = "".join(part for part, _ in spans).lower()
    found = sorted((at, at + len(word)) for word in words for at in _all(text, word))
    if not found or len(text) != sum(len(part) for part, _ in spans):
        return spans
    out: list[tuple[str, str]] = []
    start = 0
    for part, look in spans:
        end, at = start + len(part), start
        for low, high in found:
            low, high = max(low, at), min(high, end)
            if low < high:
                out += [(part[at - start : low - start], look), (part[low - start : high - start], "mark")]
                at = high
        out.append((part[at - start :], look))
        start = end
    return out


def _all(text: str, word: str) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        yield at
        at = text.find(word, at + len(word))


class PageView(LineView):
    """`show(page)` puts a page in; Enter or a click folds and opens, or follows where a line leads."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket,J", "section(1)", "next part", show=False),
        Binding("left_square_bracket,K", "section(-1)", "part before", show=False),
        Binding("o,space", "choose", "open", show=False),
        Binding("O", "open_all", "open all", show=False),
    ]

    class Followed(Message):
        """A line that leads somewhere was chosen."""

        def __init__(self, goto: Goto) -> None:
            super().__init__()
            self.goto = goto

    class Matched(Message):
        """The cursor went to a line with a word that is searched: which one of how many."""

        def __init__(self, number: int, of: int) -> None:
            super().__init__()
            self.number = number
            self.of = of

    class Unmatched(Message):
        """There is no such line that way; with `edge` there is none on the whole page."""

        def __init__(self, by: int, edge: bool) -> None:
            super().__init__()
            self.by = by
            self.edge = edge

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.page = Page("empty", [])
        self.layout_ = Layout(self.page, [], 1)
        self.folds: dict[str, dict[str, bool]] = {}
        """What was opened and shut, by page name."""
        self.needle: tuple[str, ...] = ()
        """Words that are marked wherever they stand, in lower case."""
        self.seeking = False
        """True while the lines that say these words are looked for."""
        self._matches: Matches | None = None

    @override
    def count(self) -> int:
        return len(self.layout_)

    @override
    def line(self, y: int, width: int) -> Spans:
        spans = self.layout_.line(y)
        return marked(spans, self.needle) if self.needle else spans

    @property
    def _folds(self) -> dict[str, bool]:
        return self.folds.setdefault(self.page.name, {})

    def show(self, page: Page, anchor: str = "", *, top: bool = False, end: bool = False) -> None:
        """Show a page. With `anchor` the cursor goes to what it names, with `top` or `end` to the edge."""
        same = page.name == self.page.name and not top
        self.page = page
        if anchor:
            self._folds.update(dict.fromkeys(page.opening(anchor), True))
        self._lay_out()
        if not same:
            self.scroll_to(y=0, animate=False, immediate=True)
            self.go(0)
        if anchor:
            self.point(anchor)
        elif end:
            self.go(self.count() - 1)

    @property
    def at_end(self) -> bool:
        """True when the cursor stands on the last line, or nothing was shown yet."""
        return self.cursor >= self.count() - 1

    def point(self, anchor: str) -> None:
        """Put the cursor on what `anchor` names, opened."""
        block = self.page.holding(anchor)
        line = self.layout_.find(block.key) if block else None
        if line is not None:
            self.go(line, centre=True)

    def seek(self, by: int, *, edge: bool = False) -> None:
        """Go to the next line that says a word of the needle, or to the one before; from the page's edge with `edge`.

        What came of it is told by `Matched` or `Unmatched`. A folded part is opened when the line stands in it.
        """
        page, width, words = self.page, self.room, self.needle
        if self._matches is not None and self._matches.fits(page, width, words):
            self._go_to_match(self._matches, by, edge)
            return

        def found(lines: Matches) -> None:
            self.seeking = False
            self._matches = lines
            if lines.fits(self.page, self.room, self.needle):
                self._go_to_match(lines, by, edge)

        self.seeking = True
        look = partial(matches, page, width, words)
        app = cast(App[None], self.app)  # pyright: ignore[reportUnknownMemberType]
        self.run_worker(lambda: app.call_from_thread(found, look()), thread=True, exclusive=True)

    def _go_to_match(self, lines: Matches, by: int, edge: bool) -> None:
        number = lines.beside((BEFORE if by > 0 else (len(self.page.blocks), 0)) if edge else self._place(), by)
        if number is None:
            self.post_message(self.Unmatched(by, edge))
            return
        block, line = lines.places[number]
        own = self.page.blocks[block]
        seen = self.layout_.find(own.key)
        # What is shown already need not be opened: a title, or a line of the preview.
        if seen is None or line >= own.preview or not own.title:
            self._folds.update(dict.fromkeys(self.page.above(own)[0 if line != TITLE else 1 :], True))
            self._lay_out()
        start = self.layout_.find(own.key)
        if start is not None:
            self.go(start + (line + 1 if own.title else max(0, line)), centre=True)
            # A page that has just grown can be scrolled as far only once it is drawn.
            self.call_after_refresh(self.reveal, centre=True)
        self.post_message(self.Matched(number + 1, len(lines.places)))

    def _place(self) -> Place:
        """Block and line of the cursor."""
        found = self.layout_.at(self.cursor)
        if found is None:
            return BEFORE
        seen, inside = found
        number = next(n for n, block in enumerate(self.page.blocks) if block is seen.block)
        return number, inside - seen.titled

    def _lay_out(self) -> None:
        self.layout_ = self.page.laid_out(self.room, self._folds)
        self.fit()

    def on_resize(self, event: events.Resize) -> None:
        del event
        if self.room != self.layout_.width:
            self._lay_out()

    @override
    def action_choose(self) -> None:
        self._toggle(self.cursor)

    def _toggle(self, line: int) -> None:
        found = self.layout_.at(line)
        if found is None:
            return
        seen, _ = found
        if seen.block.goto is not None:
            self.post_message(self.Followed(seen.block.goto))
            return
        if not seen.foldable:
            return
        self._folds[seen.block.key] = not seen.opened
        self._lay_out()
        start = self.layout_.find(seen.block.key)
        if start is not None and seen.opened:
            self.go(start)

    @override
    def on_click(self, event: events.Click) -> None:
        line = round(self.scroll_offset.y) + event.y
        if line >= self.count():
            return
        self.go(line)
        found = self.layout_.at(line)
        if found is not None:
            seen, inside = found
            closing = inside >= seen.titled + seen.shown
            if seen.block.goto is not None or (seen.titled and inside == 0) or closing:
                self._toggle(line)

    def action_section(self, by: int) -> None:
        heads = self.layout_.heads()
        ahead = [y for y in heads if (y - self.cursor) * by > 0]
        if ahead:
            line = min(ahead) if by > 0 else max(ahead)
            self.go(line)
            self.scroll_to(y=line, animate=False, immediate=True)

    def action_open_all(self) -> None:
        """Open every block, or shut all when all are open."""
        blocks = [block for block in self.page.blocks if block.body is not None or block.group]
        opened = all(self._folds.get(block.key, block.open) for block in blocks)
        if opened:
            self._folds.clear()
        else:
            self._folds.update({block.key: True for block in blocks})
        self._lay_out()
        self.fit()
