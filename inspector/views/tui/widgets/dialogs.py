"""The two dialogs: a page over the screen (help), and a short menu."""

from collections.abc import Sequence
from typing import ClassVar, override

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from ..pages.page import Block, Page, Spans, lines
from ..theme import Palette
from .header_footer import Bar
from .page_view import PageView


class PageScreen(ModalScreen[None]):
    """A page to read; any of Escape, q and ? closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "dismiss", "close", show=False)]
    DEFAULT_CSS = """
    PageScreen { align: center middle; background: $background 60%; }
    PageScreen > Vertical { width: 92%; max-width: 100; height: 92%; border: round $primary; background: $background; }
    """

    def __init__(self, title: str, page: Page, palette: Palette) -> None:
        super().__init__()
        self._title, self._page, self._palette = title, page, palette

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            head: Spans = [(f" {self._title}", "title"), ("   Esc closes", "dim")]
            yield Bar(lambda width: head)
            yield PageView()

    def on_mount(self) -> None:
        self.query_one(Bar).use(self._palette)
        view = self.query_one(PageView)
        view.show_cursor = False
        view.use(self._palette)
        view.focus()
        self.call_after_refresh(view.show, self._page)


class Menu(ModalScreen[str | None]):
    """A few choices, each with its key; gives the key."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "close", show=False)]
    DEFAULT_CSS = """
    Menu { align: center middle; background: $background 60%; }
    Menu > Vertical { width: 56; max-width: 96%; height: auto; border: round $primary; background: $background; }
    Menu PageView { height: auto; max-height: 20; }
    """

    def __init__(self, title: str, choices: Sequence[tuple[str, str]], palette: Palette) -> None:
        super().__init__()
        self._title, self._choices, self._palette = title, tuple(choices), palette

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Bar(lambda width: [(f" {self._title}", "title"), ("   Esc closes", "dim")])
            view = PageView()
            view.styles.height = len(self._choices)
            yield view

    def on_mount(self) -> None:
        self.query_one(Bar).use(self._palette)
        view = self.query_one(PageView)
        view.use(self._palette)
        blocks = [Block(key, (), lines([(f"  {key}  ", "accent"), (word, "plain")])) for key, word in self._choices]
        self.call_after_refresh(view.show, Page("menu", blocks))
        view.focus()

    def on_line_view_chosen(self, event: PageView.Chosen) -> None:
        event.stop()
        self._choose(event.line)

    def on_click(self, event: events.Click) -> None:
        view = self.query_one(PageView)
        if view.region.contains(event.screen_x, event.screen_y):
            self._choose(event.screen_y - view.region.y)

    def on_key(self, event: events.Key) -> None:
        keys = [key for key, _ in self._choices]
        if event.character in keys:
            event.stop()
            self.dismiss(event.character)
        elif event.key == "enter":
            event.stop()
            self._choose(self.query_one(PageView).cursor)

    def _choose(self, line: int) -> None:
        if 0 <= line < len(self._choices):
            self.dismiss(self._choices[line][0])
