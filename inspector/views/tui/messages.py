"""What the threads that read send to the one that draws."""

from textual.message import Message

from ...run.row import Row
from .loader import Wish


class RowsCame(Message):
    """More rows were read."""

    def __init__(self, rows: list[Row]) -> None:
        super().__init__()
        self.rows = rows


class FileEnded(Message):
    """The file was read to its end, or could not be; `over` when no more will come."""

    def __init__(self, problem: str | None, over: bool) -> None:
        super().__init__()
        self.problem = problem
        self.over = over


class PageMade(Message):
    """What was asked of the desk."""

    def __init__(self, wish: Wish, made: object) -> None:
        super().__init__()
        self.wish = wish
        self.made = made
