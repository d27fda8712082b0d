"""Shows a page. Blocks fold; a block that the user opened or folded stays so when the turn changes."""

from functools import partial
from typing import ClassVar, cast, override

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.message import Message

from ..pages.blocks import Goto, Spans
from ..pages.help_page import HelpSection
from ..pages.page import Layout, Page
from ..search_matches import BEFORE, TITLE, Matches, Place, marked, matches
from .header_footer import KeyHint
from .line_view import LineView


class PageView(LineView):
    """`show(page)` puts a page in; Enter or a click folds and opens, or follows where a line leads."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right_square_bracket,J", "section(1)", "next part", show=False),
        Binding("left_square_bracket,K", "section(-1)", "part before", show=False),
        Binding("o,space", "choose", "open", show=False),
        Binding("O", "open_all", "open all", show=False),
    ]

    class Followed(Message):
        """A line that leads to another place was chosen."""

        def __init__(self, goto: Goto) -> None:
            super().__init__()
            self.goto = goto

    class Matched(Message):
        """The cursor moved to a line with a searched word: number `number` of `of` such lines."""

        def __init__(self, number: int, of: int) -> None:
            super().__init__()
            self.number = number
            self.of = of

    class Unmatched(Message):
        """No line in direction `by` has a searched word; with `edge` no line of the page has."""

        def __init__(self, by: int, edge: bool) -> None:
            super().__init__()
            self.by = by
            self.edge = edge

    HELP_KEYS: ClassVar[HelpSection] = HelpSection(
        "a page",
        (
            ("h ← Esc", "back to the list"),
            (", .", "previous, next turn"),
            ("J K ] [", "next, previous part"),
            ("o Enter", "open or fold the part of the cursor; on a finding: go to its evidence"),
            ("O", "open all parts, fold all parts"),
        ),
    )
    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("Esc", "list", "screen.out"),
        ("o", "fold", "screen.fold"),
        (", .", "turn", "screen.step(1)"),
        ("r", "raw", "screen.raw"),
        ("z", "zoom", "screen.zoom"),
        ("y", "copy", "app.copy"),
        ("x", "save", "app.save"),
        ("?", "help", "app.help"),
        ("q", "quit", "app.quit"),
    )

    def __init__(self, **fields: str) -> None:
        super().__init__(**fields)  # pyright: ignore[reportArgumentType]
        self.page = Page("empty", [])
        self.layout_ = Layout(self.page, [], 1)
        self.folds: dict[str, dict[str, bool]] = {}
        """What was opened and folded, by the name of the page."""
        self.needle: tuple[str, ...] = ()
        """Words to mark wherever they occur, in lower case."""
        self.seeking = False
        """True while the lines with these words are looked for."""
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
        """Show a page. With `anchor` the cursor goes to that part, with `top` or `end` to the first or last line."""
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
        """True when the cursor is on the last line, or nothing was shown yet."""
        return self.cursor >= self.count() - 1

    def point(self, anchor: str) -> None:
        """Put the cursor on the part that `anchor` names."""
        block = self.page.holding(anchor)
        line = self.layout_.find(block.key) if block else None
        if line is not None:
            self.go(line, centre=True)

    def seek(self, by: int, *, edge: bool = False) -> None:
        """Go to the next line with a searched word, or with `by` -1 to the one before; `edge` starts at the edge.

        Posts `Matched` or `Unmatched`. A folded part that holds the line is opened.
        """
        page, width, words = self.page, self.room, self.needle
        if self._matches is not None and self._matches.fits(page, width, words):
            self._go_to_match(self._matches, by, edge)
            return

        def found(lines: Matches) -> None:
            self.seeking = False
            self._matches = lines
            if self.needle == words:
                self.seek(by, edge=edge)  # from the start again when the page was made again meanwhile

        self.seeking = True
        look = partial(matches, page, width, words)
        app = cast(App[None], self.app)  # pyright: ignore[reportUnknownMemberType]
        self.run_worker(lambda: app.call_from_thread(found, look()), thread=True, exclusive=True)

    def _go_to_match(self, lines: Matches, by: int, edge: bool) -> None:
        start = (BEFORE if by > 0 else (len(self.page.blocks), 0)) if edge else self._place()
        number = lines.beside(start, by)
        if number is None:
            self.post_message(self.Unmatched(by, edge))
            return
        self._show_line(*lines.places[number])
        self.post_message(self.Matched(number + 1, len(lines.places)))

    def _show_line(self, block: int, line: int) -> None:
        """Put the cursor on a line of a block, and open the block if needed."""
        own = self.page.blocks[block]
        shown = self.layout_.find(own.key)
        # A title or a line of the preview is visible without opening the block.
        if shown is None or line >= own.preview or not own.title:
            self._folds.update(dict.fromkeys(self.page.above(own)[0 if line != TITLE else 1 :], True))
            self._lay_out()
        start = self.layout_.find(own.key)
        if start is not None:
            self.go(start + (line + 1 if own.title else max(0, line)), centre=True)
            # A page that has just grown can only be scrolled to its end after it is drawn.
            self.call_after_refresh(self.reveal, centre=True)

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
    def chosen(self, line: int, *, clicked: bool) -> None:
        self._toggle(line)

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
        """Open every block, or fold all when all are open."""
        blocks = [block for block in self.page.blocks if block.body is not None or block.group]
        opened = all(self._folds.get(block.key, block.open) for block in blocks)
        if opened:
            self._folds.clear()
        else:
            self._folds.update({block.key: True for block in blocks})
        self._lay_out()
        self.fit()
