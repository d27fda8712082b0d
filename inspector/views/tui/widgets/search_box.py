"""The line in which a search is typed."""

from typing import ClassVar

from rich.text import Text
from textual.events import Paste
from textual.widgets import Input

from .header_footer import KeyHint


class SearchBox(Input):
    """Hidden until `start`. Posts the messages of `Input` while it is open."""

    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("↵", "keep", ""),
        ("Esc", "show all", "screen.out"),
        ("F1", "all fields", "app.help"),
    )

    def __init__(self, **fields: str) -> None:
        hint = "words, tool:name, layer:client, is:error, cost:>0.05 … F1 explains"
        super().__init__(placeholder=hint, **fields)  # pyright: ignore[reportArgumentType]

    @property
    def opened(self) -> bool:
        """True while it is on the screen."""
        return self.has_class("shown")

    def start(self, text: str) -> None:
        """Open it with a text to edit."""
        self.add_class("shown")
        self.display = True
        self.value = text
        self.screen.set_focus(self)  # at once: the next keys are for this box

    def on_paste(self, event: Paste) -> None:
        """Take the pasted text as a terminal shows it, in one line."""
        event.prevent_default()
        event.stop()
        shown = Text.from_ansi(event.text).plain
        self.insert_text_at_cursor(" ".join("".join(c if c.isprintable() else " " for c in shown).split()))

    def end(self) -> None:
        """Hide it."""
        self.remove_class("shown")
        self.display = False
