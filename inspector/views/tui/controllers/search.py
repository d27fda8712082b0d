"""Search: while the query is typed, the list shows the matching turns; `n` goes from match to match."""

from collections.abc import Sequence
from typing import Protocol

from ....run.filters import parse
from ....run.row import Row
from ..search_matches import MOST

OF_A_TURN = frozenset({"turn", "wire", "context", "diff", "tools", "compare"})
"""The views of one turn: after the last match on its page comes the next turn."""


class Everything(Protocol):
    """Searches what the rows do not hold."""

    @property
    def share(self) -> float | None:
        """How much was read, from 0 to 1, while it searches."""

    def look(self, words: tuple[str, ...]) -> bool:
        """Search for words; true when news of it will follow."""
        ...

    def where(self, word: str, row: Row) -> str | None:
        """Where in a round trip the word was found."""


class Search:
    """The query, the place where it was started, and which match is shown.

    `everything` finds the words that are not in what is new in a turn; without it only what is new is searched.
    """

    def __init__(self, everything: Everything | None = None) -> None:
        self._everything = everything
        self.filter = parse("")
        self.match = ""
        """Which match of how many the cursor is on, as a sentence."""
        self.seek_when_ready = 0
        """The direction, 1 or -1, in which to look for a match once the requested page is there; 0 for not at all."""
        self._started_at: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """The words to look for, in lower case."""
        return self.filter.words

    def visible(self, row: Row) -> bool:
        """Whether a row matches the query; an empty query matches all rows."""
        return self.filter(row)

    def start(self, place: int | None) -> None:
        """The search is opened while the round trip at `place` is selected."""
        self._started_at = place

    def change(self, text: str) -> bool:
        """Take a new query; False when it is the same."""
        if text.strip() == self.filter.text:
            return False
        self.filter, self.match = parse(text, self._elsewhere), ""
        return True

    def look(self) -> bool:
        """Search for the words in everything that was sent; true when news of it will follow."""
        return self._everything is not None and self._everything.look(self.words)

    @property
    def share(self) -> float | None:
        """How much of everything was searched, from 0 to 1, while it is."""
        return self._everything.share if self._everything is not None else None

    def where(self, row: Row) -> str | None:
        """Where in a round trip a word was found that its row does not hold."""
        if self._everything is None:
            return None
        return next((where for word in self.words if (where := self._everything.where(word, row))), None)

    def _elsewhere(self, word: str, row: Row) -> bool:
        return self._everything is not None and self._everything.where(word, row) is not None

    def cancel(self) -> int | None:
        """Where to go back to when the search is cancelled."""
        return self._started_at

    def matched(self, number: int, of: int) -> None:
        """The cursor is on a match."""
        total = f"{of:,}" + (" or more" if of >= MOST else "")
        self.match = f"match {number:,} of {total} on this page"

    def not_on_page(self, view: str, where: str | None = None) -> None:
        """The page that is shown has no match; `where` it is instead."""
        if where and view != "wire":
            self.match = f"see 2 Wire: in {where}"
        else:
            self.match = "not on this page" + ("" if view == "wire" else ", but perhaps in 2 Wire")


def nearest(place: int, places: Sequence[int]) -> int:
    """The one of `places`, which are not empty, that is closest to `place`."""
    return min(places, key=lambda other: abs(other - place))


def turn_beside(place: int | None, places: Sequence[int], by: int) -> int | None:
    """The next of `places` after `place`, or with `by` -1 the one before; None when there is none."""
    if place is None:
        return None
    ahead = [other for other in places if (other - place) * by > 0]
    return (min(ahead) if by > 0 else max(ahead)) if ahead else None
