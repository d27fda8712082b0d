"""The line in which a search is typed."""

from typing import ClassVar

from rich.text import Text
from textual.events import Paste
from textual.widgets import Input

from .header_footer import KeyHint

MOST = 500
"""The most characters of a query. Each letter searches all rows for each word of it: a pasted file would stop the
screen."""
ESCAPES = 4
"""Of a pasted text at most this many times `MOST` characters are looked at, as it may be full of colours."""
FULL: KeyHint = ("", f"at most {MOST} characters", "")


class SearchBox(Input):
    """Hidden until `start`. Posts the messages of `Input` while it is open."""

    HINTS: ClassVar[tuple[KeyHint, ...]] = (
        ("↵", "keep", ""),
        ("Esc", "show all", "screen.out"),
        ("F1", "all fields", "app.help"),
    )

    def __init__(self, **fields: str) -> None:
        hint = "words, tool:name, layer:client, is:error, cost:>0.05 … F1 explains"
        super().__init__(placeholder=hint, max_length=MOST, **fields)  # pyright: ignore[reportArgumentType]

    @property
    def opened(self) -> bool:
        """True while it is on the screen."""
        return self.has_class("shown")

    @property
    def hints(self) -> tuple[KeyHint, ...]:
        """The keys while it is open, and that it takes no more text if so."""
        return (FULL, *self.HINTS) if len(self.value) >= MOST else self.HINTS

    def start(self, text: str) -> None:
        """Open it with a text to edit."""
        self.add_class("shown")
        self.display = True
        self.value = text
        self.screen.set_focus(self)  # at once: the next keys are for this box

    def on_paste(self, event: Paste) -> None:
        """Take the pasted text as a terminal shows it, in one line, as far as it fits."""
        event.prevent_default()
        event.stop()
        shown = Text.from_ansi(event.text[: ESCAPES * MOST]).plain
        line = " ".join("".join(c if c.isprintable() else " " for c in shown).split())
        room = MOST - len(self.value) + len(self.selected_text)
        self.replace(line[:room], *self.selection)

    def end(self) -> None:
        """Hide it."""
        self.remove_class("shown")
        self.display = False
