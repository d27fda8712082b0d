"""Messages from the controllers to the app. A widget's own messages are defined in the widget."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from ..pages.page import Page
from .page_maker import PageRequest
from .played_turn import PlayedTurn

if TYPE_CHECKING:
    from ....ledger import Ledger
    from ....run.row import Row
    from ....run.strip import Strip

type Post = Callable[[Message], object]
"""Sends a message to the app, from any thread."""


class FirstRowRead(Message):
    """The first row, as far as its own round trip says it; it comes again in `RowsRead`, with its findings."""

    def __init__(self, row: "Row") -> None:
        super().__init__()
        self.row = row


class RowsRead(Message):
    """More rows were read from the file."""

    def __init__(self, rows: "list[Row]") -> None:
        super().__init__()
        self.rows = rows


class ReadingEnded(Message):
    """The file was read to its end, or could not be read; `final` when no more rows will follow."""

    def __init__(self, problem: str | None, final: bool) -> None:
        super().__init__()
        self.problem = problem
        self.final = final


class LedgerReady(Message):
    """The ledger of the rows that were read; None when it could not be made."""

    def __init__(self, ledger: "Ledger | None") -> None:
        super().__init__()
        self.ledger = ledger


class GrowthReady(Message):
    """A requested growth strip."""

    def __init__(self, strip: "Strip") -> None:
        super().__init__()
        self.strip = strip


class PageReady(Message):
    """A requested page."""

    def __init__(self, request: PageRequest, page: Page) -> None:
        super().__init__()
        self.request = request
        self.page = page


class PageFailed(Message):
    """A requested page could not be made."""

    def __init__(self, request: PageRequest, problem: str) -> None:
        super().__init__()
        self.request = request
        self.problem = problem


class PlaybackAdvanced(Message):
    """Time passed while a turn is played; `redraw` when more of its answer, or the next turn, can be seen."""

    def __init__(self, turn: PlayedTurn, redraw: bool) -> None:
        super().__init__()
        self.turn = turn
        self.redraw = redraw


class PlaybackEnded(Message):
    """The last turn was played."""


class Notice(Message):
    """A line for the status line."""

    def __init__(self, text: str, look: str = "plain") -> None:
        super().__init__()
        self.text = text
        self.look = look


class ClipboardText(Message):
    """A text for the clipboard."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class SentSearched(Message):
    """More of what was sent was searched; `ended` when all of it was."""

    def __init__(self, *, ended: bool) -> None:
        super().__init__()
        self.ended = ended
