"""Searches everything that was sent, on another thread, while the list shows what is found so far."""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Thread

from ....run.row import Row
from ....run.run_index import Run
from ....run.sent_search import SentSearch
from .messages import Post, SentSearched

KEPT = 8
"""How many searches are remembered."""
SHORTEST = 2
"""A word with fewer characters is only searched in what is new."""
NEWS_SECONDS = 0.1
"""Seconds between two messages about a search."""


def in_thread(call: Callable[[], None]) -> None:
    """Call a function on a thread that ends with the program."""
    Thread(target=call, name="turntape-search", daemon=True).start()


class SentSearcher:
    """`look` for words; posts `SentSearched` while it reads and at the end. A newer search stops the one before."""

    def __init__(self, run: Run, post: Post, start: Callable[[Callable[[], None]], object] = in_thread) -> None:
        self._run, self._post, self._start = run, post, start
        self._searches: OrderedDict[tuple[str, ...], SentSearch] = OrderedDict()
        self._number = 0
        """Counts the searches, so that one that is no longer wanted stops."""
        self.share: float | None = None
        """How much was read, from 0 to 1, while it searches."""

    @property
    def busy(self) -> bool:
        """True while it searches."""
        return self.share is not None

    def look(self, words: tuple[str, ...]) -> None:
        """Search for these words; what was searched before is not read again."""
        words = tuple(word for word in words if len(word) >= SHORTEST)
        self._number += 1
        self.share = None
        if not words:
            return
        search = self._searches.pop(words, None) or SentSearch(self._run, words)
        self._searches[words] = search
        while len(self._searches) > KEPT:
            self._searches.popitem(last=False)
        if not search.complete:
            self.share = 0.0
            number = self._number
            self._start(lambda: self._read(search, number))

    def stop(self) -> None:
        """Stop the search."""
        self._number += 1
        self.share = None

    def where(self, word: str, row: Row) -> str | None:
        """Where in a round trip the word is, as far as it was searched."""
        for search in [*self._searches.values()]:
            if (found := search.hits.get(word, {}).get(row.key)) is not None:
                return found
        return None

    def _read(self, search: SentSearch, number: int) -> None:
        posted = time.monotonic()
        for share in search.read_on():
            if number != self._number:
                return
            self.share = share
            if time.monotonic() - posted > NEWS_SECONDS:
                posted = time.monotonic()
                self._post(SentSearched(ended=False))
        if number == self._number:
            self.share = None
            self._post(SentSearched(ended=True))
