"""The two dialogs: a page over the screen (help), and a short menu."""

from collections.abc import Sequence
from typing import ClassVar, override

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.screen import ModalScreen

from ..pages.blocks import Spans
from ..pages.page import Page
from ..theme import Palette
from .header_footer import Bar
from .line_view import LineView
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


class Choices(LineView):
    """A few choices, each with its key. `Picked` with the key of the chosen one."""

    class Picked(Message):
        """A choice was made."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._choices = choices

    @override
    def count(self) -> int:
        return len(self._choices)

    @override
    def line(self, y: int, width: int) -> Spans:
        key, word = self._choices[y]
        return [(f"  {key}  ", "accent"), (word, "plain")]

    @override
    def chosen(self, line: int, *, clicked: bool) -> None:
        self.post_message(self.Picked(self._choices[line][0]))

    def on_key(self, event: events.Key) -> None:
        if event.character in [key for key, _ in self._choices]:
            event.stop()
            self.post_message(self.Picked(event.character))


class Menu(ModalScreen[str | None]):
    """A dialog with a few choices; gives the key of the chosen one, or None."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss(None)", "close", show=False)]
    DEFAULT_CSS = """
    Menu { align: center middle; background: $background 60%; }
    Menu > Vertical { width: 56; max-width: 96%; height: auto; border: round $primary; background: $background; }
    Menu Choices { height: auto; max-height: 20; }
    """

    def __init__(self, title: str, choices: Sequence[tuple[str, str]], palette: Palette) -> None:
        super().__init__()
        self._title, self._choices, self._palette = title, tuple(choices), palette

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Bar(lambda width: [(f" {self._title}", "title"), ("   Esc closes", "dim")])
            choices = Choices(self._choices)
            choices.styles.height = len(self._choices)
            yield choices

    def on_mount(self) -> None:
        self.query_one(Bar).use(self._palette)
        choices = self.query_one(Choices)
        choices.use(self._palette)
        choices.fit()
        choices.focus()

    def on_choices_picked(self, message: Choices.Picked) -> None:
        self.dismiss(message.key)
